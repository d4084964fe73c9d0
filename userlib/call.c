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
#include "process.h"
#include "sink.h"
#include "slot.h"

_Static_assert(sizeof(struct ct_slot) == 1 << CT_SLOT_SHIFT, "thunks.S knows");
_Static_assert(offsetof(struct ct_slot, flags) == CT_SLOT_FLAGS, "thunks.S knows");
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
	return open->depth;
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
	open = t->open;
	level = open->depth;
	if (unlikely(level))
		level = check_open(t, f);
	f->level = level;
	f->op = ct_local_add(&t->ops, 1) + 1;
	if (s->flags & CT_SLOT_QUERY) {
		f->begin = t->last;	/* no earlier than: enough to find a hang */
	} else {
		if (ct_sink->begin) {
			u64 payload[16];
			struct ct_record e = {
				.class = s->class, .depth = (u8)level,
				.size = s->size, .payload = payload,
			};

			if (s->extract)
				s->extract(f, payload, false);
			if (ct_sink->begin(t, &e)) {
				f->op = e.op;
				f->begin = e.begin;
				f->flags = CT_FRAME_BEGUN;
			}
		}
		if (!(f->flags & CT_FRAME_BEGUN))
			f->begin = ct_clock();
	}
	if (likely(level < CT_OPEN_MAX)) {
		c = &open->entry[level];
		c->begin = f->begin;
		c->op = f->op;
		c->stack = (u64)f->stack;
		c->class = s->class;
		c->flags = (u32)s->size << 8 |
			      (s->flags & CT_SLOT_QUERY ? CT_OPEN_NO_BEGIN : 0) |
			      (f->flags & CT_FRAME_BEGUN ? CT_OPEN_HAS_BEGIN : 0);
	}
	barrier();
	open->depth = level + 1;
	return s->target;
}

void ct_leave(struct ct_frame *f)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = &ct_self;
	struct ct_record e;
	u64 payload[16];

	/* First, so that nothing of what follows is taken for the call's time. */
	e.end = ct_clock();
	if (unlikely(s->after != NULL))
		s->after(f);
	if (unlikely(f->flags & CT_FRAME_BYPASS || f->life != t->life ||
		     t->life != ct_process->life))
		return;		/* also a child that was forked in the call */

	if (s->extract)
		s->extract(f, payload, true);
	e.class = s->class;
	e.depth = (u8)(f->level < 255 ? f->level : 255);
	e.flags = f->flags & CT_FRAME_BEGUN ? CT_F_HAS_BEGIN : 0;
	e.size = s->size;
	e.payload = payload;
	e.op = f->op;
	e.begin = f->begin;
	e.result = (u32)f->result;
	if (s->flags & CT_SLOT_QUERY) {
		e.flags = CT_F_INSTANT;
		e.begin = 0;
	}
	if (unlikely(e.result > 0xffff))
		e.flags |= CT_F_NO_RESULT;
	if (unlikely(t->open->depth > f->level + 1))
		abandon(t, f->level + 1);
	ct_sink->record(t, &e);
	if (likely(t->open->depth > f->level))
		t->open->depth = f->level;
}
