// SPDX-License-Identifier: LGPL-2.1-or-later
/* See idle.h.  Memory is bounded by threads, and by the different lines that a thread is in during one gap. */
#include "analysis/stacks/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/gpu/idle_causes.h"
#include "analysis/threads/driving.h"
#include "base/grow.h"
#include "trace/stacks/stacks.h"

#define SEEN_MAX	(1u << 20)	/* of a thread in a gap; the first ones then count for no line, which is said */

enum idle_kind {
	IDLE_BETWEEN,			/* calls, until one from this line */
	IDLE_CALL,
	IDLE_SAMPLE,			/* between calls; at one moment */
};

/* Where a thread was seen. */
struct idle_seen {
	uint64_t from, until;
	uint32_t node;
	uint8_t  kind;
};

/* The last sample of a thread: which line it counts for is known at the next one. */
struct idle_latest {
	unsigned int seen;		/* index in .seen, + 1; 0: there is none */
	uint32_t node;
	uint64_t at, part;		/* ns; that of the gaps */
	unsigned int gaps;		/* that have it, so far */
};

struct idle_at {
	uint64_t thread;		/* pid << 32 | tid */
	const struct ct_track *track;
	uint64_t since;			/* ns: until then it is known where it was */
	uint64_t called;		/* ns: it is in a call since then, which has a stack; 0: it is in none */
	uint32_t node;			/* of that call */
	bool     stacked;		/* a sample of it had a stack */
	uint64_t forgotten;		/* ns: what is before was too much */
	struct idle_seen *seen;		/* in the order of .until */
	unsigned int seen_count, seen_room;
	struct idle_latest latest;
};

uint64_t ct_stack_part(const struct ct_analysis *a, uint32_t pid, uint64_t ts)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, pid, ts);
	enum ct_stage stage = p ? ct_phases_stage(p, ts) : CT_STAGE_COUNT;

	if (stage == CT_STAGE_COUNT || stage == CT_STAGE_TEARDOWN)
		return CT_STACK_NO_PART;
	return CT_STACK_PART(p - a->phases->processes, ct_stage_is_main(stage));
}

static uint64_t idle_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* Since when a GPU of the process may have been idle; UINT64_MAX: none is. */
static uint64_t idle_since(const struct ct_stack_idle *s, uint32_t pid)
{
	uint64_t since = UINT64_MAX;

	for (unsigned int i = 0; i < s->gaps->devices_count; i++) {
		const struct ct_gpu_idle_device *d = s->gaps->devices[i];

		if (d->pid == pid && d->since && d->since < since)
			since = d->since;
	}
	return since;
}

/* Forgets what no gap can ask for, and the first quarter of what is too much. */
static void idle_forget(const struct ct_stack_idle *s, struct idle_at *t)
{
	uint64_t since = idle_since(s, t->thread >> 32);
	unsigned int n = 0;

	while (n < t->seen_count && t->seen[n].until < since)
		n++;
	if (t->seen_count - n >= SEEN_MAX) {
		n += SEEN_MAX / 4;
		t->forgotten = t->seen[n].from;
	}
	t->seen_count -= n;
	if (n)
		memmove(t->seen, t->seen + n, t->seen_count * sizeof(*t->seen));
	t->latest.seen -= t->latest.seen < n ? t->latest.seen : n;
}

static int idle_see(struct ct_stack_idle *s, struct idle_at *t, const struct idle_seen *seen)
{
	if (t->seen_count && t->seen_count == t->seen_room)
		idle_forget(s, t);
	if (!ct_room(t->seen, t->seen_count, t->seen_room))
		return -ENOMEM;
	t->seen[t->seen_count++] = *seen;
	return 0;
}

static int idle_stay(struct ct_stack_idle *s, struct idle_at *t, uint64_t until, uint32_t node, enum idle_kind kind)
{
	uint64_t from = t->since;

	if (until <= from)
		return 0;
	t->since = until;
	return idle_see(s, t, &(struct idle_seen){ from, until, node, kind });
}

/* ------------------------------------------------------------------- sums --- */

static int idle_put(struct ct_stack_idle *s, uint32_t node, uint32_t pid, uint64_t part, const struct ct_stack_idle_sum *add)
{
	struct ct_stack_idle_sum *sums[2];

	sums[0] = ct_keyed_put_pair(&s->processes, node, pid);
	sums[1] = ct_keyed_put_pair(&s->parts, node, part);
	for (unsigned int i = 0; i < 2; i++) {
		if (!sums[i])
			return -ENOMEM;
		sums[i]->ns += add->ns;
		sums[i]->between += add->between;
		sums[i]->samples += add->samples;
	}
	return 0;
}

static int idle_put_ns(struct ct_stack_idle *s, uint32_t node, uint32_t pid, uint64_t part, uint64_t ns, bool between)
{
	return ns ? idle_put(s, node, pid, part, &(struct ct_stack_idle_sum){ .ns = ns, .between = between ? ns : 0 }) : 0;
}

static int idle_put_samples(struct ct_stack_idle *s, uint32_t node, uint32_t pid, uint64_t part, unsigned int samples)
{
	return samples ? idle_put(s, node, pid, part, &(struct ct_stack_idle_sum){ .samples = samples }) : 0;
}

/* ----------------------------------------------------------------- events --- */

/* What the other threads did at the thread's last sample is known. */
static int idle_decide(struct ct_stack_idle *s, struct idle_at *t)
{
	struct idle_latest *l = &t->latest;
	uint32_t node = l->node;
	int rc;

	if (!l->at)
		return 0;
	ct_driving_waited(s->driving, t->track, l->at, &node);
	if (l->seen)
		t->seen[l->seen - 1].node = node;
	rc = idle_put_samples(s, node, t->thread >> 32, l->part, l->gaps);
	*l = (struct idle_latest){ 0 };
	return rc;
}

static int idle_sample(struct ct_stack_idle *s, const struct ct_trace_event *e)
{
	/* A thread that has called nothing ends no gap. */
	struct idle_at *t = ct_keyed_get(&s->threads, idle_key(e->track->pid, e->track->tid));
	uint32_t node = ct_sample_counts(e->record, e->point->stack);
	int rc = t ? idle_decide(s, t) : 0;

	if (!t || rc || ct_track_call(e->track))
		return rc;
	t->stacked |= node != 0;
	if (!t->stacked)
		return 0;
	rc = idle_see(s, t, &(struct idle_seen){ e->begin, e->begin, node, IDLE_SAMPLE });
	t->latest = (struct idle_latest){ .seen = t->seen_count, .node = node, .at = e->begin };
	return rc;
}

/* An outermost call.  One that has no stack, and the time before it, count for the next call that has one. */
static int stack_idle_call(struct ct_stack_idle *s, const struct ct_trace_event *e)
{
	struct idle_at *t = ct_keyed_put(&s->threads, idle_key(e->track->pid, e->track->tid));
	int rc;

	if (!t)
		return -ENOMEM;
	t->track = e->track;
	if (!t->since)
		t->since = e->begin;
	if (!e->point->stack)
		return 0;
	rc = idle_stay(s, t, e->begin, e->point->stack, IDLE_BETWEEN);
	t->called = e->kind == CT_ON_BEGIN ? e->begin : 0;
	t->node = e->point->stack;
	return rc || e->kind == CT_ON_BEGIN ? rc : idle_stay(s, t, e->end, e->point->stack, IDLE_CALL);
}

/* ------------------------------------------------------------------- gaps --- */

/* A time in which it is looked for where a thread was. */
struct idle_ask {
	uint64_t from, until, part;
	uint64_t known;			/* ns of it of which that is known */
};

/* What of it a thread was seen in counts for its line. */
static int stack_idle_part(struct ct_stack_idle *s, struct idle_at *t, const struct idle_seen *seen, struct idle_ask *ask)
{
	uint64_t begin = seen->from > ask->from ? seen->from : ask->from;
	uint64_t end = seen->until < ask->until ? seen->until : ask->until;

	if (end <= begin)
		return 0;
	ask->known += end - begin;
	return idle_put_ns(s, seen->node, t->thread >> 32, ask->part, end - begin,
			   seen->kind == IDLE_BETWEEN && t->stacked);
}

static int idle_parts(struct ct_stack_idle *s, struct idle_at *t, struct idle_ask *ask)
{
	int rc = 0;

	for (unsigned int i = t->seen_count; i-- && t->seen[i].until >= ask->from && !rc;) {
		const struct idle_seen *seen = &t->seen[i];

		if (seen->kind != IDLE_SAMPLE) {
			rc = stack_idle_part(s, t, seen, ask);
		} else if (seen->from < ask->until && t->latest.seen == i + 1) {
			t->latest.gaps++;
			t->latest.part = ask->part;
		} else if (seen->from < ask->until) {
			rc = idle_put_samples(s, seen->node, t->thread >> 32, ask->part, 1);
		}
	}
	if (t->called && !rc)
		rc = stack_idle_part(s, t, &(struct idle_seen){ t->called, ask->until, t->node, IDLE_CALL }, ask);
	return rc;
}

static int stack_idle_gap(const struct ct_analysis *a, const struct ct_gpu_gap *gap, const struct ct_cause *cause)
{
	struct ct_stack_idle *s = a->state;
	uint64_t end = gap->start + gap->duration, late, none;
	struct idle_at *t = cause ? ct_keyed_get(&s->threads, idle_key(cause->pid, cause->tid)) : NULL;
	struct idle_ask ask = { .from = gap->start, .until = end, .part = ct_stack_part(a, gap->pid, gap->start) };
	int rc;

	if (!t || gap->parts[CT_IDLE_QUEUED] || gap->parts[CT_IDLE_UNKNOWN])
		return idle_put_ns(s, 0, gap->pid, ask.part, gap->duration, false);
	if (cause->end && cause->end < end)
		ask.until = cause->end > gap->start ? cause->end : gap->start;
	late = end - ask.until;
	rc = idle_parts(s, t, &ask);
	rc = rc ? rc : idle_put_ns(s, cause->stack, gap->pid, ask.part, late, false);
	none = gap->duration - ask.known - late;
	s->forgotten += t->forgotten > gap->start ? none : 0;
	return rc ? rc : idle_put_ns(s, 0, gap->pid, ask.part, none, false);
}

static int stack_idle_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_stack_idle *s = a->state;

	/* What NVML says of a GPU is no work, and the gaps are not asked of it. */
	if (e->class->layer == CT_LAYER_GPU)
		return e->kind == CT_ON_BEGIN && s->gaps->ended ? stack_idle_gap(a, s->gaps->ended, e->point->cause) : 0;
	if (ct_class_is_sample(e->class))
		return idle_sample(s, e);
	return e->api && e->kind != CT_ON_INSTANT && !ct_track_call(e->track) ? stack_idle_call(s, e) : 0;
}

/* -------------------------------------------------------------------- end --- */

/* What the sums of one process, or part, are together. */
struct idle_all {
	uint64_t whose, between, samples, seen, given;
};

/* Divides the time between calls of each of them by the samples in it, so that the sum stays what it is. */
static int stack_idle_divide(ct_stack_idle_sums *sums)
{
	CT_KEYED(struct idle_all) all = { 0 };
	int rc = 0;

	for (size_t i = 0; i < sums->count && !rc; i++) {
		struct idle_all *of = ct_keyed_put(&all, sums->list[i].whose);

		rc = of ? 0 : -ENOMEM;
		if (!of)
			break;
		of->between += sums->list[i].between;
		of->samples += sums->list[i].samples;
	}
	for (size_t i = 0; i < sums->count && !rc; i++) {
		struct ct_stack_idle_sum *sum = &sums->list[i];
		struct idle_all *of = ct_keyed_get(&all, sum->whose);
		uint64_t until;

		if (of->samples < CT_COSTS_SAMPLES)
			continue;
		of->seen += sum->samples;
		until = (unsigned __int128)of->between * of->seen / of->samples;
		sum->ns += until - of->given - sum->between;
		of->given = until;
	}
	ct_keyed_free(&all);
	return rc;
}

static int stack_idle_begin(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;

	s->gaps = ct_analysis_state(a, &ct_gpu_idle_analyser);
	s->driving = ct_analysis_state(a, &ct_driving_analyser);
	return 0;
}

static int stack_idle_end(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;
	int rc = 0;

	for (size_t i = 0; i < s->threads.count && !rc; i++)
		rc = idle_decide(s, &s->threads.list[i]);
	rc = rc ? rc : stack_idle_divide(&s->processes);
	return rc ? rc : stack_idle_divide(&s->parts);
}

static void stack_idle_free(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;

	for (size_t i = 0; i < s->threads.count; i++)
		free(s->threads.list[i].seen);
	ct_keyed_free(&s->threads);
	ct_keyed_free(&s->processes);
	ct_keyed_free(&s->parts);
}

static const struct ct_analyser *const needs[] = { &ct_gpu_idle_analyser, &ct_driving_analyser, NULL };

const struct ct_analyser ct_stack_idle_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.unfiltered = true,
	.stacks = true,
	.samples = true,
	.gpu = true,
	.needs = needs,
	.state_size = sizeof(struct ct_stack_idle),
	.begin = stack_idle_begin,
	.event = stack_idle_event,
	.end = stack_idle_end,
	.free = stack_idle_free,
};
