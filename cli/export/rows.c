// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rows.h.  Memory is bounded by the calls that are open at a moment. */
#include "export/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "trace/gpu/causes.h"

struct rows {
	struct ct_rows_user user;
	int (*row)(struct ct_rows_user *user, const struct ct_row *row);
	int (*end)(struct ct_rows_user *user);
	/* Calls whose begin was recorded and that have not ended: by op_id; a: struct ct_row *. */
	struct ct_hash open;
};

/* How the engine's analyser finds what it works for. */
static struct rows *rows_of(const struct ct_analysis *a)
{
	return a->arg;
}

static struct ct_row rows_make(const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	const struct ct_track *track = e->track;
	uint32_t pid = p->record.pid, tid = p->record.tid;

	return (struct ct_row){
		.class = e->class,
		.record = p->open ? NULL : e->record,
		.call = p->op_id != 0,
		.abandoned = !p->open && (p->record.flags & CT_F_ABANDONED),
		.begin_lost = p->begin_lost,
		.nested = track->nested[e->category] > 0,
		.inner_ioctl = track->ioctls[e->kernel] > 0,
		.pid = pid, .tid = tid, .cpu = p->open ? CT_NO_CPU : p->record.cpu,
		.depth = p->depth,
		.op_id = p->op_id,
		.parent = p->cause ? p->cause->op_id :
			  p->op_id && track->depth ? track->frames[track->depth - 1].op_id : 0,
		.begin = e->begin, .end = e->end,
		.category = e->category,
	};
}

static int rows_begin_call(struct rows *s, const struct ct_trace_event *e)
{
	struct ct_row row, *kept;
	struct ct_hash_slot *slot;

	if (!e->point->open && !e->point->entry)
		return 0;
	row = rows_make(e);
	row.record = NULL;
	row.unfinished = true;
	if (e->point->open)
		return s->row(&s->user, &row);
	slot = ct_hash_put(&s->open, row.op_id);
	kept = malloc(sizeof(*kept));
	if (!slot || !kept) {
		free(kept);
		return -ENOMEM;
	}
	*kept = row;
	slot->a = (uintptr_t)kept;
	return 0;
}

static int rows_end_call(struct rows *s, const struct ct_trace_event *e)
{
	struct ct_hash_slot *slot = ct_hash_get(&s->open, e->point->op_id);
	struct ct_row row = rows_make(e);

	row.timed = e->timed;
	row.failed = e->failed;
	row.duration = e->duration;
	row.self = e->self;
	if (slot) {
		/* What was around it when it began. */
		row.parent = ((const struct ct_row *)(uintptr_t)slot->a)->parent;
		free((void *)(uintptr_t)slot->a);
		ct_hash_remove(&s->open, slot);
	}
	return s->row(&s->user, &row);
}

static int rows_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct rows *s = rows_of(a);
	struct ct_row row;

	switch (e->kind) {
	case CT_ON_BEGIN:
		return rows_begin_call(s, e);
	case CT_ON_END:
		return rows_end_call(s, e);
	}
	row = rows_make(e);
	row.failed = e->failed;
	return s->row(&s->user, &row);
}

static int rows_begin(struct ct_analysis *a)
{
	struct rows *s = rows_of(a);

	s->user.trace = a->trace;
	s->user.names = a->names;
	s->user.processes = a->processes;
	return 0;
}

static int rows_by_begin(const void *a, const void *b)
{
	const struct ct_row *x = *(struct ct_row *const *)a, *y = *(struct ct_row *const *)b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static int rows_end(struct ct_analysis *a)
{
	struct rows *s = rows_of(a);
	struct ct_row **left = calloc(s->open.count + 1, sizeof(struct ct_row *));
	size_t count = 0;
	int rc = 0;

	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < s->open.size; i++)
		if (s->open.slots[i].used)
			left[count++] = (struct ct_row *)(uintptr_t)s->open.slots[i].a;
	qsort(left, count, sizeof(*left), rows_by_begin);
	for (size_t i = 0; i < count && !rc; i++)
		rc = s->row(&s->user, left[i]);
	free(left);
	return rc || !s->end ? rc : s->end(&s->user);
}

static void rows_free(struct rows *s)
{
	for (size_t i = 0; i < s->open.size; i++)
		if (s->open.slots[i].used)
			free((void *)(uintptr_t)s->open.slots[i].a);
	ct_hash_free(&s->open);
}

static const struct ct_analyser rows_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.begin = rows_begin,
	.event = rows_event,
	.end = rows_end,
};

int ct_rows(const struct ct_trace *t, int (*row)(struct ct_rows_user *user, const struct ct_row *row),
	    int (*end)(struct ct_rows_user *user), void *arg)
{
	static const struct ct_analyser *const analysers[] = { &rows_analyser };
	struct rows s = { .user = { .arg = arg }, .row = row, .end = end };
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 }, .arg = &s };
	struct ct_error err = { 0 };
	struct ct_engine *engine = ct_engine_run(t, analysers, 1, &options, &err);

	rows_free(&s);
	if (!engine)
		return -err.code;
	ct_engine_free(engine);
	return 0;
}
