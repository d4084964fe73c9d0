// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gil.h.  Must never believe a pointer. */
#include "capture/sample/gil.h"

#include <string.h>

/*
 * The struct: how long a thread waits before it demands the lock; the holder, the last one's where it is free; whether it is
 * held; how often it was handed on.  Behind these a condition, its mutex, and a second pair, as glibc on 64 bits has them.
 */
#define GIL_WORDS	16u		/* from .gil_locked to the first condition */
#define GIL_FUTEXES	(2 * (48u + 40u))
#define GIL_INTERVAL	1000000000u	/* us: nobody chooses more */
#define GIL_HEAD	64u		/* bytes that are looked at */

static void gil_add(struct ct_sampled_gils *g, uint64_t lock)
{
	for (unsigned int i = 0; i < g->count; i++)
		if (g->locks[i] == lock)
			return;
	if (lock && g->count < CT_SAMPLED_INTERPRETERS)
		g->locks[g->count++] = lock;
}

static void gil_look(struct ct_sampled_python *p, struct ct_sampled_gils *g)
{
	const struct layout *l = &p->about.layout;
	uint64_t interpreter = 0, lock;

	g->looked = true;
	g->count = 0;
	if (l->gil < 0)
		return;
	if (l->version < LAYOUT_GIL_OWN) {
		gil_add(g, p->about.runtime + (uint32_t)l->gil);
		return;
	}
	if (!ct_remote_now(&p->remote, p->about.runtime + l->runtime_interpreters, &interpreter, 8))
		return;
	for (unsigned int i = 0; interpreter && i < CT_SAMPLED_INTERPRETERS; i++) {
		if (!ct_remote_now(&p->remote, interpreter + (uint32_t)l->gil, &lock, 8))
			return;
		gil_add(g, lock);
		if (!ct_remote_now(&p->remote, interpreter + l->interpreter_next, &interpreter, 8))
			return;
	}
}

uint64_t ct_sampled_gil(struct ct_sampled_python *p, struct ct_sampled_gils *g, uint64_t futex)
{
	if (!g->looked)
		gil_look(p, g);
	for (unsigned int i = 0; i < g->count; i++)
		if (futex - (g->locks[i] + p->about.layout.gil_locked + GIL_WORDS) < GIL_FUTEXES)
			return g->locks[i];
	return 0;
}

uint64_t ct_sampled_gil_holder(struct ct_sampled_python *p, uint64_t lock)
{
	const struct layout *l = &p->about.layout;
	uint64_t interval, holder;
	uint8_t head[GIL_HEAD];
	int32_t locked;

	if (l->gil_holder > GIL_HEAD - 8 || l->gil_locked > GIL_HEAD - 8 || !ct_remote_now(&p->remote, lock, head, sizeof(head)))
		return 0;
	memcpy(&interval, head, sizeof(interval));
	memcpy(&holder, head + l->gil_holder, sizeof(holder));
	memcpy(&locked, head + l->gil_locked, sizeof(locked));
	return interval && interval <= GIL_INTERVAL && locked == 1 ? holder : 0;
}
