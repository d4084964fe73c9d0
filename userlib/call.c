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
_Static_assert(offsetof(struct ct_slot, class) == CT_SLOT_CLASS, "thunks.S knows");
_Static_assert(sizeof(struct ct_simple) == CT_SIMPLE_FRAME, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, result) == CT_SIMPLE_RESULT, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, slot) == CT_SIMPLE_SLOT, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, life) == CT_SIMPLE_LIFE, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, level) == CT_SIMPLE_LEVEL, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, rdx) == CT_SIMPLE_RDX, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, claim.op) == CT_SIMPLE_OP, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, claim.begin) == CT_SIMPLE_BEGIN, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, claim.mark) == CT_SIMPLE_MARK, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, claim.stamp) == CT_SIMPLE_STAMP, "thunks.S knows");
_Static_assert(offsetof(struct ct_simple, claim.word) == CT_SIMPLE_WORD, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, life) == CT_THREAD_LIFE, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, session) == CT_THREAD_SESSION, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, open) == CT_THREAD_OPEN, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, ops) == CT_THREAD_OPS, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, packet) == CT_THREAD_PACKET, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, limit) == CT_THREAD_LIMIT, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, op_base) == CT_THREAD_OP_BASE, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, deadline) == CT_THREAD_DEADLINE, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, writer) == CT_THREAD_WRITER, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, clock.tsc) == CT_THREAD_TSC, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, clock.span) == CT_THREAD_SPAN, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, clock.ns) == CT_THREAD_NS, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, clock.mult) == CT_THREAD_MULT, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, cpu) == CT_THREAD_CPU, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, accepting) == CT_THREAD_ACCEPTING, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, begins) == CT_THREAD_BEGINS, "thunks.S knows");
_Static_assert(offsetof(struct ct_thread, last) == CT_THREAD_LAST, "thunks.S knows");
_Static_assert(offsetof(struct ct_packet, content_size) == CT_PACKET_CONTENT, "thunks.S knows");
_Static_assert(CT_RECORD_WORD(0, CT_F_INSTANT, 0) == 1ull << CT_WORD_INSTANT, "thunks.S knows");
_Static_assert(CT_TS_BITS == 48 && sizeof(struct ct_thread_record) == 24, "thunks.S knows");
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
	f->claim.op = e.op;
	f->claim.begin = e.begin;
	f->flags = CT_FRAME_BEGUN;
	return true;
}

/*
 * The call stands in the thread's open calls from here on.  A handler that comes before
 * depth is stored puts a call of its own into the same place: the op, which was written
 * first, is then not ours any more, and all is written again.
 */
static inline void open_call(struct ct_open_page *open, u32 level, u64 op, u64 begin,
			     u64 stack, u64 class)
{
	struct ct_open_call *c = &open->entry[level];

	if (likely(level < CT_OPEN_MAX)) {
		do {
			*(volatile u64 *)&c->op = op;
			barrier();
			c->begin = begin;
			c->stack = stack;
			*(u64 *)&c->class = class;
			barrier();
			*(volatile u32 *)&open->depth = level + 1;
			barrier();
		} while (unlikely(*(volatile u64 *)&c->op != op));
	} else {
		open->depth = level + 1;
	}
}

/* What has anything to be done but an open call. */
static cold void *enter_slowly(struct ct_slot *s, struct ct_frame *f)
{
	struct ct_thread *t = &ct_self;
	u64 class;
	u32 level;

	if (s->flags & CT_SLOT_UNKNOWN)
		f->words = readable_words(f);
	if (s->flags & CT_SLOT_RESCAN)
		ct_objects_check();
	if ((t->life != ct_process->life || !s->class) && !prepare(s, t)) {
		f->flags = CT_FRAME_BYPASS;
		return s->target;
	}
	f->life = t->life;
	level = t->open->depth;
	if (level)
		level = check_open(t, f);
	f->level = level;
	f->claim.op = ct_local_add(&t->ops, 1) + 1;
	class = s->open;
	if (s->flags & CT_SLOT_QUERY)
		f->claim.begin = t->last;
	else if (t->begins && record_begin(t, s, f))
		class |= (u64)CT_OPEN_HAS_BEGIN << 32;
	else
		f->claim.begin = ct_clock_now(&t->clock);
	open_call(t->open, level, f->claim.op, f->claim.begin, (u64)f->stack, class);
	return s->target;
}

/* No call but the last, so that no register is saved. */
hot void *ct_enter(struct ct_slot *s, struct ct_frame *f)
{
	struct ct_thread *t = &ct_self;
	struct ct_open_page *open = t->open;
	u32 level, life = t->life;
	u64 op, begin;

	f->slot = s;
	f->words = s->words;
	f->flags = 0;
	if (unlikely(s->flags & (CT_SLOT_UNKNOWN | CT_SLOT_RESCAN) || !s->open ||
		     life != ct_process->life || t->begins))
		return enter_slowly(s, f);
	level = open->depth;
	/* The call around this one is there as long as its frame is above ours. */
	if (level && unlikely(level >= CT_OPEN_SIMPLE ||
			      open->entry[level - 1].stack <= (u64)f->stack))
		return enter_slowly(s, f);
	if (s->flags & CT_SLOT_QUERY)
		begin = t->last;	/* no earlier: enough to find a hang */
	else
		begin = ct_clock_quick(&t->clock);
	if (unlikely(!begin))
		return enter_slowly(s, f);
	f->life = life;
	f->level = level;
	f->claim.begin = begin;
	f->claim.op = op = ct_local_add(&t->ops, 1) + 1;
	open_call(open, level, op, begin, (u64)f->stack, s->open);
	return s->target;
}

/* What the quick way did not take: another sink, a new packet, a signal handler. */
static cold void record_slowly(struct ct_thread *t, struct ct_claim *c, u64 end, u16 class,
			       u64 word, u64 begin, const u64 *payload, u32 size)
{
	struct ct_record e = {
		.class = class, .depth = (u8)(word >> 32), .flags = (u8)(word >> 40),
		.result = (u16)(word >> 48), .op = c->op, .begin = begin, .end = end,
		.payload = payload, .size = size,
	};

	ct_sink->record(t, &e);
}

/* All that can be, but for what stands behind it in the thunk. */
static cold void leave_slowly(struct ct_frame *f, u64 end)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = &ct_self;
	u64 word, begin = f->claim.begin;
	u32 flags = f->flags & CT_FRAME_BEGUN ? CT_F_HAS_BEGIN : 0, level = f->level;

	if (!end)
		end = ct_clock_now(&t->clock);
	if (s->after)
		s->after(f);
	/* Also a child that was forked in the call has another life. */
	if (f->flags & CT_FRAME_BYPASS || f->life != t->life || t->life != ct_process->life)
		return;
	if (s->extract)
		s->extract(f, f->payload, true);
	if (s->flags & CT_SLOT_QUERY) {
		flags = CT_F_INSTANT;
		begin = 0;
	}
	if ((u32)f->result > 0xffff)
		flags |= CT_F_NO_RESULT;
	word = CT_RECORD_WORD(level < 255 ? level : 255, flags, f->result);
	if (t->open->depth > level + 1)
		abandon(t, level + 1);
	record_slowly(t, &f->claim, end, s->class, word, begin, f->payload, s->size);
	/* Not the page of before: to record may have moved it. */
	if (t->open->depth > level)
		t->open->depth = level;
}

/* Its arguments were extracted; what thunks.S does for simple calls. */
static hot __attribute__((noinline)) void leave_quickly(struct ct_frame *f, u64 end)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = &ct_self;
	bool query = s->flags & CT_SLOT_QUERY;

	if (unlikely(t->open->depth != f->level + 1 || (u32)f->result > 0xffff ||
		     !ct_packet_quick(t, &f->claim, end, s->class,
				      (u64)f->level << 32 |
				      CT_RECORD_WORD(0, query ? CT_F_INSTANT : 0, f->result),
				      query ? 0 : f->claim.begin, f->payload, s->size)))
		return leave_slowly(f, end);
	t->open->depth = *(volatile u32 *)&f->level;
}

hot void ct_leave(struct ct_frame *f)
{
	/* First, so that nothing of what follows is taken for the call's time. */
	u64 end = ct_clock_quick(&ct_self.clock);
	struct ct_slot *s = f->slot;

	/* Its life can't have changed without the process's: its thread is in a call. */
	if (unlikely(!end || f->flags || f->life != ct_process->life || s->after ||
		     f->level >= CT_OPEN_SIMPLE))
		return leave_slowly(f, end);
	if (s->extract)
		s->extract(f, f->payload, true);
	leave_quickly(f, end);
}

cold void ct_leave_simple(struct ct_simple *f, u64 end)
{
	struct ct_slot *s = f->slot;
	struct ct_thread *t = &ct_self;
	bool query = s->flags & CT_SLOT_QUERY;
	u32 flags = query ? CT_F_INSTANT : 0;

	if (!end)
		end = ct_clock_now(&t->clock);
	if (f->life != t->life || t->life != ct_process->life)
		return;
	if ((u32)f->result > 0xffff)
		flags |= CT_F_NO_RESULT;
	if (t->open->depth > f->level + 1)
		abandon(t, f->level + 1);
	record_slowly(t, &f->claim, end, s->class, CT_RECORD_WORD(f->level, flags, f->result),
		      query ? 0 : f->claim.begin, NULL, 0);
	if (t->open->depth > f->level)
		t->open->depth = f->level;
}
