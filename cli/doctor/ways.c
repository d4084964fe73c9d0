// SPDX-License-Identifier: LGPL-2.1-or-later
/* See ways.h.  Nothing is attached to but a child of this command's own. */
#include "doctor/ways.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/launch.h"
#include "userlib/include/cudatrace/attach.h"

static long ways_number(const char *path)
{
	char line[32];

	return ct_first_line(path, line, sizeof(line)) ? strtol(line, NULL, 10) : -1;
}

/* May a process be attached to at all?  0, or why not: seccomp filters of containers refuse it. */
static int ways_ptrace(void)
{
	char byte = 0;
	struct iovec here = { &byte, 1 };
	int refused;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	if (child < 0)
		return 0;
	refused = ptrace(PTRACE_SEIZE, child, 0, 0) || process_vm_readv(child, &here, 1, &here, 1, 0) < 0 ||
				  process_vm_writev(child, &here, 1, &here, 1, 0) < 0 ? errno : 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return refused;
}

#define CAP_SYS_PTRACE_BIT	(1ull << 19)

/* Of whom processes may be attached to: root without that capability, as in a container, has its own only. */
static const char *ways_whose(void)
{
	unsigned long long cap = 0, first = 1, outside = 1, count = 0;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "CapEff: %llx", &cap) != 1)
		;
	if (f)
		fclose(f);
	if (!(cap & CAP_SYS_PTRACE_BIT))
		return NULL;
	if (ct_first_line("/proc/self/uid_map", line, sizeof(line)) && sscanf(line, "%llu %llu %llu", &first, &outside, &count) == 3 &&
	    (first || outside || count != UINT32_MAX))
		return "this user namespace's";
	return "all";
}

#define INSTEAD	"CUDATRACE_STANDBY=1 in the program's environment always works, or run as root: "

struct ct_check_result ct_check_attach(struct ct_doctor *d)
{
	static const char scope_path[] = "/proc/sys/kernel/yama/ptrace_scope";
	long scope = ways_number(scope_path);
	const char *whose = ways_whose();
	int refused;

	(void)d;
	if (scope >= 3)
		return ct_check_result(CT_FINDING_NOTE, "reboot; nothing less undoes it (a program that stands by can be recorded)",
				  "record --pid: nothing can be attached to (kernel.yama.ptrace_scope=3)");
	refused = ways_ptrace();
	if (refused)
		return ct_check_result(CT_FINDING_NOTE, "start the container with --cap-add SYS_PTRACE, or record from outside of it",
				  "record --pid: ptrace, or process_vm_readv, is refused here (%s)", strerror(refused));
	if (ways_number("/proc/sys/vm/memfd_noexec") >= 2)
		return ct_check_result(CT_FINDING_NOTE, "sysctl vm.memfd_noexec=1",
				  "record --pid: no library can be brought into a process (vm.memfd_noexec=2)");
	if (scope >= 1 && !whose)
		return ct_check_result(CT_FINDING_NOTE, geteuid() ? INSTEAD "sysctl kernel.yama.ptrace_scope=0" :
				  INSTEAD "sysctl kernel.yama.ptrace_scope=0, or start the container with --cap-add SYS_PTRACE",
				  "record --pid: only %s may attach to processes that run already (kernel.yama.ptrace_scope=%ld)",
				  geteuid() ? "root" : "root with CAP_SYS_PTRACE", scope);
	return ct_check_result(CT_FINDING_OK, NULL, "record --pid: %s processes that run already can be attached to",
			  whose ? whose : "your own");
}

struct ct_check_result ct_check_standby(struct ct_doctor *d)
{
	char place[] = CT_STANDBY_PREFIX;
	struct statvfs fs;

	(void)d;
	*strrchr(place, '/') = '\0';
	if (access(place, W_OK | X_OK))
		return ct_check_result(CT_FINDING_NOTE, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
				  "standby: no file can be made in %s (%s), so no program stands by", place, strerror(errno));
	if (!statvfs(place, &fs) && fs.f_blocks && !fs.f_bavail)
		return ct_check_result(CT_FINDING_NOTE, "remove what fills it",
				  "standby: %s is full, so no program stands by", place);
	return ct_check_result(CT_FINDING_OK, NULL, "standby: programs with LD_PRELOAD=libcudatrace.so and CUDATRACE_STANDBY=1 can be recorded at any time");
}

struct ct_check_result ct_check_stacks(struct ct_doctor *d)
{
	char library[PATH_MAX], plugin[PATH_MAX];
	struct ct_error err;

	(void)d;
	if (ct_launch_library(library, sizeof(library), &err))
		return ct_no_finding();
	if (!ct_launch_plugin(library, "stacks", plugin, sizeof(plugin)))
		return ct_check_result(CT_FINDING_NOTE, "make install", "record --stacks: cannot read %s", plugin);
	return ct_check_result(CT_FINDING_OK, NULL, "record --stacks takes %s", plugin);
}
