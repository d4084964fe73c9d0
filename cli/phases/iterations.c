// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The iterations of a process: by ranges or marks that come again, else by the pattern of its
 * launches.  Must say why where there are none, and never invent any.
 */
#include "phases/iterations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phases/reread.h"
#include "phases/pattern_iterations.h"
#include "phases/ranges.h"

#define ITERATIONS_THREADS	8u	/* of a process: in more a pattern is looked for until one explains most of its launches */
#define ITERATIONS_MOST		0.8
#define ITERATIONS_WINDOWS	8u	/* parts of a thread in which one is looked for alone ... */
#define ITERATIONS_PARTS	256u	/* ... if it has so many launches */
/* Ranges count only if they contain so much of what the pattern explains. */
#define ITERATIONS_RANGES	0.5

static int iterations_count_one(void *arg, const struct ct_phase_record *h)
{
	struct ct_process_phases *p = arg;
	int64_t i = ct_phases_iteration(p, h->at);

	if (i >= 0)
		p->iterations[i].launches++;
	return 0;
}

static int iterations_count_launches(struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;

	uint32_t k = 0;

	/* Both are in the order of time. */
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		struct ct_iteration *it = &p->iterations[i];

		it->launches = 0;
		for (; k < w->launches_count && w->launches[k] < it->end && !w->partial; k++)
			it->launches += w->launches[k] >= it->begin;
	}
	return w->partial ? ct_phase_records_launches(w->records, p->pid, iterations_count_one, p) :
			    0;
}

/* "247 launches", "1 synchronisation"; adds " and " or ", " before it. */
static void iterations_say(char *text, size_t size, uint64_t count, const char *one,
			   const char *many)
{
	size_t n = strlen(text);

	if (count)
		snprintf(text + n, size - n, "%s%llu %s", n ? " and " : "",
			 (unsigned long long)count, count == 1 ? one : many);
}

static int iterations_what(struct ct_phase_work *w, const struct ct_pattern *p)
{
	struct ct_process_phases *process = w->process;
	const struct ct_class *class = NULL;
	uint64_t launches;
	size_t n;
	int rc = ct_iterations_median(process, true, &launches);

	process->what[0] = 0;
	iterations_say(process->what, sizeof(process->what),
		       launches > p->graphs ? launches - p->graphs : 0, "launch", "launches");
	iterations_say(process->what, sizeof(process->what), p->graphs, "launch of a graph",
		       "launches of graphs");
	iterations_say(process->what, sizeof(process->what), p->waits, "synchronisation",
		       "synchronisations");
	n = strlen(process->what);
	if (!p->at_wait)
		snprintf(process->what + n, sizeof(process->what) - n, ", from the launch with the "
			 "longest pause before it");
	else if (p->boundary.kind == CT_PHASE_WAIT)
		class = ct_registry_class(&w->records->trace->reg, p->boundary.sig);
	else
		snprintf(process->what + n, sizeof(process->what) - n,
			 ", from the end of a copy that blocks");
	process->asks = class && ct_class_is(class, CT_IS_POLL);
	if (class && class->name)
		snprintf(process->what + n, sizeof(process->what) - n, ", from the end of %.64s",
			 class->name);
	return rc;
}

/* The slices with the most launches come first. */
static int iterations_slice_order(const void *a, const void *b)
{
	const struct ct_thread_events *x = a, *y = b;

	return x->launches < y->launches ? 1 : x->launches > y->launches ? -1 :
	       x->thread->tid < y->thread->tid ? -1 : 1;
}

/* How much of the process's launches the pattern of a thread explains. */
static double iterations_worth(const struct ct_phase_work *w, const struct ct_pattern *p,
			       const struct ct_thread_events *slice)
{
	double value = ct_work_launches(w, p->from, p->to) * p->score;

	if (value < p->explained)
		value = p->explained;
	if (p->waits)
		value *= 1.1;
	if (slice->thread->tid == slice->thread->pid)
		value *= 1.05;
	return value;
}

static int iterations_by_pattern(struct ct_phase_work *w, struct ct_pattern *best,
				 const struct ct_thread_events **of, uint32_t *most)
{
	double worth = 0;
	int rc = 0;

	qsort(w->slices, w->slices_count, sizeof(*w->slices), iterations_slice_order);
	for (unsigned int i = 0; i < w->slices_count && !rc; i++) {
		struct ct_pattern p;

		/* Those with the most come first: one with few does not make the steps. */
		if (w->slices[i].launches < 4 || w->slices[i].launches * 20ull < w->slices->launches ||
		    (i >= ITERATIONS_THREADS && worth >= ITERATIONS_MOST * w->launches_count))
			break;
		rc = ct_pattern_find(&p, &w->slices[i]);
		*most = p.most > *most ? p.most : *most;
		if (!rc && p.found && iterations_worth(w, &p, &w->slices[i]) > worth) {
			worth = iterations_worth(w, &p, &w->slices[i]);
			ct_pattern_free(best);
			*best = p;
			*of = &w->slices[i];
		} else {
			ct_pattern_free(&p);
		}
	}
	return rc;
}

/* The part of a slice from its @from-th happening on until before its @to-th. */
static struct ct_thread_events iterations_part(const struct ct_thread_events *slice, uint32_t from, uint32_t to)
{
	struct ct_thread_events part = { .thread = slice->thread, .list = slice->list + from, .count = to - from };

	for (uint32_t i = 0; i < part.count; i++)
		part.launches += ct_phase_record_launch(&part.list[i]);
	return part;
}

/* Of a slice's parts that one whose pattern explains most launches.  The longest of several loops fills one of them. */
static int iterations_part_pattern(struct ct_pattern *best, const struct ct_thread_events *slice)
{
	int rc = 0;

	*best = (struct ct_pattern){ 0 };
	for (uint32_t parts = 2; parts <= ITERATIONS_WINDOWS && !rc; parts *= 2)
		for (uint32_t i = 0; i < parts && !rc; i++) {
			struct ct_thread_events part = iterations_part(slice, (uint64_t)slice->count * i / parts,
								       (uint64_t)slice->count * (i + 1) / parts);
			struct ct_pattern p;

			rc = ct_pattern_find(&p, &part);
			if (!rc && p.found && p.explained > best->explained) {
				ct_pattern_free(best);
				*best = p;
			} else {
				ct_pattern_free(&p);
			}
		}
	return rc;
}

static uint64_t iterations_launches(const struct ct_process_phases *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->iterations_count; i++)
		n += p->iterations[i].launches;
	return n;
}

/* Do the iterations have most launches from the first one's begin to the last one's end? */
static bool iterations_hold(const struct ct_phase_work *w)
{
	const struct ct_process_phases *p = w->process;

	return p->iterations_count && 2 * iterations_launches(p) >=
	       ct_work_launches(w, p->iterations[0].begin, p->iterations[p->iterations_count - 1].end);
}

/*
 * A thread that runs several loops one after the other has no pattern that explains most of it, or the wrong one: then the
 * pattern of one of its parts is, if it has more launches.
 */
static int iterations_by_parts(struct ct_phase_work *w, struct ct_pattern *pattern)
{
	struct ct_process_phases *p = w->process, had = *p;
	struct ct_pattern part;
	int rc;

	if (!w->slices_count || w->slices->launches < ITERATIONS_PARTS ||
	    2 * iterations_launches(p) >= (uint64_t)w->launches_count + w->launches_more)
		return 0;
	rc = iterations_part_pattern(&part, w->slices);
	if (rc || !part.found) {
		ct_pattern_free(&part);
		return rc;
	}
	p->iterations = NULL;
	p->iterations_count = 0;
	p->iterations_dropped = 0;
	p->tid = w->slices->thread->tid;
	p->source = CT_ITER_PATTERN;
	rc = ct_pattern_cut(&part, w->slices, w);
	if (!rc && p->iterations_count)
		rc = iterations_count_launches(w);
	if (!rc && iterations_hold(w) && iterations_launches(p) > iterations_launches(&had)) {
		free(had.iterations);
		ct_pattern_free(pattern);
		*pattern = part;
		return 0;
	}
	free(p->iterations);
	*p = had;
	ct_pattern_free(&part);
	return rc;
}

static void iterations_none(struct ct_phase_work *w, uint32_t most)
{
	struct ct_process_phases *p = w->process;
	uint32_t n = w->launches_count;

	p->source = CT_ITER_NONE;
	p->asks = false;
	p->iterations_count = 0;
	p->iterations_dropped = 0;
	if (!p->calls)
		snprintf(p->why_none, sizeof(p->why_none), "it did not call libcuda");
	else if (!n)
		snprintf(p->why_none, sizeof(p->why_none), "no launch");
	else if (n < 4 || most < 4)
		snprintf(p->why_none, sizeof(p->why_none),
			 "%u launch%s, no sequence came again 4 times", n, n == 1 ? "" : "es");
	else
		snprintf(p->why_none, sizeof(p->why_none),
			 "%u launches%s, but no sequence that comes again explains 80 %% of them",
			 n, w->partial ? " were looked at" : "");
}

void ct_iterations_drop(struct ct_phase_work *w, unsigned int lost)
{
	struct ct_process_phases *p = w->process;

	snprintf(p->why_none, sizeof(p->why_none), "%u iterations were found (%.60s), but %u %% of the launches "
		 "are not in them", p->iterations_count, p->what, lost);
	p->what[0] = 0;
	p->asks = false;
	p->source = CT_ITER_NONE;
	p->iterations_count = 0;
	p->iterations_dropped = 0;
}

static const char *iterations_text(const struct ct_phase_work *w, uint32_t hash)
{
	const struct ct_phase_text *text = ct_keyed_get(&w->records->texts, hash);

	return text && text->text ? text->text : "?";
}

int ct_iterations_find(struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;
	struct ct_pattern pattern = { 0 };
	struct ct_repeat repeat = { 0 };
	const struct ct_thread_events *slice = NULL;
	uint32_t most = 0;
	int rc;

	rc = iterations_by_pattern(w, &pattern, &slice, &most);
	if (!rc)
		rc = ct_repeat_find(&repeat, w);
	if (!rc && repeat.found &&
	    (!pattern.found || repeat.launches >= ITERATIONS_RANGES * pattern.score *
	     ct_work_launches(w, pattern.from, pattern.to))) {
		p->tid = repeat.slice->thread->tid;
		p->source = repeat.kind == CT_PHASE_PUSH ? CT_ITER_RANGES : CT_ITER_MARKS;
		rc = ct_repeat_cut(&repeat, w);
		snprintf(p->what, sizeof(p->what), "%s '%s'",
			 repeat.kind == CT_PHASE_PUSH ? "range" : "mark",
			 iterations_text(w, repeat.text));
	} else if (!rc && pattern.found) {
		p->tid = slice->thread->tid;
		p->source = CT_ITER_PATTERN;
		rc = ct_pattern_cut(&pattern, slice, w);
	}
	if (!rc && p->iterations_count)
		rc = iterations_count_launches(w);
	if (!rc && (p->source == CT_ITER_PATTERN || p->source == CT_ITER_NONE))
		rc = iterations_by_parts(w, &pattern);
	if (!rc && p->iterations_count && p->source == CT_ITER_PATTERN)
		rc = iterations_what(w, &pattern);
	if (!rc && p->iterations_count < 3)
		iterations_none(w, most);
	ct_pattern_free(&pattern);
	return rc;
}
