/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of all records: see section 6 of cudatrace.h. */
#ifndef CT_CLOCK_H
#define CT_CLOCK_H

#include <linux/compiler.h>
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

/*
 * ct_clock_ns - ns of CLOCK_MONOTONIC, by the line where there is one.
 *
 * Any context, NMI included, with preemption disabled (or the answer may be that of
 * clock_gettime, a few ns beside the line).  A pure function of the counter: what is
 * read later, on any CPU, is never less, as long as there is a line.
 */
static __always_inline u64 ct_clock_ns(void)
{
	const struct ct_clock_page *p = ct_clock_page;
	const struct ct_clock_line *l;
	u32 n = READ_ONCE(p->newest);
	u64 now, passed;

	if (unlikely(!n))
		return ktime_get_mono_fast_ns();
	/* The line was written before newest, and lines are kept for three more. */
	l = &p->line[n % CT_CLOCK_LINES];
	now = rdtsc_ordered();
	if (unlikely(now < l->tsc))
		l = &p->line[(n - 1) % CT_CLOCK_LINES];
	passed = now - l->tsc;
	if (unlikely(passed >= 2 * (l->until - l->tsc)))
		return ktime_get_mono_fast_ns();
	return l->ns + (passed * l->mult >> 32);
}

#endif
