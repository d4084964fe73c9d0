/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call of the thread's, or an ioctl, while it runs: struct ct_inflight_page. */
#ifndef CT_INFLIGHT_H
#define CT_INFLIGHT_H

#include "record/thread.h"

/*
 * The call stands among the thread's in-flight calls from here on.  A handler that comes before
 * depth is stored puts a call of its own into the same place: the op, which was written
 * first, is then not ours any more, and all is written again.  So it is if the handler has moved
 * the in-flight calls to another page.
 */
static inline void ct_inflight_begin(struct ct_thread *t, u32 level, u64 op, u64 begin,
				     u64 stack, u64 class)
{
	struct ct_inflight_page *open;
	struct ct_inflight_call *c;

	if (likely(level < CT_INFLIGHT_MAX)) {
		do {
			open = ct_load(&t->open);
			c = &open->entry[level];
			*(volatile u64 *)&c->op = op;
			barrier();
			c->begin = begin;
			c->stack = stack;
			*(u64 *)&c->class = class;
			barrier();
			*(volatile u32 *)&open->depth = level + 1;
			barrier();
		} while (unlikely(*(volatile u64 *)&c->op != op || ct_load(&t->open) != open));
	} else {
		do {
			open = ct_load(&t->open);
			*(volatile u32 *)&open->depth = level + 1;
			barrier();
		} while (unlikely(ct_load(&t->open) != open));
	}
}

/* The call is in flight no more.  Of others that began later some may be, elsewhere. */
static inline void inflight_end_in(struct ct_inflight_page *open, u32 level)
{
	u32 depth = open->depth;

	if (depth > level + 1 && depth <= CT_INFLIGHT_MAX) {
		struct ct_inflight_call *c = &open->entry[level];

		*(volatile u64 *)&c->class = 0;
		*(volatile u64 *)&c->begin = 0;
		*(volatile u64 *)&c->stack = 0;
	} else if (depth > level) {
		open->depth = level;
	}
}

static inline void ct_inflight_end(struct ct_thread *t, u32 level)
{
	struct ct_inflight_page *open;

	/* Not the page of before: to record may have moved it, and so may a handler. */
	do {
		open = ct_load(&t->open);
		inflight_end_in(open, level);
		barrier();
	} while (ct_load(&t->open) != open);
}

#endif
