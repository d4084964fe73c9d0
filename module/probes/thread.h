/* SPDX-License-Identifier: GPL-2.0 */
/* What a thread left open when it left the CPU or began to wait for a fence. */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include <linux/types.h>

struct ct_thread {
	u32 tid;
	u32 state; /* why it left the CPU */
	u64 left; /* ns when it left; 0: it is on a CPU, or left before we began */
	u64 left_op;
	u64 woken; /* ns; 0: not woken since */
	u32 waker;
	u32 reserved;
	u64 waits; /* ns since when it waits for a fence; 0: it does not */
	u64 waits_op;
};

/*
 * ct_thread_of - the entry of this thread, or NULL.
 * @claim:	take the entry over from another thread
 *
 * The table has a fixed size: two threads whose tids have the same remainder share an entry.  What
 * the other thread had open is then reported without its begin.
 * Any context; preemption must be disabled as long as the entry is used.
 */
struct ct_thread *ct_thread_of(u32 tid, bool claim);

/*
 * ct_thread_start - keep the table, and traced processes (core/traced.h), from now on.  0 or
 * -ENOMEM.
 * ct_thread_stop - once for each successful start.  After the last one, no handler uses them.
 * Both may sleep; the caller holds ct_session_lock.
 */
int ct_thread_start(void);
void ct_thread_stop(void);

#endif
