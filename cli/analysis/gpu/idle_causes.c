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
#define CHANGES_MAX	(1u << 16)	/* of what a thread does, from a launch until its work begins: what is before is forgotten */
#define GPUS_MAX	4096u	/* of all processes */
#define THREADS_MAX	16384u	/* what more of them did is not known: CT_IDLE_UNKNOWN */

#define ROW(id, words, column, head, priority)	[CT_IDLE_##id] = words,
const char *const ct_idle_cause_word[CT_IDLE_CAUSE_COUNT] = { CT_IDLE_CAUSES(ROW) };
#undef ROW

typedef uint64_t idle_parts[CT_IDLE_CAUSE_COUNT];

/* What a thread did until a moment. */
struct idle_change {
	uint64_t until;			/* ns; since the end of the one before */
	uint8_t  part;
};

struct idle_thread {
	uint64_t last;			/* ns: until then it is charged */
	uint8_t  part;			/* what it does since */
	idle_parts done;		/* since its first record */
	/* The same when the gap of this number of the process's device began. */
	struct { uint64_t number; idle_parts done; } at[DEVICES_MAX];
	/* The latest of them: the last one ends at .last. */
	struct idle_change *changes;
	unsigned int changes_count, changes_room;
	uint64_t forgotten;		/* ns: what it did before is not in .changes */
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

/*
 * Forgets what no gap asks for.  A call that returned before a gap is not late for it: only what is done after the
 * begin of a gap that has not ended is asked for.
 */
static void idle_causes_forget(const struct ct_gpu_idle *s, struct idle_thread *t, uint32_t pid)
{
	uint64_t since = UINT64_MAX;
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->devices_count; i++)
		if (s->devices[i]->pid == pid && s->devices[i]->since && s->devices[i]->since < since)
			since = s->devices[i]->since;
	while (n < t->changes_count && t->changes[n].until <= since)
		n++;
	if (t->changes_count - n >= CHANGES_MAX)
		n += CHANGES_MAX / 2;
	if (!n)
		return;
	t->forgotten = t->changes[n - 1].until;
	t->changes_count -= n;
	memmove(t->changes, t->changes + n, t->changes_count * sizeof(*t->changes));
}

/* Until @now the thread did what it does. */
static int idle_charge(struct ct_gpu_idle *s, struct idle_thread *t, uint32_t pid, uint64_t now)
{
	for (unsigned int i = 0; i < s->devices_count; i++)
		if (s->devices[i]->pid == pid)
			idle_note_gap(t, s->devices[i], now);
	if (now <= t->last)
		return 0;
	/* Before its first record it was in the application, or not there. */
	t->done[t->part] += now - t->last;
	t->last = now;
	if (t->changes_count && t->changes[t->changes_count - 1].part == t->part) {
		t->changes[t->changes_count - 1].until = now;
		return 0;
	}
	if (t->changes_count && t->changes_count == t->changes_room)
		idle_causes_forget(s, t, pid);
	if (!ct_room(t->changes, t->changes_count, t->changes_room))
		return -ENOMEM;
	t->changes[t->changes_count++] = (struct idle_change){ now, t->part };
	return 0;
}

/* What it had done in all at @when, which is not in the future.  false: that is forgotten. */
static bool idle_done_at(const struct idle_thread *t, uint64_t when, idle_parts done)
{
	memcpy(done, t->done, sizeof(t->done));
	for (unsigned int i = t->changes_count; i-- && t->changes[i].until > when;) {
		uint64_t from = i ? t->changes[i - 1].until : t->forgotten;

		done[t->changes[i].part] -= t->changes[i].until - (from > when ? from : when);
	}
	return when >= t->forgotten;
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
		if (idle_charge(s, t, track->pid, now))
			return -ENOMEM;
		t->part = idle_causes_part(would[i]);
	}
	return 0;
}

static int idle_host(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_idle *s = a->state;
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	struct idle_thread *t;

	if (!e->track->tid || e->kind == CT_ON_UNRETURNED)
		return 0;
	if (idle_causes_thread(s, e->track->pid, e->track->tid, true, &t))
		return -ENOMEM;
	if (!t)
		return 0;
	if (idle_charge(s, t, e->track->pid, now))
		return -ENOMEM;
	t->part = idle_causes_part(ct_launching_account(s->launching, e->track));
	return idle_several(s, e->track, now);
}

/* -------------------------------------------------------------------- gaps --- */

/* What the thread of the call that ended a gap did in it, until that call returned. */
static int idle_explain(struct ct_gpu_idle *s, const struct ct_gpu_idle_device *d, const struct ct_cause *cause,
			struct ct_gpu_gap *gap)
{
	struct idle_thread *t = NULL;
	uint64_t end = gap->start + gap->duration, sum = 0;
	const uint64_t *from;
	idle_parts until;

	if (cause)
		idle_causes_thread(s, cause->pid, cause->tid, false, &t);
	if (!t || d->gpu >= DEVICES_MAX) {
		gap->parts[CT_IDLE_UNKNOWN] = gap->duration;
		return 0;
	}
	if (cause->begin <= gap->start && cause->end && cause->end <= gap->start) {
		gap->parts[CT_IDLE_QUEUED] = gap->duration;
		return 0;
	}
	if (idle_charge(s, t, d->pid, end))
		return -ENOMEM;
	if (!idle_done_at(t, cause->end && cause->end < end ? cause->end : end, until)) {
		gap->parts[CT_IDLE_UNKNOWN] = gap->duration;
		return 0;
	}
	from = t->at[d->gpu].done;
	for (unsigned int i = 0; i < CT_IDLE_CAUSE_COUNT; i++) {
		gap->parts[i] = until[i] > from[i] ? until[i] - from[i] : 0;
		sum += gap->parts[i];
	}
	gap->parts[CT_IDLE_START] += gap->duration > sum ? gap->duration - sum : 0;
	return 0;
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
	if (idle_explain(s, d, cause, &gap))
		return -ENOMEM;
	idle_sum(&d->all, gap.duration);
	d->gaps[stage]++;
	d->idle[stage] += gap.duration;
	if (gap.parts[CT_IDLE_SYNC]) {
		uint64_t after = gap.parts[CT_IDLE_APP] + gap.parts[CT_IDLE_SYNC] + gap.parts[CT_IDLE_LAUNCH];

		/* Work that begins far later than it was launched waits for something else: for another stream, or another rank. */
		after += gap.parts[CT_IDLE_START] < after ? gap.parts[CT_IDLE_START] : after;
		d->after_sync[stage] += after;
		d->overlap[stage] += after < d->worked ? after : d->worked;
		d->worked = 0;
	}
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
		d->began = d->running == 1 ? e->begin : d->began;
		return 0;
	}
	if (!d->running || --d->running)
		return 0;
	d->since = e->end;
	d->worked += e->end - d->began;
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
			free(t->changes);
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
