// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See launches.h.  Must never take a launch for finished that may not be.  Memory is bounded:
 * launches on further streams, of further processes, do not count.
 */
#include "export/slices/launches.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/cuda/stream_calls.h"
#include "analysis/program/life.h"
#include "base/grow.h"
#include "trace/gpu/causes.h"

#define PROCESSES_MAX	16384u
#define STREAMS_MAX	256u		/* of a process */
#define EVENTS_MAX	65536u		/* of a process */
#define WAITS_MAX	65536u		/* calls that wait at a moment */
#define JOINS_MAX	(1u << 18)

struct launches_stream {
	uint64_t stream;
	uint64_t total, done;		/* launches */
	uint64_t last;			/* which of the process's launches the last one was */
	bool     capturing;
	bool     blocking;		/* it and the legacy stream wait for each other */
};

struct launches_process {
	uint64_t issued;		/* launches, of all streams */
	uint64_t open;			/* the sum of all total - done */
	uint64_t context;
	bool     contexts;		/* it has several: which one a call means is not recorded */
	struct launches_stream *streams;
	uint32_t count, capacity;
	/*
	 * Events, by handle.  a: launches of its stream before it; b: ns, when it was recorded;
	 * c: the stream's index; d: these are known
	 */
	struct ct_hash events;
};

static struct launches_process *launches_process(struct ct_launches *l, uint32_t pid)
{
	struct ct_hash_slot *slot = ct_hash_get(&l->processes, pid);

	return slot ? (struct launches_process *)(uintptr_t)slot->a : NULL;
}

static int launches_add_process(struct ct_launches *l, uint32_t pid, struct launches_process **p)
{
	struct ct_hash_slot *slot;

	*p = launches_process(l, pid);
	if (*p || l->processes.count >= PROCESSES_MAX)
		return 0;
	*p = calloc(1, sizeof(**p));
	slot = *p ? ct_hash_put(&l->processes, pid) : NULL;
	if (!slot) {
		free(*p);
		*p = NULL;
		return -ENOMEM;
	}
	slot->a = (uintptr_t)*p;
	return 0;
}

static struct launches_stream *launches_stream(const struct launches_process *p, uint64_t stream)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (p->streams[i].stream == stream)
			return &p->streams[i];
	return NULL;
}

/* The stream, made if it is new; NULL in @s: there are too many. */
static int launches_add_stream(struct launches_process *p, uint64_t stream, struct launches_stream **s)
{
	*s = launches_stream(p, stream);
	if (*s || p->count >= STREAMS_MAX)
		return 0;
	if (!ct_room(p->streams, p->count, p->capacity))
		return -ENOMEM;
	*s = &p->streams[p->count++];
	**s = (struct launches_stream){ .stream = stream };
	return 0;
}

static void launches_done(struct launches_process *p, struct launches_stream *s, uint64_t done)
{
	if (done <= s->done)
		return;
	p->open -= done - s->done;
	s->done = done;
}

/* All of a stream is done, if nothing was launched on it after the first @before launches. */
static void launches_done_before(struct launches_process *p, struct launches_stream *s, uint64_t before)
{
	if (s && s->last <= before)
		launches_done(p, s, s->total);
}

/*
 * A stream was waited for.  What was launched on the legacy stream had waited for what was launched
 * on blocking streams before it, and the other way round.
 */
static void launches_waited(struct launches_process *p, uint64_t stream, uint64_t before)
{
	struct launches_stream *s = launches_stream(p, stream);

	if (!s || s->last > before || (!stream && p->contexts))
		return;
	launches_done(p, s, s->total);
	if (stream && s->blocking)
		launches_done_before(p, launches_stream(p, 0), s->last);
	for (uint32_t i = 0; !stream && i < p->count; i++)
		if (p->streams[i].blocking)
			launches_done_before(p, &p->streams[i], s->last);
}

/* ----------------------------------------------------------------- calls --- */

static int launches_launch(struct ct_launches *l, struct launches_process *p, const struct ct_trace_event *e)
{
	struct launches_stream *s;
	struct ct_hash_slot *join;

	if (!ct_class_is(e->class, CT_IS_LAUNCH))
		return 0;
	if (launches_add_stream(p, ct_call_stream(e, CT_QUICK_STREAM), &s))
		return -ENOMEM;
	if (!s || s->capturing)
		return 0;
	s->last = ++p->issued;
	s->total++;
	p->open++;
	/* Of a graph's kernels nobody knows the last. */
	if (!l->gpu || !ct_class_is(e->class, CT_IS_KERNEL_LAUNCH))
		return 0;
	if (l->joins.count >= JOINS_MAX)
		ct_hash_free(&l->joins);
	join = ct_hash_put(&l->joins, e->point->op_id);
	if (!join)
		return -ENOMEM;
	join->a = s->stream;
	join->b = s->total;
	return 0;
}

static int launches_record(struct launches_process *p, const struct ct_trace_event *e, uint64_t before)
{
	uint64_t event = ct_record_quick(e->record, CT_QUICK_EVENT);
	struct launches_stream *s = launches_stream(p, ct_call_stream(e, CT_QUICK_STREAM));
	struct ct_hash_slot *slot = ct_hash_get(&p->events, event);

	if (!slot && p->events.count >= EVENTS_MAX)
		return 0;
	slot = slot ? slot : ct_hash_put(&p->events, event);
	if (!slot)
		return -ENOMEM;
	/* Launched while it was recorded: is that before or behind it? */
	slot->d = s && s->last <= before;
	slot->c = s ? s - p->streams : 0;
	slot->a = s ? s->total : 0;
	slot->b = e->end;
	return 0;
}

static void launches_event_done(struct launches_process *p, const struct ct_trace_event *e)
{
	const struct ct_hash_slot *slot = ct_hash_get(&p->events, ct_record_quick(e->record, CT_QUICK_HANDLE));

	/* An event that is recorded again while it is waited for: which of them is meant? */
	if (slot && slot->d && slot->b <= e->begin)
		launches_done(p, &p->streams[slot->c], slot->a);
}

static void launches_context(struct launches_process *p, const struct ct_record *r)
{
	uint64_t context = ct_record_quick(r, CT_QUICK_CUDA_CONTEXT);

	if (!context)
		context = ct_record_quick(r, CT_QUICK_HANDLE);
	p->contexts |= context && p->context && context != p->context;
	p->context = context ? context : p->context;
}

/* A call returned with success; @before: launches before it began. */
static int launches_returned(struct ct_launches *l, struct launches_process *p,
			     const struct ct_trace_event *e, enum ct_stream_call call, uint64_t before)
{
	struct launches_stream *s = NULL;

	switch (call) {
	case CT_STREAM_SUBMIT:
		if (!ct_call_waits(e->class))
			return launches_launch(l, p, e);
		launches_waited(p, ct_call_stream(e, CT_QUICK_STREAM), before);
		return 0;
	case CT_STREAM_CTX_SYNC:
		for (uint32_t i = 0; !p->contexts && i < p->count; i++)
			launches_done_before(p, &p->streams[i], before);
		return 0;
	case CT_STREAM_SYNC:
		launches_waited(p, ct_call_stream(e, CT_QUICK_HANDLE), before);
		return 0;
	case CT_STREAM_EVENT_SYNC:
		launches_event_done(p, e);
		return 0;
	case CT_STREAM_EVENT_RECORD:
		return launches_record(p, e, before);
	case CT_STREAM_CAPTURE_BEGIN:
		if (launches_add_stream(p, ct_call_stream(e, CT_QUICK_HANDLE), &s))
			return -ENOMEM;
		if (s)
			s->capturing = true;
		return 0;
	case CT_STREAM_CAPTURE_END:
		s = launches_stream(p, ct_call_stream(e, CT_QUICK_STREAM));
		if (s)
			s->capturing = false;
		return 0;
	case CT_STREAM_CREATE:
		if (launches_add_stream(p, ct_record_quick(e->record, CT_QUICK_STREAM), &s))
			return -ENOMEM;
		if (s)
			s->blocking = !(ct_record_quick(e->record, CT_QUICK_FLAGS) & CT_STREAM_NON_BLOCKING);
		return 0;
	case CT_STREAM_CONTEXT:
		launches_context(p, e->record);
		return 0;
	default:
		return 0;
	}
}

/* A kernel ended on the GPU: so did all before it on its stream. */
static void launches_gpu(struct ct_launches *l, const struct ct_point *point)
{
	struct ct_hash_slot *join = point->cause ? ct_hash_get(&l->joins, point->cause->op_id) : NULL;
	struct launches_process *p = launches_process(l, point->record.pid);
	struct launches_stream *s = join && p ? launches_stream(p, join->a) : NULL;

	if (s)
		launches_done(p, s, join->b);
	if (join)
		ct_hash_remove(&l->joins, join);
}

static void launches_free_process(const struct ct_hash_slot *slot)
{
	struct launches_process *p = (struct launches_process *)(uintptr_t)slot->a;

	free(p->streams);
	ct_hash_free(&p->events);
	free(p);
}

static void launches_end_process(struct ct_launches *l, uint32_t pid)
{
	struct ct_hash_slot *slot = ct_hash_get(&l->processes, pid);

	if (!slot)
		return;
	launches_free_process(slot);
	ct_hash_remove(&l->processes, slot);
}

int ct_launches_event(struct ct_launches *l, const struct ct_trace_event *e)
{
	enum ct_stream_call call;
	struct launches_process *p;
	struct ct_hash_slot *wait;
	uint64_t before;

	if (!l->calls) {
		l->calls = calloc(CT_CLASS_MAX + 1, 1);
		if (!l->calls)
			return -ENOMEM;
	}
	if (ct_life_begins(e) || ct_life_exit(e))
		launches_end_process(l, e->record->pid);
	if (e->class->layer == CT_LAYER_GPU && e->kind == CT_ON_END)
		launches_gpu(l, e->point);
	if (!l->calls[e->class->id])
		l->calls[e->class->id] = ct_stream_call_of(e->class) + 1;
	call = l->calls[e->class->id] - 1;
	if (call == CT_STREAM_NONE)
		return 0;
	if (launches_add_process(l, e->record->pid, &p))
		return -ENOMEM;
	if (!p)
		return 0;
	if (e->kind == CT_ON_BEGIN) {
		if (call == CT_STREAM_SUBMIT && !ct_call_waits(e->class))
			return 0;
		wait = l->waits.count < WAITS_MAX ? ct_hash_put(&l->waits, e->point->op_id) : NULL;
		if (wait)
			wait->a = p->issued;
		return 0;
	}
	wait = ct_hash_get(&l->waits, e->point->op_id);
	before = wait ? wait->a : e->kind == CT_ON_INSTANT ? p->issued : 0;
	if (wait)
		ct_hash_remove(&l->waits, wait);
	if (e->failed || e->record->flags & (CT_F_NO_RESULT | CT_F_ABANDONED) || e->record->result)
		return 0;
	return launches_returned(l, p, e, call, before);
}

uint64_t ct_launches_open(const struct ct_launches *l, uint32_t pid)
{
	struct ct_hash_slot *slot = ct_hash_get(&l->processes, pid);

	return slot ? ((struct launches_process *)(uintptr_t)slot->a)->open : 0;
}

void ct_launches_free(struct ct_launches *l)
{
	for (size_t i = 0; i < l->processes.size; i++)
		if (l->processes.slots[i].used)
			launches_free_process(&l->processes.slots[i]);
	ct_hash_free(&l->processes);
	ct_hash_free(&l->waits);
	ct_hash_free(&l->joins);
	free(l->calls);
}
