// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library's clock as it should never be, without lines: BACK: half of the times are 5 ms
 * late, so that calls end before they begin; else it stands still.  UNEVEN: the real one, on
 * a processor that does not say that its counter runs evenly.  RESET: the counter is set back
 * by 2^29 ticks, once, at the begin of the third line.
 */
#ifdef UNEVEN
#include <cpuid.h>
#define __get_cpuid(leaf, a, b, c, d)	(*(a) = *(b) = *(c) = *(d) = 0, 1)
#include "../../userlib/clock.c"
#elif defined(RESET)
#include "reset_counter.h"

unsigned long long test_back;	/* thunks.S looks at it, too */
#define ct_clock_slow	real_slow
#include "../../userlib/clock.c"
#undef ct_clock_slow

u64 ct_clock_slow(struct ct_clock_copy *c);
u64 ct_clock_slow(struct ct_clock_copy *c)
{
	u64 ns = real_slow(c);

	if (own.lines == 3 && c->tsc != CT_CLOCK_NEVER)
		test_back = 1ull << 29;
	return ns;
}
#else
#define CT_REAL_CLOCK
static _Bool counter_usable(void);
#include "../../userlib/clock.c"

u64 ct_clock_real(void)
{
#ifdef BACK
	static u64 n, odd = 1;

	n++;
	odd ^= odd << 13;
	odd ^= odd >> 7;
	odd ^= odd << 17;
	return 1000000000ull + n * 10000 + (odd & 1 ? 5000000 : 0);
#else
	return 1000000000ull;
#endif
}

static bool counter_usable(void)
{
	return false;
}
#endif
