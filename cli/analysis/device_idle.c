// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See device_idle.h.  Must never call the GPU idle when work may be left: what a
 * synchronisation does not cover stays open.
 */
#include "analysis/device_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define STREAM_LEGACY	1	/* CU_STREAM_LEGACY: the same as 0 */

/* Calls that put work on a stream. */
static bool idle_submits(const struct ct_class *class)
{
	if (class->layer != CT_LAYER_USER || !class->call)
		return false;
	if (class->op == CT_OP_LAUNCH)
		return class->category == CT_CAT_KERNEL || class->category == CT_CAT_GRAPH;
	return (class->category == CT_CAT_TRANSFER) ||
	       (class->category == CT_CAT_STREAM && strstr(class->name, "HostFunc")) ||
	       (class->category == CT_CAT_MEMORY && strstr(class->name, "Async"));
}

static bool idle_wants(const struct ct_class *class)
{
	if (class->layer == CT_LAYER_GPU)
		return true;
	return idle_submits(class) || class->category == CT_CAT_SYNC ||
	       !strcmp(class->name, "cuStreamQuery") || !strcmp(class->name, "cuStreamEndCapture");
}

static struct ct_idle_process *idle_process(struct ct_analysis *a, const struct ct_trace_event *e,
					    const struct ct_process_phases **phases)
{
	struct ct_idle *idle = a->state;

	*phases = ct_phases_process(a->phases, e->track->pid, e->begin);
	return *phases ? &idle->processes[*phases - a->phases->processes] : NULL;
}

static void idle_divide(struct ct_idle_process *p, const struct ct_process_phases *phases,
			uint64_t from, uint64_t to)
{
	int64_t i = ct_phases_iteration(phases, from);

	for (unsigned int k = 0; k < phases->stages_count; k++) {
		const struct ct_stage_span *span = &phases->stages[k];
		uint64_t begin = span->begin > from ? span->begin : from;
		uint64_t end = span->end < to ? span->end : to;

		if (begin < end)
			p->stages[span->stage] += end - begin;
	}
	if (i < 0)	/* between two runs of iterations: the next one, if it reaches so far */
		i = ct_phases_iteration(phases, to);
	for (; i >= 0 && i < phases->iterations_count; i++) {
		const struct ct_iteration *it = &phases->iterations[i];
		uint64_t begin = it->begin > from ? it->begin : from;
		uint64_t end = it->end < to ? it->end : to;

		if (begin < end)
			p->iterations[i] += end - begin;
		if (it->end >= to)
			break;
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

static uint64_t idle_stream(const struct ct_record *r, const char *field)
{
	for (unsigned int i = 0; i < r->class->fields_count; i++)
		if (r->fields && !strcmp(r->class->fields[i].name, field)) {
			uint64_t stream = ct_record_field(r, i);

			return stream == STREAM_LEGACY ? 0 : stream;
		}
	return 0;
}

static void idle_drop(struct ct_idle_process *p, uint64_t stream)
{
	struct ct_hash_slot *slot = ct_hash_get(&p->streams, stream);

	if (slot)
		ct_hash_remove(&p->streams, slot);
}

/* A call returned with success after which work is known to be done. */
static void idle_done(struct ct_idle_process *p, const struct ct_trace_event *e)
{
	const char *name = e->class->name;

	if (!strcmp(name, "cuCtxSynchronize"))
		ct_hash_free(&p->streams);
	else if (!strcmp(name, "cuStreamSynchronize") || !strcmp(name, "cuStreamQuery"))
		idle_drop(p, idle_stream(e->record, "handle"));
	else if (!strcmp(name, "cuStreamEndCapture"))	/* what was captured did not run */
		idle_drop(p, idle_stream(e->record, "stream"));
	else
		return;
	if (!p->streams.count && !p->submitting)
		p->since = e->end;
}

static int idle_gpu_record(struct ct_idle_process *p, const struct ct_process_phases *phases,
			   const struct ct_trace_event *e)
{
	if (e->kind == CT_ON_BEGIN && !p->running++)
		idle_ends(p, phases, e->begin);
	if (e->kind == CT_ON_END && p->running && !--p->running)
		p->since = e->end;
	return 0;
}

static int idle_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *phases;
	struct ct_idle_process *p = idle_process(a, e, &phases);
	struct ct_idle *idle = a->state;

	if (!p)
		return 0;
	if (idle->measured)
		return e->class->layer == CT_LAYER_GPU ? idle_gpu_record(p, phases, e) : 0;
	if (!idle_submits(e->class)) {
		if (e->kind != CT_ON_BEGIN && e->kind != CT_ON_UNRETURNED && !e->failed &&
		    !(e->record->flags & CT_F_NO_RESULT) && !e->record->result)
			idle_done(p, e);
		return 0;
	}
	if (e->kind == CT_ON_BEGIN) {
		/* A copy may take long for other reasons than its submission. */
		if (p->since && e->class->op == CT_OP_LAUNCH) {
			p->waker = e->point->op_id;
			p->waker_begin = e->begin;
		}
		idle_ends(p, phases, e->begin);
		p->submitting++;
		return 0;
	}
	if (e->kind == CT_ON_END && e->point->op_id == p->waker) {
		enum ct_stage stage = ct_phases_stage(phases, p->waker_begin);

		if (stage < CT_STAGE_COUNT)
			p->submitting_ns[stage] += e->end - p->waker_begin;
		p->waker = 0;
	}
	if (e->kind != CT_ON_INSTANT && p->submitting)
		p->submitting--;
	if (e->kind == CT_ON_INSTANT)
		idle_ends(p, phases, e->begin);
	p->since = 0;
	if (e->record && e->failed)
		return 0;
	return ct_hash_put(&p->streams, e->record ? idle_stream(e->record, "stream") : 0) ? 0 : -ENOMEM;
}

static int idle_begin(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;
	unsigned int count = a->phases->processes_count;

	for (unsigned int id = 0; id <= CT_CLASS_MAX; id++) {
		const struct ct_class *class = ct_registry_class(&a->trace->reg, id);

		idle->measured |= class && class->layer == CT_LAYER_GPU;
	}
	idle->processes = calloc(count + 1, sizeof(*idle->processes));
	if (!idle->processes)
		return -ENOMEM;
	idle->processes_count = count;
	for (unsigned int i = 0; i < count; i++) {
		idle->processes[i].iterations =
			calloc(a->phases->processes[i].iterations_count + 1, sizeof(uint64_t));
		if (!idle->processes[i].iterations)
			return -ENOMEM;
	}
	return 0;
}

static void idle_free(struct ct_analysis *a)
{
	struct ct_idle *idle = a->state;

	for (unsigned int i = 0; idle->processes && i < idle->processes_count; i++) {
		ct_hash_free(&idle->processes[i].streams);
		free(idle->processes[i].iterations);
	}
	free(idle->processes);
}

const struct ct_analyser ct_idle_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.wants = idle_wants,
	.phases = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_idle),
	.begin = idle_begin,
	.event = idle_event,
	.free = idle_free,
};
