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
#include "trace/gpu/causes.h"

#define PROCESSES_MAX	16384u
#define STREAMS_MAX	256u		/* of a process */
#define EVENTS_MAX	65536u		/* of a process */
#define WAITS_MAX	65536u		/* calls that wait at a moment */
#define JOINS_MAX	(1u << 18)

/* An event that was recorded. */
struct launches_event {
	uint64_t handle;
	uint64_t launches;		/* of its stream before it */
	uint64_t recorded;		/* ns */
	uint32_t stream;		/* index */
	bool     known;			/* all of these are */
};

struct launches_stream {
	uint64_t stream;
	uint64_t total, done;		/* launches */
	uint64_t last;			/* which of the process's launches the last one was */
	bool     capturing;
	bool     blocking;		/* it and the legacy stream wait for each other */
};

struct launches_process {
	uint64_t pid;
	uint64_t issued;		/* launches, of all streams */
	uint64_t open;			/* the sum of all total - done */
	uint64_t context;
	bool     contexts;		/* it has several: which one a call means is not recorded */
	CT_KEYED(struct launches_stream) streams;
	CT_KEYED(struct launches_event) events;
};

static int launches_add_process(struct ct_launches *l, uint32_t pid, struct launches_process **p)
{
	*p = ct_keyed_get(&l->processes, pid);
	if (*p || l->processes.count >= PROCESSES_MAX)
		return 0;
	*p = ct_keyed_put(&l->processes, pid);
	return *p ? 0 : -ENOMEM;
}

static struct launches_stream *launches_stream(const struct launches_process *p, uint64_t stream)
{
	return ct_keyed_get(&p->streams, stream);
}

/* The stream, made if it is new; NULL in @s: there are too many. */
static int launches_add_stream(struct launches_process *p, uint64_t stream, struct launches_stream **s)
{
	*s = launches_stream(p, stream);
	if (*s || p->streams.count >= STREAMS_MAX)
		return 0;
	*s = ct_keyed_put(&p->streams, stream);
	return *s ? 0 : -ENOMEM;
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
	for (uint32_t i = 0; !stream && i < p->streams.count; i++)
		if (p->streams.list[i].blocking)
			launches_done_before(p, &p->streams.list[i], s->last);
}

/* ----------------------------------------------------------------- calls --- */

static int launches_launch(struct ct_launches *l, struct launches_process *p, const struct ct_trace_event *e)
{
	struct launches_stream *s;
	struct ct_launches_join *join;

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
		ct_keyed_free(&l->joins);
	join = ct_keyed_put(&l->joins, e->point->op_id);
	if (!join)
		return -ENOMEM;
	join->stream = s->stream;
	join->number = s->total;
	return 0;
}

static int launches_record(struct launches_process *p, const struct ct_trace_event *e, uint64_t before)
{
	uint64_t handle = ct_record_quick(e->record, CT_QUICK_EVENT);
	struct launches_stream *s = launches_stream(p, ct_call_stream(e, CT_QUICK_STREAM));
	struct launches_event *event = ct_keyed_get(&p->events, handle);

	if (!event && p->events.count >= EVENTS_MAX)
		return 0;
	event = event ? event : ct_keyed_put(&p->events, handle);
	if (!event)
		return -ENOMEM;
	/* Launched while it was recorded: is that before or behind it? */
	event->known = s && s->last <= before;
	event->stream = s ? s - p->streams.list : 0;
	event->launches = s ? s->total : 0;
	event->recorded = e->end;
	return 0;
}

static void launches_event_done(struct launches_process *p, const struct ct_trace_event *e)
{
	const struct launches_event *event = ct_keyed_get(&p->events, ct_record_quick(e->record, CT_QUICK_HANDLE));

	/* An event that is recorded again while it is waited for: which of them is meant? */
	if (event && event->known && event->recorded <= e->begin)
		launches_done(p, &p->streams.list[event->stream], event->launches);
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
		for (uint32_t i = 0; !p->contexts && i < p->streams.count; i++)
			launches_done_before(p, &p->streams.list[i], before);
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
	struct ct_launches_join *join = point->cause ? ct_keyed_get(&l->joins, point->cause->op_id) : NULL;
	struct launches_process *p = ct_keyed_get(&l->processes, point->record.pid);
	struct launches_stream *s = join && p ? launches_stream(p, join->stream) : NULL;

	if (s)
		launches_done(p, s, join->number);
	if (join)
		ct_keyed_remove(&l->joins, join);
}

static void launches_free_process(struct launches_process *p)
{
	ct_keyed_free(&p->streams);
	ct_keyed_free(&p->events);
}

static void launches_end_process(struct ct_launches *l, uint32_t pid)
{
	struct launches_process *p = ct_keyed_get(&l->processes, pid);

	if (!p)
		return;
	launches_free_process(p);
	ct_keyed_remove(&l->processes, p);
}

int ct_launches_event(struct ct_launches *l, const struct ct_trace_event *e)
{
	enum ct_stream_call call;
	struct launches_process *p;
	struct ct_launches_wait *wait;
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
		wait = l->waits.count < WAITS_MAX ? ct_keyed_put(&l->waits, e->point->op_id) : NULL;
		if (wait)
			wait->before = p->issued;
		return 0;
	}
	wait = ct_keyed_get(&l->waits, e->point->op_id);
	before = wait ? wait->before : e->kind == CT_ON_INSTANT ? p->issued : 0;
	if (wait)
		ct_keyed_remove(&l->waits, wait);
	if (e->failed || e->record->flags & (CT_F_NO_RESULT | CT_F_ABANDONED) || e->record->result)
		return 0;
	return launches_returned(l, p, e, call, before);
}

uint64_t ct_launches_open(const struct ct_launches *l, uint32_t pid)
{
	const struct launches_process *p = ct_keyed_get(&l->processes, pid);

	return p ? p->open : 0;
}

void ct_launches_free(struct ct_launches *l)
{
	for (size_t i = 0; i < l->processes.count; i++)
		launches_free_process(&l->processes.list[i]);
	ct_keyed_free(&l->processes);
	ct_keyed_free(&l->waits);
	ct_keyed_free(&l->joins);
	free(l->calls);
}
