// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What happens before and after each intercepted call, if thunks.S does not do it.
 *
 * A call that returned becomes one record, stamped with its end; while it runs
 * it stands in the thread's open calls, so that a hang or a crash shows.  Must
 * never call CUDA, change errno, block a signal or allocate.
 */
#include "call/decode.h"
#include "call/function.h"
#include "call/inflight.h"
#include "call/range.h"
#include "call/stack.h"
#include "record/attach.h"
#include "base/process.h"

#define SAME(what, number)	_Static_assert((what) == (number), "thunks.S knows")
#define SLOT(field, number)	SAME(offsetof(struct ct_slot, field), number)
#define OPEN(field, number)	SAME(offsetof(struct ct_inflight_call, field) + CT_OPEN_ENTRY, number)
#define FRAME(field, number)	SAME(offsetof(struct ct_frame, field), number)

SAME(sizeof(struct ct_slot), 1 << CT_SLOT_SHIFT);
SLOT(target, 0);
SLOT(class, CT_SLOT_CLASS);
SLOT(flags, CT_SLOT_FLAGS);
SLOT(words, CT_SLOT_WORDS);
SLOT(size, CT_SLOT_SIZE);
SLOT(extract, CT_SLOT_EXTRACT);
SLOT(way, CT_SLOT_WAY);
SLOT(open, CT_SLOT_OPEN);
FRAME(xmm, CT_FRAME_XMM);
FRAME(payload, CT_FRAME_PAYLOAD);
FRAME(arg, CT_FRAME_ARG);
FRAME(rax, CT_FRAME_RAX);
FRAME(r10, CT_FRAME_R10);
FRAME(result, CT_FRAME_RESULT);
FRAME(slot, CT_FRAME_SLOT);
FRAME(words, CT_FRAME_WORDS);
FRAME(level, CT_FRAME_LEVEL);
FRAME(life, CT_FRAME_LIFE);
FRAME(flags, CT_FRAME_LIFE + 4);
FRAME(op, CT_FRAME_OP);
FRAME(result2, CT_FRAME_END);
FRAME(begin, CT_FRAME_BEGIN);
FRAME(rbp, CT_FRAME_SIZE);
FRAME(stack, CT_FRAME_SIZE + 16);
SAME(CT_SIMPLE_SIZE, CT_FRAME_ARG);
OPEN(begin, CT_OPEN_BEGIN);
OPEN(op, CT_OPEN_OP);
OPEN(stack, CT_OPEN_STACK);
OPEN(class, CT_OPEN_CLASS);
SAME(sizeof(struct ct_inflight_call), 32);
SAME(offsetof(struct ct_inflight_page, depth), CT_OPEN_DEPTH);
SAME(offsetof(struct ct_inflight_page, entry), CT_OPEN_ENTRY);
_Static_assert(CT_OPEN_SIMPLE < CT_INFLIGHT_MAX, "thunks.S knows");
SAME(offsetof(struct ct_proc, life), 0);
SAME(offsetof(struct ct_proc, no_begins), 4);
SAME(offsetof(struct ct_thread, begins), CT_THREAD_LIFE + 4);
SAME(CT_TS_BITS, 48);

/*
 * A function without a known signature gets 16 words of the caller's stack.  At
 * the very top of a stack there may be fewer.
 */
static cold u32 readable_words(const struct ct_frame *f)
{
	u64 page = ((u64)f->stack | 4095) + 1;

	if ((u64)&f->stack[16] <= page || ct_readable(page))
		return 16;
	return (u32)((page - (u64)f->stack) / 8);
}

/* An open call that will never return, left by an exception or longjmp. */
static void record_abandoned(struct ct_thread *t, u32 level)
{
	const struct ct_inflight_call *c = &t->open->entry[level];
	struct ct_record e = {
		.class = (u16)c->class, .op = c->op, .begin = c->begin,
		.depth = (u8)(level < 255 ? level : 255),
		.flags = CT_F_ABANDONED | CT_F_NO_RESULT,
	};
	static const u64 nothing[16];

	if (level >= CT_INFLIGHT_MAX || !e.class)
		return;
	/* It was left between its record and the end of its being in flight. */
	if (c->flags & CT_INFLIGHT_RECORDED || ct_packet_holds(t, e.class, e.op))
		return;
	if (c->flags & CT_INFLIGHT_NO_BEGIN)
		e.flags |= CT_F_INSTANT;
	if (c->flags & CT_INFLIGHT_HAS_BEGIN)
		e.flags |= CT_F_HAS_BEGIN;
	if (e.flags & CT_F_INSTANT)
		e.begin = 0;
	e.payload = nothing;
	e.size = c->flags >> 8;
	ct_record(t, &e);
}

/* Two frames further apart than this lie on two stacks. */
#define STACK_SPAN	(64ull << 20)

/*
 * Has this call gone, when a frame ends at the address "at"?  A stack holds one frame at a
 * place, and deeper ones below it; on another stack, of a coroutine, it may only wait.
 */
static bool call_gone(const struct ct_inflight_call *c, u64 at)
{
	return !c->class || (c->stack < at && at - c->stack < STACK_SPAN);
}

/* Takes the calls from level on that are gone for abandoned. */
static cold void abandon(struct ct_thread *t, u32 level, u64 at)
{
	u32 depth = t->open->depth;
	/* What is deeper than the page holds can only go with its last entry. */
	u32 known = depth < CT_INFLIGHT_MAX ? depth : CT_INFLIGHT_MAX;

	while (depth > level && call_gone(&t->open->entry[known - 1], at)) {
		if (known == depth)
			known--;
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
 * Calls are in flight already.  Those whose frame ends below where ours begins are gone.
 * (Ours begins where another ends if libcuda has jumped to us.)
 */
static cold u32 check_open(struct ct_thread *t, const struct ct_frame *f)
{
	u32 depth = t->open->depth, known = depth < CT_INFLIGHT_MAX ? depth : CT_INFLIGHT_MAX;

	if (call_gone(&t->open->entry[known - 1], (u64)f->stack) && !on_signal_stack())
		abandon(t, 0, (u64)f->stack);
	return t->open->depth;	/* to record may have moved it */
}

/* Is the call still among those in flight?  If not, it was taken for abandoned. */
static bool in_flight(const struct ct_inflight_page *open, const struct ct_frame *f)
{
	return f->level >= CT_INFLIGHT_MAX ||
	       (open->depth > f->level && open->entry[f->level].op == f->op);
}

/*
 * The thread has no stream yet, or the function no class.  The thread's state, or NULL if this
 * call can't be recorded.
 */
static cold struct ct_thread *prepare(struct ct_slot *s, struct ct_thread *t)
{
	if (t->life != ct_process->life)
		t = ct_thread_attach();
	/* A process that stood by may have begun only now. */
	if (unlikely(ct_load(&ct_outside))) {
		if (s->flags & CT_SLOT_BEGINS)
			ct_range_enter();
		if (ct_load(&ct_outside))
			return NULL;
	}
	if (t && !s->class) {
		if (!ct_function_define(s)) {
			ct_packet_lose(t);
			return NULL;
		}
		ct_call_above->announce();
	}
	return t;
}

/* The backend wants to know: true if it recorded the begin, and stamped it. */
static cold bool record_begin(struct ct_thread *t, struct ct_slot *s, struct ct_frame *f)
{
	u64 payload[16];
	struct ct_record e = {
		.class = s->class, .depth = (u8)(f->level < 255 ? f->level : 255),
		.size = s->size, .payload = payload,
	};

	if (s->extract)
		s->extract(f, payload, false);
	if (!ct_record_begin(t, &e))
		return false;
	f->op = e.op;
	f->begin = e.begin;
	f->flags = CT_FRAME_BEGUN;
	return true;
}

/* What few functions need.  True: this call is not recorded. */
static cold bool special(const struct ct_slot *s, struct ct_frame *f)
{
	if (s->flags & CT_SLOT_UNKNOWN)
		f->words = readable_words(f);
	if (s->flags & CT_SLOT_RESCAN)
		ct_call_above->check_objects();
	if (s->flags & CT_SLOT_BEGINS)
		ct_range_enter();
	return ct_load(&s->flags) & CT_SLOT_CLOSED;
}

void *ct_enter(struct ct_slot *s, struct ct_frame *f)
{
	struct ct_thread *t = ct_self;
	u64 class;
	u32 level, stack = 0;

	f->slot = s;
	f->words = s->words;
	f->flags = 0;
	if (unlikely(s->flags & CT_SLOT_SPECIAL) && special(s, f)) {
		f->flags = CT_FRAME_BYPASS;
		return s->target;
	}
	if (t->life != ct_process->life || !s->class)
		t = prepare(s, t);
	if (!t) {
		f->flags = CT_FRAME_BYPASS;
		return s->target;
	}
	f->life = t->life;
	level = t->open->depth;
	if (level)
		level = check_open(t, f);
	f->level = level;
	if (s->flags & CT_SLOT_STACK)
		stack = ct_stack_take();
	f->op = ct_local_add(&t->ops, 1);
	/* A packet's first op is its lowest. */
	if (stack)
		f->op = ct_local_add(&t->ops, 1);
	class = s->open;
	if (s->flags & CT_SLOT_QUERY) {
		f->begin = t->last;	/* no earlier: enough to find a hang */
	} else if (t->begins && record_begin(t, s, f)) {
		class |= (u64)CT_INFLIGHT_HAS_BEGIN << 32;
		if (stack)
			ct_stack_record(t, stack, f->op - 1, f->op, level);
	} else {
		if (stack)
			ct_stack_record(t, stack, f->op - 1, f->op, level);
		f->begin = ct_clock_now(&t->clock);
	}
	ct_inflight_begin(t, level, f->op, f->begin, (u64)f, class);
	return s->target;
}

void ct_leave(struct ct_frame *f, u64 end)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = ct_self;
	u32 level = f->level;
	struct ct_record e = {
		.class = s->class, .depth = (u8)(level < 255 ? level : 255),
		.flags = f->flags & CT_FRAME_BEGUN ? CT_F_HAS_BEGIN : 0,
		.result = (u16)f->result, .op = f->op, .begin = f->begin,
		.payload = f->payload, .size = s->size,
	};

	/* First, so that nothing of what follows is taken for the call's time. */
	if (!(f->flags & CT_FRAME_BYPASS))
		e.end = end ? end : ct_clock_now(&t->clock);
	if (s->after)
		s->after(f);
	/* Also a child that was forked in the call has another life. */
	if (f->flags & CT_FRAME_BYPASS || f->life != t->life || t->life != ct_process->life)
		return;
	if (s->extract)
		s->extract(f, f->payload, true);
	if (s->flags & CT_SLOT_QUERY) {
		e.flags = CT_F_INSTANT;
		e.begin = 0;
	}
	if ((u32)f->result > 0xffff)
		e.flags |= CT_F_NO_RESULT;
	if (t->open->depth > level + 1)
		abandon(t, level + 1, (u64)f);
	/* A coroutine may have been at its place on the stack meanwhile. */
	if (!in_flight(t->open, f))
		return;
	ct_record(t, &e);
	ct_inflight_end(t, level);
}
