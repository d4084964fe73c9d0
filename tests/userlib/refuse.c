// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Runs a program in which the kernel refuses something, as an older one or another file
 * system would.  Exit status 77 if that cannot be had (no seccomp).
 *
 *	refuse fallocate|flock|memfd_create|mknod|mknodat|process_vm_readv|rseq|wipeonfork|mprotect ERRNO PROGRAM [ARG...]
 * ERRNO 0: the program is killed if it asks for it.  mprotect: to make memory writable.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_rseq
#define SYS_rseq	334
#endif

#define MADV_WIPEONFORK_	18

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ANSWER(value)	BPF_STMT(BPF_RET | BPF_K, value)

static int number_of(const char *call)
{
	return !strcmp(call, "fallocate") ? SYS_fallocate : !strcmp(call, "flock") ? SYS_flock :
	       !strcmp(call, "process_vm_readv") ? SYS_process_vm_readv :
	       !strcmp(call, "memfd_create") ? SYS_memfd_create :
	       !strcmp(call, "mknod") ? SYS_mknod : !strcmp(call, "mknodat") ? SYS_mknodat :
	       !strcmp(call, "rseq") ? SYS_rseq : -1;
}

int main(int argc, char **argv)
{
	unsigned error = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	int nr = argc > 3 ? number_of(argv[1]) : -1;
	unsigned answer = error ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_KILL_PROCESS;
	struct sock_filter calls[] = {
		LOAD(nr), UNLESS(SYS_fallocate, 1), ANSWER(answer), ANSWER(SECCOMP_RET_ALLOW),
	}, wipes[] = {
		LOAD(nr), UNLESS(SYS_madvise, 3), LOAD(args[2]), UNLESS(MADV_WIPEONFORK_, 1),
		ANSWER(answer), ANSWER(SECCOMP_RET_ALLOW),
	}, protects[] = {
		LOAD(nr), UNLESS(SYS_mprotect, 3), LOAD(args[2]),
		UNLESS(PROT_READ | PROT_WRITE, 1), ANSWER(answer), ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(calls) / sizeof(*calls), calls };

	if (argc > 3 && !strcmp(argv[1], "wipeonfork")) {
		filter.len = sizeof(wipes) / sizeof(*wipes);
		filter.filter = wipes;
	} else if (argc > 3 && !strcmp(argv[1], "mprotect")) {
		filter.len = sizeof(protects) / sizeof(*protects);
		filter.filter = protects;
	} else if (nr >= 0) {
		calls[1].k = (unsigned)nr;
	} else {
		fprintf(stderr, "usage: refuse fallocate|flock|memfd_create|mknod|mknodat|process_vm_readv|"
			"rseq|wipeonfork|mprotect ERRNO PROGRAM [ARG...]\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 77;
	execv(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
