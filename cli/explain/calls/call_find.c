// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_find.h.  Must never keep a call that was not asked for. */
#include "explain/calls/call_find.h"

#include <stdlib.h>
#include <string.h>

#include "base/largest.h"

static struct ct_call_target find_target(const struct ct_span *s)
{
	bool returned = !(s->flags & CT_SPAN_UNFINISHED);
	const struct ct_record *r = !returned && s->entry ? s->entry : s->record;
	struct ct_call_target target = {
		.op_id = s->op_id,
		.begin = s->begin,
		.end = s->end,
		.key = s->track->key,
		.pid = s->record->pid,
		.tid = s->track->tid,
		.class = s->class,
		.returned = returned,
		.abandoned = s->flags & CT_SPAN_ABANDONED,
		.begin_lost = s->flags & CT_SPAN_BEGIN_LOST,
	};

	if (r->fields && s->class->fields_count && !strcmp(s->class->name, "cuStreamSynchronize")) {
		target.stream = ct_record_field(r, 0);
		/* 1, 2: CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
		target.one_stream = target.stream > 2;
	}
	return target;
}

/* ------------------------------------------------------------- by its id --- */

static int find_one_span(struct ct_analysis *a, const struct ct_span *s)
{
	struct ct_call_found *f = a->arg;

	if (s->op_id != f->request->op_id)
		return 0;
	f->targets[0] = find_target(s);
	f->count = 1;
	return 0;
}

const struct ct_analyser ct_call_find_one = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.span = find_one_span,
};

/* ----------------------------------------------------------- the slowest --- */

/* The longest first. */
static int find_order(const void *a, const void *b)
{
	const struct ct_call_target *x = a, *y = b;
	uint64_t dx = x->end - x->begin, dy = y->end - y->begin;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static int find_slowest_span(struct ct_analysis *a, const struct ct_span *s)
{
	struct ct_call_found *f = a->arg;
	bool outermost = !s->parent || f->request->filter.name;
	struct ct_call_target target;

	if (s->kind != CT_SPAN_CALL || !outermost)
		return 0;
	if (s->flags & CT_SPAN_UNFINISHED && s->api && !f->unreturned++)
		f->unreturned_op = s->op_id;
	if (!(s->flags & CT_SPAN_TIMED))
		return 0;
	target = find_target(s);
	/* Who names ioctl means the program's. */
	if (s->api || (f->request->filter.name && !s->kernel && s->class->category == CT_CAT_SYSCALL))
		ct_largest_keep(f->targets, &f->count, f->request->count, sizeof(target), &target, find_order);
	else if (s->kernel && s->track->tid)
		ct_largest_keep(f->driver, &f->driver_count, f->request->count, sizeof(target), &target, find_order);
	return 0;
}

static int find_slowest_end(struct ct_analysis *a)
{
	struct ct_call_found *f = a->arg;

	if (!f->count) {
		memcpy(f->targets, f->driver, sizeof(f->targets));
		f->count = f->driver_count;
		f->kernel = f->count > 0;
	}
	qsort(f->targets, f->count, sizeof(*f->targets), find_order);
	return 0;
}

const struct ct_analyser ct_call_find_slowest = {
	.spans = CT_SPANS_BY_END,
	.span = find_slowest_span,
	.end = find_slowest_end,
};
