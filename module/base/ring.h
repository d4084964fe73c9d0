/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of one CPU.  Its algorithm and the readers' contract are at the top of ring.c. */
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
	/* Used for every record: one cache line. */
	local64_t head;		/* next free position */
	local64_t stamp;	/* newest time stamp given to a record */
	u64 end;		/* where the packet of head ends; may be too low */
	u64 deadline;		/* ns from which on it takes no record; may be too low */
	u32 nest;		/* writers inside, the outermost included */
	u32 mask;		/* bytes of data - 1 */
	u8 *data;
	struct ct_cpu_status *status;
	local64_t op;		/* the next call's number: see ct_ring_op() */

	local64_t op_begun;	/* the same of the last call that a program began */

	/* Used for a sub-buffer switch alone. */
	u32 cpu;
	/*
	 * Called before the packet that begins at start is opened, if it is not NULL: on this
	 * CPU with preemption disabled, in any context; one call may interrupt another, also
	 * for the same packet.  Set before the first writer.
	 */
	void (*before_packet)(struct ct_ring *r, u64 start);
	struct ct_cpu_consumer *consumer;
	u64 consumed;		/* last valid value of the consumer page */
	u64 size;		/* bytes of data */
	u32 subbuf_size;
	bool overwrite;
	u8 uuid[16];
} ____cacheline_aligned;

/*
 * ct_ring_init - allocate a ring of count sub-buffers of size bytes.
 * May sleep.  Returns 0, or -ENOMEM (then there is nothing to free).
 */
int ct_ring_init(struct ct_ring *r, u32 cpu, u32 size, u32 count,
		 bool overwrite, const u8 *uuid);

/*
 * ct_ring_consumed - the position up to which the owner of a lossless session has read.
 * A value of the consumer page that lies above committed or below an earlier value is
 * ignored.  Call it on the ring's CPU with preemption disabled, or after the last writer
 * has left.
 */
u64 ct_ring_consumed(struct ct_ring *r);

/* ct_ring_free - free the memory of ct_ring_init(), after the last writer has left. */
void ct_ring_free(struct ct_ring *r);

/* Writers that may nest: more than task, softirq, hardirq, NMI and breakpoints in each. */
#define CT_NEST_MAX	16

/* A reservation: where the record goes (NULL: it is lost), and its time stamp in ns. */
struct ct_reservation {
	void *at;
	u64 stamp;
};

/*
 * The slow path of ct_ring_reserve(): a sub-buffer switch, a race with an inner writer,
 * or a loss, which is counted as that many records.  The caller has raised r->nest.
 */
struct ct_reservation ct_ring_reserve_slow(struct ct_ring *r, u32 size, u32 records);

/* The slow path of ct_ring_leave(): an inner writer moved head meanwhile. */
void ct_ring_publish_again(struct ct_ring *r);

/* A counter of the status page: one instruction updates it, so interrupts don't tear it. */
static inline local64_t *ct_counter(u64 *p)
{
	BUILD_BUG_ON(sizeof(local64_t) != sizeof(u64));
	return (local64_t *)p;
}

/*
 * ct_ring_reserve - reserve size bytes for one or more records on this CPU's ring.
 * @size:	a multiple of 8, at most CT_RECORD_MAX
 * @records:	how many records count as lost if it fails
 *
 * Any context, NMI included; preemption must stay disabled until ct_ring_commit().  Returns
 * the address, and the time stamp: ns of CLOCK_MONOTONIC, never less than that of an earlier
 * record.  The address is NULL if the records are lost: they are counted already, and the
 * caller must not commit.
 *
 * The fast path is inline, down to the two compare-and-exchanges, because every record
 * takes it.
 */
static __always_inline struct ct_reservation ct_ring_reserve(struct ct_ring *r, u32 size,
							     u32 records)
{
	u64 old, last, now;

	r->nest++;
	/*
	 * nest before head moves: an inner writer that interrupts from here on sees that it
	 * is not the outermost one, and does not publish this reservation.
	 */
	barrier();
	old = local64_read(&r->head);
	last = local64_read(&r->stamp);
	now = ct_clock_ns();
	/* Neither end nor deadline is ever too high for a head that the exchange still finds. */
	if (likely(old + size < READ_ONCE(r->end) && now < READ_ONCE(r->deadline) && now > last &&
		   r->nest <= CT_NEST_MAX &&
		   ct_local64_replace(&r->stamp, last, now) &&
		   ct_local64_replace(&r->head, old, old + size))) {
		u8 *at = r->data + (old & r->mask);

		if (!at)
			__builtin_unreachable();	/* so that callers omit the test */
		return (struct ct_reservation){ at, now };
	}
	return ct_ring_reserve_slow(r, size, records);
}

/*
 * Leave the ring.  The outermost writer publishes all reservations.  After it has lowered
 * nest it reads head again, because an inner writer that came in between has left the
 * publishing to it.
 */
static __always_inline void ct_ring_leave(struct ct_ring *r, struct ct_cpu_status *status)
{
	u64 head;

	/* The record's stores before nest is lowered, in both branches. */
	barrier();
	if (unlikely(r->nest != 1)) {
		barrier();
		r->nest--;
		return;
	}
	head = local64_read(&r->head);
	/* Records and headers before committed: pairs with the readers' acquire. */
	smp_store_release(&status->committed, head);
	/* committed before nest: once nest is 0, an interrupting writer publishes itself. */
	barrier();
	r->nest = 0;
	/*
	 * nest before the second load of head: a writer that interrupted before this store
	 * published nothing, so its head must be seen here.
	 */
	barrier();
	if (unlikely(local64_read(&r->head) != head))
		ct_ring_publish_again(r);
}

/* ct_ring_commit - this context's last reservation is completely written. */
static __always_inline void ct_ring_commit(struct ct_ring *r, u32 records)
{
	struct ct_cpu_status *status = r->status;

	local64_add(records, ct_counter(&status->records));
	ct_ring_leave(r, status);
}

/*
 * ct_ring_op - numbers (op) for count calls that begin on this CPU.  Returns the first;
 * each further one is CT_RING_OP_NEXT larger.  They are unique over all CPUs, stay below 2^53
 * for decades, and have no bit CT_OP_BEGUN.
 * ct_ring_op_begun - one for a program that begins a call.  It has the bit CT_OP_BEGUN.  These are
 * counted by themselves, because the program learns the number.
 */
#define CT_RING_OP_NEXT		BIT(13)
static __always_inline u64 ct_ring_op(struct ct_ring *r, u32 count)
{
	u64 all = (u64)count * CT_RING_OP_NEXT;

	return local64_add_return(all, &r->op) - all;
}

static __always_inline u64 ct_ring_op_begun(struct ct_ring *r)
{
	return local64_add_return(CT_RING_OP_NEXT, &r->op_begun) | CT_OP_BEGUN;
}

#endif
