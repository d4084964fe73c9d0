// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Processes that share a trace directory, whose registry has no lock.
 *
 *	registry race N		N processes make their first calls at the same moment, and
 *				launch KERNELS kernels, each process in another order; the
 *				grid's x is the number in the kernel's name
 *	registry stop COMMAND	a process makes its first calls; it is stopped before and after
 *				each system call of the library, as only these change what
 *				others see of the registry, while COMMAND (by sh) runs and
 *				succeeds (of many equal ones in a row, the first).  Prints how often
 *	registry kill COMMAND	processes of which the n-th is killed at the n-th of these
 *				places, and COMMAND after each.  Prints how many
 *	registry lease FILE	takes a write lease on FILE, prints a line, and waits
 *	registry elsewhere FILE	closes the descriptor 2, opens FILE, which becomes 2, and
 *				then causes a message of the library
 *	registry rights		makes a call, gives up its rights and makes calls of functions
 *				that it has not called yet; "made N" calls
 *	registry rest		makes a call, and ends after a second
 * Exit status 0, or 1 if something went wrong.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNELS		200
#define REPEATS		8

#define DIE(...)	do { fprintf(stderr, "registry: " __VA_ARGS__); fputc('\n', stderr); exit(1); } while (0)

static void *lib;

#define GET(name)	((__typeof__(name) *)dlsym(lib, #name))

static void load(void)
{
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib)
		DIE("no libcuda");
}

/* ------------------------------------------------------------------ race --- */
static int racer(int n, volatile int *ready, int of)
{
	__typeof__(cuModuleGetFunction) *function = GET(cuModuleGetFunction);
	__typeof__(cuLaunchKernel) *launch = GET(cuLaunchKernel);
	void *f;

	__atomic_fetch_add(ready, 1, __ATOMIC_ACQ_REL);
	while (*ready < of)
		sched_yield();
	for (int i = 0; i < KERNELS; i++) {
		/* Odd ones backwards; each begins elsewhere. */
		int k = ((n % 2 ? KERNELS - i : i) + n * 7) % KERNELS;
		char name[32];

		snprintf(name, sizeof(name), "kernel_%d", k);
		if (function(&f, NULL, name))
			return 1;
		/* The mock wants another grid, and says so. */
		launch(f, (unsigned)k, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9, (void *)10);
	}
	return 0;
}

static int race(int of)
{
	int *ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int bad = 0, status;

	load();
	for (int n = 0; n < of; n++)
		if (!fork())
			_exit(racer(n, ready, of));
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}

/* ---------------------------------------------------------- stop and kill --- */
static unsigned long from, to;	/* the library's text */
static pid_t child;
static int status;

static void first_calls(void)
{
	void *m, *f;

	load();
	if (ptrace(PTRACE_TRACEME))
		_exit(77);
	raise(SIGSTOP);
	if (GET(cuInit)(0) || GET(cuCtxSetCurrent)((void *)1) ||
	    GET(cuModuleLoadData)(&m, "") || GET(cuModuleGetFunction)(&f, m, "kernel"))
		_exit(1);
	_exit(0);
}

static void start(void)
{
	char path[64], line[4096];
	unsigned long a, b;
	FILE *f;

	child = fork();
	if (!child)
		first_calls();
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		exit(77);
	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " r-xp ") && strstr(line, "/libcudatrace") &&
		    sscanf(line, "%lx-%lx", &a, &b) == 2)
			from = a, to = b;
	if (!f || !from)
		DIE("the library is not there");
	fclose(f);
}

/*
 * Goes on to the next begin or end of a system call of the library; false: it has ended.  A call that
 * follows itself, as reads of the registry do, counts REPEATS times: whoever runs meanwhile adds lines to
 * the registry, and it would be read for ever.
 */
static bool step(void)
{
	struct user_regs_struct r;
	static unsigned long last;
	static int repeats;

	do {
		if (ptrace(PTRACE_SYSCALL, child, 0, 0) || waitpid(child, &status, 0) != child)
			DIE("ptrace");
		if (!WIFSTOPPED(status))
			return false;
		if (ptrace(PTRACE_GETREGS, child, 0, &r))
			DIE("no registers");
		repeats = r.rip == last ? repeats + 1 : 0;
		last = r.rip;
	} while (r.rip < from || r.rip >= to || repeats >= 2 * REPEATS);
	return true;
}

static void run(const char *command, unsigned long n)
{
	if (system(command))
		DIE("%lu: failed: %s", n, command);
}

static int stop(const char *command)
{
	unsigned long n = 0;

	start();
	unsetenv("LD_PRELOAD");
	while (step())
		run(command, ++n);
	printf("stopped %lu\n", n);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int kill_each(const char *command)
{
	unsigned long n = 0, i;
	bool alive = true;

	while (alive) {
		start();
		n++;
		for (i = 0; i < n && alive; i++)
			alive = step();
		if (alive) {
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
		}
		run(command, n);
	}
	printf("killed %lu\n", n - 1);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* ----------------------------------------------------------------- others --- */
static int lease(const char *file)
{
	int fd = open(file, O_RDWR);

	signal(SIGIO, SIG_IGN);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK))
		return 77;
	puts("leased");
	fflush(stdout);
	pause();
	return 1;
}

static int elsewhere(const char *file)
{
	struct rlimit none = { 100, 100 };

	load();
	if (close(2) || open(file, O_RDWR | O_CREAT | O_TRUNC, 0644) != 2)
		return 1;
	/* The registry can't grow: there is something to be said. */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	return GET(cuInit)(0);
}

static int rights(void)
{
	dptr p;
	size_t a, b;
	int made = 0;

	load();
	made += !GET(cuInit)(0);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 77;
	for (int i = 0; i < 10; i++) {
		made += !GET(cuMemAlloc_v2)(&p, 1);
		made += !GET(cuMemGetInfo_v2)(&a, &b);
		made += !GET(cuInit)(0);
	}
	printf("made %d\n", made);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : NULL;

	if (!strcmp(what, "race") && arg)
		return race(atoi(arg));
	if (!strcmp(what, "stop") && arg)
		return stop(arg);
	if (!strcmp(what, "kill") && arg)
		return kill_each(arg);
	if (!strcmp(what, "lease") && arg)
		return lease(arg);
	if (!strcmp(what, "elsewhere") && arg)
		return elsewhere(arg);
	if (!strcmp(what, "rights"))
		return rights();
	if (!strcmp(what, "rest")) {
		load();
		return GET(cuInit)(0) || sleep(1);
	}
	fprintf(stderr, "usage: registry race N|stop COMMAND|kill COMMAND|"
		"lease FILE|elsewhere FILE|rights|rest\n");
	return 2;
}
