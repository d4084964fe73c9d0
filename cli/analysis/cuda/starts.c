// SPDX-License-Identifier: LGPL-2.1-or-later
/* See starts.h.  Memory is bounded by the calls that are open at a moment. */
#include "analysis/cuda/starts.h"

#include <errno.h>
#include <stdlib.h>

int ct_starts_event(struct ct_starts *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	struct ct_start *start;

	if (e->kind == CT_ON_INSTANT)
		return 1;
	if (e->kind == CT_ON_BEGIN) {
		if (p->open || !p->entry)
			return 1;
		start = ct_keyed_put(&s->entries, p->op_id);
		if (!start)
			return -ENOMEM;
		start->begin = e->begin;
		start->class = e->class;
		start->depth = p->depth;
		start->pid = e->track->pid;
		start->tid = e->track->tid;
		return 0;
	}
	if (!(e->record->flags & CT_F_HAS_BEGIN))
		return 0;
	start = ct_keyed_get(&s->entries, p->op_id);
	if (start)
		ct_keyed_remove(&s->entries, start);
	else if (!p->begin_lost)
		return 0;
	s->late++;
	return 1;
}

struct ct_cell ct_starts_duration(const struct ct_trace_event *e)
{
	const struct ct_record *r = e->record;

	if (e->kind == CT_ON_INSTANT || e->point->open || (r->flags & CT_F_ABANDONED))
		return (struct ct_cell){ 0 };
	return ct_u64(e->kind == CT_ON_END ? e->duration : r->end - ct_record_begin(r));
}

static int starts_compare(const void *a, const void *b)
{
	const struct ct_start *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

void ct_starts_sort(struct ct_starts *s)
{
	ct_keyed_sort(&s->entries, starts_compare);
}

void ct_starts_free(struct ct_starts *s)
{
	ct_keyed_free(&s->entries);
}
