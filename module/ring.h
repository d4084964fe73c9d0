/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of one CPU.  The algorithm stands at the top of ring.c. */
#ifndef CT_RING_H
#define CT_RING_H

#include <linux/types.h>
#include <asm/local64.h>
#include "cudatrace.h"

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

/* ct_ring_free - give back what ct_ring_init took; nobody may write any more. */
void ct_ring_free(struct ct_ring *r);

/*
 * ct_ring_reserve - room for one record of size bytes on this CPU's ring.
 * @size:	a multiple of 8, at most CT_RECORD_MAX
 * @stamp:	out: ns of CLOCK_MONOTONIC, never less than an earlier record's
 *
 * Any context, NMI included; preemption must be disabled until ct_ring_commit().
 * Returns NULL when the record is lost (it is counted then, and ct_ring_commit()
 * must not be called).
 */
void *ct_ring_reserve(struct ct_ring *r, u32 size, u64 *stamp);

/* ct_ring_commit - the record that the last reserve of this context got is whole. */
void ct_ring_commit(struct ct_ring *r);

/* A number for a call that begins on this CPU: unique, below 2^53 for decades. */
static inline u64 ct_ring_op(struct ct_ring *r)
{
	return (u64)local64_inc_return(&r->op) << 12 | r->cpu;
}

#endif
