// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a traced call costs on top, in ns: a getter (stamped once), a call without
 * arguments to record, an allocation and a launch with typed arguments, the reading of
 * the clock, and a whole thread that makes three calls.  Printed, never a limit: it
 * depends on the machine.
 *
 *	bench_call	run it with and without the library
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS	7
#define CALLS	300000
#define THREADS	500

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

#define BENCH(text, call)	BENCH_TIMES(text, CALLS, call)
#define BENCH_TIMES(text, times, call) do {				\
	double best = 1e18;						\
	for (int r = 0; r < ROUNDS; r++) {				\
		double t = now();					\
		for (int i = 0; i < (times); i++)			\
			call;						\
		t = (now() - t) / (times);				\
		if (t < best)						\
			best = t;					\
	}								\
	printf("%-28s %7.1f ns\n", text, best);				\
} while (0)

static __typeof__(cuCtxSetCurrent) *set;

static void *three_calls(void *ctx)
{
	for (int i = 0; i < 3; i++)
		set(ctx);
	return NULL;
}

static void a_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, three_calls, NULL))
		pthread_join(t, NULL);
}

int main(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *ctx;
	dptr p;

	if (!lib)
		return 1;
	__typeof__(cuCtxGetCurrent) *get = dlsym(lib, "cuCtxGetCurrent");
	set = dlsym(lib, "cuCtxSetCurrent");
	__typeof__(cuMemAlloc_v2) *alloc = dlsym(lib, "cuMemAlloc_v2");
	__typeof__(cuLaunchKernel) *launch = dlsym(lib, "cuLaunchKernel");

	BENCH("clock_gettime", now());
	BENCH("query (cuCtxGetCurrent)", get(&ctx));
	BENCH("cuCtxSetCurrent", set(ctx));
	BENCH("cuMemAlloc", alloc(&p, 4096));
	BENCH("cuLaunchKernel", launch(ctx, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
				       (void *)10));
	BENCH_TIMES("a thread with 3 calls", THREADS, a_thread());
	return 0;
}
