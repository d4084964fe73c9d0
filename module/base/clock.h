/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of all records, in nanoseconds: see section 6 of cudatrace.h. */
#ifndef CT_CLOCK_H
#define CT_CLOCK_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/msr.h>
#include "cudatrace.h"

/* The page that programs map. */
extern struct ct_clock_page *ct_clock_page;

int ct_clock_init(void);
void ct_clock_exit(void);

/*
 * ct_clock_start, ct_clock_stop - make clock segments while a session runs.
 * Both may sleep.  The caller holds ct_session_lock.
 */
void ct_clock_start(void);
void ct_clock_stop(void);

/*
 * ct_clock_map - map the page, read-only, into the current process.
 * @unmapped:	called once, where it may sleep, when neither the process nor a child that inherited
 *		the mapping has it any more; also if this function fails
 * Returns the address or a negative errno.  May sleep.
 */
long ct_clock_map(void (*unmapped)(void));

/* A segment as the module caches it for its own stamps. */
struct ct_clock_cached {
	u64 tsc;
	u64 ns;
	u64 mult;
	u64 limit;		/* it is used for this many ticks from tsc; 0: no segment */
};

/* The newest segment.  It is never NULL. */
extern const struct ct_clock_cached *ct_clock_cached;

/* The slow path of ct_clock_ns(): uses the segment before the newest one, or none. */
u64 ct_clock_ns_slow(void);

/* Off if no segments are made: tsc_clock=0, or the kernel does not trust the counter. */
DECLARE_STATIC_KEY_TRUE(ct_clock_usable);

/*
 * ct_clock_ns - ns of CLOCK_MONOTONIC, by the clock segment if there is one.
 *
 * Any context, NMI included.  Preemption must be disabled; otherwise the segment may
 * expire between the two loads, and the result is that of the kernel's clock, which
 * differs by a few ns.  A pure function of the counter: as long as there is a segment, a
 * later reading on any CPU is never less than an earlier one.
 */
static __always_inline u64 ct_clock_ns(void)
{
	const struct ct_clock_cached *seg;
	u64 passed;

	if (!static_branch_likely(&ct_clock_usable))
		return ktime_get_mono_fast_ns();
	/*
	 * The segment was stored before the pointer: pairs with the release in
	 * clock_publish().  It stays valid until CT_CLOCK_SEGMENTS - 1 more were made.
	 */
	seg = READ_ONCE(ct_clock_cached);
	passed = rdtsc_ordered() - seg->tsc;
	/* If the segment has not begun, passed wraps to a huge number: the slow path too. */
	if (unlikely(passed >= seg->limit))
		return ct_clock_ns_slow();
	return seg->ns + (passed * seg->mult >> 32);
}

/* ct_clock_now - the same where preemption may be enabled. */
static inline u64 ct_clock_now(void)
{
	u64 now;

	preempt_disable();
	now = ct_clock_ns();
	preempt_enable();
	return now;
}

#endif
