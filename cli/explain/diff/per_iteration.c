// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See per_iteration.h.  Must never keep a call: memory is bounded by the number of different
 * functions, kernels and ioctls, and of iterations.
 */
#include "explain/diff/per_iteration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "spans/work.h"
#include "trace/gpu/gpu_causes.h"
#include "analysis/memory/memory.h"
#include "analysis/stacks/hot.h"
#include "explain/calls/call_detail.h"

#define ITEMS_MAX	(1u << 16)
#define SAMPLES_MAX	4096u	/* of a thread between two calls; of more each second one counts, or each fourth ... */

/* What calls of a track have inside them. */
struct ct_per_track {
	uint64_t *inner;	/* by depth: ns in calls of the interface directly inside */
	uint32_t capacity;
	uint64_t last;		/* ns: the end of its last call */
	uint32_t *samples;	/* since then: their stacks */
	unsigned int samples_count, samples_room;
	uint64_t samples_seen, samples_each;	/* of so many one is kept */
};

/* ------------------------------------------------------------------- items --- */

static void per_flush(struct ct_per_item *item)
{
	double distance;

	if (!item->current)
		return;
	distance = item->current - item->mean;
	item->some++;
	item->mean += distance / item->some;
	item->squares += distance * (item->current - item->mean);
	item->current = 0;
}

double ct_per_mean(const struct ct_per_item *item, uint32_t iterations)
{
	return iterations ? (double)item->steady.wall / iterations : 0;
}

double ct_per_error(const struct ct_per_item *item, uint32_t iterations)
{
	double n = iterations, some = item->some, squares = item->squares;

	if (iterations < 2)
		return 0;
	/* The iterations without it are zeros. */
	squares += item->mean * item->mean * some * (n - some) / n;
	return squares > 0 ? sqrt(squares / (n - 1) / n) : 0;
}

static struct ct_per_item *per_item(struct ct_per_iteration *s, enum ct_per_kind kind, uint64_t key,
				    const char *name)
{
	uint64_t full = ct_mix(key, kind + 1) << 2 | kind;
	struct ct_per_item *item = ct_keyed_get(&s->items, full);

	if (item)
		return item;
	/* Beyond the limit, all are one. */
	if (s->items.count >= ITEMS_MAX)
		return &s->items.list[s->items.count - 1];
	item = ct_keyed_put(&s->items, full);
	if (!item)
		return NULL;
	item->kind = kind;
	item->name = strdup(s->items.count == ITEMS_MAX ? "(others)" : name);
	item->iteration = -1;
	return item->name ? item : NULL;
}

/* Is the event of a thread whose time is wall time? */
static bool per_counts_as_wall(const struct ct_per_iteration *s, const struct ct_trace_event *e)
{
	return !s->process || !s->iterations || e->class->layer == CT_LAYER_GPU || e->track->tid == s->process->tid;
}

static void per_put(struct ct_per_iteration *s, struct ct_per_item *item,
		    const struct ct_trace_event *e, int64_t iteration, uint64_t count, uint64_t ns)
{
	bool wall = per_counts_as_wall(s, e);

	item->run.count += count;
	item->run.ns += ns;
	if (iteration < 0)
		return;
	item->steady.count += count;
	item->steady.ns += ns;
	if (!wall)
		return;
	item->steady.wall += ns;
	if (item->iteration != iteration) {
		per_flush(item);
		item->iteration = iteration;
	}
	item->current += ns;
}

static void per_add(struct ct_per_iteration *s, struct ct_per_item *item,
		    const struct ct_trace_event *e, int64_t iteration, uint64_t ns)
{
	per_put(s, item, e, iteration, 1, ns);
}

/* ------------------------------------------------------------------- calls --- */

static uint64_t *per_inner(struct ct_per_iteration *s, const struct ct_track *track, uint32_t depth)
{
	struct ct_per_track *t;

	if (!ct_room_at(s->tracks, track->index, s->tracks_count))
		return NULL;
	t = &s->tracks[track->index];
	if (!ct_room_at(t->inner, depth, t->capacity))
		return NULL;
	return &t->inner[depth];
}

/* A call's time without those of the interface inside it; -ENOMEM or 0. */
static int per_own_time(struct ct_per_iteration *s, const struct ct_trace_event *e, uint64_t *ns)
{
	uint32_t depth = e->track->depth;
	uint64_t *inner = per_inner(s, e->track, depth);

	if (!inner)
		return -ENOMEM;
	*ns = 0;
	if (e->timed) {
		*ns = e->duration > *inner ? e->duration - *inner : 0;
		while (depth-- > 0)
			if (ct_class_is(e->track->frames[depth].class, CT_IS_API)) {
				*per_inner(s, e->track, depth) += e->duration;
				break;
			}
	}
	*inner = 0;
	return 0;
}

static int per_launch(struct ct_analysis *a, const struct ct_trace_event *e, int64_t iteration,
		      uint64_t ns)
{
	struct ct_per_iteration *s = a->state;
	const char *name = ct_names_string(a->names, ct_record_known(e->record, CT_KNOWN_KERNEL));
	struct ct_per_item *item;

	if (!ct_record_has(e->record, CT_KNOWN_KERNEL) || !ct_class_is(e->class, CT_IS_KERNEL_LAUNCH) || e->failed)
		return 0;
	item = per_item(s, CT_PER_KERNEL, ct_record_kernel(e->record, a->names->reg),
			name ? name : "(no name)");
	if (!item)
		return -ENOMEM;
	per_add(s, item, e, iteration, ns);
	return 0;
}

/* Counts what calls allocate and free on the device. */
static void per_memory(struct ct_analysis *a, int64_t iteration)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	struct ct_per_iteration *s = a->state;

	for (unsigned int i = 0; i < (iteration < 0 ? 1 : 2); i++) {
		struct ct_per_memory *sum = i ? &s->memory_steady : &s->memory_run;

		sum->allocs += m->change.allocations;
		sum->frees += m->change.frees;
		sum->bytes += m->change.bytes;
	}
}

/* The item of the program's own line of a stack.  Sets *item, NULL: there is none.  0 or -ENOMEM. */
static int per_line_item(struct ct_analysis *a, uint32_t stack, struct ct_per_item **item)
{
	struct ct_stack_frame f;
	char name[512];
	uint32_t node;

	*item = NULL;
	if (!stack || !ct_stack_own(&a->trace->reg, stack, &f, &node))
		return 0;
	*item = per_item(a->state, CT_PER_LINE, (uint64_t)f.function << 32 | f.line, ct_stack_line(&f, name, sizeof(name)));
	return *item ? 0 : -ENOMEM;
}

/* What a thread does between its calls. */
static int per_sample(struct ct_per_iteration *s, const struct ct_trace_event *e)
{
	struct ct_per_track *t;

	if (ct_track_call(e->track))
		return 0;
	if (!ct_room_at(s->tracks, e->track->index, s->tracks_count))
		return -ENOMEM;
	t = &s->tracks[e->track->index];
	t->samples_each = t->samples_count ? t->samples_each : 1;
	t->samples_seen = t->samples_count ? t->samples_seen + 1 : 0;
	if (t->samples_count == SAMPLES_MAX) {
		for (t->samples_count = 0; t->samples_count < SAMPLES_MAX / 2; t->samples_count++)
			t->samples[t->samples_count] = t->samples[2 * t->samples_count];
		t->samples_each *= 2;
	}
	if (t->samples_seen % t->samples_each)
		return 0;
	if (!ct_room(t->samples, t->samples_count, t->samples_room))
		return -ENOMEM;
	t->samples[t->samples_count++] = ct_sample_counts(e->record, e->point->stack);
	return 0;
}

/* The program's own line that made a call which is in no other one; and those that samples show in the time before it. */
static int per_line(struct ct_analysis *a, const struct ct_trace_event *e, int64_t iteration)
{
	struct ct_per_iteration *s = a->state;
	struct ct_per_track *t = &s->tracks[e->track->index];
	uint64_t since = t->last && e->begin > t->last ? e->begin - t->last : 0, each, sampled = 0;
	struct ct_per_item *item;
	int rc = 0;

	if (e->track->depth || !e->timed)
		return 0;
	t->last = e->end;
	each = t->samples_count ? since / t->samples_count : 0;
	for (unsigned int i = 0; i < t->samples_count && !rc; i++) {
		rc = per_line_item(a, t->samples[i], &item);
		if (!item)
			continue;
		per_put(s, item, e, iteration, 0, each);
		sampled += each;
	}
	t->samples_count = 0;
	rc = rc ? rc : per_line_item(a, e->point->stack, &item);
	if (!rc && item)
		per_add(s, item, e, iteration, since - sampled + e->duration);
	return rc;
}

static int per_call(struct ct_analysis *a, const struct ct_trace_event *e, int64_t iteration)
{
	struct ct_per_iteration *s = a->state;
	struct ct_per_item *item = per_item(s, CT_PER_FUNCTION, e->class->id, e->class->name);
	uint64_t ns;
	int rc;

	if (!item)
		return -ENOMEM;
	rc = per_own_time(s, e, &ns);
	if (rc)
		return rc;
	per_add(s, item, e, iteration, ns);
	if (iteration >= 0 && per_counts_as_wall(s, e))
		s->calls[iteration] += ns;
	rc = per_launch(a, e, iteration, ns);
	if (ct_class_is(e->class, CT_IS_MEMORY))
		per_memory(a, iteration);
	return rc ? rc : per_line(a, e, iteration);
}

static int per_ioctl(struct ct_per_iteration *s, const struct ct_trace_event *e, int64_t iteration)
{
	const struct ct_record *r = e->record;
	char name[CT_DETAIL_MAX];
	struct ct_per_item *item;
	uint64_t key;

	/* An entry function may call the next one: that is one ioctl. */
	if (e->track->ioctls[e->kernel])
		return 0;
	ct_call_ioctl_name(name, r);
	key = ct_mix(ct_record_known(r, CT_KNOWN_CMD) | ct_record_known(r, CT_KNOWN_DEVICE) << 32,
			  ct_record_known(r, CT_KNOWN_CODE) |
			  (ct_record_known(r, CT_KNOWN_HAVE) & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS)) << 32);
	item = per_item(s, e->kernel ? CT_PER_IOCTL_DRIVER : CT_PER_IOCTL_PROGRAM, key, name);
	if (!item)
		return -ENOMEM;
	per_add(s, item, e, iteration, e->timed ? e->duration : 0);
	return 0;
}

/* Is this of the process that counts? */
static bool per_counts(const struct ct_per_iteration *s, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = s->process;

	return !p || (e->track->pid == p->pid && e->begin >= p->begin && e->begin <= p->end);
}

/* The index into the list; -1: outside of the steady state, or between iterations. */
static int64_t per_iteration_of(const struct ct_per_iteration *s, uint64_t ts)
{
	int64_t i = s->iterations ? ct_phases_iteration(s->process, ts) : -1;

	i -= s->iterations ? s->list - s->process->iterations : 0;
	return i >= 0 && i < s->iterations ? i : -1;
}

static int per_gpu(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_cause *cause = e->point->cause;
	const char *name = ct_gpu_work_name(e->record);
	struct ct_per_iteration *s = a->state;
	struct ct_per_item *item;
	uint64_t key = e->class->id;

	if (ct_gpu_is_kernel(e->class)) {
		key = ct_mix(key, ct_record_kernel(e->record, a->names->reg));
		name = ct_names_string(a->names, ct_record_known(e->record, CT_KNOWN_KERNEL));
	} else if (ct_gpu_is_transfer(e->class)) {
		key = ct_mix(key, ct_gpu_operation(e->record));
	}
	item = per_item(s, CT_PER_GPU, key, name ? name : "(no name)");
	if (!item)
		return -ENOMEM;
	per_add(s, item, e, per_iteration_of(s, cause ? cause->begin : e->begin), e->duration);
	return 0;
}

static int per_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_per_iteration *s = a->state;
	int64_t iteration;
	uint64_t *inner;

	if (!per_counts(s, e))
		return 0;
	if (e->class->layer == CT_LAYER_GPU)
		return e->kind == CT_ON_END && e->class->call ? per_gpu(a, e) : 0;
	if (!e->track->tid)
		return 0;
	if (ct_class_is_sample(e->class))
		return per_sample(s, e);
	if (e->kind == CT_ON_BEGIN) {
		inner = e->api ? per_inner(s, e->track, e->track->depth) : NULL;
		if (inner)
			*inner = 0;
		return inner || !e->api ? 0 : -ENOMEM;
	}
	if (!s->first || e->begin < s->first)
		s->first = e->begin;
	if (e->end > s->last)
		s->last = e->end;
	if (!e->class->call || ct_class_is(e->class, CT_IS_SWITCH))
		return 0;
	iteration = per_iteration_of(s, e->begin);
	if (e->api)
		return per_call(a, e, iteration);
	return e->record->fields && ct_record_is_ioctl(e->record) ? per_ioctl(s, e, iteration) : 0;
}

/* -------------------------------------------------------------- begin, end --- */

static int per_begin(struct ct_analysis *a)
{
	struct ct_per_iteration *s = a->state;
	const struct ct_phases *phases = a->phases;

	const uint32_t *pid = a->arg;
	int main = phases->main;

	/* Of the process that was asked for its last program. */
	for (unsigned int i = 0; pid && *pid && i < phases->processes_count; i++)
		if (phases->processes[i].pid == *pid && phases->processes[i].stages_count)
			main = (int)i;
	if (main >= 0 && (unsigned int)main < phases->processes_count) {
		/* Iterations of the warm-up are no measure. */
		s->process = &phases->processes[main];
		s->list = s->process->iterations + ct_phases_warmup(s->process);
		s->iterations = s->process->iterations_count - ct_phases_warmup(s->process);
	}
	s->calls = calloc(s->iterations + 1, sizeof(*s->calls));
	return s->calls ? 0 : -ENOMEM;
}

/* The most that the processes that count held; of several at most that much together. */
static void per_peak(struct ct_analysis *a)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	struct ct_per_iteration *s = a->state;
	const struct ct_process_phases *p = s->process;
	const struct ct_memory_process *held = p ? ct_memory_of(m, p->pid, p->generation) : NULL;

	for (unsigned int i = 0; i < m->processes_count; i++)
		if (!p || m->processes[i] == held || (!held && m->processes[i]->pid == p->pid))
			s->peak += m->processes[i]->sums[CT_MEMORY_GPU].peak;
}

static int per_end(struct ct_analysis *a)
{
	struct ct_per_iteration *s = a->state;

	for (uint32_t i = 0; i < s->items.count; i++)
		per_flush(&s->items.list[i]);
	per_peak(a);
	return 0;
}

static void per_free(struct ct_analysis *a)
{
	struct ct_per_iteration *s = a->state;

	for (uint32_t i = 0; i < s->items.count; i++)
		free(s->items.list[i].name);
	for (uint32_t i = 0; i < s->tracks_count; i++) {
		free(s->tracks[i].inner);
		free(s->tracks[i].samples);
	}
	ct_keyed_free(&s->items);
	free(s->tracks);
	free(s->calls);
}

static const struct ct_analyser *const needs[] = { &ct_memory_analyser, NULL };

const struct ct_analyser ct_per_iteration_analyser = {
	.needs = needs,
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.samples = true,
	.state_size = sizeof(struct ct_per_iteration),
	.begin = per_begin,
	.event = per_event,
	.end = per_end,
	.free = per_free,
};
