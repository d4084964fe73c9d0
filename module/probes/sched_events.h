/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traced threads: whose they are, and what each left open when it left the CPU or
 * began to wait.
 */
#ifndef CT_SCHED_EVENTS_H
#define CT_SCHED_EVENTS_H

#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/types.h>

/* Of a thread; what another thread's took over reads as nothing. */
struct ct_thread {
	u32 tid;
	u32 state;		/* why it left the CPU */
	u64 left;		/* ns, 0: it is on a CPU, or was when we began */
	u64 left_op;
	u64 woken;		/* ns, 0: not woken since */
	u32 waker;
	u32 reserved;
	u64 waits;		/* ns: since when it waits for a fence, 0: not */
	u64 waits_op;
};

/* One bit a process, by tgid: a record of it was written.  NULL: nobody asks. */
extern unsigned long *ct_traced_bits;

/* A record of this process was written.  Any context, preemption disabled. */
static __always_inline void ct_traced_set(u32 tgid)
{
	unsigned long *bits = READ_ONCE(ct_traced_bits);

	if (bits && tgid < PID_MAX_LIMIT && !test_bit(tgid, bits))
		set_bit(tgid, bits);
}

/*
 * ct_thread_of - what is kept of a thread; NULL: nothing is, now.
 * @claim: take it over if it is another thread's.  Threads are many and this is of a
 * fixed size: two of the same remainder share, and what the other had open is told
 * without its begin.
 * Preemption must be disabled.
 */
struct ct_thread *ct_thread_of(u32 tid, bool claim);

/* Get and give back the memory that these groups need: 0 or -ENOMEM; may sleep. */
int ct_sched_events_start(u64 groups);
void ct_sched_events_stop(void);

#endif
