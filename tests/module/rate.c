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
		passed += ct_rate_charge(l, ENTRY, size, 1, clock_ns, false);
	return passed;
}

/* What one rate refuses must not cost anything of the other one. */
static void test_both(void)
{
	struct ct_rate_limits l = { 0 };
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
	ct_rate_free(&l);
}

int main(void)
{
	test_both();
	return tap_done();
}
