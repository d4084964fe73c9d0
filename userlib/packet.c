// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing records into the thread's packet; see packet.h.
 *
 * Only the thread itself writes, and its signal handlers, which may interrupt it at any
 * instruction, write too, and return or leave by longjmp.  So a record is written
 * behind the content, where it does not count yet, and then committed by two compare-
 * and-exchanges, ts_end and content_size, which fail if a handler has written since
 * they were read: then it is done again, behind the handler's.  Each of these
 * instructions leaves a valid packet, and an earlier time never follows a later one.
 *
 * The outermost writer puts its place on the stack into t->writer.  One that finds
 * somebody there that lives must leave the packet in place: it may only use the room
 * that is kept for such (SLACK).
 */
#include "packet.h"

#include "process.h"
#include "registry.h"
#include "writer.h"

/* Room that only writers in signal handlers may use. */
#define SLACK		512u

/* A record's time has 48 bits: a packet of a thread that rests for days ends. */
#define SPAN_MAX	(1ull << 47)

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
	p->seq = t->seq++;
	p->lost = t->lost;
	p->pid = ct_process->pid;
	p->tid = t->tid;
	/* Calls that are open now end in this packet, or later. */
	t->op_base = t->open->depth ? t->open->entry[0].op : op;
	/* ... but one that began before its sink changed has an op of its own. */
	if (t->op_base > op || op - t->op_base > 1u << 31)
		t->op_base = op;
	p->op_base = t->op_base;
	barrier();
	p->magic = CT_MAGIC;	/* last: without it the packet is cut off */
	barrier();
	t->packet = p;
	t->packet_size = size;
	t->limit = (size - SLACK) * 8ull;
	t->deadline = now + SPAN_MAX;
}

cold void ct_packet_lose(struct ct_thread *t)
{
	t->lost++;
	if (t->lane)
		t->lane->lost = t->lost;
	if (t->packet != &ct_no_packet)
		t->packet->lost = t->lost;
}

#define RETRY	256		/* records lost between two looks at a full disk */

static bool new_packet(struct ct_thread *t, const struct ct_record *e)
{
	bool ok;
	u64 mask;

	if (t->retry) {
		t->retry--;
		return false;
	}
	mask = ct_signals_block();
	ok = ct_sink->next(t, e->op, e->end);
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

void ct_packet_record(struct ct_thread *t, const struct ct_record *e)
{
	u32 size = (u32)sizeof(struct ct_thread_record) + e->size;
	u64 content, end, ts, limit;
	volatile u64 mark = CT_WRITER_MARK(&mark);
	u64 writer = t->writer;
	struct ct_packet *p;
	bool inner = writer && ct_writer_lives(writer, CT_WRITER_MARK(writer), (u64)&mark);

	if (!inner)
		t->writer = (u64)&mark;
	barrier();
	for (;;) {
		p = *(struct ct_packet *volatile *)&t->packet;
		content = *(volatile u64 *)&p->content_size;
		end = *(volatile u64 *)&p->ts_end;
		barrier();
		ts = stamp(t, e, end);
		limit = inner && t->limit ? t->packet_size * 8ull : t->limit;
		if (content + size * 8ull > limit || (ts > t->deadline && !inner)) {
			if (!inner && new_packet(t, e))
				continue;
			ct_packet_lose(t);
			break;
		}
		ct_packet_fill(t, p, content, ts, e->class,
			       CT_RECORD_WORD(e->depth, e->flags, e->result), e->op,
			       e->begin, e->payload, e->size);
		if (ct_packet_commit(p, content, e->size, end, ts))
			break;
	}
	barrier();
	if (!inner)
		t->writer = 0;
}
