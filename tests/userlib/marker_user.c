// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Markers where system calls that they have no need of are forbidden: the second marker of
 * a process may not ask who runs it, and a child's first must (and is told a user of its own).
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/cudatrace/cudatrace.h"

static int forbid(unsigned answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	pid_t child;
	int status;

	cudatrace_note("first");
	child = fork();
	if (!child) {
		if (forbid(SECCOMP_RET_ERRNO | 77))
			return 77;
		cudatrace_note("child");
		return 0;
	}
	waitpid(child, &status, 0);
	if (status)
		return WEXITSTATUS(status);
	if (forbid(SECCOMP_RET_KILL_PROCESS))
		return 77;
	for (int i = 0; i < 100; i++) {
		cudatrace_note("mark");
		cudatrace_begin("range");
		cudatrace_end();
	}
	return 0;
}
