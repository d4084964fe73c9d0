// SPDX-License-Identifier: LGPL-2.1-or-later
/* See ways.h.  Nothing is attached to but a child of this command's own. */
#include "doctor/ways.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
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
	int refused;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	if (child < 0)
		return 0;
	refused = ptrace(PTRACE_SEIZE, child, 0, 0) ? errno : 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return refused;
}

#define INSTEAD	"CUDATRACE_STANDBY=1 in the program's environment always works, or run as root: "

struct ct_check_result ct_check_attach(struct ct_doctor *d)
{
	static const char scope_path[] = "/proc/sys/kernel/yama/ptrace_scope";
	long scope = ways_number(scope_path);
	int refused;

	(void)d;
	if (scope >= 3)
		return ct_check_result(CT_FINDING_NOTE, "reboot; nothing less undoes it (a program that stands by can be recorded)",
				  "record --pid: nothing can be attached to (kernel.yama.ptrace_scope=3)");
	refused = ways_ptrace();
	if (refused)
		return ct_check_result(CT_FINDING_NOTE, "start the container with --cap-add SYS_PTRACE, or record from outside of it",
				  "record --pid: ptrace is refused here (%s)", strerror(refused));
	if (ways_number("/proc/sys/vm/memfd_noexec") >= 2)
		return ct_check_result(CT_FINDING_NOTE, "sysctl vm.memfd_noexec=1",
				  "record --pid: no library can be brought into a process (vm.memfd_noexec=2)");
	if (scope >= 1 && geteuid())
		return ct_check_result(CT_FINDING_NOTE, INSTEAD "sysctl kernel.yama.ptrace_scope=0",
				  "record --pid: only root may attach to processes that run already (kernel.yama.ptrace_scope=%ld)", scope);
	return ct_check_result(CT_FINDING_OK, NULL, "record --pid: %s processes that run already can be attached to",
			  geteuid() ? "your own" : "all");
}

struct ct_check_result ct_check_standby(struct ct_doctor *d)
{
	char place[] = CT_STANDBY_PREFIX;

	(void)d;
	*strrchr(place, '/') = '\0';
	if (access(place, W_OK | X_OK))
		return ct_check_result(CT_FINDING_NOTE, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
				  "standby: no file can be made in %s (%s), so no program stands by", place, strerror(errno));
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
