/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processors that nobody else disturbs: see calls.c.
 */
#ifndef QUIET_H
#define QUIET_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define ADDITIONS	2000
#define ALONE		1.1	/* times the least that the loop ever took */

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline double additions(void)
{
	double begin = now();
	unsigned a = 0, b = 0, c = 0, d = 0;

	for (int i = 0; i < ADDITIONS; i++)
		__asm__ volatile("add $1, %0; add $1, %1; add $1, %2; add $1, %3\n\t"
				 "xor $3, %0; xor $3, %1; xor $3, %2; xor $3, %3"
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	return now() - begin;
}

/* Nobody else is at work on this core. */
static inline bool alone(void)
{
	static double least = 1e9;
	double took = additions();

	if (took < least)
		least = took;
	return took < least * ALONE;
}

/* The processors that this thread could use when it first asked. */
static inline const cpu_set_t *allowed(void)
{
	static cpu_set_t all;

	if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof(all), &all))
		perror("sched_getaffinity");
	return &all;
}

static inline bool move_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

#endif
