// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of one CPU: a row of sub-buffers, each of which is one CTF packet.
 *
 * WRITERS.  Only the CPU that owns a ring writes into it, but writers nest: a
 * probe in an interrupt can hit while a marker is being written.  So nothing
 * here takes a lock or waits, and nothing may sleep.  Nesting is strict (an
 * interrupt returns before what it interrupted goes on), which gives:
 *
 *   - reserve: head moves by a compare-and-exchange that is atomic against this
 *     CPU only (no lock prefix).  The clock is read inside the retry loop and
 *     clamped to the newest stamp given out, which itself only moves forward by
 *     compare-and-exchange: so the order of positions is the order of stamps.
 *     end, where head's packet ends, saves the arithmetic: it is stored after head
 *     has moved, so it may be short of it (then the slow way puts it right), but is
 *     never beyond the packet of a head that the exchange still finds.
 *   - commit: nest counts the writers inside.  When the outermost leaves, all
 *     that was reserved has been written, so it publishes head as committed;
 *     inner ones publish nothing.  After it has lowered nest it looks at head
 *     again, for an inner writer that came in between.
 *   - cancel: as long as no inner writer came in between, head can go back to where
 *     the reservation began: nobody has published it.
 *   - whoever moves head into a new sub-buffer finishes the old packet's header
 *     and writes the new one's.  Both lie above committed until the outermost
 *     writer leaves, so no reader sees them half done.
 *
 * A packet is never filled to its last byte: then head lies on a packet's
 * begin only before the very first record, and "committed >= end of packet"
 * means that its header is final.
 *
 * READERS.  See section 5 of cudatrace.h.  committed is stored with release
 * semantics after the records, and read with acquire before them.  oldest is
 * stored before the first byte of what it gives up is overwritten, and read
 * again after copying.
 *
 * FULL.  Lossless: a packet's begin may not be overwritten before the owner has
 * consumed it; the new record is lost and counted.  Overwriting: the same bound
 * holds against what this CPU itself has not committed yet (an outer writer that
 * was interrupted holds memory of an older packet).
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "base/pages.h"
#include "base/ring.h"

int ct_ring_init(struct ct_ring *r, u32 cpu, u32 size, u32 count,
		 bool overwrite, const u8 *uuid)
{
	memset(r, 0, sizeof(*r));
	r->cpu = cpu;
	local64_set(&r->op, CT_RING_OP_NEXT + cpu);
	r->subbuf_size = size;
	r->size = (u64)size * count;
	r->mask = r->size - 1;
	r->overwrite = overwrite;
	memcpy(r->uuid, uuid, sizeof(r->uuid));
	/* Mapped into user space, so zeroed; on the account of who starts the session. */
	r->data = __vmalloc(r->size, CT_GFP_USER_SIZED);
	r->status = __vmalloc(PAGE_SIZE, CT_GFP_USER_SIZED);
	r->consumer = __vmalloc(PAGE_SIZE, CT_GFP_USER_SIZED);
	if (!r->data || !r->status || !r->consumer) {
		ct_ring_free(r);
		return -ENOMEM;
	}
	return 0;
}

void ct_ring_free(struct ct_ring *r)
{
	/* Pages that are still mapped live on until they are unmapped. */
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
		barrier();
		head = local64_read(&r->head);
		smp_store_release(&r->status->committed, head);
		barrier();
		r->nest = 0;
		barrier();
	} while (local64_read(&r->head) != head);
}

static void ring_lose(struct ct_ring *r, enum ct_lost reason, u32 records)
{
	local64_add(records, ct_counter(&r->status->lost[reason]));
	ct_ring_leave(r, r->status);
}

/* A time stamp not below any that this ring gave out before. */
static inline bool ring_stamp_take(struct ct_ring *r, u64 *stamp)
{
	u64 last = local64_read(&r->stamp);
	u64 now = ct_clock_ns();

	if (now <= last) {
		*stamp = last;
		return true;
	}
	*stamp = now;
	return ct_local64_replace(&r->stamp, last, now);
}

u64 ct_ring_consumed(struct ct_ring *r)
{
	u64 claim = READ_ONCE(r->consumer->consumed);

	if (claim > r->consumed && claim <= r->status->committed)
		r->consumed = claim;
	return r->consumed;
}

/* May the packet that begins at start be written?  Else why not. */
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

/* Tell readers that the packet which the one at start replaces is going. */
static void ring_give_up_oldest(struct ct_ring *r, u64 start)
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
	/* oldest before the first store into the packet: pairs with the reader's
	 * smp_rmb() between its copy and its second look at oldest.
	 */
	smp_wmb();
}

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

static void ring_packet_open(struct ct_ring *r, u64 start, u64 stamp, u64 records)
{
	struct ct_packet *p = (void *)(r->data + (start & r->mask));

	*p = (struct ct_packet) {
		.magic = CT_MAGIC,
		.stream_class = CT_STREAM_CPU,
		.ts_begin = stamp,
		.packet_size = (u64)r->subbuf_size * 8,
		.seq = div_u64(start, r->subbuf_size),
		.cpu = r->cpu,
		.op_base = records,
	};
	memcpy(p->uuid, r->uuid, sizeof(p->uuid));
}

struct ct_reservation ct_ring_reserve_slow(struct ct_ring *r, u32 size, u32 records)
{
	u64 old, start, new, before;
	struct ct_reservation room = {};
	u32 offset;
	int why;

	if (r->nest > CT_NEST_MAX) {
		ring_lose(r, CT_LOST_NESTED, records);
		return room;
	}
	for (;;) {
		old = local64_read(&r->head);
		if (!ring_stamp_take(r, &room.stamp))
			continue;
		offset = old & (r->subbuf_size - 1);
		if (offset && offset + size < r->subbuf_size) {
			if (!ct_local64_replace(&r->head, old, old + size))
				continue;
			start = old - offset;
			room.at = r->data + (old & r->mask);
			break;
		}
		start = old - offset + (old ? r->subbuf_size : 0);
		why = ring_packet_allowed(r, start);
		if (why) {
			ring_lose(r, why - 1, records);
			return room;
		}
		ring_give_up_oldest(r, start);
		if (r->before_packet)
			r->before_packet(r);
		new = start + CT_PACKET_HEAD + size;
		/* Before head moves: whoever comes in between is in the new packet. */
		before = local64_read(ct_counter(&r->status->records));
		if (!ct_local64_replace(&r->head, old, new))
			continue;
		if (old)
			ring_packet_close(r, old, room.stamp);
		ring_packet_open(r, start, room.stamp, before);
		room.at = r->data + ((start + CT_PACKET_HEAD) & r->mask);
		break;
	}
	/*
	 * head is in this packet or in a later one, where an inner writer came in
	 * between; then end falls short of it, and the next writer comes here.
	 */
	WRITE_ONCE(r->end, start + r->subbuf_size);
	return room;
}

bool ct_ring_cancel(struct ct_ring *r, void *at, u32 size)
{
	u64 head = local64_read(&r->head), start = head - size;

	/* Nothing of it was published: this writer is still inside. */
	if (r->data + (start & r->mask) != at ||
	    (start & (r->subbuf_size - 1)) <= CT_PACKET_HEAD ||
	    !ct_local64_replace(&r->head, head, start))
		return false;
	ct_ring_leave(r, r->status);
	return true;
}
