// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the library costs a program that never uses CUDA: microseconds from posix_spawn()
 * to the end of a program that does nothing, without the library and with it in turns.
 * Prints the medians and the median of the pairs' differences with its 95 % interval;
 * never a limit.
 *
 *	bench_start LIBRARY [PAIRS]
 */
#define _GNU_SOURCE
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX	100000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double run(char **env)
{
	char *argv[] = { "bench_start", NULL };
	double begin = now();
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, env) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "bench_start: the program did not run\n");
		exit(1);
	}
	return now() - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double bare[PAIRS_MAX], with[PAIRS_MAX], over[PAIRS_MAX];
	char preload[4096], *plain[] = { NULL }, *traced[] = { preload, NULL };
	int n = argc > 2 ? atoi(argv[2]) : 2000, half;

	if (argc < 2)
		return 0;	/* the program that does nothing */
	if (n < 20 || n > PAIRS_MAX) {
		fprintf(stderr, "usage: bench_start LIBRARY [PAIRS (20 to 100000)]\n");
		return 2;
	}
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	for (int i = 0; i < n; i++) {
		if (i % 2) {
			with[i] = run(traced);
			bare[i] = run(plain);
		} else {
			bare[i] = run(plain);
			with[i] = run(traced);
		}
		over[i] = with[i] - bare[i];
	}
	qsort(bare, (size_t)n, sizeof(double), compare);
	qsort(with, (size_t)n, sizeof(double), compare);
	qsort(over, (size_t)n, sizeof(double), compare);
	half = (int)ceil(0.98 * sqrt(n));	/* of the ranks around the median */
	printf("%-28s %10.1f %10.1f %10.1f   %.1f to %.1f\n", "start of a program, us",
	       bare[n / 2], with[n / 2], over[n / 2], over[n / 2 - half], over[n / 2 + half]);
	return 0;
}
