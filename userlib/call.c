// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The hot path: what happens before and after each intercepted call.
 *
 * A call that returned becomes one record, stamped with its end; while it runs
 * it stands in the thread's open calls, so that a hang or a crash shows.  Must
 * never call CUDA, change errno, block a signal or allocate.
 */
#include "decode.h"
#include "driver.h"
#include "packet.h"
#include "process.h"
#include "slot.h"

_Static_assert(sizeof(struct ct_slot) == 1 << CT_SLOT_SHIFT, "thunks.S knows");
_Static_assert(offsetof(struct ct_slot, flags) == CT_SLOT_FLAGS, "thunks.S knows");
_Static_assert(offsetof(struct ct_slot, open) == CT_SLOT_OPEN, "thunks.S knows");
_Static_assert(offsetof(struct ct_slot, target) == 0, "thunks.S knows");
_Static_assert(sizeof(struct ct_open_call) == 32, "thunks.S knows");
_Static_assert(CT_OPEN_SIMPLE < CT_OPEN_MAX, "thunks.S knows");
_Static_assert(offsetof(struct ct_query, level) == CT_QUERY_LEVEL, "thunks.S knows");
_Static_assert(sizeof(struct ct_query) <= CT_QUERY_FRAME, "thunks.S knows");
_Static_assert(offsetof(struct ct_query, result) == CT_QUERY_RESULT, "thunks.S knows");
_Static_assert(offsetof(struct ct_query, slot) == CT_QUERY_SLOT, "thunks.S knows");
_Static_assert(offsetof(struct ct_query, life) == CT_QUERY_LIFE, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, life) == CT_THREAD_LIFE, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, open) == CT_THREAD_OPEN, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, ops) == CT_THREAD_OPS, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, packet) == CT_THREAD_PACKET, "thunks.S knows");
_Static_assert(offsetof(struct ct_proc, life) == 0, "thunks.S knows");
_Static_assert(offsetof(struct ct_packet, ts_end) == CT_PACKET_TS_END, "thunks.S knows");
_Static_assert(offsetof(struct ct_open_page, depth) == CT_OPEN_DEPTH, "thunks.S knows");
_Static_assert(offsetof(struct ct_open_page, entry) == CT_OPEN_ENTRY, "thunks.S knows");
_Static_assert(offsetof(struct ct_open_call, op) == 8, "thunks.S knows");
_Static_assert(offsetof(struct ct_open_call, stack) == 16, "thunks.S knows");
_Static_assert(offsetof(struct ct_open_call, class) == 24, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, rax) == CT_FRAME_RAX, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, r10) == CT_FRAME_R10, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, result) == CT_FRAME_RESULT, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, slot) == CT_FRAME_SLOT, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, words) == CT_FRAME_WORDS, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, xmm) == CT_FRAME_XMM, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, rbp) == CT_FRAME_SIZE, "thunks.S knows");
_Static_assert(offsetof(struct ct_frame, stack) == CT_FRAME_STACK, "thunks.S knows");

/*
 * A function without a known signature gets 16 words of the caller's stack.  At
 * the very top of a stack there may be fewer.
 */
static cold u32 readable_words(const struct ct_frame *f)
{
	struct { u64 base, len; } local, remote;
	u64 page = ((u64)f->stack | 4095) + 1;
	char byte;
	long n;

	if ((u64)&f->stack[16] <= page)
		return 16;
	local.base = (u64)&byte;
	local.len = 1;
	remote.base = page;
	remote.len = 1;
	n = ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &local, 1, &remote, 1, 0);
	if (n == 1 || n != -14)		/* EFAULT; else we may not ask */
		return 16;
	return (u32)((page - (u64)f->stack) / 8);
}

/* An open call that will never return, left by an exception or longjmp. */
static void record_abandoned(struct ct_thread *t, u32 level)
{
	const struct ct_open_call *c = &t->open->entry[level];
	struct ct_record e = {
		.class = (u16)c->class, .op = c->op, .begin = c->begin,
		.depth = (u8)(level < 255 ? level : 255),
		.flags = CT_F_ABANDONED | CT_F_NO_RESULT,
	};
	static const u64 nothing[16];

	if (level >= CT_OPEN_MAX || !e.class)
		return;
	if (c->flags & CT_OPEN_NO_BEGIN)
		e.flags |= CT_F_INSTANT;
	if (c->flags & CT_OPEN_HAS_BEGIN)
		e.flags |= CT_F_HAS_BEGIN;
	if (e.flags & CT_F_INSTANT)
		e.begin = 0;
	e.payload = nothing;
	e.size = c->flags >> 8;
	ct_sink->record(t, &e);
}

/* Takes the open calls from level on for abandoned. */
static cold void abandon(struct ct_thread *t, u32 level)
{
	u32 depth = t->open->depth;

	while (depth > level) {
		record_abandoned(t, depth - 1);
		t->open->depth = --depth;
	}
}

/* A handler on an alternative stack says nothing about the frames of another. */
static cold bool on_signal_stack(void)
{
	struct { u64 sp; int flags; u64 size; } alt = { 0, 0, 0 };

	ct_sys2(SYS_sigaltstack, NULL, &alt);
	return alt.flags & 1;	/* SS_ONSTACK */
}

/*
 * Calls are open already.  Those whose frame lies below or at ours are gone: a
 * stack holds one frame at a place.
 */
static cold u32 check_open(struct ct_thread *t, const struct ct_frame *f)
{
	struct ct_open_page *open = t->open;
	/* What is deeper than the page holds can only go with its last entry. */
	u32 known = open->depth < CT_OPEN_MAX ? open->depth : CT_OPEN_MAX;
	u32 level = known;

	while (level && open->entry[level - 1].stack <= (u64)f->stack)
		level--;
	if (level != known && !on_signal_stack())
		abandon(t, level);
	return t->open->depth;	/* to record may have moved it */
}

/*
 * The thread has no stream yet, or the function no class.  False if this call
 * can't be recorded.
 */
static cold bool prepare(struct ct_slot *s, struct ct_thread *t)
{
	if (t->life != ct_process->life && !ct_thread_attach(t))
		return false;
	if (!s->class) {
		if (!ct_slot_define(s)) {
			ct_sink->lose(t);
			return false;
		}
		ct_sink_announce();
	}
	return true;
}

/* The sink wants to know: true if it recorded the begin, and stamped it. */
static cold bool record_begin(struct ct_thread *t, struct ct_slot *s, struct ct_frame *f)
{
	u64 payload[16];
	struct ct_record e = {
		.class = s->class, .depth = (u8)(f->level < 255 ? f->level : 255),
		.size = s->size, .payload = payload,
	};

	if (s->extract)
		s->extract(f, payload, false);
	if (!ct_sink->begin(t, &e))
		return false;
	f->op = e.op;
	f->begin = e.begin;
	f->flags = CT_FRAME_BEGUN;
	return true;
}

void *ct_enter(struct ct_slot *s, struct ct_frame *f)
{
	struct ct_thread *t = &ct_self;
	struct ct_open_page *open;
	struct ct_open_call *c;
	u32 level;

	f->slot = s;
	f->words = s->words;
	f->flags = 0;
	if (unlikely(s->flags & (CT_SLOT_UNKNOWN | CT_SLOT_RESCAN))) {
		if (s->flags & CT_SLOT_UNKNOWN)
			f->words = readable_words(f);
		else
			ct_objects_check();
	}
	if (unlikely(t->life != ct_process->life || !s->class) && !prepare(s, t)) {
		f->flags = CT_FRAME_BYPASS;
		return s->target;
	}

	f->life = t->life;
	level = t->open->depth;
	if (unlikely(level))
		level = check_open(t, f);
	f->level = level;
	f->op = ct_local_add(&t->ops, 1) + 1;
	if (s->flags & CT_SLOT_QUERY)
		f->begin = t->packet->ts_end;	/* no earlier: enough to find a hang */
	else if (likely(!t->begins) || !record_begin(t, s, f))
		f->begin = ct_clock_now(&t->clock);
	open = t->open;
	if (likely(level < CT_OPEN_MAX)) {
		c = &open->entry[level];
		c->begin = f->begin;
		c->op = f->op;
		c->stack = (u64)f->stack;
		*(u64 *)&c->class = s->open;
		if (unlikely(f->flags & CT_FRAME_BEGUN))
			c->flags |= CT_OPEN_HAS_BEGIN;
	}
	barrier();
	open->depth = level + 1;
	return s->target;
}

/* What the quick way did not take: another sink, a new packet, a signal handler. */
static cold void record_slowly(struct ct_thread *t, u64 end, u16 class, u64 word, u64 op,
			       u64 begin, const u64 *payload, u32 size)
{
	struct ct_record e = {
		.class = class, .depth = (u8)(word >> 32), .flags = (u8)(word >> 40),
		.result = (u16)(word >> 48), .op = op, .begin = begin, .end = end,
		.payload = payload, .size = size,
	};

	ct_sink->record(t, &e);
}

void ct_leave(struct ct_frame *f)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = &ct_self;
	/* First, so that nothing of what follows is taken for the call's time. */
	u64 end = ct_clock_now(&t->clock);
	u64 payload[16], word, begin = f->begin;
	u32 flags = f->flags, level = f->level;

	if (unlikely(s->after != NULL))
		s->after(f);
	if (unlikely(flags & CT_FRAME_BYPASS || f->life != t->life ||
		     t->life != ct_process->life))
		return;		/* also a child that was forked in the call */

	if (s->extract)
		s->extract(f, payload, true);
	flags = flags & CT_FRAME_BEGUN ? CT_F_HAS_BEGIN : 0;
	if (s->flags & CT_SLOT_QUERY) {
		flags = CT_F_INSTANT;
		begin = 0;
	}
	if (unlikely((u32)f->result > 0xffff))
		flags |= CT_F_NO_RESULT;
	word = CT_RECORD_WORD(level < 255 ? level : 255, flags, f->result);
	if (unlikely(t->open->depth > level + 1))
		abandon(t, level + 1);
	if (unlikely(flags & CT_F_HAS_BEGIN ||
		     !ct_packet_quick(t, (volatile u64 *)&f->mark, end, s->class, word, f->op,
				      begin, payload, s->size)))
		record_slowly(t, end, s->class, word, f->op, begin, payload, s->size);
	/* Not the page of before: to record may have moved it. */
	if (likely(t->open->depth > level))
		t->open->depth = level;
}

/* The same for a simple query. */
void ct_leave_query(struct ct_query *q)
{
	struct ct_slot *s = q->slot;
	struct ct_thread *t = &ct_self;
	u64 end = ct_clock_now(&t->clock);
	u32 flags = CT_F_INSTANT, level = q->level;
	u64 word, op;

	if (unlikely(q->life != t->life || t->life != ct_process->life))
		return;
	if (unlikely((u32)q->result > 0xffff))
		flags |= CT_F_NO_RESULT;
	word = CT_RECORD_WORD(level, flags, q->result);
	op = t->open->entry[level].op;
	if (unlikely(t->open->depth > level + 1))
		abandon(t, level + 1);
	if (unlikely(!ct_packet_quick(t, (volatile u64 *)&q->mark, end, s->class, word, op,
				      0, NULL, 0)))
		record_slowly(t, end, s->class, word, op, 0, NULL, 0);
	if (likely(t->open->depth > level))
		t->open->depth = level;
}
