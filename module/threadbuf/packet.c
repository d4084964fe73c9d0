// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread wrote into its lane, made into packets that can be passed on.
 *
 * All that lies in that memory may be anything, and change while we look: it is
 * copied once, and only the copy is looked at and passed on.  What a lane is (whose,
 * where it lies, how much of it was read) stands in struct ct_lane_state alone, which
 * nobody maps.  So a lane can harm nothing but its own records.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "core/registry.h"
#include "core/session.h"

/* What a program may record in a lane. */
static const struct ct_class *class_of(const struct ct_thread_record *r)
{
	u32 id = CT_RECORD_CLASS(r->stamp);
	const struct ct_class *c;

	if (id < CT_CLASS_DYNAMIC && id != CT_CLASS_mark && id != CT_CLASS_process &&
	    id != CT_CLASS_range_push && id != CT_CLASS_range_pop && id != CT_CLASS_exit)
		return NULL;
	c = ct_class_find(id);
	return c && c->def.layer == CT_LAYER_USER ? c : NULL;
}

/* The record's time: its claim, but no earlier than the last and not later than now. */
static u64 time_of(const struct ct_lane_state *lane, u64 base, u64 stamp, u64 now)
{
	u64 passed = (stamp - base) & CT_TS_MASK;

	if (passed > CT_TS_MASK / 2)
		return lane->last;
	return clamp(base + passed, lane->last, now);
}

static void check_head(struct ct_lane_state *lane, struct ct_thread_record *r, u64 ts)
{
	u64 duration = r->duration & CT_DURATION_MAX;
	u64 cpu = r->duration >> CT_TS_BITS;

	r->stamp = CT_STAMP(ts, CT_RECORD_CLASS(r->stamp));
	r->flags &= CT_F_INSTANT | CT_F_NO_RESULT | CT_F_ABANDONED | CT_F_TRUNCATED;
	if (r->flags & CT_F_INSTANT)
		duration = 0;
	if (cpu >= nr_cpu_ids)
		cpu = 0xffff;
	r->duration = min(duration, ts - lane->start) | cpu << CT_TS_BITS;
}

/* Kept out by the limits. */
static void count_limited(struct ct_lane_state *lane, struct ct_session_state *s, u32 records)
{
	lane->lost += records;
	WRITE_ONCE(s->facts->lanes_limited, s->facts->lanes_limited + records);
}

/*
 * The records of our copy, made true, without those that the limits keep out.  Returns
 * where the last good one ends; begin is the time of the first, lane->last that of the
 * last.
 */
static u32 check_records(struct ct_lane_state *lane, struct ct_session_state *s, u32 end,
			 u64 base, u64 now, u64 *begin)
{
	u32 at = CT_PACKET_HEAD, to = CT_PACKET_HEAD, payload, size;
	u8 *buf = s->lanes.buf;
	struct ct_thread_record *r;
	const struct ct_class *c;
	struct ct_process *p;

	while (end - at >= sizeof(*r)) {
		r = (void *)(buf + at);
		c = class_of(r);
		if (!c)
			break;
		payload = ct_payload_size(c, r + 1, end - at - sizeof(*r));
		if ((!payload && c->fixed) || payload > end - at - sizeof(*r) || payload % 8)
			break;
		size = sizeof(*r) + payload;
		at += size;
		lane->last = time_of(lane, base, r->stamp, now);
		if (!ct_limit_pay(s, &lane->who, lane->last, size, 1)) {
			count_limited(lane, s, 1);
			continue;
		}
		if (to == CT_PACKET_HEAD)
			*begin = lane->last;
		check_head(lane, r, lane->last);
		if (c->mark_word == CT_MARK_UID)
			*(u32 *)(r + 1) = lane->uid;
		if (c->id == CT_CLASS_process) {
			p = (void *)(r + 1);
			p->ppid = lane->ppid;
			p->uid = lane->uid;
		}
		/* Over those that were kept out. */
		if (to != at - size)
			memmove(buf + to, r, size);
		to += size;
	}
	if (at != end)
		lane->lost++;	/* one at least: how many cannot be said */
	return to;
}

/*
 * A packet of what stands in this slot between from and to.  Returns its bytes: 0 where
 * none of it is passed on, which the next packet tells.
 */
static u32 make_packet(struct ct_lane_state *lane, const u8 *slot, u32 from, u32 to,
		       struct ct_session_state *s)
{
	const struct ct_packet *claim = (const void *)slot;
	struct ct_packet *p = (void *)s->lanes.buf;
	u64 now, base, begin = lane->last, op_base = READ_ONCE(claim->op_base);
	u32 end;

	memcpy(s->lanes.buf + CT_PACKET_HEAD, slot + from, to - from);
	preempt_disable();
	now = ct_clock_ns();
	preempt_enable();
	if (smp_load_acquire(&lane->closed))
		now = min(now, lane->closed);
	now = max(now, lane->last);
	/* A record has 48 bits of its time; the packet says which. */
	base = clamp(READ_ONCE(claim->ts_begin), lane->last, now);
	end = check_records(lane, s, CT_PACKET_HEAD + to - from, base, now, &begin);
	/* One without a record is not free either. */
	if (end == CT_PACKET_HEAD && from != to &&
	    !ct_limit_pay(s, &lane->who, now, CT_PACKET_HEAD, 1))
		return 0;
	*p = (struct ct_packet) {
		.magic = CT_MAGIC,
		.stream_class = CT_STREAM_THREAD,
		.ts_begin = begin,
		.ts_end = lane->last,
		.content_size = end * 8ull,
		.packet_size = end * 8ull,
		.seq = lane->seq++,
		.lost = lane->lost + lane->lost_claimed,
		.pid = lane->pid,
		.tid = lane->tid,
		.op_base = op_base,
	};
	memcpy(p->uuid, s->facts->uuid, sizeof(p->uuid));
	lane->lost_told = p->lost;
	return end;
}

u32 ct_lane_loss_packet(struct ct_lane_state *lane, struct ct_session_state *s)
{
	return make_packet(lane, lane->memory + CT_LANE_DATA, CT_PACKET_HEAD, CT_PACKET_HEAD, s);
}

static const struct ct_packet *slot_of(const struct ct_lane_state *lane, u64 n)
{
	return (const void *)(lane->memory + CT_LANE_DATA + (n & (lane->slots - 1)) * lane->slot_size);
}

/* How many packets were begun, of those that are passed on. */
static u64 begun(const struct ct_lane_state *lane)
{
	/* The packets' heads after it. */
	u64 n = smp_load_acquire(&ct_lane_head_of(lane)->produced);

	/* Asked behind it: if it is still open, what was read came in time. */
	if (smp_load_acquire(&lane->closed))
		n = max(lane->begun, lane->consumed);
	return n;
}

/* Where packet n ends, of what is passed on. */
static u32 content_of(const struct ct_lane_state *lane, u64 n)
{
	const struct ct_packet *p = slot_of(lane, n);
	u32 content = CT_PACKET_HEAD;

	if (READ_ONCE(p->magic) == CT_MAGIC)
		/* The records after it. */
		content = min_t(u64, smp_load_acquire(&p->content_size) / 8, lane->slot_size) & ~7u;
	/* As in begun(). */
	if (smp_load_acquire(&lane->closed))
		content = n < lane->begun ? min(content, lane->content[n & (lane->slots - 1)]) :
					    CT_PACKET_HEAD;
	return content;
}

void ct_lane_close(struct ct_lane_state *lane, u64 now)
{
	u32 i;

	if (lane->closed)
		return;
	lane->begun = begun(lane);
	for (i = 1; i <= lane->slots; i++)
		lane->content[(lane->begun - i) & (lane->slots - 1)] =
			content_of(lane, lane->begun - i);
	/* With all of that: whoever finds it closed finds it so. */
	smp_store_release(&lane->closed, now);
}

/* Is there a record at from in packet n, and was it made before the lane was closed? */
static bool cut(const struct ct_lane_state *lane, u64 n, u32 from)
{
	const struct ct_packet *p = slot_of(lane, n);
	const struct ct_thread_record *r = (const void *)p + from;

	return READ_ONCE(p->magic) == CT_MAGIC && from + sizeof(*r) <= lane->slot_size &&
	       READ_ONCE(p->content_size) / 8 >= from + sizeof(*r) &&
	       CT_UNSTAMP(READ_ONCE(p->ts_begin), READ_ONCE(r->stamp)) <= lane->closed;
}

void ct_lane_count_cut(struct ct_lane_state *lane)
{
	u64 n = lane->begun;

	if (!lane->closed || lane->cut_counted)
		return;
	lane->cut_counted = true;
	/* Where it was writing, or had no room and began a packet. */
	if (n)
		lane->lost += cut(lane, n - 1, lane->content[(n - 1) & (lane->slots - 1)]);
	if (READ_ONCE(ct_lane_head_of(lane)->produced) != n)
		lane->lost += cut(lane, n, CT_PACKET_HEAD);
}

u32 ct_lane_next_packet(struct ct_lane_state *lane, struct ct_session_state *s, bool all)
{
	struct ct_lane_head *h = ct_lane_head_of(lane);
	/* Before the rest: what is closed tells all that it has. */
	bool closed = smp_load_acquire(&lane->dead) || smp_load_acquire(&lane->closed) ||
		      READ_ONCE(s->ended);
	u64 produced = begun(lane);
	u32 content, bytes, from;
	bool full;

	lane->lost_claimed = max(lane->lost_claimed, READ_ONCE(h->lost));
	if (produced - lane->consumed > lane->slots) {
		/* It never began so many: nothing that it says can be believed. */
		lane->lost += !lane->broken;
		lane->broken = true;
		produced = lane->consumed;
	}
	while (lane->consumed != produced) {
		full = lane->consumed + 1 != produced;
		content = content_of(lane, lane->consumed);
		from = lane->offset;
		bytes = 0;
		if (content > from && (full || all || closed)) {
			bytes = make_packet(lane, (const u8 *)slot_of(lane, lane->consumed), from,
					    content, s);
			lane->offset = content;
		}
		if (full) {
			lane->offset = CT_PACKET_HEAD;
			lane->consumed++;
			/* Our reads before it: the slot may be written again. */
			smp_store_release(&h->consumed, lane->consumed);
		}
		if (bytes)
			return bytes;
		if (!full)
			break;
	}
	return 0;
}

/* May this call be told of, which the thread says that it has open? */
static bool open_ok(const struct ct_lane_state *lane, const struct ct_open_call *c)
{
	u32 class = READ_ONCE(c->class);

	return class >= CT_CLASS_DYNAMIC && ct_class_find(class) &&
	       (!lane->closed || READ_ONCE(c->begin) <= lane->closed);
}

void ct_lane_count_open(struct ct_lane_state *lane, struct ct_session_state *s)
{
	const struct ct_open_page *page = (const void *)(lane->memory + PAGE_SIZE);
	u32 depth = min_t(u32, READ_ONCE(page->depth), CT_OPEN_MAX), n = 0;

	if (lane->open_counted)
		return;
	lane->open_counted = true;
	while (n < depth && open_ok(lane, &page->entry[n]))
		n++;
	if (!n || ct_limit_pay(s, &lane->who, lane->last,
			       n * sizeof(struct ct_thread_record), n))
		lane->open = n;
	else
		count_limited(lane, s, n);
}

u32 ct_lane_open_calls(struct ct_lane_state *lane, struct ct_session_state *s)
{
	struct ct_open_page *page = (void *)s->lanes.buf;
	struct ct_open_call *c;
	u32 i;

	memcpy(page, lane->memory + PAGE_SIZE, sizeof(*page));
	page->magic = CT_MAGIC;
	page->abi = CT_ABI_VERSION;
	page->pid = lane->pid;
	page->tid = lane->tid;
	memset(page->reserved, 0, sizeof(page->reserved));
	for (i = 0; i < page->depth && i < lane->open; i++) {
		c = &page->entry[i];
		/* A thread that lives may have changed it since. */
		if (!open_ok(lane, c))
			break;
		c->begin = clamp(c->begin, lane->start, max(lane->last, lane->start));
	}
	page->depth = i;
	return i ? sizeof(*page) : 0;
}

bool ct_lane_unread(const struct ct_lane_state *lane)
{
	const struct ct_open_page *open = (const void *)(lane->memory + PAGE_SIZE);
	u64 waiting = begun(lane) - lane->consumed;

	if (READ_ONCE(open->depth) || READ_ONCE(ct_lane_head_of(lane)->lost) + lane->lost != lane->lost_told)
		return true;
	return waiting == 1 ? content_of(lane, lane->consumed) > lane->offset : waiting;
}
