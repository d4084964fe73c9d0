// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that make calls until a signal comes, whose handler makes so many that the thread
 * gets more memory, into which its in-flight calls move: also that of the call that was
 * interrupted.  Prints "calls N", and ends while the threads still live.
 *
 *	grow query|set THREADS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY	700	/* more than the first memory holds */

static int (*call)(void *);
static _Thread_local volatile long calls;
static _Thread_local volatile int handled;
static volatile int state;	/* of the newest thread: 1 it calls, 2 it has made its calls */
static long total;

static void one(void)
{
	void *context = NULL;

	call(&context);
	/* The handler may come at any instruction, and count its own. */
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void handler(int sig)
{
	(void)sig;
	for (int i = 0; i < MANY; i++)
		one();
	handled = 1;
}

static void *run(void *arg)
{
	one();
	state = 1;
	while (!handled)
		one();
	total += calls;
	state = 2;
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	void *libcuda = dlopen("libcuda.so.1", RTLD_NOW);
	int threads = argc > 2 ? atoi(argv[2]) : 0;

	if (!libcuda || !threads)
		return 2;
	call = (int (*)(void *))dlsym(libcuda, strcmp(argv[1], "query") ? "cuCtxSetCurrent" :
				      "cuCtxGetCurrent");
	signal(SIGUSR1, handler);
	for (int i = 0; i < threads; i++) {
		pthread_t t;

		state = 0;
		if (pthread_create(&t, NULL, run, NULL))
			return 2;
		while (!state)
			;
		for (volatile int wait = rand() % 3000; wait > 0; wait--)
			;
		pthread_kill(t, SIGUSR1);
		while (state != 2)
			usleep(50);
	}
	printf("calls %ld\n", total);
	fflush(stdout);
	_exit(0);
}
