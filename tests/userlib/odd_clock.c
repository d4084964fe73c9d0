// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library's clock as it should never be, without lines: BACK: half of the times are 5 ms
 * late, so that calls end before they begin; else it stands still.  UNEVEN: the real one, on
 * a processor that does not say that its counter runs evenly.  RESET: the counter is set back
 * once, by a thread that makes calls, in the middle of a line: to where $BACK_TO says.
 */
#ifdef UNEVEN
#include <cpuid.h>
#define __get_cpuid(leaf, a, b, c, d)	(*(a) = *(b) = *(c) = *(d) = 0, 1)
#include "../../userlib/base/clock.c"
#elif defined(RESET)
#include "reset_counter.h"

#include <stdio.h>
#include <stdlib.h>

unsigned long long test_back;	/* thunks.S looks at it, too */
#define ct_clock_slow	real_slow
#include "../../userlib/base/clock.c"
#undef ct_clock_slow

u64 ct_clock_slow(struct ct_clock_copy *c);
u64 ct_clock_slow(struct ct_clock_copy *c)
{
	static u64 last;
	const struct ct_clock_segment *l = &own.page.segment[own.lines % CT_CLOCK_SEGMENTS];
	const struct ct_clock_segment *former = &own.page.segment[(own.lines - 1) % CT_CLOCK_SEGMENTS];
	u64 ns = real_slow(c), passed, before = last;

	last = ns;
	if (test_back || c->tsc == CT_CLOCK_NEVER)
		return ns;
	passed = CT_COUNTER() - l->tsc;
	/* It knows by its last time that this one is earlier. */
	if (own.lines >= 3 && ns - before < 5000000 &&
	    passed >= (l->until - l->tsc) / 4 && passed < l->until - l->tsc) {
		switch (*getenv("BACK_TO")) {
		case 'c':	/* the current line */
			test_back = passed / 2;
			break;
		case 'p':	/* the previous one */
			test_back = passed + (l->tsc - former->tsc) / 2;
			break;
		default:
			test_back = passed + (l->tsc - former->tsc) * 2;
		}
	} else {
		c->tsc = CT_CLOCK_NEVER;	/* it asks again */
	}
	return ns;
}

__attribute__((destructor)) static void was_set_back(void)
{
	if (page && !test_back)
		dprintf(2, "the counter was not set back\n");
}
#else
#define CT_REAL_CLOCK
static _Bool counter_usable(void);
#include "../../userlib/base/clock.c"

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
