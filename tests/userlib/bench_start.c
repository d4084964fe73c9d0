// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the library costs a program that never uses CUDA: microseconds from posix_spawn()
 * to the end of a program that does nothing, without the library and with it in turns.
 * Prints the medians and the median of the pairs' differences with its 95 % interval,
 * and the same of page faults; never a limit.
 *
 *	bench_start LIBRARY [PAIRS]
 */
#define _GNU_SOURCE
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

struct sample {
	double us, faults;
};

static struct sample run(char **env)
{
	char *argv[] = { "bench_start", NULL };
	double begin = now();
	struct rusage used;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, env) ||
	    wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "bench_start: the program did not run\n");
		exit(1);
	}
	return (struct sample){ now() - begin, (double)used.ru_minflt };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, const double *bare, const double *with, int n)
{
	static double a[PAIRS_MAX], b[PAIRS_MAX], over[PAIRS_MAX];
	int half = (int)ceil(0.98 * sqrt(n));	/* of the ranks around the median */

	for (int i = 0; i < n; i++) {
		a[i] = bare[i];
		b[i] = with[i];
		over[i] = with[i] - bare[i];
	}
	qsort(a, (size_t)n, sizeof(double), compare);
	qsort(b, (size_t)n, sizeof(double), compare);
	qsort(over, (size_t)n, sizeof(double), compare);
	printf("%-28s %10.1f %10.1f %10.1f   %.1f to %.1f\n", what, a[n / 2], b[n / 2],
	       over[n / 2], over[n / 2 - half], over[n / 2 + half]);
}

int main(int argc, char **argv)
{
	static double us[2][PAIRS_MAX], faults[2][PAIRS_MAX];
	char preload[4096], *plain[] = { NULL }, *traced[] = { preload, NULL };
	int n = argc > 2 ? atoi(argv[2]) : 2000;

	if (argc < 2)
		return 0;	/* the program that does nothing */
	if (n < 20 || n > PAIRS_MAX) {
		fprintf(stderr, "usage: bench_start LIBRARY [PAIRS (20 to 100000)]\n");
		return 2;
	}
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	for (int i = 0; i < 2 * n; i++) {
		int with = (i ^ i / 2) & 1;	/* each first in every other pair */
		struct sample s = run(with ? traced : plain);

		us[with][i / 2] = s.us;
		faults[with][i / 2] = s.faults;
	}
	print("start of a program, us", us[0], us[1], n);
	print("... its page faults", faults[0], faults[1], n);
	return 0;
}
