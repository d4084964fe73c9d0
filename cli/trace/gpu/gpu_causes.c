// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gpu_causes.h.  Memory is bounded, whatever a trace holds. */
#include "trace/gpu/gpu_causes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/gpu/join.h"

/*
 * Calls that are kept.  A GPU is behind its program by some thousands of launches at most: then
 * the queues of its channels are full, and the program waits.
 */
#define CAUSES_MAX	(1u << 18)
#define CAUSES_OPEN	(1u << 16)	/* records of the GPU at a moment */

/* A record of the GPU that has begun. */
struct causes_open {
	uint64_t op_id, call;		/* call: op_id of what caused it */
};

struct causes_call {
	uint64_t op_id;
	uint32_t index;			/* into list */
};

struct ct_causes {
	struct ct_gpu_join *join;
	CT_KEYED(struct causes_open) open;
	CT_KEYED(struct causes_call) by_op;
	struct ct_cause *list;		/* the oldest is replaced first */
	uint32_t count, capacity, next;
};

struct ct_causes *ct_causes_new(const struct ct_registry *reg)
{
	struct ct_causes *c = calloc(1, sizeof(*c));

	if (c)
		c->join = ct_gpu_join_new(reg);
	if (c && c->join)
		return c;
	free(c);
	return NULL;
}

/* A free place, or that of the oldest call.  NULL: no memory. */
static struct ct_cause *causes_place(struct ct_causes *c)
{
	struct causes_call *old;
	struct ct_cause *place;

	if (c->count == CAUSES_MAX) {
		place = &c->list[c->next];
		c->next = (c->next + 1) % CAUSES_MAX;
		old = ct_keyed_get(&c->by_op, place->op_id);
		if (old)
			ct_keyed_remove(&c->by_op, old);
		return place;
	}
	if (!ct_room(c->list, c->count, c->capacity))
		return NULL;
	return &c->list[c->count++];
}

static int causes_call(struct ct_causes *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct causes_call *call;
	struct ct_cause *cause;

	/* The end of one that was recorded at its entry; else it was known at its begin. */
	if (p->phase == 'E') {
		call = r->flags & CT_F_HAS_BEGIN ? ct_keyed_get(&c->by_op, p->op_id) : NULL;
		if (call)
			c->list[call->index].end = p->ts;
		return 0;
	}
	cause = causes_place(c);
	if (!cause)
		return -ENOMEM;
	*cause = (struct ct_cause){
		.op_id = p->op_id, .begin = p->ts, .end = r->flags & CT_F_BEGIN ? 0 : r->end,
		.pid = r->pid, .tid = r->tid, .class = r->class,
		.stream = ct_record_known(r, CT_KNOWN_STREAM),
		.has_stream = ct_record_has(r, CT_KNOWN_STREAM), .stack = p->stack,
	};
	call = ct_keyed_put(&c->by_op, p->op_id);
	if (!call)
		return -ENOMEM;
	call->index = cause - c->list;
	return 0;
}

/* Until its end a record of the GPU keeps the cause that it had at its begin. */
static int causes_gpu(struct ct_causes *c, struct ct_point *p, uint64_t op_id)
{
	struct causes_open *open = p->phase == 'E' ? ct_keyed_get(&c->open, p->op_id) : NULL;
	const struct causes_call *call;

	if (open) {
		op_id = open->call;
		ct_keyed_remove(&c->open, open);
	} else if (p->phase == 'B' && op_id && c->open.count < CAUSES_OPEN) {
		open = ct_keyed_put(&c->open, p->op_id);
		if (!open)
			return -ENOMEM;
		open->call = op_id;
	}
	call = op_id ? ct_keyed_get(&c->by_op, op_id) : NULL;
	if (call && p->phase == 'E')
		c->list[call->index].records++;
	p->cause = call ? &c->list[call->index] : NULL;
	return 0;
}

int ct_causes_point(struct ct_causes *c, struct ct_point *p)
{
	bool gpu = p->record.class->layer == CT_LAYER_GPU;
	uint64_t op_id = 0;

	if (gpu && p->phase == 'E' && ct_keyed_get(&c->open, p->op_id))
		return causes_gpu(c, p, 0);
	if (ct_gpu_join_point(c->join, p, &op_id))
		return -ENOMEM;
	if (gpu)
		return causes_gpu(c, p, op_id);
	return ct_class_is(p->record.class, CT_IS_WORK) ? causes_call(c, p) : 0;
}

void ct_causes_free(struct ct_causes *c)
{
	if (!c)
		return;
	ct_gpu_join_free(c->join);
	ct_keyed_free(&c->open);
	ct_keyed_free(&c->by_op);
	free(c->list);
	free(c);
}
