// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rates of module/core/rate.c in a program: what a producer is charged.  Prints TAP. */
#include <stdio.h>

#include "kernel.h"

#include "core/rate.c"

#include "../tap.h"

#define ENTRY	5

static u64 clock_ns = 1000 * NSEC_PER_SEC;

void sim_point(void)
{
}

u64 ktime_get_mono_fast_ns(void)
{
	return clock_ns;
}

/* How many of n records of this size pass now. */
static int pass(struct ct_rate_limits *l, int n, u32 size)
{
	int passed = 0;

	while (n--)
		passed += ct_rate_charge(l, ENTRY, size, 1, clock_ns, clock_ns);
	return passed;
}

/* What one rate refuses must not cost anything of the other one. */
static void test_both(void)
{
	static struct ct_rate_limits l;
	int large, small;

	/* 100 records, 10,000 bytes: 100 of 50 bytes fit, if 200 others that were refused cost nothing. */
	ct_rate_set(&l, 100, 10000);
	large = pass(&l, 1, 5000) + pass(&l, 200, 8000);
	small = pass(&l, 200, 50);
	ok(large == 1 && small == 99, "the byte rate refuses 200 records, which leave the record rate"
	   " alone (%d, then %d of 99)", large, small);
	clock_ns += NSEC_PER_SEC;
	large = pass(&l, 200, 8000);
	small = pass(&l, 200, 1);
	ok(large && large < 3 && small + large <= 101 && small > 90,
	   "a second later the same (%d, then %d)", large, small);
}

/* How many of n records that were written that many ns ago pass now. */
static int late(struct ct_rate_limits *l, int n, u64 ago)
{
	int passed = 0;

	while (n--)
		passed += ct_rate_charge(l, ENTRY, 50, 1, clock_ns - ago, clock_ns);
	return passed;
}

/* Records that are read late may use what was left meanwhile, once. */
static void test_late(void)
{
	static struct ct_rate_limits l;
	int i, live = 0, first, second, burst;

	ct_rate_set(&l, 100, 0);
	for (i = 0; i < 40 * 60; i++) {
		clock_ns += NSEC_PER_SEC / 40;
		live += pass(&l, 1, 50);
	}
	/* A minute at 40 of 100 a second: 60 a second are left. */
	first = late(&l, 5000, 59 * NSEC_PER_SEC);
	second = late(&l, 5000, 59 * NSEC_PER_SEC);
	ok(live == 40 * 60 && first >= 3500 && first <= 3701 && !second,
	   "records that are read a minute late use what was left, once (%d, %d, %d)", live, first,
	   second);
	clock_ns += 1000 * NSEC_PER_SEC;
	burst = late(&l, 1000, NSEC_PER_SEC / 2);
	first = late(&l, 100000, 2 * NSEC_PER_SEC);
	ok(burst == 100 && first >= 255 * 100 && first <= 256 * 100,
	   "of those in time only a burst passes (%d), of the others what 256 seconds left (%d)", burst,
	   first);
	ok(pass(&l, 200, 50) < 60, "and what passed late is no second burst");
}

int main(void)
{
	test_both();
	test_late();
	return tap_done();
}
