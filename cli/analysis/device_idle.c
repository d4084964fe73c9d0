// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See device_idle.h.  Must never call the GPU idle when work may be left: what a
 * synchronisation does not cover stays open.
 */
#include "analysis/device_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool idle_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU || ct_stream_call_of(class) != CT_STREAM_NONE;
}

/* ---------------------------------------------------------------- periods --- */

/* Divides a period among the stages and the iterations. */
static void idle_divide(struct ct_idle_process *p, const struct ct_process_phases *phases,
			uint64_t from, uint64_t to)
{
	for (unsigned int k = 0; k < phases->stages_count; k++) {
		const struct ct_stage_span *span = &phases->stages[k];
		uint64_t begin = span->begin > from ? span->begin : from;
		uint64_t end = span->end < to ? span->end : to;

		if (begin >= end)
			continue;
		p->stages[span->stage] += end - begin;
		p->chosen[span->stage] += ct_filter_clip(p->filter, &begin, &end);
	}
	for (uint32_t i = ct_phases_iteration_from(phases, from); i < phases->iterations_count && phases->iterations[i].begin < to; i++) {
		const struct ct_iteration *it = &phases->iterations[i];
		uint64_t begin = it->begin > from ? it->begin : from;
		uint64_t end = it->end < to ? it->end : to;

		p->iterations[i] += end - begin;
	}
}

static void idle_ends(struct ct_idle_process *p, const struct ct_process_phases *phases, uint64_t now)
{
	if (p->since && now > p->since) {
		enum ct_stage stage = ct_phases_stage(phases, p->since);

		p->total += now - p->since;
		if (stage < CT_STAGE_COUNT)
			p->begun[stage]++;
		idle_divide(p, phases, p->since, now);
	}
	p->since = 0;
}

/* ------------------------------------------------------------------- calls --- */

/* A call returned with success. */
static int idle_returned(struct ct_idle_process *p, const struct ct_process_phases *phases,
			 const struct ct_trace_event *e, enum ct_stream_call call)
{
	bool contexts = p->streams.contexts;
	int rc = ct_streams_returned(&p->streams, e, call);

	if (p->streams.contexts && !contexts)
		idle_ends(p, phases, e->begin);
	if (rc <= 0)
		return rc;
	if (!p->since && !p->streams.open.count && !p->submitting && !p->streams.contexts)
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

/*
 * What the calls showed until now was a bound: the GPU's records say what was.  From the moment on in which recording
 * began it is known that the GPU did nothing.
 */
static void idle_measure(struct ct_idle *idle, struct ct_idle_process *p, const struct ct_process_phases *phases)
{
	p->measured = idle->measured = true;
	p->total = 0;
	p->since = p->started;
	memset(p->stages, 0, sizeof(p->stages));
	memset(p->begun, 0, sizeof(p->begun));
	memset(p->chosen, 0, sizeof(p->chosen));
	memset(p->submitting_ns, 0, sizeof(p->submitting_ns));
	memset(p->iterations, 0, phases->iterations_count * sizeof(*p->iterations));
}

static int idle_gpu_state(struct ct_idle *idle, struct ct_idle_process *p,
			  const struct ct_process_phases *phases, const struct ct_trace_event *e)
{
	uint64_t state = ct_record_known(e->record, CT_KNOWN_STATE);

	if (e->class->id != CT_CLASS_gpu_state)
		return 0;
	p->unsure = state == CT_GPU_STARTED || (p->unsure && state != CT_GPU_COMPLETE);
	p->complete = state == CT_GPU_COMPLETE ? e->begin : 0;
	p->went_on = false;
	/* Of a program that is killed no record may come: then the bound stays. */
	if (state == CT_GPU_STARTED && !p->measured && !p->started)
		p->started = e->begin;
	if (state == CT_GPU_COMPLETE && !p->measured && p->started)
		idle_measure(idle, p, phases);
	/* Nobody knows what the GPU does from now on. */
	if (state == CT_GPU_STOPPED && p->measured)
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
	call = idle->calls[e->class->id];
	if (p->measured) {
		p->went_on |= p->complete && call == CT_STREAM_SUBMIT;
		return 0;
	}
	success = ct_stream_call_succeeded(e);
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
			return ct_streams_submitted(&p->streams, CT_STREAM_UNKNOWN, e);
	}
	if (e->kind == CT_ON_BEGIN || !success)
		return 0;
	return idle_returned(p, phases, e, call);
}

const char *ct_idle_meaning(const struct ct_idle *idle)
{
	return idle->measured && idle->bound ?
	       "measured by records of the GPU; of processes without them at least: from a synchronisation after which nothing was "
	       "left to the next submission" :
	       idle->measured ? "measured by records of the GPU" :
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

/* What is done when its process ends, or when it is left, stays done. */
static int idle_end(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;

	for (unsigned int i = 0; i < idle->processes_count; i++) {
		struct ct_idle_process *p = &idle->processes[i];

		idle->bound |= !p->measured && a->phases->processes[i].works;
		if (!p->measured || !p->unsure)
			idle_ends(p, &a->phases->processes[i], p->went_on ? p->complete : a->phases->processes[i].end);
	}
	return 0;
}

static void idle_free(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;

	for (unsigned int i = 0; idle->processes && i < idle->processes_count; i++) {
		ct_streams_free(&idle->processes[i].streams);
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
