// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See call_collect.h.  Spans come where they end: what is inside a call before the call itself, whose
 * time is then its duration without theirs.  Must never keep more than the limits of a tree, however
 * long its call is.
 */
#include "explain/calls/call_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain/calls/call_detail.h"
#include "explain/calls/call_gpu.h"
#include "explain/calls/call_nodes.h"
#include "view/term.h"

#define NODES_MAX	(1u << 17)	/* of all trees together */
#define DEFERRED_MAX	64		/* of a tree */

#define CT_CALL_PLACE_ROW(id, text)	[CT_PLACE_##id] = text,
const char *const ct_call_place_text[CT_PLACE_COUNT] = { CT_CALL_PLACES(CT_CALL_PLACE_ROW) };
#undef CT_CALL_PLACE_ROW

/* A span in a tree: what is around it. */
struct collect_at {
	const struct ct_frame *frames;	/* of the thread, from the tree's call on, the outermost first */
	uint32_t depth;			/* how many */
	uint64_t within;		/* op_id of what it is directly in */
	bool interrupt;
};

/* ------------------------------------------------------------------ places --- */

static enum ct_call_place collect_place_of_class(const struct ct_class *class)
{
	if (class->layer == CT_LAYER_USER) {
		switch (class->category) {
		case CT_CAT_SYSCALL:
			return CT_PLACE_BETWEEN;
		case CT_CAT_RUNTIME:
			return CT_PLACE_RUNTIME;
		case CT_CAT_SYNC:
			return CT_PLACE_WAIT;
		}
		return CT_PLACE_LIBCUDA;
	}
	switch (class->category) {
	case CT_CAT_IOCTL:
		return CT_PLACE_DRIVER_IOCTL;
	case CT_CAT_MEMORY:
		return CT_PLACE_DRIVER_MEMORY;
	case CT_CAT_SCHEDULER:
		return CT_PLACE_DRIVER_DELAY;
	case CT_CAT_UVM:
		return CT_PLACE_DRIVER_UVM;
	}
	return CT_PLACE_DRIVER_OTHER;
}

/* @kernel: calls of the driver were seen in it; else all of an ioctl is the program's view. */
static enum ct_call_place collect_place(const struct ct_call_tree *t, const struct collect_at *at,
					const struct ct_class *class, bool kernel)
{
	if (ct_class_is(class, CT_IS_SWITCH)) {
		/* A call whose begin was lost is not among the frames. */
		bool sync = t->target.class->category == CT_CAT_SYNC;

		for (uint32_t i = 0; i < at->depth; i++)
			sync |= at->frames[i].class->category == CT_CAT_SYNC;
		return sync ? CT_PLACE_WAIT_OFF : CT_PLACE_OFF;
	}
	if (at->interrupt && at->within)
		return CT_PLACE_INTERRUPT;
	if (class->layer == CT_LAYER_USER && class->category == CT_CAT_SYSCALL && !kernel)
		return CT_PLACE_IOCTL;
	return collect_place_of_class(class);
}

/* The node's own time is known: it goes to a place. */
static void collect_charge(struct ct_call_tree *t, struct ct_call_node *n, enum ct_call_place place, uint64_t ready)
{
	ready = ready < n->self ? ready : n->self;
	t->place_counts[place]++;
	t->place_counts[CT_PLACE_READY] += ready > 0;
	t->places[CT_PLACE_READY] += ready;
	if (n->abandoned) {
		place = CT_PLACE_LEFT;
		t->place_counts[place]++;
	}
	n->place = place;
	t->places[place] += n->self - ready;
}

/* ----------------------------------------------------------------- details --- */

static void collect_thread(const struct ct_analysis *a, uint32_t tid, char *buf, unsigned int size)
{
	const struct ct_track *thread = ct_analysis_track(a, tid);
	char name[64];

	if (thread)
		snprintf(buf, size, "thread %u of %s", tid,
			 ct_processes_name(a->processes, thread->pid, name, 40));
	else
		snprintf(buf, size, "thread %u", tid);
}

/* Why the thread left its CPU, who ran instead, who woke it. */
static void collect_switch(const struct ct_analysis *a, const struct ct_span *s, char text[CT_DETAIL_MAX])
{
	char other[112] = "nothing", waker[112] = "an interrupt", ready[CT_TERM_TEXT];
	bool begun = s->entry && s->entry->fields;
	uint32_t state = ct_record_known(begun ? s->entry : s->record, CT_KNOWN_STATE), tid;
	uint64_t runnable = ct_record_known(s->record, CT_KNOWN_RUNNABLE);
	size_t used;

	used = snprintf(text, CT_DETAIL_MAX, "%s%s", state ? "asleep" : "preempted",
			begun && state & 2 ? ", uninterruptible" : "");
	/* A record of the end alone says who ran before, which may be another thread. */
	tid = begun ? ct_record_known(s->entry, CT_KNOWN_OTHER) : 0;
	if (tid)
		collect_thread(a, tid, other, sizeof(other));
	if (begun)
		used += snprintf(text + used, CT_DETAIL_MAX - used, "; then ran %s", other);
	if (s->flags & CT_SPAN_UNFINISHED || !ct_record_known(s->record, CT_KNOWN_STATE))
		return;
	tid = ct_record_known(s->record, CT_KNOWN_WAKER);
	if (tid)
		collect_thread(a, tid, waker, sizeof(waker));
	used += snprintf(text + used, CT_DETAIL_MAX - used, "; woken by %s", waker);
	if (runnable)
		snprintf(text + used, CT_DETAIL_MAX - used, "; ready for %s", ct_term_ns(ready, runnable));
}

/* Adds a span's node with what its record says; of a call without an end what it said at its entry. */
static int collect_add(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s, struct ct_call_node *n)
{
	bool unfinished = s->flags & CT_SPAN_UNFINISHED, is_switch = ct_class_is(s->class, CT_IS_SWITCH);
	const struct ct_record *r = unfinished && s->entry ? s->entry : s->record;
	char detail[CT_DETAIL_MAX];
	int rc;

	n->key = s->op_id ? s->op_id : CT_NODE_INSTANT | s->number;
	n->class = s->class;
	n->begin = s->begin;
	n->entered = s->entry ? s->entry->end : s->begin;
	n->pid = s->record->pid;
	n->tid = s->record->tid;
	n->cpu = unfinished ? CT_NO_CPU : s->record->cpu;
	n->instant = s->kind == CT_SPAN_INSTANT;
	n->duration = n->instant ? 0 : s->left > n->entered ? s->left - n->entered : s->duration;
	n->returned = !n->instant && !unfinished;
	n->abandoned = s->flags & CT_SPAN_ABANDONED;
	n->begin_lost = s->flags & CT_SPAN_BEGIN_LOST;
	n->ioctl = !is_switch && r->fields && ct_record_is_ioctl(r);
	n->failed = !is_switch && !unfinished && s->flags & CT_SPAN_FAILED;
	n->result = n->failed ? ct_name_failure(s->record) : NULL;
	*detail = 0;
	if (is_switch && !n->instant)
		collect_switch(a, s, detail);
	else if (!is_switch)
		ct_call_detail(detail, a->names, r);
	n->detail = *detail ? strdup(detail) : NULL;
	rc = *detail && !n->detail ? -ENOMEM : ct_nodes_add(t, n);
	if (rc)
		free(n->detail);
	return rc;
}

/* ------------------------------------------------------------ deferred work --- */

/* A call that queues an item is remembered by it when it begins: the item may run before it ends. */
static int collect_queued(struct ct_call_tree *t, const struct ct_trace_event *e)
{
	uint64_t address = ct_record_known(e->record, CT_KNOWN_ITEM);
	struct ct_call_item *item;

	if (!address || t->items.count >= DEFERRED_MAX)
		return 0;
	item = ct_keyed_put(&t->items, address);
	if (!item)
		return -ENOMEM;
	item->op_id = e->point->op_id;
	item->begin = e->begin;
	return 0;
}

static int collect_deferred(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s)
{
	struct ct_call_node n = { .deferred = true, .self = s->self };
	struct ct_call_item *item;
	uint64_t address;
	int rc;

	if (!s->kernel || !(s->flags & CT_SPAN_TIMED) || s->kind == CT_SPAN_SWITCH)
		return 0;
	/* Somebody else queues an item at the same address: what runs now is not the call's. */
	address = ct_record_known(s->record, CT_KNOWN_ITEM);
	item = address ? ct_keyed_get(&t->items, address) : NULL;
	if (item && s->track->key != t->target.key && s->begin >= item->begin) {
		ct_keyed_remove(&t->items, item);
		return 0;
	}
	if (s->class->category != CT_CAT_SCHEDULER && s->class->category != CT_CAT_INTERRUPT)
		return 0;
	address = ct_record_known(s->record, CT_KNOWN_ARG0);
	item = address ? ct_keyed_get(&t->items, address) : NULL;
	if (!item || s->begin < item->begin)
		return 0;
	n.within = item->op_id;
	rc = collect_add(a, t, s, &n);
	if (!rc)
		ct_keyed_remove(&t->items, ct_keyed_get(&t->items, address));
	return rc;
}

/* --------------------------------------------------------------- meanwhile --- */

static void collect_cpu(struct ct_call_tree *t, const struct ct_record *r)
{
	if (r && r->cpu >= 0 && r->cpu < (int)sizeof(t->cpus) * 8)
		t->cpus[r->cpu / 64] |= 1ull << r->cpu % 64;
}

/* An interrupt that did not interrupt the call's thread. */
static int collect_meanwhile(struct ct_call_tree *t, const struct ct_span *s)
{
	int32_t cpu = s->record->cpu;
	struct ct_call_meanwhile *m;

	if (s->kind != CT_SPAN_CALL || !(s->flags & CT_SPAN_TIMED) || s->track->depth || s->begin < t->target.begin ||
	    cpu < 0 || cpu >= (int)sizeof(t->cpus) * 8)
		return 0;
	m = ct_keyed_put(&t->meanwhile, (uint64_t)(uint32_t)cpu << 16 | s->class->id);
	if (!m)
		return -ENOMEM;
	m->class = s->class;
	m->cpu = cpu;
	m->count++;
	m->ns += s->duration;
	return 0;
}

/* ------------------------------------------------------------------- inside --- */

/* What is around a span or an event of the tree's thread, or of an interrupt of it; false: the call is not. */
static bool collect_inside(const struct ct_analysis *a, const struct ct_call_tree *t, const struct ct_track *track,
			   const struct ct_record *r, uint64_t begin, struct collect_at *at)
{
	const struct ct_call_target *target = &t->target;
	const struct ct_track *thread = track;
	uint32_t from = 0;

	*at = (struct collect_at){ .interrupt = ct_track_is_interrupts(track->key) };
	if (track->key != target->key) {
		if (!at->interrupt || !r->tid || r->tid != target->tid)
			return false;
		thread = ct_analysis_track(a, target->key);
	}
	if (!thread || (target->begin_lost && begin < target->begin))
		return false;
	while (from < thread->depth && thread->frames[from].op_id != target->op_id &&
	       !(target->begin_lost && thread->frames[from].begin >= target->begin))
		from++;
	if (from == thread->depth && !target->begin_lost)
		return false;
	at->frames = thread->frames + from;
	at->depth = thread->depth - from;
	at->within = track != thread && track->depth ? track->frames[track->depth - 1].op_id :
		     at->depth ? at->frames[at->depth - 1].op_id : target->op_id;
	return true;
}

/* A call without an end, which comes last, or one that is known to have none.  Its time: collect_lost(). */
static int collect_unfinished(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s, uint64_t within)
{
	const struct ct_call_inner *inside = ct_keyed_get(&t->inner, s->op_id);
	struct collect_at at = { .within = within, .interrupt = ct_track_is_interrupts(s->track->key) };
	struct ct_call_node n = { .within = within, .interrupt = at.interrupt };

	n.place = collect_place(t, &at, s->class, inside && inside->kernel);
	t->place_counts[n.place]++;
	return collect_add(a, t, s, &n);
}

/* A call was seen, by its begin or by its end. */
static int collect_seen(struct ct_call_tree *t, const struct ct_class *class, const struct collect_at *at, uint64_t ns)
{
	bool kernel = class->layer != CT_LAYER_USER && !ct_class_is(class, CT_IS_SWITCH) && !at->interrupt;
	struct ct_call_inner *in;

	t->kernel_calls |= kernel;
	t->user_ioctls |= class->layer == CT_LAYER_USER && class->category == CT_CAT_SYSCALL;
	if (!at->within || !(ns || kernel))
		return 0;
	in = ct_keyed_put(&t->inner, at->within);
	if (!in)
		return -ENOMEM;
	in->ns += ns;
	in->kernel |= kernel;
	return 0;
}

/* What ended, or an instant. */
static int collect_ended(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s, const struct collect_at *at)
{
	struct ct_call_node n = { .within = at->within, .interrupt = at->interrupt };
	struct ct_call_inner *inside = s->op_id ? ct_keyed_get(&t->inner, s->op_id) : NULL;
	uint64_t inner = inside ? inside->ns : 0, took = s->duration;
	bool kernel = inside && inside->kernel;

	if (s->kind == CT_SPAN_INSTANT) {
		t->kernel_calls |= s->kernel;
		return collect_add(a, t, s, &n);
	}
	/* What was inside a call whose begin was lost stands in front of it already. */
	if (s->flags & CT_SPAN_BEGIN_LOST && at->within && t->newest > s->begin)
		took = 0;
	n.self = took > inner ? took - inner : 0;
	n.abandoned = s->flags & CT_SPAN_ABANDONED;
	if (took || !s->duration)
		collect_charge(t, &n, collect_place(t, at, s->class, kernel),
			       s->kind == CT_SPAN_SWITCH ? ct_record_known(s->record, CT_KNOWN_RUNNABLE) : 0);
	if (inside)
		ct_keyed_remove(&t->inner, inside);
	if (collect_seen(t, s->class, at, took))
		return -ENOMEM;
	return collect_add(a, t, s, &n);
}

static void collect_around(struct ct_call_tree *t, const struct ct_track *track, uint32_t stack)
{
	for (uint32_t i = 0; i < track->depth; i++, t->around_count++)
		if (i < CT_CALL_AROUND)
			t->around[i] = (struct ct_call_around){ track->frames[i].op_id, track->frames[i].class };
	t->called_from = track->depth ? track->frames[0].stack : stack;
}

static int collect_root(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s)
{
	struct collect_at at = { .interrupt = ct_track_is_interrupts(s->track->key) };

	t->end_lost = s->left;
	if (s->flags & CT_SPAN_UNFINISHED)
		return collect_unfinished(a, t, s, 0);
	t->done = true;
	/* Of others this is known since they began. */
	if (s->flags & CT_SPAN_BEGIN_LOST || s->kind == CT_SPAN_INSTANT)
		collect_around(t, s->track, s->stack);
	return collect_ended(a, t, s, &at);
}

static int collect_tree(struct ct_analysis *a, struct ct_call_tree *t, const struct ct_span *s)
{
	bool own = s->track->key == t->target.key;
	struct collect_at at;
	int rc = 0;

	if (t->items.count)
		rc = collect_deferred(a, t, s);
	if (rc)
		return rc;
	if (s->op_id && s->op_id == t->target.op_id) {
		collect_cpu(t, s->record);
		collect_cpu(t, s->entry);
		return collect_root(a, t, s);
	}
	/* Those that come last have no frames around them. */
	if (s->flags & CT_SPAN_UNFINISHED && s->entry)
		return s->parent && (s->parent == t->target.op_id || ct_keyed_get(&t->nodes, s->parent)) ?
		       collect_unfinished(a, t, s, s->parent) : 0;
	if (t->done)
		return 0;
	if (collect_inside(a, t, s->track, s->record, s->begin, &at)) {
		collect_cpu(t, s->record);
		collect_cpu(t, s->entry);
		t->until = s->end > t->until ? s->end : t->until;
		if (ct_call_says_nothing(s))
			return 0;
		rc = s->flags & CT_SPAN_UNFINISHED ? collect_unfinished(a, t, s, at.within) : collect_ended(a, t, s, &at);
		t->newest = s->begin;
		return rc;
	}
	if (!own)
		return ct_track_is_interrupts(s->track->key) ? collect_meanwhile(t, s) : 0;
	/* Its thread is not in it any more. */
	t->done |= !t->target.begin_lost && s->end > t->target.begin;
	return 0;
}

static int collect_span(struct ct_analysis *a, const struct ct_span *s)
{
	struct ct_call_trees *trees = a->state;
	int rc = 0;

	if (s->kind == CT_SPAN_RANGE)
		return 0;
	for (uint32_t i = 0; i < trees->count && !rc; i++) {
		/* Much of a trace is before a call. */
		if (s->end >= trees->list[i].target.begin)
			rc = collect_tree(a, &trees->list[i], s);
	}
	return rc;
}

/* ------------------------------------------------------------------- begins --- */

static int collect_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_call_trees *trees = a->state;
	bool queues = e->kernel && e->class->category == CT_CAT_SCHEDULER;
	struct collect_at at;
	int rc = 0;

	for (uint32_t i = 0; i < trees->count && !rc; i++) {
		struct ct_call_tree *t = &trees->list[i];
		bool target = e->point->op_id == t->target.op_id;

		if (target)
			collect_around(t, e->track, e->point->stack);
		if (t->done)
			continue;
		if (!target && !((e->point->entry || queues) &&
				 collect_inside(a, t, e->track, e->record, e->begin, &at)))
			continue;
		t->until = e->point->ts > t->until ? e->point->ts : t->until;
		if (!target)
			rc = collect_seen(t, e->class, &at, 0);
		if (queues && !rc)
			rc = collect_queued(t, e);
	}
	return rc;
}

/* --------------------------------------------------------------------- end --- */

/*
 * A call without an end took at most until its thread was outside it.  Nobody knows what its thread did
 * then; the call that it is in did not.
 */
static void collect_lost(struct ct_call_tree *t)
{
	for (size_t i = 0; i < t->nodes.count; i++) {
		struct ct_call_node *n = &t->nodes.list[i], *in = i ? &t->nodes.list[n->parent] : NULL;
		const struct ct_call_inner *inside = ct_keyed_get(&t->inner, n->key);
		uint64_t inner = inside ? inside->ns : 0, most = n->duration;

		if (n->instant || n->returned)
			continue;
		if (most) {
			n->place = CT_PLACE_LEFT;
			t->place_counts[CT_PLACE_LEFT]++;
		} else {
			most = t->until > n->entered ? t->until - n->entered : 0;
		}
		/* Of the time of what it is in, which is not known to be another's. */
		if (in && most > in->self + inner)
			most = in->self + inner;
		n->self = most > inner ? most - inner : 0;
		if (in) {
			most = most < in->self ? most : in->self;
			t->places[in->place] -= most;
			in->self -= most;
		}
		t->places[n->place] += n->self;
	}
}

static int collect_end(struct ct_analysis *a)
{
	struct ct_call_trees *s = a->state;

	for (uint32_t i = 0; i < s->count; i++) {
		struct ct_call_tree *t = &s->list[i];

		ct_nodes_order(t);
		collect_lost(t);
		ct_nodes_weigh(t);
		for (unsigned int k = 0; k < CT_PLACE_COUNT; k++)
			t->total += t->places[k];
	}
	return 0;
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

static void collect_free(struct ct_analysis *a)
{
	struct ct_call_trees *s = a->state;

	for (uint32_t i = 0; i < s->count; i++) {
		struct ct_call_tree *t = &s->list[i];

		ct_nodes_free(t);
		ct_keyed_free(&t->inner);
		ct_keyed_free(&t->meanwhile);
		ct_keyed_free(&t->items);
	}
	free(s->list);
}

static const struct ct_analyser *const needs[] = { &ct_call_gpu, NULL };

const struct ct_analyser ct_call_collect = {
	.needs = needs,
	.on = CT_ON_BEGIN,
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.state_size = sizeof(struct ct_call_trees),
	.begin = collect_begin,
	.event = collect_event,
	.span = collect_span,
	.end = collect_end,
	.free = collect_free,
};
