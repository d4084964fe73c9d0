// SPDX-License-Identifier: LGPL-2.1-or-later
/* See guard.h.  Must never leave a thread of another process without its own registers. */
#include "attach/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/turn.h"

#ifndef SYS_close_range
#define SYS_close_range	436	/* Linux 5.9; headers of Debian 11 lack it */
#endif

/* In memory of both processes. */
struct guard_shared {
	struct ct_error err;
	int result;
	pid_t owes;
	int policy;
	_Alignas(16) unsigned char job[];
};

/* In the process that does the work. */
static struct guard_shared *guard_shared;
static int guard_says = -1;

static void guard_say(const struct ct_error *err, int result)
{
	guard_shared->err = *err;
	guard_shared->result = result;
	/* The command may have gone. */
	if (guard_says >= 0 && write(guard_says, "", 1) == 1)
		close(guard_says);
	guard_says = -1;
}

void ct_guard_owes(pid_t tid, int policy)
{
	if (!guard_shared)
		return;
	guard_shared->owes = tid;
	__atomic_store_n(&guard_shared->policy, policy, __ATOMIC_RELEASE);
}

/* The command, for the one that was killed. */
static void guard_pay(const struct guard_shared *shared)
{
	const struct sched_param none = { .sched_priority = 0 };

	if (shared->policy >= 0)
		sched_setscheduler(shared->owes, shared->policy, &none);
}

void ct_guard_late(const struct ct_error *err)
{
	if (guard_shared)
		guard_say(err, -ETIMEDOUT);
}

static void guard_close_between(int first, int end)
{
	if (first < end && syscall(SYS_close_range, first, end - 1, 0))
		for (int fd = first; fd < end && fd < 65536; fd++)
			close(fd);
}

/* No terminal, no lock of a trace and no pipe of somebody's is held by it; but for these two. */
static void guard_close_all(int one, int other)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), low = one < other ? one : other, high = one < other ? other : one;

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	guard_close_between(3, low);
	guard_close_between(low < 3 ? 3 : low + 1, high);
	guard_close_between(high + 1, INT_MAX);
}

static _Noreturn void guard_work(int (*run)(void *job, struct ct_error *err), void *job, size_t size, int says)
{
	/* And limits on the size of files and on time, which this user's processes may have. */
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGTSTP,
				    SIGTTIN, SIGTTOU, SIGXFSZ, SIGXCPU };
	const struct sched_param second = { .sched_priority = 2 };
	struct ct_error err = { 0 };
	sigset_t child;
	int rc;

	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], SIG_IGN);
	/* Stops of the thread that it holds: see inject.c. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	setsid();
	/* A thread of the program stands still while this one waits for a processor: it comes before that one, too. */
	if (sched_setscheduler(0, SCHED_FIFO, &second))
		setpriority(PRIO_PROCESS, 0, -20);
	if (says < 3)
		says = fcntl(says, F_DUPFD_CLOEXEC, 3);
	/* The turn is held as long as the work lasts, also where the command was killed. */
	guard_close_all(says, ct_turn_descriptor());
	guard_says = says;
	rc = run(job, &err);
	if (guard_says >= 0) {
		memcpy(guard_shared->job, job, size);
		guard_say(&err, rc);
	}
	_exit(0);
}

int ct_guard_run(int (*run)(void *job, struct ct_error *err), void *job, size_t size, struct ct_error *err)
{
	struct guard_shared *shared;
	int pipes[2], result = 0, status;
	char byte;
	ssize_t n = 0;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared) + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return ct_fail(err, ENOMEM, "no memory");
	if (pipe2(pipes, O_CLOEXEC)) {
		munmap(shared, sizeof(*shared) + size);
		return ct_fail(err, errno, "no pipe: %s", strerror(errno));
	}
	memcpy(shared->job, job, size);
	shared->policy = -1;
	pid = fork();
	if (!pid) {
		guard_shared = shared;
		guard_work(run, job, size, pipes[1]);
	}
	close(pipes[1]);
	if (pid < 0)
		result = ct_fail(err, errno, "no process can be made: %s", strerror(errno));
	while (pid > 0 && (n = read(pipes[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(pipes[0]);
	if (pid > 0 && n == 1) {
		memcpy(job, shared->job, size);
		*err = shared->err;
		result = shared->result;
	} else if (pid > 0) {
		guard_pay(shared);
		result = ct_fail(err, EIO, "the process that does the work was killed");
	}
	/* One that is late becomes a child of init's. */
	if (pid > 0 && result != -ETIMEDOUT)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	munmap(shared, sizeof(*shared) + size);
	return result;
}
