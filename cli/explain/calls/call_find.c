// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_find.h.  Must never keep a call that was not asked for. */
#include "explain/calls/call_find.h"

#include <string.h>

static struct ct_call_target find_target(const struct ct_trace_event *e)
{
	return (struct ct_call_target){
		.op_id = e->point->op_id,
		.begin = e->begin,
		.end = e->end,
		.key = e->track->key,
		.pid = e->record->pid,
		.tid = e->track->tid,
		.class = e->class,
		.returned = e->kind != CT_ON_BEGIN,
		.abandoned = e->kind == CT_ON_END && !e->timed,
		.begin_lost = e->point->begin_lost,
	};
}

/* ------------------------------------------------------------- by its id --- */

static int find_one_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_call_found *f = a->arg;

	if (e->point->op_id != f->request->op_id)
		return 0;
	f->targets[0] = find_target(e);
	f->count = 1;
	return 0;
}

const struct ct_analyser ct_call_find_one = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.event = find_one_event,
};

/* ----------------------------------------------------------- the slowest --- */

static bool find_longer(const struct ct_call_target *x, const struct ct_call_target *y)
{
	uint64_t dx = x->end - x->begin, dy = y->end - y->begin;

	return dx != dy ? dx > dy : x->op_id < y->op_id;
}

/* Sorts a call into a list of at most @most, the longest first. */
static void find_insert(struct ct_call_target *list, unsigned int *count, unsigned int most,
			const struct ct_call_target *target)
{
	unsigned int at = *count;

	if (at == most && !find_longer(target, &list[at - 1]))
		return;
	while (at > 0 && find_longer(target, &list[at - 1]))
		at--;
	if (*count < most)
		++*count;
	memmove(&list[at + 1], &list[at], (*count - at - 1) * sizeof(*list));
	list[at] = *target;
}

static int find_slowest_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_call_found *f = a->arg;
	bool outermost = !e->track->depth || f->request->filter.name;
	struct ct_call_target target;

	/* What is left of an unreturned call is its frame, behind those that are open. */
	if (e->kind == CT_ON_UNRETURNED) {
		if (e->api && outermost && !f->unreturned++)
			f->unreturned_op = e->track->frames[e->track->depth].op_id;
		return 0;
	}
	if (!outermost || !e->timed || e->class->category == CT_CAT_SWITCH)
		return 0;
	target = find_target(e);
	/* Who names ioctl means the program's. */
	if (e->api || (f->request->filter.name && !e->kernel && e->class->category == CT_CAT_SYSCALL))
		find_insert(f->targets, &f->count, f->request->count, &target);
	else if (e->kernel && e->track->tid)
		find_insert(f->driver, &f->driver_count, f->request->count, &target);
	return 0;
}

static int find_slowest_end(struct ct_analysis *a)
{
	struct ct_call_found *f = a->arg;

	if (f->count)
		return 0;
	memcpy(f->targets, f->driver, sizeof(f->targets));
	f->count = f->driver_count;
	f->kernel = f->count > 0;
	return 0;
}

const struct ct_analyser ct_call_find_slowest = {
	.on = CT_ON_END | CT_ON_UNRETURNED,
	.event = find_slowest_event,
	.end = find_slowest_end,
};
