// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of one CPU: a ring of sub-buffers, each of which holds one CTF packet.
 *
 * POSITIONS.  A position is the number of bytes since the session began; it only grows.
 * Position p lies at data[p & mask].  head is the next free position.  Readers may read
 * the positions from status->oldest up to status->committed.
 *
 * WRITERS.  Only the CPU that owns a ring writes into it, with preemption disabled.  But
 * writers nest: a probe in an interrupt or an NMI can fire while a marker is being
 * written.  So no function here takes a lock, waits or sleeps.  Nesting is strict: an
 * inner writer leaves before the outer writer that it interrupted continues.
 *
 *   - reserve: head moves by a compare-and-exchange that is atomic against this CPU
 *     only (no lock prefix).  The clock is read inside the retry loop, and the stamp is
 *     clamped to the newest stamp given so far, which itself moves forward only by
 *     compare-and-exchange.  So the order of positions is the order of stamps.
 *     end is the position at which head's packet ends; it saves the fast path the
 *     arithmetic.  deadline is the time from which on the packet takes no further record,
 *     because a record has only the low 48 bits of its time (CT_PACKET_SPAN).  Both are
 *     stored after head has moved into a new packet.  So they may be too low: then the
 *     slow path corrects end, or ends the packet earlier than it must.  But they are
 *     never too high for a head that the compare-and-exchange still finds.
 *   - commit: nest counts the writers that are inside.  When the outermost writer
 *     leaves, all reservations have been written, so it stores head as committed; inner
 *     writers store nothing.  After it has lowered nest, it reads head again: an inner
 *     writer that came in between has left the publishing to it.
 *   - sub-buffer switch, in two steps: the writer that moves head from inside a packet to
 *     the packet's end closes it, and the writer that moves head from there into the next
 *     packet opens that one.  An inner writer may come between any two instructions of
 *     this, so each field of a header has one writer: ts_end, content_size and lost are
 *     stored by who closes the packet, all others by who opens it, who may be the later of
 *     the two.  Both headers lie above committed until the outermost writer leaves, so no
 *     reader sees a half-written one.
 *     A stamp is taken for a packet only once head has reached that packet.  So the newest
 *     stamp before the first step is not newer than the packet's deadline, however long
 *     after that the record comes, and it is the packet's ts_end.
 *
 * A packet is never filled to its last byte by records, and head rests on a packet's begin
 * only before the very first record.  So "committed >= end of the packet" means that the
 * packet's header is final.
 *
 * Between writers barrier() is enough: they run on the same CPU, so only the compiler
 * can reorder their accesses.
 *
 * READERS (in the kernel and by mmap(), see section 5 of cudatrace.h) run on any CPU,
 * take no lock, and no writer waits for them.  The contract:
 *
 *   1. Load committed with acquire semantics; then load data below it.  Pairs with the
 *      smp_store_release() of committed, which orders the writers' stores to the data
 *      and to the packet headers before it.
 *   2. Copy the data.
 *   3. Issue a read barrier (smp_rmb()), then load oldest.  Pairs with the smp_wmb() in
 *      ring_overwrite_oldest(), which orders the store of oldest before the first store
 *      into the packet that is overwritten.  If the copied packet begins below oldest,
 *      the copy may be torn: throw it away.
 *   4. The owner of a lossless ring stores how far it has read in the consumer page,
 *      after copying (with release semantics).  The writer does not trust the value: see
 *      ct_ring_consumed().
 *
 * FULL RING.  Lossless: a packet may not be overwritten before the owner has consumed it;
 * the new record is lost and counted (CT_LOST_FULL).  Overwriting: a packet may not be
 * overwritten before this CPU has committed it, because an outer writer that was
 * interrupted still holds memory of an older packet (CT_LOST_NESTED).
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "base/pages.h"
#include "base/ring.h"

int ct_ring_init(struct ct_ring *r, u32 cpu, u32 size, u32 count,
		 bool overwrite, const u8 *uuid)
{
	int node = cpu_to_node(cpu);

	memset(r, 0, sizeof(*r));
	r->cpu = cpu;
	local64_set(&r->op, CT_RING_OP_NEXT + cpu);
	local64_set(&r->op_begun, cpu);
	r->subbuf_size = size;
	r->size = (u64)size * count;
	r->mask = r->size - 1;
	r->overwrite = overwrite;
	memcpy(r->uuid, uuid, sizeof(r->uuid));
	/*
	 * Zeroed because readers map it; charged to the task that starts the session.  All of it
	 * lies near the CPU that writes it.
	 */
	r->data = ct_pages_alloc(r->size, node);
	r->status = ct_pages_alloc(PAGE_SIZE, node);
	r->consumer = ct_pages_alloc(PAGE_SIZE, node);
	if (!r->data || !r->status || !r->consumer) {
		ct_ring_free(r);
		return -ENOMEM;
	}
	return 0;
}

void ct_ring_free(struct ct_ring *r)
{
	/* Pages that a reader has mapped stay until it unmaps them. */
	vfree(r->data);
	vfree(r->status);
	vfree(r->consumer);
	r->data = NULL;
	r->status = NULL;
	r->consumer = NULL;
}

void ct_ring_publish_again(struct ct_ring *r)
{
	u64 head;

	do {
		r->nest = 1;
		/* nest before the load of head: an inner writer from here on publishes nothing. */
		barrier();
		head = local64_read(&r->head);
		/* Records and headers before committed: pairs with the readers' acquire. */
		smp_store_release(&r->status->committed, head);
		/* committed before nest: an inner writer must not publish before this one. */
		barrier();
		r->nest = 0;
		/* nest before the load of head: see ct_ring_leave(). */
		barrier();
	} while (local64_read(&r->head) != head);
}

static void ring_count_lost(struct ct_ring *r, enum ct_lost reason, u32 records)
{
	local64_add(records, ct_counter(&r->status->lost[reason]));
	ct_ring_leave(r, r->status);
}

/*
 * Take a time stamp that is not below last.  False if an inner writer has taken one since last
 * was read: try again.
 */
static inline bool ring_take_stamp(struct ct_ring *r, u64 last, u64 stamp)
{
	return stamp == last || ct_local64_replace(&r->stamp, last, stamp);
}

u64 ct_ring_consumed(struct ct_ring *r)
{
	u64 last = READ_ONCE(r->consumed), claim = READ_ONCE(r->consumer->consumed);

	/* It never goes back: a writer that interrupts this one may find more. */
	if (claim > last && claim <= READ_ONCE(r->status->committed))
		cmpxchg_local(&r->consumed, last, claim);
	return READ_ONCE(r->consumed);
}

/* May the packet that begins at start be written?  0, or enum ct_lost + 1. */
static int ring_packet_allowed(struct ct_ring *r, u64 start)
{
	u64 end = start + r->subbuf_size;

	if (end <= r->size)
		return 0;
	if (!r->overwrite && end - ct_ring_consumed(r) > r->size)
		return CT_LOST_FULL + 1;
	if (end - r->status->committed > r->size)
		return CT_LOST_NESTED + 1;
	return 0;
}

/* Raise oldest: the packet at start will overwrite the oldest packet of the ring. */
static void ring_overwrite_oldest(struct ct_ring *r, u64 start)
{
	u64 end = start + r->subbuf_size;
	local64_t *oldest = ct_counter(&r->status->oldest);
	u64 old, new;

	if (end <= r->size)
		return;
	new = end - r->size;
	do {
		old = local64_read(oldest);
		if (old >= new)
			return;
	} while (local64_cmpxchg(oldest, old, new) != old);
	if (r->overwrite)
		local64_inc(ct_counter(&r->status->overwritten));
	/*
	 * oldest before the first store into the overwritten packet: pairs with the read
	 * barrier between a reader's copy and its load of oldest.
	 */
	smp_wmb();
}

/* Head has moved from here to the end of its packet; stamp: not older than its last record. */
static void ring_packet_close(struct ct_ring *r, u64 head, u64 stamp)
{
	u64 begin = head & ~(u64)(r->subbuf_size - 1);
	struct ct_packet *p = (void *)(r->data + (begin & r->mask));
	u64 lost = 0;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++)
		lost += READ_ONCE(r->status->lost[i]);
	p->ts_end = stamp;
	p->content_size = (head - begin) * 8;
	p->lost = lost;
}

/*
 * Head has moved from start into the packet there.  An inner writer may have closed it
 * already: ts_end, content_size and lost are that writer's, so they are not touched.
 */
static void ring_packet_open(struct ct_ring *r, u64 start, u64 stamp, u64 records)
{
	struct ct_packet *p = (void *)(r->data + (start & r->mask));

	p->magic = CT_MAGIC;
	memcpy(p->uuid, r->uuid, sizeof(p->uuid));
	p->stream_class = CT_STREAM_CPU;
	p->ts_begin = stamp;
	p->packet_size = (u64)r->subbuf_size * 8;
	p->seq = div_u64(start, r->subbuf_size);
	p->cpu = r->cpu;
	p->pid = 0;
	p->tid = 0;
	p->reserved = 0;
	p->op_base = records;
	/*
	 * An inner writer may have moved head into a later packet meanwhile.  Then these are
	 * too low, and a later writer takes the slow path.
	 */
	WRITE_ONCE(r->deadline, stamp + CT_PACKET_SPAN);
	WRITE_ONCE(r->end, start + r->subbuf_size);
}

/*
 * Does a record of this size and time go into the packet of head?  No if head lies between
 * two packets, if there is no room, or if the packet has lasted too long.
 */
static bool ring_packet_takes(const struct ct_ring *r, u64 head, u32 size, u64 stamp)
{
	u32 offset = head & (r->subbuf_size - 1);

	return offset && offset + size < r->subbuf_size &&
	       stamp < READ_ONCE(r->deadline);
}

struct ct_reservation ct_ring_reserve_slow(struct ct_ring *r, u32 size, u32 records)
{
	struct ct_reservation res = {};
	u64 old, start, last, before;
	int reason;

	if (r->nest > CT_NEST_MAX) {
		ring_count_lost(r, CT_LOST_NESTED, records);
		return res;
	}
	for (;;) {
		/* head first: if an exchange still finds it, last is the newest stamp below it. */
		old = local64_read(&r->head);
		last = local64_read(&r->stamp);
		res.stamp = max_t(u64, ct_clock_ns(), last);
		start = (old + r->subbuf_size - 1) & ~(u64)(r->subbuf_size - 1);
		if (ring_packet_takes(r, old, size, res.stamp)) {
			if (!ring_take_stamp(r, last, res.stamp) ||
			    !ct_local64_replace(&r->head, old, old + size))
				continue;
			/* end may be too low: see ring_packet_open(). */
			WRITE_ONCE(r->end, start);
			res.at = r->data + (old & r->mask);
			return res;
		}
		/* Before head moves at all: it rests on the begin of no packet but the first. */
		reason = ring_packet_allowed(r, start);
		if (reason) {
			ring_count_lost(r, reason - 1, records);
			return res;
		}
		ring_overwrite_oldest(r, start);
		/* Before a record is charged to the new packet. */
		if (r->before_packet)
			r->before_packet(r, start);
		if (old != start) {
			if (!ct_local64_replace(&r->head, old, start))
				continue;
			ring_packet_close(r, old, last);
		}
		/* Before head moves: an inner writer after that is in the new packet. */
		before = local64_read(ct_counter(&r->status->records));
		if (!ring_take_stamp(r, last, res.stamp) ||
		    !ct_local64_replace(&r->head, start, start + CT_PACKET_HEAD + size))
			continue;
		ring_packet_open(r, start, res.stamp, before);
		res.at = r->data + ((start + CT_PACKET_HEAD) & r->mask);
		return res;
	}
}
