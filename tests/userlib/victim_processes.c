// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes that fork, execute, end, or take away what the library lives on. */
#include "victim.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int forks(void)
{
	pid_t pid;

	load();
	calls(3);
	pid = fork();
	if (!pid) {
		calls(5);
		if (!fork()) {
			calls(7);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	calls(2);
	CHECK(!await(pid));
	calls(1);
	return 0;
}

int vforks(void)
{
	char *argv[] = { "/bin/true", NULL };
	pid_t pid;

	load();
	calls(3);
	pid = vfork();
	if (!pid) {
		execv("/bin/true", argv);
		_exit(127);
	}
	CHECK(!await(pid));
	CHECK(!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ));
	CHECK(!await(pid));
	calls(4);
	return 0;
}

/* The child is the first to use CUDA, then the parent does. */
int fork_early(void)
{
	pid_t pid = fork();

	if (!pid) {
		load();
		GET(cuInit)(0);
		calls(5);
		_exit(0);
	}
	CHECK(!await(pid));
	load();
	GET(cuInit)(0);
	calls(2);
	return 0;
}

/* A child of vfork lives in our memory and must leave it as it was. */
int vfork_calls(void)
{
	char *argv[] = { "/bin/true", NULL };
	__typeof__(cuCtxSetCurrent) *set;
	pid_t pid;

	load();
	calls(3);
	set = GET(cuCtxSetCurrent);
	pid = vfork();
	if (!pid) {
		set((void *)1);
		execv("/bin/true", argv);
		_exit(127);
	}
	CHECK(!await(pid));
	calls(4);
	return 0;
}

/* Without the preload: the other program must not be traced. */
int exec_bare(void)
{
	char *argv[] = { "victim", "many", NULL };

	load();
	calls(3);
	unsetenv("LD_PRELOAD");
	execv("/proc/self/exe", argv);
	return 1;
}

int exec_self(void)
{
	char *argv[] = { "victim", "many", NULL };

	load();
	calls(3);
	execv("/proc/self/exe", argv);
	return 1;
}

int killed(void)
{
	load();
	calls(1000);
	kill(getpid(), SIGKILL);
	return 1;
}

int quick_exit_now(void)
{
	load();
	calls(1000);
	_exit(3);
}

int aborts(void)
{
	load();
	calls(1000);
	abort();
}

int hang(void)
{
	load();
	calls(2);
	GET(cuMockHang)();
	return 1;
}

static void crash(void *in)
{
	void *ctx;

	/* For as long as it takes until the clock has its line. */
	for (int i = 0; i < 300; i++) {
		if (i == 299)
			GET(cuMockCrash)(in);
		if (GET(cuCtxGetCurrent)(&ctx) || GET(cuStreamSynchronize)((void *)1) ||
		    GET(cuLaunchKernel)((void *)0x99, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
					(void *)10))
			_exit(2);
		usleep(200);
	}
}

/* CRASH_IN: the function of libcuda; CRASH_NESTED, if not empty: inside another. */
int crashes(void)
{
	load();
	if (*getenv("CRASH_NESTED"))
		GET(cuMockCall)(crash, getenv("CRASH_IN"));
	else
		crash(getenv("CRASH_IN"));
	return 1;
}

int closes_all(void)
{
	load();
	calls(10);
	for (int i = 3; i < 2000; i++)
		close(i);
	CHECK(open("/dev/null", O_RDONLY) == 3);
	calls(3000);
	return 0;
}

int fds(void)
{
	int a, b, c;

	load();
	a = open("/dev/null", O_RDONLY);
	calls(5000);
	b = open("/dev/null", O_RDONLY);
	c = open("/dev/null", O_RDONLY);
	printf("fds %d %d %d\n", a, b, c);
	return 0;
}

int limit(void)
{
	struct rlimit l = { 40000, 40000 };

	load();
	setrlimit(RLIMIT_FSIZE, &l);
	calls(5000);
	return 0;
}

/* Below what the directory holds already: no file can grow. */
int limit_all(void)
{
	struct rlimit l = { 100, 100 };

	load();
	setrlimit(RLIMIT_FSIZE, &l);
	calls(5000);
	return 0;
}

/* Whoever read our stderr is gone. */
int unread(void)
{
	int ends[2];
	sigset_t pending;

	CHECK(!pipe(ends) && !close(ends[0]) && dup2(ends[1], 2) == 2);
	CHECK(!limit());
	CHECK(!sigpending(&pending) && !sigismember(&pending, SIGPIPE));
	return 0;
}

int directory(void)
{
	load();
	CHECK(!chdir("/"));
	calls(5000);
	return 0;
}

int until_killed(void)
{
	load();
	while (lib)
		calls(1000);
	return 0;
}
