// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls cuDriverGetVersion() evenly: steady CALLS SECONDS makes CALLS each millisecond. Prints how many calls
 * it made.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	int calls = argc > 2 ? atoi(argv[1]) : 0, ms = argc > 2 ? atoi(argv[2]) * 1000 : 0, version;
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get_version)(int *);
	struct timespec next;
	long made = 0;

	if (!cuda || ms <= 0)
		return 2;
	get_version = (__typeof__(get_version))dlsym(cuda, "cuDriverGetVersion");
	if (!get_version)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < ms; i++) {
		for (int j = 0; j < calls; j++)
			made += !get_version(&version);
		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	printf("%ld\n", made);
	return 0;
}
