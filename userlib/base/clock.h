/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock of all records: CLOCK_MONOTONIC, by a line from the time-stamp counter
 * where that can be trusted (half the cost of the vDSO), else by the vDSO.
 *
 * The lines come from the module's page, or from a page of the library's own that
 * whoever asks after a line's end carries on; the rules are in section 6 of
 * cudatrace.h.  A thread keeps a copy of the line that it uses.
 */
#ifndef CT_USERLIB_CLOCK_H
#define CT_USERLIB_CLOCK_H

#include "base/sys.h"

/*
 * A thread's copy, valid while counter - tsc < 2^32: carried back so far from the line's
 * end that one comparison tells both whether there is a line and whether it has ended.
 * It rounds otherwise than the line, by 1 ns at most.  A counter that is set back by less
 * is not seen here, but by whoever finds a time to be earlier than the last.
 */
struct ct_clock_copy {
	u64 tsc;		/* CT_CLOCK_NEVER: no line */
	u64 ns;
	u64 mult;		/* ns a tick, 31 bits of it behind the point; less than 2^32 */
};

#define CT_CLOCK_NEVER	(1ull << 63)
#define CT_CLOCK_COPY	{ .tsc = CT_CLOCK_NEVER }	/* what a copy begins with */

/*
 * CLOCK_MONOTONIC of the machine, also in another time namespace, from the vDSO (the real one:
 * no function that can be replaced).
 */
u64 ct_clock_real(void);

/* The thread has no copy, or the line has ended. */
u64 ct_clock_slow(struct ct_clock_copy *c);

/* A time is earlier than the thread's last: was the counter set back? */
void ct_clock_earlier(struct ct_clock_copy *c, u64 last);

#ifndef CT_COUNTER
#define CT_COUNTER()	__builtin_ia32_rdtsc()
#endif

static inline u64 ct_clock_now(struct ct_clock_copy *c)
{
	u64 passed = CT_COUNTER() - c->tsc;

	if (unlikely(passed >> 32))
		return ct_clock_slow(c);
	return c->ns + (passed * c->mult >> 31);
}

/* Before the first call is recorded; only looks for the vDSO. */
void ct_clock_start(void);

/* With the process's lock held, at the first call of a process and of its children. */
void ct_clock_renew(void);

/* From now on the module's page, which is mapped here; NULL: it is not any more. */
void ct_clock_use(const struct ct_clock_page *page);

#endif
