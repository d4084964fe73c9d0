// SPDX-License-Identifier: LGPL-2.1-or-later
/* See idle.h.  Memory is bounded by threads, and by the different lines that a thread is in during one gap. */
#include "analysis/stacks/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/gpu/idle_causes.h"
#include "base/grow.h"

#define THREADS_MAX	16384u		/* what more of them did counts for no line */
#define STAYS_MAX	65536u		/* of a thread in a gap; the first ones then count for no line */

/* Where a thread was: from the end of the one before until @until, or from its begin. */
struct idle_stay {
	uint64_t from, until;
	uint32_t node;
	bool     between;		/* calls */
};

struct idle_sample {
	uint64_t at;
	uint32_t node;
};

struct idle_at {
	uint64_t thread;		/* pid << 32 | tid */
	uint64_t since;			/* ns: until then it is known where it was */
	uint64_t called;		/* ns: it is in a call since then, which has a stack; 0: it is in none */
	uint32_t node;			/* of that call */
	bool     stacked;		/* a sample of it had a stack */
	struct idle_stay *stays;	/* in the order of time */
	unsigned int stays_count, stays_room;
	struct idle_sample *samples;	/* between calls */
	unsigned int samples_count, samples_room;
};

/* NULL: there are too many, or no memory. */
static struct idle_at *stack_idle_thread(struct ct_stack_idle *s, uint32_t pid, uint32_t tid, bool made)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	struct idle_at *t = ct_keyed_get(&s->threads, key);

	return t || !made || s->threads.count == THREADS_MAX ? t : ct_keyed_put(&s->threads, key);
}

static bool idle_in_call(const struct ct_track *track)
{
	for (unsigned int i = 0; i < track->depth; i++)
		if (ct_class_is(track->frames[i].class, CT_IS_API))
			return true;
	return false;
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

/* Forgets what no gap can ask for. */
static void idle_forget(const struct ct_stack_idle *s, struct idle_at *t)
{
	uint64_t since = idle_since(s, t->thread >> 32);
	unsigned int n = 0;

	while (n < t->stays_count && t->stays[n].until <= since)
		n++;
	if (t->stays_count - n >= STAYS_MAX)
		n += STAYS_MAX / 4;
	t->stays_count -= n;
	if (n)
		memmove(t->stays, t->stays + n, t->stays_count * sizeof(*t->stays));
	for (n = 0; n < t->samples_count && t->samples[n].at < since;)
		n++;
	if (t->samples_count - n >= STAYS_MAX)
		n += STAYS_MAX / 4;
	t->samples_count -= n;
	if (n)
		memmove(t->samples, t->samples + n, t->samples_count * sizeof(*t->samples));
}

static int idle_stay(struct ct_stack_idle *s, struct idle_at *t, uint64_t until, uint32_t node, bool between)
{
	struct idle_stay *last = t->stays_count ? &t->stays[t->stays_count - 1] : NULL;

	if (until <= t->since)
		return 0;
	if (last && last->until == t->since && last->node == node && last->between == between) {
		last->until = t->since = until;
		return 0;
	}
	if (t->stays_count && t->stays_count == t->stays_room)
		idle_forget(s, t);
	if (!ct_room(t->stays, t->stays_count, t->stays_room))
		return -ENOMEM;
	t->stays[t->stays_count++] = (struct idle_stay){ t->since, until, node, between };
	t->since = until;
	return 0;
}

/* ----------------------------------------------------------------- events --- */

static int idle_sample(struct ct_stack_idle *s, const struct ct_trace_event *e)
{
	struct idle_at *t = stack_idle_thread(s, e->track->pid, e->track->tid, false);

	/* A thread that has called nothing ends no gap. */
	if (!t || idle_in_call(e->track))
		return 0;
	t->stacked |= e->point->stack != 0;
	if (!t->stacked)
		return 0;
	if (t->samples_count && t->samples_count == t->samples_room)
		idle_forget(s, t);
	if (!ct_room(t->samples, t->samples_count, t->samples_room))
		return -ENOMEM;
	t->samples[t->samples_count++] = (struct idle_sample){ e->begin, e->point->stack };
	return 0;
}

/* An outermost call.  One that has no stack, and the time before it, count for the next call that has one. */
static int stack_idle_call(struct ct_stack_idle *s, const struct ct_trace_event *e)
{
	struct idle_at *t = stack_idle_thread(s, e->track->pid, e->track->tid, true);
	int rc;

	if (!t)
		return s->threads.count == THREADS_MAX ? 0 : -ENOMEM;
	if (!t->since)
		t->since = e->begin;
	if (!e->point->stack)
		return 0;
	rc = idle_stay(s, t, e->begin, e->point->stack, true);
	t->called = e->kind == CT_ON_BEGIN ? e->begin : 0;
	t->node = e->point->stack;
	return rc || e->kind == CT_ON_BEGIN ? rc : idle_stay(s, t, e->end, e->point->stack, false);
}

/* ------------------------------------------------------------------- gaps --- */

static int idle_put(struct ct_stack_idle *s, uint32_t node, uint32_t pid, uint64_t ns, bool between)
{
	struct ct_stack_idle_sum *sum = ns ? ct_keyed_put_pair(&s->sums, node, pid) : NULL;

	if (!sum)
		return ns ? -ENOMEM : 0;
	sum->ns += ns;
	sum->between += between ? ns : 0;
	return 0;
}

/* What of a stay is in the gap counts for its line; returns how much that is in @ns. */
static int stack_idle_part(struct ct_stack_idle *s, const struct idle_at *t, const struct idle_stay *stay, uint64_t from,
		     uint64_t until, uint64_t *ns)
{
	uint64_t begin = stay->from > from ? stay->from : from, end = stay->until < until ? stay->until : until;

	if (end <= begin)
		return 0;
	*ns += end - begin;
	return idle_put(s, stay->node, t->thread >> 32, end - begin, stay->between && t->stacked);
}

/* The thread was somewhere from @from to @until; returns how much of it is known in @ns. */
static int idle_stays(struct ct_stack_idle *s, struct idle_at *t, uint64_t from, uint64_t until, uint64_t *ns)
{
	int rc = 0;

	for (unsigned int i = t->stays_count; i-- && t->stays[i].until > from && !rc;)
		rc = stack_idle_part(s, t, &t->stays[i], from, until, ns);
	if (t->called && !rc)
		rc = stack_idle_part(s, t, &(struct idle_stay){ t->called, until, t->node, false }, from, until, ns);
	for (unsigned int i = t->samples_count; i-- && t->samples[i].at >= from && !rc;) {
		struct ct_stack_idle_sum *sum;

		if (t->samples[i].at >= until)
			continue;
		sum = ct_keyed_put_pair(&s->sums, t->samples[i].node, t->thread >> 32);
		rc = sum ? 0 : -ENOMEM;
		if (sum)
			sum->samples++;
	}
	return rc;
}

static int stack_idle_gap(struct ct_stack_idle *s, const struct ct_gpu_gap *gap, const struct ct_cause *cause)
{
	uint64_t end = gap->start + gap->duration, until = end, known = 0, late;
	struct idle_at *t = cause ? stack_idle_thread(s, cause->pid, cause->tid, false) : NULL;
	int rc;

	if (!t || gap->parts[CT_IDLE_QUEUED] || gap->parts[CT_IDLE_UNKNOWN])
		return idle_put(s, 0, gap->pid, gap->duration, false);
	if (cause->end && cause->end < end)
		until = cause->end > gap->start ? cause->end : gap->start;
	late = end - until;
	rc = idle_stays(s, t, gap->start, until, &known);
	rc = rc ? rc : idle_put(s, cause->stack, gap->pid, late, false);
	return rc ? rc : idle_put(s, 0, gap->pid, gap->duration - known - late, false);
}

static int stack_idle_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_stack_idle *s = a->state;

	if (!s->stacks)
		return 0;
	/* What NVML says of a GPU is no work, and the gaps are not asked of it. */
	if (e->class->layer == CT_LAYER_GPU)
		return e->kind == CT_ON_BEGIN && s->gaps->ended ? stack_idle_gap(s, s->gaps->ended, e->point->cause) : 0;
	if (e->class->id == CT_CLASS_sample)
		return idle_sample(s, e);
	return e->api && e->kind != CT_ON_INSTANT && !idle_in_call(e->track) ? stack_idle_call(s, e) : 0;
}

/* -------------------------------------------------------------------- end --- */

/* Divides the time between calls of a process by the samples in it, so that the sum stays what it is. */
static void stack_idle_divide(struct ct_stack_idle *s, uint64_t pid)
{
	uint64_t between = 0, samples = 0, given = 0, seen = 0;

	for (size_t i = 0; i < s->sums.count; i++) {
		between += s->sums.list[i].pid == pid ? s->sums.list[i].between : 0;
		samples += s->sums.list[i].pid == pid ? s->sums.list[i].samples : 0;
	}
	for (size_t i = 0; i < s->sums.count && samples >= CT_COSTS_SAMPLES; i++) {
		struct ct_stack_idle_sum *sum = &s->sums.list[i];
		uint64_t until;

		if (sum->pid != pid)
			continue;
		seen += sum->samples;
		until = (unsigned __int128)between * seen / samples;
		sum->ns += until - given - sum->between;
		given = until;
	}
}

static int stack_idle_begin(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;

	s->gaps = ct_analysis_state(a, &ct_gpu_idle_analyser);
	s->stacks = ct_registry_info(&a->trace->reg, "stacks") != NULL;
	return 0;
}

static int stack_idle_end(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;
	CT_KEYED(uint64_t) pids = { 0 };
	int rc = 0;

	for (size_t i = 0; i < s->sums.count && !rc; i++) {
		if (ct_keyed_get(&pids, s->sums.list[i].pid))
			continue;
		rc = ct_keyed_put(&pids, s->sums.list[i].pid) ? 0 : -ENOMEM;
		stack_idle_divide(s, s->sums.list[i].pid);
	}
	ct_keyed_free(&pids);
	return rc;
}

static void stack_idle_free(struct ct_analysis *a)
{
	struct ct_stack_idle *s = a->state;

	for (size_t i = 0; i < s->threads.count; i++) {
		free(s->threads.list[i].stays);
		free(s->threads.list[i].samples);
	}
	ct_keyed_free(&s->threads);
	ct_keyed_free(&s->sums);
}

static const struct ct_analyser *const needs[] = { &ct_gpu_idle_analyser, NULL };

const struct ct_analyser ct_stack_idle_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.samples = true,
	.gpu = true,
	.needs = needs,
	.state_size = sizeof(struct ct_stack_idle),
	.begin = stack_idle_begin,
	.event = stack_idle_event,
	.end = stack_idle_end,
	.free = stack_idle_free,
};
