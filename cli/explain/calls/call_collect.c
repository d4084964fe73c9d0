// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See call_collect.h.  Must never keep more than the limits of a tree, however long its call is.
 */
#include "explain/calls/call_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain/calls/call_detail.h"
#include "explain/calls/call_gpu.h"
#include "explain/calls/call_nodes.h"
#include "explain/calls/call_time.h"
#include "view/term.h"

#define NODES_MAX	(1u << 17)	/* of all trees together */
#define DEFERRED_MAX	64		/* of a tree */

/* ------------------------------------------------------------------- nodes --- */

static int collect_fill(struct ct_analysis *a, struct ct_call_node *n,
			const struct ct_trace_event *e)
{
	char detail[CT_DETAIL_MAX];

	if (e->class->category == CT_CAT_SWITCH)
		return 0;
	free(n->detail);
	n->detail = NULL;
	if (*ct_call_detail(detail, a->names, e->record)) {
		n->detail = strdup(detail);
		if (!n->detail)
			return -ENOMEM;
	}
	n->ioctl = e->record->fields && ct_record_is_ioctl(e->record);
	n->failed = e->kind != CT_ON_BEGIN && e->failed;
	n->result = n->failed ? ct_name_failure(e->record) : NULL;
	return 0;
}

/* A node for the event inside what is open now; CT_NODE_NONE: that was dropped. */
static int collect_node(struct ct_analysis *a, struct ct_call_tree *t,
			const struct ct_trace_event *e, uint32_t *index)
{
	struct ct_call_node *n;
	int rc;

	*index = CT_NODE_NONE;
	if (t->depth && t->stack[t->depth - 1].node == CT_NODE_NONE)
		return 0;
	rc = ct_nodes_add(t, index);
	if (rc)
		return rc;
	n = &t->nodes[*index];
	/* Its parent is open, so it was not dropped. */
	n->parent = t->depth ? t->stack[t->depth - 1].node : CT_NODE_NONE;
	n->depth = t->depth < UINT16_MAX ? t->depth : UINT16_MAX;
	n->op_id = e->point->op_id;
	n->class = e->class;
	n->begin = e->begin;
	n->pid = e->record->pid;
	n->tid = e->record->tid;
	n->interrupt = !e->track->tid;
	n->instant = e->kind == CT_ON_INSTANT;
	if (e->kind != CT_ON_BEGIN)
		n->cpu = e->record->cpu;
	return collect_fill(a, n, e);
}

/* ---------------------------------------------------------------- switches --- */

static void collect_thread(const struct ct_analysis *a, uint32_t tid, char *buf, unsigned int size)
{
	const struct ct_call_trees *s = a->state;
	const struct ct_call_thread *thread = ct_keyed_get(&s->tids, tid);
	char name[64];

	if (thread)
		snprintf(buf, size, "thread %u of %s", tid,
			 ct_processes_name(a->processes, thread->pid, name, 40));
	else
		snprintf(buf, size, "thread %u", tid);
}

/* Why the thread left its CPU, who ran instead, who woke it. */
static int collect_switch(struct ct_analysis *a, struct ct_call_node *n,
			  const struct ct_trace_event *e)
{
	char other[112] = "", waker[112], ready[CT_TERM_TEXT], text[CT_DETAIL_MAX], *old = n->detail;
	uint32_t state = ct_record_quick(e->record, CT_QUICK_STATE), tid;
	uint64_t runnable;

	if (e->kind == CT_ON_BEGIN) {
		tid = ct_record_quick(e->record, CT_QUICK_OTHER);
		if (tid)
			collect_thread(a, tid, other, sizeof(other));
		/* A record of the end alone says who ran before, which may be another thread. */
		if (e->point->entry)
			snprintf(text, sizeof(text), "%s; then ran %s",
				 !state ? "preempted" : state & 2 ? "asleep, uninterruptible" : "asleep",
				 tid ? other : "nothing");
		else
			snprintf(text, sizeof(text), "%s", state ? "asleep" : "preempted");
	} else {
		tid = ct_record_quick(e->record, CT_QUICK_WAKER);
		runnable = ct_record_quick(e->record, CT_QUICK_RUNNABLE);
		collect_thread(a, tid, waker, sizeof(waker));
		snprintf(text, sizeof(text), "%s%s%s%s%s", old ? old : state ? "asleep" : "preempted",
			 !state ? "" : "; woken by ",
			 !state ? "" : tid ? waker : "an interrupt",
			 runnable && state ? "; ready for " : "",
			 runnable && state ? ct_term_ns(ready, runnable) : "");
	}
	n->detail = strdup(text);
	free(old);
	return n->detail ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------ deferred work --- */

/* A call that queues an item is remembered by it, one that runs an item is looked up. */
static int collect_queued(struct ct_call_tree *t, const struct ct_trace_event *e, uint32_t node)
{
	uint64_t address = e->kernel && e->class->category == CT_CAT_SCHEDULER ?
			   ct_record_quick(e->record, CT_QUICK_ITEM) : 0;
	struct ct_call_item *item;

	if (!address || node == CT_NODE_NONE || t->items.count >= DEFERRED_MAX)
		return 0;
	item = ct_keyed_put(&t->items, address);
	if (!item)
		return -ENOMEM;
	item->node = node + 1;
	item->begin = e->begin;
	return 0;
}

static int collect_deferred(struct ct_analysis *a, struct ct_call_tree *t,
			    const struct ct_trace_event *e)
{
	uint64_t address;
	struct ct_call_item *item;
	struct ct_call_node *n;
	uint32_t parent, index;
	int rc;

	if (!e->kernel || e->kind != CT_ON_END || e->class->category == CT_CAT_SWITCH)
		return 0;
	/* Somebody else queues an item at the same address: what runs now is not the call's. */
	address = ct_record_quick(e->record, CT_QUICK_ITEM);
	item = address ? ct_keyed_get(&t->items, address) : NULL;
	if (item && e->track->key != t->target.key && e->begin >= item->begin) {
		ct_keyed_remove(&t->items, item);
		return 0;
	}
	if (e->class->category != CT_CAT_SCHEDULER && e->class->category != CT_CAT_INTERRUPT)
		return 0;
	address = ct_record_quick(e->record, CT_QUICK_ARG0);
	item = address ? ct_keyed_get(&t->items, address) : NULL;
	if (!item || e->begin < item->begin)
		return 0;
	if (!item->node) {
		ct_keyed_remove(&t->items, item);
		return 0;
	}
	/* That may drop the call that queued the item. */
	rc = ct_nodes_add(t, &index);
	if (rc)
		return rc;
	item = ct_keyed_get(&t->items, address);
	parent = item ? item->node : 0;
	n = &t->nodes[index];
	if (item)
		ct_keyed_remove(&t->items, item);
	if (!parent) {
		t->count--;
		return 0;
	}
	*n = (struct ct_call_node){
		.op_id = e->point->op_id, .begin = e->begin, .duration = e->duration, .self = e->self,
		.class = e->class, .parent = parent - 1, .pid = e->record->pid, .tid = e->record->tid,
		.cpu = e->record->cpu, .depth = t->nodes[parent - 1].depth + 1, .returned = true,
		.deferred = true,
	};
	return collect_fill(a, n, e);
}

/* --------------------------------------------------------------- meanwhile --- */

static void collect_cpu(struct ct_call_tree *t, const struct ct_trace_event *e)
{
	int32_t cpu = e->record->cpu;

	if (cpu >= 0 && cpu < (int)sizeof(t->cpus) * 8 && (e->kind != CT_ON_BEGIN || e->point->entry))
		t->cpus[cpu / 64] |= 1ull << cpu % 64;
}

/* An interrupt that did not interrupt the call's thread. */
static int collect_meanwhile(struct ct_call_tree *t, const struct ct_trace_event *e)
{
	int32_t cpu = e->record->cpu;
	struct ct_call_meanwhile *m;

	if (e->kind != CT_ON_END || !e->timed || e->track->depth || e->begin < t->target.begin ||
	    cpu < 0 || cpu >= (int)sizeof(t->cpus) * 8)
		return 0;
	m = ct_keyed_put(&t->meanwhile, (uint64_t)(uint32_t)cpu << 16 | e->class->id);
	if (!m)
		return -ENOMEM;
	m->class = e->class;
	m->cpu = cpu;
	m->count++;
	m->ns += e->duration;
	return 0;
}

/* -------------------------------------------------------------- the events --- */

static int collect_start(struct ct_analysis *a, struct ct_call_tree *t,
			 const struct ct_trace_event *e)
{
	struct ct_trace_event root = *e;
	uint32_t index;
	int rc;

	for (uint32_t i = 0; i < e->track->depth; i++, t->around_count++)
		if (i < CT_CALL_AROUND)
			t->around[i] = (struct ct_call_around){ e->track->frames[i].op_id,
								e->track->frames[i].class };
	t->called_from = e->track->depth ? e->track->frames[0].stack : e->point->stack;
	t->last = t->target.begin;
	t->collecting = true;
	if (e->point->op_id == t->target.op_id) {
		rc = collect_node(a, t, e, &index);
		if (rc || e->kind == CT_ON_INSTANT) {
			t->collecting = false;
			t->done = true;
			return rc;
		}
		t->nodes[index].begin_lost = t->target.begin_lost;
		return ct_calltime_push(t, e, index);
	}
	/* Its begin was lost.  This event is the first one inside it. */
	rc = ct_nodes_add(t, &index);
	if (rc)
		return rc;
	t->nodes[index].op_id = t->target.op_id;
	t->nodes[index].class = t->target.class;
	t->nodes[index].begin = t->target.begin;
	t->nodes[index].pid = t->target.pid;
	t->nodes[index].tid = t->target.tid;
	t->nodes[index].begin_lost = true;
	root.class = t->target.class;
	root.begin = t->target.begin;
	rc = ct_calltime_push(t, &root, index);
	t->stack[0].op_id = t->target.op_id;
	return rc;
}

/* The end of a call whose begin was lost.  What was inside it stands in front of it already. */
static int collect_begin_lost(struct ct_analysis *a, struct ct_call_tree *t,
			      const struct ct_trace_event *e)
{
	bool alone = t->nodes[t->count - 1].begin <= e->begin;
	struct ct_call_node *n;
	uint32_t index;
	int rc = collect_node(a, t, e, &index);

	if (rc || index == CT_NODE_NONE)
		return rc;
	n = &t->nodes[index];
	n->begin_lost = true;
	n->returned = true;
	n->duration = e->duration;
	if (e->class->category == CT_CAT_SWITCH)
		rc = collect_switch(a, n, e);
	/* With nothing inside it, its time is known to be its own. */
	if (!rc && alone)
		ct_calltime_claim(t, e, index);
	return rc;
}

static int collect_end_call(struct ct_analysis *a, struct ct_call_tree *t,
			    const struct ct_trace_event *e)
{
	struct ct_call_node *n;
	uint32_t at, index;
	int rc = 0;

	for (at = t->depth; at > 0; at--)
		if (t->stack[at - 1].op_id == e->point->op_id && t->stack[at - 1].class == e->class)
			break;
	if (!at && e->begin <= t->target.begin && !e->point->begin_lost) {
		/* A call around it is over. */
		while (t->depth && !rc)
			rc = ct_calltime_pop(t, e, true);
		t->end_lost = true;
		t->collecting = false;
		t->done = true;
		return rc;
	}
	if (!at)
		return collect_begin_lost(a, t, e);
	while (t->depth > at && !rc)
		rc = ct_calltime_pop(t, e, true);
	index = t->stack[at - 1].node;
	if (index != CT_NODE_NONE && !rc) {
		n = &t->nodes[index];
		n->returned = true;
		n->abandoned = !e->timed;
		n->begin = e->begin;
		n->duration = e->duration;
		n->cpu = e->record->cpu;
		rc = e->class->category == CT_CAT_SWITCH ? collect_switch(a, n, e) : collect_fill(a, n, e);
	}
	if (!rc)
		rc = ct_calltime_pop(t, e, false);
	if (at == 1) {
		t->collecting = false;
		t->done = true;
	}
	return rc;
}

/* An event of the call's thread, or of an interrupt of this thread. */
static int collect_inside(struct ct_analysis *a, struct ct_call_tree *t,
			  const struct ct_trace_event *e)
{
	uint32_t index;
	int rc;

	ct_calltime_charge(t, e->point->ts);
	collect_cpu(t, e);
	switch (e->kind) {
	case CT_ON_BEGIN:
		rc = collect_node(a, t, e, &index);
		if (!rc && index != CT_NODE_NONE && e->class->category == CT_CAT_SWITCH)
			rc = collect_switch(a, &t->nodes[index], e);
		if (!rc)
			rc = collect_queued(t, e, index);
		return rc ? rc : ct_calltime_push(t, e, index);
	case CT_ON_END:
		return collect_end_call(a, t, e);
	}
	/* Wake-ups and facts about the trace say nothing here that is not said elsewhere. */
	if (e->class->category == CT_CAT_SWITCH || e->class->category == CT_CAT_TRACER ||
	    e->class->category == CT_CAT_PROCESS)
		return 0;
	t->kernel_calls |= e->kernel;
	if (t->stack[t->depth - 1].node == CT_NODE_NONE)
		return 0;
	return collect_node(a, t, e, &index);
}

static bool collect_starts(const struct ct_call_tree *t, const struct ct_trace_event *e)
{
	if (e->track->key != t->target.key)
		return false;
	if (t->target.begin_lost)
		return e->point->ts >= t->target.begin && e->begin >= t->target.begin;
	return e->kind != CT_ON_END && e->point->op_id == t->target.op_id;
}

static int collect_tree(struct ct_analysis *a, struct ct_call_tree *t,
			const struct ct_trace_event *e)
{
	bool own = e->track->key == t->target.key;
	int rc = 0;

	if (t->items.count)
		rc = collect_deferred(a, t, e);
	if (rc || t->done)
		return rc;
	if (!t->collecting) {
		if (!collect_starts(t, e))
			return 0;
		rc = collect_start(a, t, e);
		/* Of a call whose begin was lost this was the first event inside, or its own end. */
		return rc || t->done || e->kind == CT_ON_BEGIN ? rc : collect_inside(a, t, e);
	}
	if (own || (!e->track->tid && e->record->tid && e->record->tid == t->target.tid))
		return collect_inside(a, t, e);
	return e->track->tid ? 0 : collect_meanwhile(t, e);
}

static int collect_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_call_trees *s = a->state;
	struct ct_call_thread *thread;
	int rc = 0;

	/* Tracks get their indices in the order in which they appear. */
	if (e->track->index == s->tracks) {
		s->tracks++;
		thread = e->track->tid ? ct_keyed_put(&s->tids, e->track->tid) : NULL;
		if (thread)
			thread->pid = e->track->pid;
	}
	for (uint32_t i = 0; i < s->count && !rc; i++)
		if (!s->list[i].done || s->list[i].items.count)
			rc = collect_tree(a, &s->list[i], e);
	return rc;
}

static int collect_begin(struct ct_analysis *a)
{
	const struct ct_call_found *found = a->arg;
	struct ct_call_trees *s = a->state;

	s->found = found;
	s->list = calloc(found->count + 1, sizeof(*s->list));
	if (!s->list)
		return -ENOMEM;
	s->count = found->count;
	for (uint32_t i = 0; i < s->count; i++) {
		s->list[i].target = found->targets[i];
		s->list[i].limit = NODES_MAX / s->count;
	}
	return 0;
}

static int collect_end(struct ct_analysis *a)
{
	struct ct_call_trees *s = a->state;

	for (uint32_t i = 0; i < s->count; i++)
		ct_nodes_weigh(&s->list[i]);
	return 0;
}

static void collect_free(struct ct_analysis *a)
{
	struct ct_call_trees *s = a->state;

	for (uint32_t i = 0; i < s->count; i++) {
		struct ct_call_tree *t = &s->list[i];

		ct_nodes_free(t);
		free(t->stack);
		ct_keyed_free(&t->meanwhile);
		ct_keyed_free(&t->items);
	}
	free(s->list);
	ct_keyed_free(&s->tids);
}

static const struct ct_analyser *const needs[] = { &ct_call_gpu, NULL };

const struct ct_analyser ct_call_collect = {
	.needs = needs,
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.state_size = sizeof(struct ct_call_trees),
	.begin = collect_begin,
	.event = collect_event,
	.end = collect_end,
	.free = collect_free,
};
