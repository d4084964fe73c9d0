// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Instructions of a call into the tests' libcuda, which does nothing: run in the guest
 * without the preload library and with it (measure.h says how they are counted).
 *
 *   library       prints "query N", "call N" and "launch N"
 *   library all   prints how many of each it makes
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "../userlib/mock.h"
#include "measure.h"

static __typeof__(cuCtxGetCurrent) *get;
static __typeof__(cuCtxSetCurrent) *set;
static __typeof__(cuLaunchKernel) *launch;

static uint64_t loop(char what, int calls)
{
	uint64_t begin = __rdtsc();
	void *context;
	int wrong = 0;

	for (int i = 0; i < calls; i++)
		wrong += what == 'q' ? get(&context) : what == 'c' ? set((void *)1) :
			 launch((void *)0xf00d, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
				(void *)10);
	begin = __rdtsc() - begin;
	if (wrong)
		fail("a measured call did not return what it must");
	return begin;
}

static void print(const char *what)
{
	uint64_t loops[LOOPS + 1], empty = loop(*what, 0);

	for (int i = 0; i <= LOOPS; i++) {
		usleep(PAUSE_US);
		loops[i] = loop(*what, CALLS) - empty;
	}
	qsort(loops + 1, LOOPS, sizeof(loops[0]), compare);
	printf("%s %.2f\n", what, (double)loops[1 + LOOPS / 2] / CALLS);
}

int main(int argc, char **argv)
{
	struct sched_param fifo = { .sched_priority = 1 };
	void *lib;

	(void)argv;
	if (argc > 1) {
		printf("%d\n", ALL_CALLS);
		return 0;
	}
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib)
		fail("libcuda.so.1");
	get = dlsym(lib, "cuCtxGetCurrent");
	set = dlsym(lib, "cuCtxSetCurrent");
	launch = dlsym(lib, "cuLaunchKernel");
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		fail("SCHED_FIFO");
	print("query");
	print("call");
	print("launch");
	return 0;
}
