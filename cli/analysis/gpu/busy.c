// SPDX-License-Identifier: LGPL-2.1-or-later
/* See busy.h.  Must never count overlapping work twice as busy. */
#include "analysis/gpu/busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "spans/work.h"

#define GPUS_MAX	1024u	/* of a process */

static bool busy_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU && class->call;
}

static enum ct_gpu_work busy_work(const struct ct_class *class)
{
	if (ct_gpu_is_graph(class))
		return CT_WORK_GRAPHS;
	if (ct_gpu_is_kernel(class))
		return CT_WORK_KERNELS;
	return ct_gpu_is_set(class) ? CT_WORK_SETS : CT_WORK_COPIES;
}

/* A GPU of the process; NULL: no memory, or too many. */
static struct ct_gpu_busy_device *busy_device(struct ct_gpu_busy_process *p, uint16_t gpu)
{
	for (unsigned int i = 0; i < p->count; i++)
		if (p->devices[i].gpu == gpu)
			return &p->devices[i];
	if (p->count == GPUS_MAX)
		return &p->devices[GPUS_MAX - 1];
	if (!ct_room(p->devices, p->count, p->capacity))
		return NULL;
	p->devices[p->count] = (struct ct_gpu_busy_device){ .gpu = gpu };
	return &p->devices[p->count++];
}

static uint64_t busy_common(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return begin < end ? end - begin : 0;
}

static void busy_iterations(uint64_t *iterations, const struct ct_process_phases *phases, uint64_t from, uint64_t to)
{
	uint32_t i = ct_phases_iteration_from(phases, from);

	for (; i < phases->iterations_count && phases->iterations[i].begin < to; i++)
		iterations[i] += busy_common(phases->iterations[i].begin, phases->iterations[i].end, from, to);
}

/* The device worked from d->since on. */
static void busy_period(struct ct_gpu_busy_device *d, const struct ct_process_phases *phases,
			const struct ct_report_filter *filter, uint64_t to)
{
	uint64_t from = d->since, until = to;

	ct_filter_clip(filter, &from, &until);
	d->all.busy += to - d->since;
	for (unsigned int i = 0; i < phases->stages_count; i++) {
		const struct ct_stage_span *span = &phases->stages[i];

		d->stages[span->stage].busy += busy_common(span->begin, span->end, d->since, to);
		d->chosen[span->stage] += busy_common(span->begin, span->end, from, until);
	}
}

/* It only waited since d->waits_since. */
static void busy_waited(struct ct_gpu_busy_device *d, const struct ct_process_phases *phases,
			const struct ct_report_filter *filter, uint64_t to)
{
	uint64_t from = d->waits_since, until = to;

	if (!d->waits_since)
		return;
	ct_filter_clip(filter, &from, &until);
	d->all.waiting += to - d->waits_since;
	for (unsigned int i = 0; i < phases->stages_count; i++) {
		const struct ct_stage_span *span = &phases->stages[i];

		d->stages[span->stage].waiting += busy_common(span->begin, span->end, d->waits_since, to);
		d->chosen_waiting[span->stage] += busy_common(span->begin, span->end, from, until);
	}
	d->waits_since = 0;
}

static void busy_works(struct ct_gpu_busy_device *d, const struct ct_process_phases *phases,
		       const struct ct_report_filter *filter, uint64_t from)
{
	busy_waited(d, phases, filter, from);
	if (!d->running++)
		d->since = from;
}

/* Kernels whose waiting is over by @now work from then on. */
static void busy_waits_end(struct ct_gpu_busy_device *d, const struct ct_process_phases *phases,
			   const struct ct_report_filter *filter, uint64_t now)
{
	uint32_t over = 0;

	while (over < d->waiters_count && d->waiters[over] <= now)
		busy_works(d, phases, filter, d->waiters[over++]);
	if (!over)
		return;
	d->waiters_count -= over;
	memmove(d->waiters, d->waiters + over, d->waiters_count * sizeof(*d->waiters));
}

static int busy_waits(struct ct_gpu_busy_device *d, uint64_t now, uint64_t until)
{
	uint32_t i;

	if (!ct_room(d->waiters, d->waiters_count, d->waiters_capacity))
		return -ENOMEM;
	for (i = d->waiters_count++; i && d->waiters[i - 1] > until; i--)
		d->waiters[i] = d->waiters[i - 1];
	d->waiters[i] = until;
	if (!d->running && !d->waits_since)
		d->waits_since = now;
	return 0;
}

/* @until: when its kernel's waiting ends; not behind its begin: it does not wait.  Sets *@worked: until now. */
static int busy_step(struct ct_gpu_busy_device *d, const struct ct_process_phases *phases,
		     const struct ct_report_filter *filter, const struct ct_trace_event *e, uint64_t until,
		     bool *worked)
{
	enum ct_gpu_work work = busy_work(e->class);
	unsigned int stage;

	*worked = false;
	busy_waits_end(d, phases, filter, e->kind == CT_ON_BEGIN ? e->begin : e->end);
	if (e->kind == CT_ON_BEGIN) {
		d->first = d->first ? d->first : e->begin;
		if (until > e->begin)
			return busy_waits(d, e->begin, until);
		busy_works(d, phases, filter, e->begin);
		return 0;
	}
	stage = ct_phases_stage(phases, e->begin);
	d->all.count[work]++;
	d->all.work[work] += e->duration;
	d->last = e->end;
	if (stage < CT_STAGE_COUNT) {
		d->stages[stage].count[work]++;
		d->stages[stage].work[work] += e->duration;
		d->stages[stage].collectives_count += until != 0;
		d->stages[stage].collectives += until ? e->duration : 0;
	}
	if (!d->running || --d->running)
		return 0;
	busy_period(d, phases, filter, e->end);
	if (d->waiters_count)
		d->waits_since = e->end;
	*worked = true;
	return 0;
}

static int busy_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *phases = ct_phases_process(a->phases, e->record->pid, e->begin);
	struct ct_gpu_busy *s = a->state;
	struct ct_gpu_busy_process *p;
	struct ct_gpu_busy_device *d;
	uint64_t until;
	bool worked;
	int rc;

	if (!phases)
		return 0;
	p = &s->processes[phases - a->phases->processes];
	d = busy_device(p, ct_record_known(e->record, CT_KNOWN_GPU));
	if (!p->iterations)
		p->iterations = calloc(phases->iterations_count + 1ul, sizeof(*p->iterations));
	if (!d || !p->iterations)
		return -ENOMEM;
	until = ct_collectives_until(a->collectives, &a->trace->reg, e);
	rc = busy_step(d, phases, a->filter, e, until, &worked);
	if (!rc)
		rc = busy_step(&p->any, phases, a->filter, e, until, &worked);
	if (!rc && worked)
		busy_iterations(p->iterations, phases, p->any.since, e->end);
	return rc;
}

static int busy_begin(struct ct_analysis *a)
{
	struct ct_gpu_busy *s = a->state;

	s->processes = calloc(a->phases->processes_count + 1ul, sizeof(*s->processes));
	s->processes_count = a->phases->processes_count;
	return s->processes ? 0 : -ENOMEM;
}

static void busy_free(struct ct_analysis *a)
{
	struct ct_gpu_busy *s = a->state;

	for (unsigned int i = 0; s->processes && i < s->processes_count; i++) {
		for (unsigned int k = 0; k < s->processes[i].count; k++)
			free(s->processes[i].devices[k].waiters);
		free(s->processes[i].any.waiters);
		free(s->processes[i].iterations);
		free(s->processes[i].devices);
	}
	free(s->processes);
}

const struct ct_analyser ct_gpu_busy_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END,
	.wants = busy_wants,
	.phases = true,
	.collectives = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_gpu_busy),
	.begin = busy_begin,
	.event = busy_event,
	.free = busy_free,
};
