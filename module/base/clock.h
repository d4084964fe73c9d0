/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of all records: see section 6 of cudatrace.h. */
#ifndef CT_CLOCK_H
#define CT_CLOCK_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/msr.h>
#include "cudatrace.h"

/* The page that programs map too. */
extern struct ct_clock_page *ct_clock_page;

int ct_clock_init(void);
void ct_clock_exit(void);

/*
 * ct_clock_start, ct_clock_stop - keep the lines going while a session runs.
 * May sleep; the caller holds ct_session_lock.
 */
void ct_clock_start(void);
void ct_clock_stop(void);

/*
 * ct_clock_map - map the page into the current process.
 * Returns its address or a negative errno.
 */
long ct_clock_map(void);

/* The newest line once more, as the module's own stamps want it. */
struct ct_clock_own {
	u64 tsc;
	u64 ns;
	u64 mult;
	u64 limit;		/* ticks from tsc on in which it is used; 0: there is none */
};
extern const struct ct_clock_own *ct_clock_own;

/* The rest of ct_clock_ns(): the line before, or none. */
u64 ct_clock_ns_slow(void);

/* Off while there are no lines to come: the module was told so, or the counter is bad. */
DECLARE_STATIC_KEY_TRUE(ct_clock_usable);

/*
 * ct_clock_ns - ns of CLOCK_MONOTONIC, by the line where there is one.
 *
 * Any context, NMI included, with preemption disabled (or the answer may be that of
 * clock_gettime, a few ns beside the line).  A pure function of the counter: what is
 * read later, on any CPU, is never less, as long as there is a line.
 */
static __always_inline u64 ct_clock_ns(void)
{
	const struct ct_clock_own *l;
	u64 passed;

	if (!static_branch_likely(&ct_clock_usable))
		return ktime_get_mono_fast_ns();
	/* It was written before the pointer, and is kept for three more. */
	l = READ_ONCE(ct_clock_own);
	passed = rdtsc_ordered() - l->tsc;
	/* Also where it has not begun: passed is less than 0 then. */
	if (unlikely(passed >= l->limit))
		return ct_clock_ns_slow();
	return l->ns + (passed * l->mult >> 32);
}

#endif
