/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of one CPU.  The algorithm stands at the top of ring.c. */
#ifndef CT_RING_H
#define CT_RING_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/local64.h>
#include "clock.h"
#include "cudatrace.h"

/*
 * Memory of a session: charged to the memory cgroup of the task that starts it, and
 * refused there rather than making room by killing.
 */
#define CT_GFP_RING	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL)

struct ct_ring {
	/* What the writer touches for every record: one cache line. */
	local64_t head;		/* next free position */
	local64_t stamp;	/* newest time stamp given out */
	u32 nest;		/* writers inside, the outermost included */
	u32 subbuf_size;
	u64 mask;		/* bytes of data - 1 */
	u8 *data;
	struct ct_cpu_status *status;
	local64_t op;		/* calls begun here so far */

	/* What only a packet's change needs. */
	struct ct_cpu_consumer *consumer;
	u64 consumed;		/* the consumer page, checked */
	u64 size;		/* bytes of data */
	u32 cpu;
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

/*
 * The rare half of ct_ring_reserve(): a new packet, a race, a loss, which counts as
 * that of so many records.  r->nest has been raised.
 */
void *ct_ring_reserve_slow(struct ct_ring *r, u32 size, u64 *stamp, u32 records);

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
 * @stamp:	out: ns of CLOCK_MONOTONIC, never less than an earlier record's
 * @records:	how many are lost if it fails
 *
 * Any context, NMI included; preemption must be disabled until ct_ring_commit().
 * Returns NULL when the record is lost (it is counted then, and ct_ring_commit()
 * must not be called).
 *
 * Inline down to the two compare-and-exchanges, since every record goes this way.
 */
static __always_inline void *ct_ring_reserve(struct ct_ring *r, u32 size, u64 *stamp,
					     u32 records)
{
	u64 old, last, now;
	u32 offset;

	r->nest++;
	barrier();
	old = local64_read(&r->head);
	last = local64_read(&r->stamp);
	now = ct_clock_ns();
	offset = old & (r->subbuf_size - 1);
	if (likely(offset && offset + size < r->subbuf_size && now > last &&
		   r->nest <= CT_NEST_MAX &&
		   local64_cmpxchg(&r->stamp, last, now) == last &&
		   local64_cmpxchg(&r->head, old, old + size) == old)) {
		*stamp = now;
		return r->data + (old & r->mask);
	}
	return ct_ring_reserve_slow(r, size, stamp, records);
}

/*
 * Leave the ring: the outermost writer publishes all that was reserved; it looks
 * at head again after it lowered nest, for an inner writer that came in between
 * and left the publishing to it.
 */
static __always_inline void ct_ring_leave(struct ct_ring *r)
{
	u64 head;

	barrier();
	if (unlikely(r->nest != 1)) {
		r->nest--;
		return;
	}
	head = local64_read(&r->head);
	/* Records before committed: pairs with the readers' acquire. */
	smp_store_release(&r->status->committed, head);
	barrier();
	r->nest = 0;
	barrier();
	if (unlikely(local64_read(&r->head) != head))
		ct_ring_publish_again(r);
}

/* ct_ring_commit - what the last reserve of this context got is whole. */
static __always_inline void ct_ring_commit(struct ct_ring *r, u32 records)
{
	local64_add(records, ct_counter(&r->status->records));
	ct_ring_leave(r);
}

/* A number for a call that begins on this CPU: unique, below 2^53 for decades. */
static inline u64 ct_ring_op(struct ct_ring *r)
{
	return (u64)local64_inc_return(&r->op) << 12 | r->cpu;
}

#endif
