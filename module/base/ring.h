/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of one CPU.  The algorithm stands at the top of ring.c. */
#ifndef CT_RING_H
#define CT_RING_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/local64.h>
#include "base/clock.h"
#include "base/compat.h"
#include "cudatrace.h"

struct ct_ring {
	/* What the writer touches for every record: one cache line. */
	local64_t head;		/* next free position */
	local64_t stamp;	/* newest time stamp given out */
	u64 end;		/* of the packet that head is in, or less */
	u32 nest;		/* writers inside, the outermost included */
	u32 cpu;
	u64 mask;		/* bytes of data - 1 */
	u8 *data;
	struct ct_cpu_status *status;
	local64_t op;		/* the next call's number: see ct_ring_op() */

	/* What only a packet's change needs. */
	/*
	 * Called before a packet is opened; NULL: not.  It runs on this CPU with preemption
	 * disabled, in any context, and may be interrupted by itself.  It is set before
	 * anybody writes.
	 */
	void (*before_packet)(struct ct_ring *r);
	struct ct_cpu_consumer *consumer;
	u64 consumed;		/* the consumer page, checked */
	u64 size;		/* bytes of data */
	u32 subbuf_size;
	bool overwrite;
	u8 uuid[16];
} ____cacheline_aligned;

/*
 * ct_ring_init - allocate a ring of count sub-buffers of size bytes.
 * May sleep.  Returns 0 or -ENOMEM (nothing is kept then).
 */
int ct_ring_init(struct ct_ring *r, u32 cpu, u32 size, u32 count,
		 bool overwrite, const u8 *uuid);

/* ct_ring_consumed - how far the owner of a lossless session has read: checked, never
 * back.  On its CPU with preemption disabled, or when nobody writes any more.
 */
u64 ct_ring_consumed(struct ct_ring *r);

/* ct_ring_free - give back what ct_ring_init took; nobody may write any more. */
void ct_ring_free(struct ct_ring *r);

/* Nested deeper than task, softirq, hardirq, NMI and breakpoints in each. */
#define CT_NEST_MAX	16

/* Where a record goes: at is NULL when it is lost. */
struct ct_reservation {
	void *at;
	u64 stamp;
};

/*
 * The rare half of ct_ring_reserve(): a new packet, a race, a loss, which counts as
 * that of so many records.  r->nest has been raised.
 */
struct ct_reservation ct_ring_reserve_slow(struct ct_ring *r, u32 size, u32 records);

/* The rare half of ct_ring_commit(): somebody came in between. */
void ct_ring_publish_again(struct ct_ring *r);

/* Counters of the status page: one instruction, so interrupts can't tear them. */
static inline local64_t *ct_counter(u64 *p)
{
	BUILD_BUG_ON(sizeof(local64_t) != sizeof(u64));
	return (local64_t *)p;
}

/*
 * ct_ring_reserve - room for size bytes of one or more records on this CPU's ring.
 * @size:	a multiple of 8, at most CT_RECORD_MAX
 * @records:	how many are lost if it fails
 *
 * Any context, NMI included; preemption must be disabled until ct_ring_commit().
 * Returns the place, and the time stamp: ns of CLOCK_MONOTONIC, never less than an
 * earlier record's.  The place is NULL when the record is lost (it is counted then,
 * and ct_ring_commit() must not be called).
 *
 * Inline down to the two compare-and-exchanges, since every record goes this way.
 */
static __always_inline struct ct_reservation ct_ring_reserve(struct ct_ring *r, u32 size,
							     u32 records)
{
	u64 old, last, now;

	r->nest++;
	barrier();
	old = local64_read(&r->head);
	last = local64_read(&r->stamp);
	now = ct_clock_ns();
	/* end is never beyond the packet of a head that the exchange still finds. */
	if (likely(old + size < READ_ONCE(r->end) && now > last &&
		   r->nest <= CT_NEST_MAX &&
		   ct_local64_replace(&r->stamp, last, now) &&
		   ct_local64_replace(&r->head, old, old + size))) {
		u8 *at = r->data + (old & r->mask);

		if (!at)
			__builtin_unreachable();	/* so callers need not ask */
		return (struct ct_reservation){ at, now };
	}
	return ct_ring_reserve_slow(r, size, records);
}

/*
 * Leave the ring: the outermost writer publishes all that was reserved; it looks
 * at head again after it lowered nest, for an inner writer that came in between
 * and left the publishing to it.
 */
static __always_inline void ct_ring_leave(struct ct_ring *r, struct ct_cpu_status *status)
{
	u64 head;

	barrier();
	if (unlikely(r->nest != 1)) {
		barrier();
		r->nest--;
		return;
	}
	head = local64_read(&r->head);
	/* Records before committed: pairs with the readers' acquire. */
	smp_store_release(&status->committed, head);
	barrier();
	r->nest = 0;
	barrier();
	if (unlikely(local64_read(&r->head) != head))
		ct_ring_publish_again(r);
}

/* ct_ring_commit - what the last reserve of this context got is whole. */
static __always_inline void ct_ring_commit(struct ct_ring *r, u32 records)
{
	struct ct_cpu_status *status = r->status;

	local64_add(records, ct_counter(&status->records));
	ct_ring_leave(r, status);
}

/*
 * ct_ring_cancel - instead of ct_ring_commit(): what the last reserve of this context
 * got, size bytes at at, was not needed.  False where it can't be given back: an
 * interrupt has written behind it, or it is the first of its packet.  Then it has to be
 * written and committed all the same.
 */
bool ct_ring_cancel(struct ct_ring *r, void *at, u32 size);

/*
 * Numbers for calls that begin on this CPU: unique, below 2^53 for decades.  The
 * first of so many, each CT_RING_OP_NEXT after the last.
 */
#define CT_RING_OP_NEXT		(1u << 12)
static __always_inline u64 ct_ring_op(struct ct_ring *r, u32 count)
{
	u64 all = (u64)count * CT_RING_OP_NEXT;

	return local64_add_return(all, &r->op) - all;
}

#endif
