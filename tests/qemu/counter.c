// SPDX-License-Identifier: MIT
/*
 * Prints the rate of this machine's time-stamp counter in kHz, measured against
 * CLOCK_MONOTONIC.  An emulated processor has this counter, too; a guest that measures
 * it by emulated timers, while its host is busy, was seen to find a fifth of it, and its
 * clock ran five times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct pair {
	uint64_t ticks, ns;
};

/* Both at one moment: of many tries the one that was interrupted least. */
static struct pair take(void)
{
	uint64_t before, after, best = UINT64_MAX;
	struct timespec ts;
	struct pair p = { 0 };
	unsigned int cpu;

	for (int i = 0; i < 1000; i++) {
		before = __rdtscp(&cpu);
		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = __rdtscp(&cpu);
		if (after - before >= best)
			continue;
		best = after - before;
		p.ticks = before + best / 2;
		p.ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	}
	return p;
}

int main(void)
{
	struct pair from = take(), to;

	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	to = take();
	printf("%.0f\n", (to.ticks - from.ticks) * 1e6 / (to.ns - from.ns));
	return 0;
}
