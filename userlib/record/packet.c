// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing records into the thread's packet; see packet.h.
 *
 * Only the thread itself writes, and its signal handlers, which may interrupt it at any
 * instruction, write too, and return or leave by longjmp.  So a handler must never find a
 * record half written: each is appended by a restartable sequence, which the kernel ends
 * before a handler runs (append.S).  A record that was interrupted there, or that needs
 * another packet, is written with signals blocked.  Each of these instructions leaves a
 * valid packet, and an earlier time never follows a later one.
 */
#include "record/packet.h"

#include "tracedir/lost.h"
#include "base/process.h"
#include "tracedir/registry.h"

#define SAME(what, number)	_Static_assert((what) == (number), "append.h says so")
#define THREAD(field, number)	SAME(offsetof(struct ct_thread, field), number)

THREAD(life, CT_THREAD_LIFE);
THREAD(open, CT_THREAD_OPEN);
THREAD(ops, CT_THREAD_OPS);
THREAD(packet, CT_THREAD_PACKET);
THREAD(limit, CT_THREAD_LIMIT);
THREAD(op_base, CT_THREAD_OP_BASE);
THREAD(rseq, CT_THREAD_RSEQ);
THREAD(clock.tsc, CT_THREAD_TSC);
THREAD(clock.ns, CT_THREAD_NS);
THREAD(clock.mult, CT_THREAD_MULT);
THREAD(cpu, CT_THREAD_CPU);
THREAD(accepting, CT_THREAD_ACCEPTING);
THREAD(session, CT_THREAD_SESSION);
THREAD(last, CT_THREAD_LAST);
SAME(offsetof(struct ct_packet, ts_end), CT_PACKET_TS_END);
SAME(offsetof(struct ct_packet, content_size), CT_PACKET_CONTENT);
SAME(sizeof(struct ct_thread_record), 24);
SAME(CT_RECORD_WORD(0, CT_F_INSTANT, 0), CT_WORD_INSTANT);

/*
 * A record's time has 48 bits: a packet of a thread that rests for days ends.  thunks.S
 * does not ask, but no line of the clock lasts so long, and a call that finds its line
 * at an end is recorded here.
 */
#ifndef SPAN_MAX
#define SPAN_MAX	(1ull << 47)
#endif

struct ct_packet ct_no_packet;

/*
 * No record says how long it is, so each word is tried: two have to fit, and the time.  A
 * payload that looks like that costs the record of a call that was left.
 */
cold bool ct_packet_holds(const struct ct_thread *t, u16 class, u64 op)
{
	const struct ct_packet *p = t->packet;
	const u64 *first = (const u64 *)(p + 1);
	const u64 *w = (const u64 *)((const char *)p + p->content_size / 8) - 3;

	for (; w >= first; w--)
		if (w[0] >> CT_TS_BITS == class && (u32)w[1] == op - t->op_base &&
		    (w[0] & CT_TS_MASK) <= (p->ts_end & CT_TS_MASK) &&
		    (w[0] & CT_TS_MASK) >= (p->ts_begin & CT_TS_MASK))
			return true;
	return false;
}

/*
 * A handler may have come after a call's record and before the call's end, and may go on for
 * many packets before it leaves by longjmp.
 */
cold void ct_packet_leave(struct ct_thread *t, u64 ending)
{
	u32 depth;

	if (t->packet == &ct_no_packet)
		return;
	depth = t->open->depth < CT_INFLIGHT_MAX ? t->open->depth : CT_INFLIGHT_MAX;
	for (u32 i = 0; i < depth; i++) {
		struct ct_inflight_call *c = &t->open->entry[i];

		if (c->class && c->op != ending && ct_packet_holds(t, (u16)c->class, c->op))
			c->flags |= CT_INFLIGHT_RECORDED;
	}
}

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
	t->limit = size * 8ull;
	t->deadline = now + SPAN_MAX;
}

/* Signals are blocked. */
static void packet_lose(struct ct_thread *t)
{
	struct ct_producer *s = &t->producer;

	/* What returns in a child before its own first call is its parent's to record. */
	if (t->life != ct_process->life)
		return;
	/* A head that may have been copied already, or none, counts no more. */
	if (ct_producer_valid(s) && (t->limit || s->m.lost)) {
		s->lost++;
		if (s->m.lost)
			*s->m.lost = s->lost;
		if (t->packet != &ct_no_packet)
			t->packet->lost = s->lost;
	} else {
		ct_lost_add();
	}
}

cold void ct_packet_lose(struct ct_thread *t)
{
	u64 mask = ct_signals_block();

	packet_lose(t);
	ct_signals_restore(mask);
}

void (*ct_packet_asked)(void);

/* What packet_next() says. */
enum packet_got { PACKET_NEW, PACKET_NONE, PACKET_CLOSED };

/* Signals are blocked. */
static enum packet_got packet_take(struct ct_thread *t, const struct ct_record *e, u64 ts)
{
	struct ct_producer_room room;
	bool ok;

	/* What returns in a child before its own first call is its parent's to record. */
	if (t->life != ct_process->life || ct_backoff_waits(&t->backoff, ts))
		return PACKET_NONE;
	ct_packet_leave(t, e->op);
	ct_packet_none(t);
	ok = ct_producer_next(&t->producer, &room);
	ct_thread_update(t);
	if (ok)
		ct_packet_begin(t, room.at, room.size, e->op, room.late ? 0 : ts);
	else if (room.closed)
		return PACKET_CLOSED;
	ct_backoff_note(&t->backoff, ok, ts);
	if (ct_packet_asked)
		ct_packet_asked();
	return ok ? PACKET_NEW : PACKET_NONE;
}

void ct_thread_changes(struct ct_thread *t)
{
	ct_store(&t->changing, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void ct_thread_changed(struct ct_thread *t)
{
	ct_store(&t->changing, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(t->left && t->life != ct_process->life))
		ct_producer_leave(&t->producer, true);
}

static enum packet_got packet_next(struct ct_thread *t, const struct ct_record *e, u64 ts)
{
	enum packet_got got;

	ct_thread_changes(t);
	got = packet_take(t, e, ts);
	ct_thread_changed(t);
	return got;
}

static bool packet_append(struct ct_thread *t, const struct ct_record *e, u64 ts,
			  __typeof__(ct_packet_append) *append)
{
	u64 duration = e->begin ? ts - e->begin : 0;

	/* The clock may have been set back in the call. */
	if ((s64)duration < 0)
		duration = 0;
	if (duration > CT_DURATION_MAX)
		duration = CT_DURATION_MAX;
	return append(CT_STAMP(ts, e->class), e->payload, e->size,
		      (u64)CT_RECORD_WORD(e->depth, e->flags, e->result) << 32, ts,
		      duration | (u64)*(const volatile u32 *)t->cpu << 48, e->op, t);
}

/* Is the record one for this packet? */
static bool packet_fits(const struct ct_thread *t, const struct ct_record *e, u64 ts)
{
	return ts <= t->deadline && e->op - t->op_base < CT_OP_SPAN &&
	       t->packet->content_size + (sizeof(struct ct_thread_record) + e->size) * 8 <= t->limit;
}

/* Signals are blocked. */
static cold bool packet_record_blocked(struct ct_thread *t, const struct ct_record *e, u64 ts)
{
	enum packet_got got;
	u64 end;

	for (;;) {
		/* When it happened, unless a handler's record came later: then, now. */
		end = t->packet->ts_end;
		if (ts < end) {
			ct_clock_earlier(&t->clock, end);
			ts = ct_clock_now(&t->clock);
			ts = ts < end ? end : ts;
		}
		if (packet_fits(t, e, ts)) {
			/* The kernel may still end a sequence once, if it takes the CPU away. */
			while (!packet_append(t, e, ts, ct_packet_append_blocked))
				;
			t->last = ts;
			return true;
		}
		got = packet_next(t, e, ts);
		if (got == PACKET_CLOSED)
			return false;
		if (got == PACKET_NONE) {
			packet_lose(t);
			return true;
		}
	}
}

/*
 * There was no packet lately, and it is too early to ask for one again: the kernel is not asked to block signals
 * either, which would be most of what a short call takes.  Where losses are counted in memory that the module gave,
 * a handler must not come in between.
 */
static bool packet_waits(struct ct_thread *t, u64 ts)
{
	return !t->limit && !t->producer.m.lost && t->life == ct_process->life && ct_backoff_waits(&t->backoff, ts);
}

bool ct_packet_record(struct ct_thread *t, const struct ct_record *e)
{
	u64 ts = e->end ? e->end : ct_clock_now(&t->clock), mask;
	bool done;

	if (ts <= t->deadline && packet_append(t, e, ts, ct_packet_append)) {
		t->last = ts;
		return true;
	}
	if (packet_waits(t, ts)) {
		ct_lost_add();
		return true;
	}
	mask = ct_signals_block();
	done = packet_record_blocked(t, e, ts);
	ct_signals_restore(mask);
	return done;
}
