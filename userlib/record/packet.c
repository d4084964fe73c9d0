// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing records into the thread's packet; see packet.h.
 *
 * Only the thread itself writes, and its signal handlers, which may interrupt it at any
 * instruction, write too, and return or leave by longjmp.  So a record is written
 * behind the content, where it does not count yet, and then committed by two compare-
 * and-exchanges, ts_end and content_size, which fail if a handler has written since
 * they were read.  Each of these instructions leaves a valid packet, and an earlier time
 * never follows a later one.
 *
 * A handler's record must not lie where the writer that it interrupts still stores its
 * own.  So a writer first says what it is about to write (struct ct_claim, on its stack,
 * where t->writer points).  A handler that finds a claim whose writer lives writes that
 * record first, then its own behind it, and notes in the claim that it was done: the
 * writer then stores the same once more, and its commit fails.  A writer that holds a
 * claim never changes the packet; room for handlers is kept (SLACK).
 *
 * thunks.S commits otherwise, as a compare-and-exchange takes the CPU longer than the rest
 * of it.  What it is about to store into ts_end and content_size lies in its claim as well;
 * a handler that writes brings that up to date, and each is popped from there into the
 * packet.  That is one instruction, so nothing is stored that is not true any more.
 */
#include "record/packet.h"

#include "tracedir/lost.h"
#include "base/process.h"
#include "tracedir/registry.h"

/* Room that only writers in signal handlers may use. */
#define SLACK		512u

/*
 * A record's time has 48 bits: a packet of a thread that rests for days ends.  thunks.S
 * does not ask, but no line of the clock lasts so long, and a call that finds its line
 * at an end is recorded here.
 */
#ifndef SPAN_MAX
#define SPAN_MAX	(1ull << 47)
#endif

struct ct_packet ct_no_packet;

void ct_packet_none(struct ct_thread *t)
{
	if (t->packet->ts_end > t->last)
		t->last = t->packet->ts_end;
	t->packet = &ct_no_packet;
	t->limit = 0;
	t->packet_size = 0;
}

void ct_packet_begin(struct ct_thread *t, void *memory, u32 size, u64 op, u64 end)
{
	struct ct_packet *p = memory;
	u64 last = t->packet->ts_end > t->last ? t->packet->ts_end : t->last;
	u64 now = end ? end : ct_clock_now(&t->clock);

	if (now < last)
		now = last;
	/* Where something stood before, it is no packet from here on. */
	*(volatile u32 *)&p->magic = 0;
	barrier();
	memset(p, 0, sizeof(*p));
	memcpy(p->uuid, ct_registry_uuid(), 16);
	p->stream_class = CT_STREAM_THREAD;
	p->ts_begin = now;
	p->ts_end = now;
	p->content_size = CT_PACKET_HEAD * 8;
	p->packet_size = size * 8ull;
	p->seq = t->producer.seq;
	p->lost = t->producer.lost;
	p->pid = ct_process->pid;
	p->tid = t->tid;
	/* Calls that are open now end in this packet, or later. */
	t->op_base = t->open->depth ? t->open->entry[0].op : op;
	/* ... but one that began before its backend changed has an op of its own. */
	if (op - t->op_base >= CT_OP_SPAN)
		t->op_base = op;
	p->op_base = t->op_base;
	barrier();
	p->magic = CT_MAGIC;	/* last: without it the packet is cut off */
	barrier();
	ct_producer_begun(&t->producer, p);
	t->packet = p;
	t->last = now;
	t->packet_size = size;
	t->limit = (size - SLACK) * 8ull;
	t->deadline = now + SPAN_MAX;
}

cold void ct_packet_lose(struct ct_thread *t)
{
	struct ct_claim c = { .mark = CT_CLAIM_DONE };
	struct ct_producer *s = &t->producer;
	u64 writer = t->writer;

	/* What returns in a child before its own first call is its parent's to record. */
	if (t->life != ct_process->life)
		return;
	/* As long as a writer is inside, no handler lets go of the packet. */
	if (!writer)
		t->writer = (u64)&c;
	barrier();
	/* A head that may have been copied already, or none, counts no more. */
	if ((ct_producer_valid(s) && (t->limit || s->m.lost)) || !ct_lost_add()) {
		ct_local_add(&s->lost, 1);
		if (s->m.lost)
			*s->m.lost = s->lost;
		if (t->packet != &ct_no_packet)
			t->packet->lost = s->lost;
	}
	barrier();
	t->writer = writer;
}

#define RETRY	256		/* records lost between two looks at a full disk */

static bool new_packet(struct ct_thread *t, const struct ct_record *e, u64 ts)
{
	struct ct_producer_room room;
	bool ok;
	u64 mask;

	/* What returns in a child before its own first call is its parent's to record. */
	if (t->life != ct_process->life)
		return false;
	if (t->retry) {
		t->retry--;
		return false;
	}
	mask = ct_signals_block();
	ct_packet_none(t);
	ok = ct_producer_next(&t->producer, &room);
	ct_thread_update(t);
	if (ok)
		ct_packet_begin(t, room.at, room.size, e->op, room.late ? 0 : ts);
	ct_signals_restore(mask);
	if (!ok)
		t->retry = RETRY;
	return ok;
}

/* When it happened, unless a handler's record came later: then, now. */
static u64 stamp(struct ct_thread *t, const struct ct_record *e, u64 end)
{
	u64 ts = e->end;

	if (!ts || ts < end)
		ts = ct_clock_now(&t->clock);
	return ts < end ? end : ts;
}

/* Whole words: bytes put together again stall the CPU. */
static void fill(const struct ct_thread *t, struct ct_packet *p, u64 content, u64 stamp,
		 u32 word, u64 op, u64 duration, const u64 *payload, u32 size)
{
	u64 *r = (u64 *)((u8 *)p + content / 8);

	/* The clock may have been set back in the call. */
	if ((s64)duration < 0)
		duration = 0;
	if (duration > CT_DURATION_MAX)
		duration = CT_DURATION_MAX;
	r[0] = stamp;
	r[1] = (u32)(op - t->op_base) | (u64)word << 32;
	r[2] = duration | (u64)*(const volatile u32 *)t->cpu << 48;
	for (u32 i = 0; i < size / 8; i++)
		r[3 + i] = payload[i];
}

/* The last step of a record: false if somebody wrote meanwhile. */
static bool commit(struct ct_packet *p, u64 content, u32 size, u64 end, u64 ts)
{
	return ct_local_cmpxchg((u64 *)&p->ts_end, end, ts) &&
	       ct_local_cmpxchg((u64 *)&p->content_size, content,
				content + (sizeof(struct ct_thread_record) + size) * 8);
}

/* By a handler, or by its own writer. */
static bool done(const struct ct_claim *c)
{
	return *(const volatile u32 *)&c->mark == CT_CLAIM_DONE;
}

/* Is the record of this claim the packet's last? */
static bool committed(const struct ct_thread *t, const struct ct_packet *p,
		      const struct ct_claim *c)
{
	u64 size = sizeof(struct ct_thread_record) + c->size;
	u64 content = p->content_size / 8;
	const u64 *last = (const u64 *)((const u8 *)p + content - size);

	/* By thunks.S, whose claim still stands (perhaps without its op). */
	if (c->end << 16 == c->stamp << 16 && c->end == p->ts_end &&
	    c->content == p->content_size)
		return true;
	return content >= CT_PACKET_HEAD + size && last[0] == c->stamp &&
	       last[1] == ((u32)(c->op - t->op_base) | (u64)c->word << 32);
}

/*
 * Is the writer about to pop what its claim says, which the record that comes now changes?
 * The claim's memory may be a living frame's, with an old mark in it: so it is written to
 * only where it holds just what it must.
 */
static bool about_to_commit(const struct ct_packet *p, const struct ct_claim *c)
{
	if (done(c))	/* by a handler, which left here what it had made of the packet */
		return c->end == p->ts_end && c->content == p->content_size;
	return c->mark == CT_CLAIMED && c->end << 16 == c->stamp << 16 &&
	       c->content == p->content_size + (sizeof(struct ct_thread_record) + c->size) * 8;
}

/*
 * A handler's record, while the writer that it interrupted holds the claim at this
 * address.  Its stack is looked at as if it might be gone, which is not known for sure.
 */
static cold void record_inside(struct ct_thread *t, const struct ct_record *e, u64 at)
{
	u64 mask = ct_signals_block();
	struct ct_packet *p = t->packet;
	u64 content = p->content_size / 8, end = p->ts_end, ts;
	u32 head = sizeof(struct ct_thread_record), its = 0;
	struct ct_claim c;
	s64 later;
	bool help, pops, stands;

	if (!ct_stack_read(&c, at, sizeof(c)))
		goto lost;
	/* One whose time is past has yet to see that, and will then begin anew. */
	later = (s64)((c.stamp << 16) - (end << 16)) >> 16;
	if (c.size > CT_RECORD_MAX)
		goto lost;
	pops = about_to_commit(p, &c);
	stands = c.mark == CT_CLAIMED && committed(t, p, &c);
	help = c.mark == CT_CLAIMED && later >= 0 && !stands && c.op - t->op_base < CT_OP_SPAN;
	if (help) {
		its = head + c.size;
		end += (u64)later;
	}
	ts = stamp(t, e, end);
	if (!t->limit || content + its + head + e->size > t->packet_size)
		goto lost;
	if (help) {
		fill(t, p, content * 8, c.stamp, c.word, c.op,
		     c.word & CT_WORD_INSTANT ? 0 : end - c.begin, NULL, 0);
		if (c.size && !ct_stack_read((u8 *)p + content + head, (u64)c.payload, c.size))
			goto lost;
	}
	fill(t, p, (content + its) * 8, CT_STAMP(ts, e->class),
	     CT_RECORD_WORD(e->depth, e->flags, e->result), e->op,
	     e->begin ? ts - e->begin : 0, e->payload, e->size);
	barrier();
	*(volatile u64 *)&p->ts_end = ts;
	*(volatile u64 *)&p->content_size = (content + its + head + e->size) * 8;
	if (pops) {
		((volatile struct ct_claim *)at)->end = ts;
		((volatile struct ct_claim *)at)->content = p->content_size;
	}
	if (help || stands)
		((volatile struct ct_claim *)at)->mark = CT_CLAIM_DONE;
	ct_signals_restore(mask);
	return;
lost:
	ct_packet_lose(t);
	ct_signals_restore(mask);
}

void ct_packet_record(struct ct_thread *t, const struct ct_record *e)
{
	struct ct_claim c = {
		.op = e->op, .begin = e->begin, .payload = e->payload,
		.word = CT_RECORD_WORD(e->depth, e->flags, e->result), .size = e->size,
	};
	u64 content, end, ts, writer = t->writer;
	struct ct_packet *p;
	bool room;

	if (writer && ct_writer_lives(writer, (u64)&c)) {
		record_inside(t, e, writer);
		return;
	}
	ts = e->end ? e->end : ct_clock_now(&t->clock);
	for (;;) {
		c.stamp = CT_STAMP(ts, e->class);
		c.mark = CT_CLAIMED;
		barrier();
		t->writer = (u64)&c;
		barrier();
		/* Not before: a handler may have let go of the packet. */
		p = t->packet;
		content = *(volatile u64 *)&p->content_size;
		end = *(volatile u64 *)&p->ts_end;
		barrier();
		room = ts <= t->deadline && e->op - t->op_base < CT_OP_SPAN &&
		       content + (sizeof(struct ct_thread_record) + e->size) * 8 <= t->limit;
		/* (Of the same time may be what a handler wrote since we said what we write.) */
		if (room && ts >= end && !done(&c)) {
			fill(t, p, content, c.stamp, c.word, e->op,
			     e->begin ? ts - e->begin : 0, e->payload, e->size);
			if (commit(p, content, e->size, end, ts)) {
				c.mark = CT_CLAIM_DONE;
				t->last = ts;
			}
		}
		barrier();
		t->writer = 0;
		barrier();
		if (done(&c))
			return;
		/* A handler was first, or there is no room. */
		if (ts < end) {
			ct_clock_earlier(&t->clock, end);
			ts = ct_clock_now(&t->clock);
			ts = ts < end ? end : ts;
		} else if (!room && !new_packet(t, e, ts)) {
			ct_packet_lose(t);
			return;
		}
	}
}
