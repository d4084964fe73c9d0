// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See device_idle.h.  Must never call the GPU idle when work may be left: what a
 * synchronisation does not cover stays open.  A synchronisation covers what was submitted
 * before it began.  Memory is bounded by streams and events.
 */
#include "analysis/device_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cuda/stream_calls.h"

#define STREAM_UNKNOWN		UINT64_MAX	/* of a call that never returned */

/*
 * The legacy stream (0) and the streams that are made without CU_STREAM_NON_BLOCKING wait for
 * each other: when what was submitted to one of both is done, then so is what was submitted to
 * the other one before.
 */

static bool idle_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU || ct_stream_call_of(class) != CT_STREAM_NONE;
}

/* ---------------------------------------------------------------- periods --- */

/* Divides a period among the stages and the iterations. */
static void idle_divide(struct ct_idle_process *p, const struct ct_process_phases *phases,
			uint64_t from, uint64_t to)
{
	uint32_t low = 0, high = phases->iterations_count;

	for (unsigned int k = 0; k < phases->stages_count; k++) {
		const struct ct_stage_span *span = &phases->stages[k];
		uint64_t begin = span->begin > from ? span->begin : from;
		uint64_t end = span->end < to ? span->end : to;

		if (begin >= end)
			continue;
		p->stages[span->stage] += end - begin;
		p->chosen[span->stage] += ct_filter_clip(p->filter, &begin, &end);
	}
	while (low < high) { /* the first that ends after from */
		uint32_t middle = low + (high - low) / 2;

		if (phases->iterations[middle].end <= from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < phases->iterations_count && phases->iterations[low].begin < to; low++) {
		const struct ct_iteration *it = &phases->iterations[low];
		uint64_t begin = it->begin > from ? it->begin : from;
		uint64_t end = it->end < to ? it->end : to;

		p->iterations[low] += end - begin;
	}
}

static void idle_ends(struct ct_idle_process *p, const struct ct_process_phases *phases, uint64_t now)
{
	if (p->since && now > p->since) {
		p->total += now - p->since;
		p->periods++;
		if (now - p->since > p->longest) {
			p->longest = now - p->since;
			p->longest_at = p->since;
		}
		idle_divide(p, phases, p->since, now);
	}
	p->since = 0;
}

/* ------------------------------------------------------------------- calls --- */

/* Forgets a stream or an event, if it is known. */
#define idle_remove(set, key)							\
do {										\
	CT_KEYED_TYPE(set) known = ct_keyed_get(set, key);			\
										\
	if (known)								\
		ct_keyed_remove(set, known);					\
} while (0)

static void idle_drop_one(struct ct_idle_process *p, uint64_t stream, uint64_t until)
{
	struct ct_idle_stream *s = ct_keyed_get(&p->streams, stream);

	if (s && s->ended <= until)
		ct_keyed_remove(&p->streams, s);
}

/* What was submitted to the other side of a stream until @until is done: see above. */
static void idle_drop_others(struct ct_idle_process *p, uint64_t stream, uint64_t until)
{
	if (stream && ct_keyed_get(&p->blocking, stream))
		idle_drop_one(p, 0, until);
	for (size_t i = 0; !stream && i < p->blocking.count && p->streams.count; i++)
		idle_drop_one(p, p->blocking.list[i], until);
}

/* What was submitted to @stream until @until is done. */
static void idle_drop(struct ct_idle_process *p, uint64_t stream, uint64_t until)
{
	const struct ct_idle_stream *s = ct_keyed_get(&p->streams, stream);

	if (!s || s->ended > until)
		return;
	if (!s->captured)
		idle_drop_others(p, stream, s->began);
	idle_drop_one(p, stream, until);
}

/* The same of all streams. */
static void idle_drop_all(struct ct_idle_process *p, uint64_t until)
{
	for (size_t i = p->streams.count; i-- > 0;)
		if (p->streams.list[i].ended <= until)
			ct_keyed_remove(&p->streams, &p->streams.list[i]);
}

static int idle_submitted(struct ct_idle_process *p, uint64_t stream, const struct ct_trace_event *e)
{
	bool captured = ct_keyed_get(&p->captures, stream) != NULL;
	bool known = ct_keyed_get(&p->streams, stream) != NULL;
	struct ct_idle_stream *s = ct_keyed_put(&p->streams, stream);

	if (!s)
		return -ENOMEM;
	s->ended = e->end > s->ended ? e->end : s->ended;
	s->began = e->begin > s->began ? e->begin : s->began;
	s->captured = captured && (!known || s->captured);
	return 0;
}

static int idle_event_record(struct ct_idle_process *p, const struct ct_trace_event *e)
{
	struct ct_idle_event *event = ct_keyed_put(&p->events, ct_record_quick(e->record, CT_QUICK_EVENT));

	if (!event)
		return -ENOMEM;
	event->stream = ct_call_stream(e, CT_QUICK_STREAM);
	event->ts = e->begin;
	return 0;
}

static void idle_event_done(struct ct_idle_process *p, const struct ct_trace_event *e)
{
	const struct ct_idle_event *event = ct_keyed_get(&p->events, ct_record_quick(e->record, CT_QUICK_HANDLE));

	/* An event that is recorded again while it is waited for: which of them is meant? */
	if (event && event->ts <= e->begin)
		idle_drop(p, event->stream, event->ts);
}

static void idle_context(struct ct_idle_process *p, const struct ct_process_phases *phases,
			 const struct ct_trace_event *e)
{
	uint64_t context = ct_record_quick(e->record, CT_QUICK_CUDA_CONTEXT);

	if (!context)
		context = ct_record_quick(e->record, CT_QUICK_HANDLE);
	if (!context || context == p->context)
		return;
	if (p->context) {
		idle_ends(p, phases, e->begin);
		p->contexts = true;
	}
	p->context = context;
}

/* A call returned with success. */
static int idle_returned(struct ct_idle_process *p, const struct ct_process_phases *phases,
			 const struct ct_trace_event *e, enum ct_stream_call call)
{
	struct ct_idle_stream *s;
	uint64_t stream;

	switch (call) {
	case CT_STREAM_CTX_SYNC:
		idle_drop_all(p, e->begin);
		break;
	case CT_STREAM_SYNC:
		idle_drop(p, ct_call_stream(e, CT_QUICK_HANDLE), e->begin);
		break;
	case CT_STREAM_EVENT_SYNC:
		idle_event_done(p, e);
		break;
	case CT_STREAM_CAPTURE_BEGIN:
		return ct_keyed_put(&p->captures, ct_call_stream(e, CT_QUICK_HANDLE)) ? 0 : -ENOMEM;
	case CT_STREAM_CAPTURE_END:
		stream = ct_call_stream(e, CT_QUICK_STREAM);
		idle_remove(&p->captures, stream);
		s = ct_keyed_get(&p->streams, stream);
		if (!s || !s->captured)
			return 0;
		ct_keyed_remove(&p->streams, s);
		break;
	case CT_STREAM_EVENT_RECORD:
		return idle_event_record(p, e);
	case CT_STREAM_EVENT_DESTROY:
		idle_remove(&p->events, ct_record_quick(e->record, CT_QUICK_HANDLE));
		return 0;
	case CT_STREAM_CREATE:
		stream = ct_record_quick(e->record, CT_QUICK_STREAM);
		if (!(ct_record_quick(e->record, CT_QUICK_FLAGS) & CT_STREAM_NON_BLOCKING) && stream)
			return ct_keyed_put(&p->blocking, stream) ? 0 : -ENOMEM;
		idle_remove(&p->blocking, stream);
		return 0;
	case CT_STREAM_DESTROY:
		idle_remove(&p->blocking, ct_record_quick(e->record, CT_QUICK_HANDLE));
		return 0;
	case CT_STREAM_CONTEXT:
		idle_context(p, phases, e);
		return 0;
	default:
		if (!ct_call_waits(e->class))
			return idle_submitted(p, ct_call_stream(e, CT_QUICK_STREAM), e);
		idle_drop(p, ct_call_stream(e, CT_QUICK_STREAM), e->begin);
	}
	if (!p->since && !p->streams.count && !p->submitting && !p->contexts)
		p->since = e->end;
	return 0;
}

static struct ct_idle_process *idle_process(const struct ct_analysis *a, const struct ct_idle *idle,
					    uint32_t pid, uint64_t ts,
					    const struct ct_process_phases **phases)
{
	*phases = ct_phases_process(a->phases, pid, ts);
	return *phases ? &idle->processes[*phases - a->phases->processes] : NULL;
}

/* What the calls showed until now was a bound: the GPU's records say what was. */
static void idle_measure(struct ct_idle *idle, struct ct_idle_process *p, const struct ct_process_phases *phases)
{
	p->measured = idle->measured = true;
	p->total = p->periods = p->longest = p->longest_at = p->since = 0;
	memset(p->stages, 0, sizeof(p->stages));
	memset(p->chosen, 0, sizeof(p->chosen));
	memset(p->submitting_ns, 0, sizeof(p->submitting_ns));
	memset(p->iterations, 0, phases->iterations_count * sizeof(*p->iterations));
}

static int idle_gpu_state(struct ct_idle *idle, struct ct_idle_process *p,
			  const struct ct_process_phases *phases, const struct ct_trace_event *e)
{
	uint64_t state = ct_record_quick(e->record, CT_QUICK_STATE);

	if (e->class->id != CT_CLASS_gpu_state)
		return 0;
	p->unsure = state == CT_GPU_STARTED || (p->unsure && state != CT_GPU_COMPLETE);
	/* From the first moment on it is known that the GPU does nothing. */
	if (state == CT_GPU_STARTED && !p->measured) {
		idle_measure(idle, p, phases);
		p->since = e->begin;
	}
	/* Nobody knows what the GPU does from now on. */
	if (state == CT_GPU_STOPPED)
		idle_ends(p, phases, e->begin);
	return 0;
}

static int idle_gpu_record(struct ct_idle *idle, struct ct_idle_process *p,
			   const struct ct_process_phases *phases, const struct ct_trace_event *e)
{
	if (!e->class->call)
		return idle_gpu_state(idle, p, phases, e);
	if (!p->measured)
		idle_measure(idle, p, phases);
	if (e->kind == CT_ON_BEGIN && !p->running++)
		idle_ends(p, phases, e->begin);
	if ((e->kind == CT_ON_END || e->kind == CT_ON_UNRETURNED) && p->running && !--p->running &&
	    e->kind == CT_ON_END)
		p->since = e->end;
	return 0;
}

/*
 * Until a launch returned, its work may not have begun.  A copy may take long for other reasons
 * than its submission.
 */
static void idle_note_launch(struct ct_idle_process *p, const struct ct_process_phases *phases,
			     const struct ct_trace_event *e)
{
	enum ct_stage stage;

	if (e->kind == CT_ON_BEGIN && p->since && ct_class_is(e->class, CT_IS_LAUNCH)) {
		p->waker = e->point->op_id;
		p->waker_begin = e->begin;
	}
	if (e->kind != CT_ON_END || e->point->op_id != p->waker)
		return;
	stage = ct_phases_stage(phases, p->waker_begin);
	if (stage < CT_STAGE_COUNT)
		p->submitting_ns[stage] += e->end - p->waker_begin;
	p->waker = 0;
}

static int idle_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_idle *idle = a->state;
	const struct ct_process_phases *phases;
	struct ct_idle_process *p = idle_process(a, idle, e->track->pid, e->begin, &phases);
	enum ct_stream_call call;
	bool success;

	if (!p)
		return 0;
	if (e->class->layer == CT_LAYER_GPU)
		return idle_gpu_record(idle, p, phases, e);
	if (p->measured)
		return 0;
	call = idle->calls[e->class->id];
	success = e->record && !e->failed && !(e->record->flags & CT_F_NO_RESULT) &&
		  !e->record->result;
	if (call == CT_STREAM_SUBMIT) {
		idle_note_launch(p, phases, e);
		if (e->kind == CT_ON_BEGIN || e->kind == CT_ON_INSTANT)
			idle_ends(p, phases, e->begin);
		if (e->kind == CT_ON_BEGIN) {
			p->submitting++;
			return 0;
		}
		p->submitting -= e->kind != CT_ON_INSTANT && p->submitting;
		/* One that may have submitted something, and nobody knows where. */
		if (!success && !e->failed)
			return idle_submitted(p, STREAM_UNKNOWN, e);
	}
	if (e->kind == CT_ON_BEGIN || !success)
		return 0;
	return idle_returned(p, phases, e, call);
}

const char *ct_idle_meaning(const struct ct_idle *idle)
{
	return idle->measured ? "measured by records of the GPU" :
	       "at least: from a synchronisation after which nothing was left to the next submission";
}

static int idle_begin(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;
	unsigned int count = a->phases->processes_count;

	idle->calls = calloc(CT_CLASS_MAX + 1, 1);
	if (!idle->calls)
		return -ENOMEM;
	for (unsigned int id = 0; id <= CT_CLASS_MAX; id++) {
		const struct ct_class *class = ct_registry_class(&a->trace->reg, id);

		idle->calls[id] = class ? ct_stream_call_of(class) : CT_STREAM_NONE;
	}
	idle->processes = calloc(count + 1, sizeof(*idle->processes));
	if (!idle->processes)
		return -ENOMEM;
	idle->processes_count = count;
	for (unsigned int i = 0; i < count; i++) {
		idle->processes[i].filter = a->filter;
		idle->processes[i].iterations =
			calloc(a->phases->processes[i].iterations_count + 1ul, sizeof(uint64_t));
		if (!idle->processes[i].iterations)
			return -ENOMEM;
	}
	return 0;
}

/* What is done when its process ends stays done. */
static int idle_end(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;

	for (unsigned int i = 0; i < idle->processes_count; i++)
		if (!idle->processes[i].measured || !idle->processes[i].unsure)
			idle_ends(&idle->processes[i], &a->phases->processes[i], a->phases->processes[i].end);
	return 0;
}

static void idle_free(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;

	for (unsigned int i = 0; idle->processes && i < idle->processes_count; i++) {
		ct_keyed_free(&idle->processes[i].streams);
		ct_keyed_free(&idle->processes[i].blocking);
		ct_keyed_free(&idle->processes[i].captures);
		ct_keyed_free(&idle->processes[i].events);
		free(idle->processes[i].iterations);
	}
	free(idle->processes);
	free(idle->calls);
}

const struct ct_analyser ct_idle_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.wants = idle_wants,
	.phases = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_idle),
	.begin = idle_begin,
	.event = idle_event,
	.end = idle_end,
	.free = idle_free,
};
