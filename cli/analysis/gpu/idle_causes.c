// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See idle_causes.h.  Overlapping work counts once: a GPU is idle while nothing of its process runs
 * on it.  Memory is bounded by threads and GPUs.
 */
#include "analysis/gpu/idle_causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/threads/launching.h"
#include "base/grow.h"
#include "base/largest.h"
#include "spans/work.h"
#include "trace/gpu/gpu_causes.h"

#define DEVICES_MAX	16u	/* of a process, that a thread is charged for */
#define CALLS_KEPT	16u	/* of a thread: a GPU with nothing to do begins the next of them soon */
#define GPUS_MAX	4096u	/* of all processes */
#define THREADS_MAX	16384u	/* what more of them did is not known: CT_IDLE_UNKNOWN */

#define ROW(id, words, column, head, priority)	[CT_IDLE_##id] = words,
const char *const ct_idle_cause_word[CT_IDLE_CAUSE_COUNT] = { CT_IDLE_CAUSES(ROW) };
#undef ROW

typedef uint64_t idle_parts[CT_IDLE_CAUSE_COUNT];

/* What a thread had done in all when it called a launch, and when that returned. */
struct idle_call {
	uint64_t op_id;
	idle_parts begin, end;
	bool ended;
};

struct idle_thread {
	uint64_t last;			/* ns: until then it is charged */
	uint8_t  part;			/* what it does since */
	idle_parts done;		/* since its first record */
	/* The same when the gap of this number of the process's device began. */
	struct { uint64_t number; idle_parts done; } at[DEVICES_MAX];
	struct idle_call *calls;	/* of CALLS_KEPT */
	uint32_t next;
};

static unsigned int idle_causes_part(unsigned int account)
{
	switch (account) {
	case CT_ACCOUNT_APP: case CT_ACCOUNT_ABSENT:
		return CT_IDLE_APP;
	case CT_ACCOUNT_WAIT:
		return CT_IDLE_SYNC;
	case CT_ACCOUNT_OFF_CPU:
		return CT_IDLE_OFF;
	case CT_ACCOUNT_DRIVER:
		return CT_IDLE_DRIVER;
	case CT_ACCOUNT_CALLS + CT_CAT_MEMORY:
		return CT_IDLE_MEMORY;
	case CT_ACCOUNT_CALLS + CT_CAT_MODULE:
		return CT_IDLE_MODULE;
	case CT_ACCOUNT_CALLS + CT_CAT_KERNEL: case CT_ACCOUNT_CALLS + CT_CAT_GRAPH:
	case CT_ACCOUNT_CALLS + CT_CAT_TRANSFER:
		return CT_IDLE_LAUNCH;
	}
	return CT_IDLE_OTHER;
}

/* ----------------------------------------------------------------- devices --- */

/* The GPU of a process; NULL: there are too many, or it is new and not to be @made. */
static int idle_device(struct ct_analysis *a, uint32_t pid, uint16_t gpu, bool made,
		       struct ct_gpu_idle_device **d)
{
	struct ct_gpu_idle *s = a->state;
	uint64_t key = (uint64_t)pid << 16 | gpu;
	struct ct_gpu_idle_key *known = ct_keyed_get(&s->by_key, key);

	*d = known ? known->device : NULL;
	if (*d || !made || s->devices_count == GPUS_MAX)
		return 0;
	if (!ct_room(s->devices, s->devices_count, s->devices_capacity))
		return -ENOMEM;
	known = ct_keyed_put(&s->by_key, key);
	*d = known ? calloc(1, sizeof(**d)) : NULL;
	if (!*d)
		return -ENOMEM;
	(*d)->pid = pid;
	(*d)->gpu = gpu;
	known->device = *d;
	s->devices[s->devices_count++] = *d;
	return 0;
}

/* ----------------------------------------------------------------- threads --- */

/* NULL: there are too many, or it is new and not to be @made. */
static int idle_causes_thread(struct ct_gpu_idle *s, uint32_t pid, uint32_t tid, bool made, struct idle_thread **t)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	struct ct_gpu_idle_key *known = ct_keyed_get(&s->threads, key);

	*t = known ? known->thread : NULL;
	if (*t || !made)
		return 0;
	if (s->threads.count >= THREADS_MAX) {
		s->threads_left_out = true;
		return 0;
	}
	known = ct_keyed_put(&s->threads, key);
	*t = known ? calloc(1, sizeof(**t)) : NULL;
	if (known)
		known->thread = *t;
	return *t ? 0 : -ENOMEM;
}

/* What the thread had done when the device's gap began: it did the same thing ever since. */
static void idle_note_gap(struct idle_thread *t, const struct ct_gpu_idle_device *d, uint64_t until)
{
	unsigned int i = d->gpu;

	if (i >= DEVICES_MAX || !d->since || t->at[i].number == d->number)
		return;
	t->at[i].number = d->number;
	memcpy(t->at[i].done, t->done, sizeof(t->done));
	if (d->since > t->last)
		t->at[i].done[t->part] += (d->since < until ? d->since : until) - t->last;
}

static void idle_charge(struct ct_gpu_idle *s, struct idle_thread *t, uint32_t pid, uint64_t now)
{
	for (unsigned int i = 0; i < s->devices_count; i++)
		if (s->devices[i]->pid == pid)
			idle_note_gap(t, s->devices[i], now);
	if (now > t->last) {
		/* Before its first record it was in the application, or not there. */
		t->done[t->part] += now - t->last;
		t->last = now;
	}
}

static int idle_causes_call(struct idle_thread *t, const struct ct_trace_event *e)
{
	struct idle_call *c;

	if (!t->calls) {
		t->calls = calloc(CALLS_KEPT, sizeof(*t->calls));
		if (!t->calls)
			return -ENOMEM;
	}
	if (e->kind == CT_ON_BEGIN || e->kind == CT_ON_INSTANT) {
		c = &t->calls[t->next++ % CALLS_KEPT];
		c->op_id = e->point->op_id;
		c->ended = e->kind == CT_ON_INSTANT;
		memcpy(c->begin, t->done, sizeof(t->done));
		memcpy(c->end, t->done, sizeof(t->done));
		return 0;
	}
	for (unsigned int i = 0; e->point && i < CALLS_KEPT; i++) {
		c = &t->calls[i];
		if (c->op_id != e->point->op_id)
			continue;
		c->ended = true;
		memcpy(c->end, t->done, sizeof(t->done));
	}
	return 0;
}

/* Where several threads launch, an event of one may change what the process does for each. */
static int idle_several(struct ct_gpu_idle *s, const struct ct_track *track, uint64_t now)
{
	const struct ct_launching_process *lp = ct_launching_several(s->launching, track);
	uint8_t would[CT_LAUNCHING_COMPARED];
	struct idle_thread *t;

	if (lp)
		ct_launching_would(lp, would);
	for (unsigned int i = 0; lp && i < lp->count; i++) {
		if (idle_causes_thread(s, track->pid, lp->threads[i].tid, true, &t))
			return -ENOMEM;
		if (!t)
			continue;
		idle_charge(s, t, track->pid, now);
		t->part = idle_causes_part(would[i]);
	}
	return 0;
}

static int idle_host(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_idle *s = a->state;
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	struct idle_thread *t;
	int rc = 0;

	if (!e->track->tid || e->kind == CT_ON_UNRETURNED)
		return 0;
	if (idle_causes_thread(s, e->track->pid, e->track->tid, true, &t))
		return -ENOMEM;
	if (!t)
		return 0;
	idle_charge(s, t, e->track->pid, now);
	if (ct_class_is(e->class, CT_IS_WORK))
		rc = idle_causes_call(t, e);
	t->part = idle_causes_part(ct_launching_account(s->launching, e->track));
	return rc ? rc : idle_several(s, e->track, now);
}

/* -------------------------------------------------------------------- gaps --- */

/* What the thread of the call that ended a gap did in it. */
static void idle_explain(struct ct_gpu_idle *s, const struct ct_gpu_idle_device *d, const struct ct_cause *cause,
			 struct ct_gpu_gap *gap)
{
	struct idle_thread *t = NULL;
	uint64_t end = gap->start + gap->duration, sum = 0;
	const struct idle_call *call = NULL;
	const uint64_t *from, *begin, *until;

	if (cause)
		idle_causes_thread(s, cause->pid, cause->tid, false, &t);
	if (!t || d->gpu >= DEVICES_MAX) {
		gap->parts[CT_IDLE_UNKNOWN] = gap->duration;
		return;
	}
	if (cause->begin <= gap->start && cause->end && cause->end <= gap->start) {
		gap->parts[CT_IDLE_QUEUED] = gap->duration;
		return;
	}
	idle_charge(s, t, d->pid, end);
	for (unsigned int i = 0; t->calls && i < CALLS_KEPT; i++)
		if (t->calls[i].op_id == cause->op_id)
			call = &t->calls[i];
	if (!call) {
		gap->parts[CT_IDLE_UNKNOWN] = gap->duration;
		return;
	}
	from = t->at[d->gpu].done;
	begin = call->begin;
	until = call->ended ? call->end : t->done;
	for (unsigned int i = 0; i < CT_IDLE_CAUSE_COUNT; i++) {
		/* A call that began before the gap counts from the gap on. */
		uint64_t before = begin[i] > from[i] ? begin[i] - from[i] : 0;
		uint64_t most = begin[i] > from[i] ? begin[i] : from[i];

		gap->parts[i] = before + (until[i] > most ? until[i] - most : 0);
		sum += gap->parts[i];
	}
	gap->parts[CT_IDLE_START] += gap->duration > sum ? gap->duration - sum : 0;
}

/* The longest first. */
static int idle_order(const void *a, const void *b)
{
	const struct ct_gpu_gap *x = a, *y = b;

	if (x->duration != y->duration)
		return x->duration > y->duration ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->gpu - y->gpu;
}

static void idle_sum(struct ct_idle_sum *sum, uint64_t ns)
{
	sum->gaps++;
	sum->total += ns;
	sum->longest = ns > sum->longest ? ns : sum->longest;
}

static struct ct_gpu_work_name idle_work(const struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_work_name work = { .class = e->class };

	if (e->class->id == CT_CLASS_gpu_graph)
		work.which = ct_record_known(e->record, CT_KNOWN_GRAPH);
	else if (ct_gpu_is_kernel(e->class))
		work.which = ct_record_kernel(e->record, a->names->reg);
	else if (ct_gpu_is_transfer(e->class))
		work.which = ct_gpu_operation(e->record);
	return work;
}

static int idle_causes_gap(struct ct_analysis *a, struct ct_gpu_idle_device *d, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, d->pid, d->since);
	const struct ct_cause *cause = e->point->cause;
	struct ct_gpu_idle *s = a->state;
	struct ct_gpu_gap gap = {
		.start = d->since, .duration = e->begin - d->since, .pid = d->pid, .gpu = d->gpu,
		.tid = cause ? cause->tid : 0, .op_id = cause ? cause->op_id : 0,
		.call = cause ? cause->class : NULL, .call_begin = cause ? cause->begin : 0,
		.previous = d->last, .next = idle_work(a, e),
	};
	unsigned int stage = p ? ct_phases_stage(p, d->since) : CT_STAGE_COUNT;

	/* What a stage lost is only known of gaps that end in it, too. */
	if (stage < CT_STAGE_COUNT && ct_phases_stage(p, e->begin) != stage)
		stage = CT_STAGE_COUNT;

	if (!gap.duration || gap.start < a->filter->from || (a->filter->to && gap.start >= a->filter->to) ||
	    (a->filter->pid && a->filter->pid != d->pid) ||
	    (a->filter->steady && (!p || ct_phases_stage(p, gap.start) != CT_STAGE_STEADY)))
		return 0;
	d->process = p ? p - a->phases->processes : -1;
	idle_explain(s, d, cause, &gap);
	idle_sum(&d->all, gap.duration);
	d->gaps[stage]++;
	d->idle[stage] += gap.duration;
	if (gap.parts[CT_IDLE_SYNC])
		d->after_sync[stage] += gap.parts[CT_IDLE_APP] + gap.parts[CT_IDLE_SYNC] +
					gap.parts[CT_IDLE_LAUNCH] + gap.parts[CT_IDLE_START];
	if (idle_order(&gap, &d->longest[stage]) < 0)
		d->longest[stage] = gap;
	for (unsigned int i = 0; i < CT_IDLE_CAUSE_COUNT; i++)
		if (gap.parts[i])
			idle_sum(&d->causes[stage][i], gap.parts[i]);
	s->gaps++;
	s->gap = gap;
	s->ended = &s->gap;
	ct_largest_keep(s->longest, &s->longest_count, CT_GPU_GAPS_KEPT, sizeof(gap), &gap, idle_order);
	if (ct_stage_is_main(stage) &&
	    ct_gap_pairs_add(&d->steady, &gap.previous, &gap.next, gap.duration))
		return -ENOMEM;
	return ct_gap_pairs_add(&d->pairs, &gap.previous, &gap.next, gap.duration);
}

static int idle_gpu(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_idle_device *d;
	struct ct_gpu_idle *s = a->state;

	if (!e->class->call) {
		/* Nobody knows what the GPU does from now on, or did until now (exec). */
		for (unsigned int i = 0; e->class->id == CT_CLASS_gpu_state && i < s->devices_count; i++)
			if (s->devices[i]->pid == e->track->pid &&
			    (ct_record_known(e->record, CT_KNOWN_STATE) == CT_GPU_STOPPED ||
			     ct_record_known(e->record, CT_KNOWN_STATE) == CT_GPU_STARTED))
				s->devices[i]->since = 0;
		return 0;
	}
	if (e->kind == CT_ON_UNRETURNED)
		return 0;
	if (idle_device(a, e->record->pid, ct_record_known(e->record, CT_KNOWN_GPU), true, &d))
		return -ENOMEM;
	if (!d)
		return 0;
	if (e->kind == CT_ON_BEGIN) {
		if (!d->running++ && d->since && idle_causes_gap(a, d, e))
			return -ENOMEM;
		d->since = d->running == 1 ? 0 : d->since;
		return 0;
	}
	if (!d->running || --d->running)
		return 0;
	d->since = e->end;
	d->number++;
	d->last = idle_work(a, e);
	return 0;
}

static int idle_causes_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	((struct ct_gpu_idle *)a->state)->ended = NULL;
	return e->class->layer == CT_LAYER_GPU ? idle_gpu(a, e) : idle_host(a, e);
}

static int idle_causes_begin(struct ct_analysis *a)
{
	struct ct_gpu_idle *s = a->state;

	s->launching = ct_analysis_state(a, &ct_launching_analyser);
	if (!a->trace->has_gpu)
		return 0;
	s->longest = calloc(CT_GPU_GAPS_KEPT, sizeof(*s->longest));
	return s->longest ? 0 : -ENOMEM;
}

static int idle_causes_end(struct ct_analysis *a)
{
	struct ct_gpu_idle *s = a->state;

	if (s->longest_count)
		qsort(s->longest, s->longest_count, sizeof(*s->longest), idle_order);
	return 0;
}

uint64_t ct_gpu_idle_queued(const struct ct_gpu_idle *idle, const struct ct_process_phases *p)
{
	uint64_t least = 0;
	bool any = false;

	for (unsigned int i = 0; i < idle->devices_count; i++) {
		const struct ct_gpu_idle_device *d = idle->devices[i];
		uint64_t ns = CT_STAGES_MAIN(d->causes, [CT_IDLE_QUEUED].total);

		if (d->pid != p->pid)
			continue;
		least = !any || ns < least ? ns : least;
		any = true;
	}
	return least;
}

static void idle_causes_free(struct ct_analysis *a)
{
	struct ct_gpu_idle *s = a->state;

	for (size_t i = 0; i < s->threads.count; i++) {
		struct idle_thread *t = s->threads.list[i].thread;

		if (t)
			free(t->calls);
		free(t);
	}
	for (unsigned int i = 0; i < s->devices_count; i++) {
		ct_gap_pairs_free(&s->devices[i]->pairs);
		ct_gap_pairs_free(&s->devices[i]->steady);
		free(s->devices[i]);
	}
	free(s->devices);
	free(s->longest);
	ct_keyed_free(&s->by_key);
	ct_keyed_free(&s->threads);
}

static const struct ct_analyser *const needs[] = { &ct_launching_analyser, NULL };

const struct ct_analyser ct_gpu_idle_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.unfiltered = true,
	.samples = true,	/* which change what a process with several launching threads does */
	.gpu = true,
	.needs = needs,
	.state_size = sizeof(struct ct_gpu_idle),
	.begin = idle_causes_begin,
	.event = idle_causes_event,
	.end = idle_causes_end,
	.free = idle_causes_free,
};
