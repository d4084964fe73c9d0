// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report sync: how long the host waited in synchronisations, and how long it took after
 * each until the process submitted something again.  Memory is bounded by functions, handles
 * and processes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "group/histogram.h"

enum {
	TIME, TOTAL, CALLS, AVG, MED, MAX, PER_ITERATION, STEADY, STEADY_SHARE, AFTER, AFTER_AVG, HANDLES,
	NAME, COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
	[TIME] = { "Time (%)", "time", CT_CELL_PERCENT, 4 },
	[TOTAL] = { "Total Time (ns)", "waited", CT_CELL_NS, 0 },
	[CALLS] = { "Num Calls", "calls", CT_CELL_COUNT, 0 },
	[AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 5 },
	[MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 1 },
	[MAX] = { "Max (ns)", "max", CT_CELL_NS, 1 },
	[PER_ITERATION] = { "Per Iteration", "/iteration", CT_CELL_NUMBER, 0 },
	[STEADY] = { "Steady State (ns)", "in steady", CT_CELL_NS, 3 },
	[STEADY_SHARE] = { "Steady State (%)", "of steady", CT_CELL_PERCENT, 0 },
	[AFTER] = { "Until Next Submission (ns)", "until next", CT_CELL_NS, 3 },
	[AFTER_AVG] = { "Until Next Submission Avg (ns)", "avg to next", CT_CELL_NS_MEAN, 0 },
	[HANDLES] = { "Handles", "handles", CT_CELL_COUNT, 6 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
};

struct sync_stat {
	uint64_t id;			/* of its class */
	const struct ct_class *class;
	struct ct_histogram durations;
	uint64_t count, in_iterations, in_steady, after, afters;
	CT_KEYED(uint64_t) handles;
};

struct sync_pending {
	uint32_t stat;			/* index + 1 of the last synchronisation's, 0: none */
	uint64_t end;
};

struct sync_state {
	CT_KEYED(struct sync_stat);
	struct sync_pending *pending;		/* as the phases have the processes */
};

static struct sync_stat *sync_stat(struct sync_state *s, const struct ct_class *class)
{
	struct sync_stat *stat = ct_keyed_put(s, class->id);

	if (stat)
		stat->class = class;
	return stat;
}

/* The iterations that begin in the time that counts. */
static uint64_t sync_iterations(const struct ct_process_phases *p, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->iterations_count; i++)
		n += p->iterations[i].begin >= from && p->iterations[i].begin < to;
	return n;
}

/* The part of a call that lies in the steady state of its process. */
static uint64_t sync_steady(const struct ct_process_phases *p, uint64_t begin, uint64_t end)
{
	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *span = &p->stages[i];

		if (!ct_stage_is_main(span->stage))
			continue;
		begin = begin > span->begin ? begin : span->begin;
		end = end < span->end ? end : span->end;
		return end > begin ? end - begin : 0;
	}
	return 0;
}

static bool sync_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_WAIT | CT_IS_WORK);
}

static int sync_returned(const struct ct_analysis *a, const struct ct_trace_event *e,
			 const struct ct_process_phases *p, struct sync_pending *pending)
{
	uint64_t end = a->filter->to && a->filter->to < e->end ? a->filter->to : e->end;
	struct sync_state *s = a->state;
	struct sync_stat *stat = sync_stat(s, e->class);

	if (!stat)
		return -ENOMEM;
	stat->count++;
	if (e->record->fields && ct_record_has(e->record, CT_KNOWN_HANDLE) &&
	    !ct_keyed_put(&stat->handles, ct_record_known(e->record, CT_KNOWN_HANDLE)))
		return -ENOMEM;
	if (p) {
		stat->in_iterations += ct_phases_iteration(p, e->begin) >= 0;
		if (e->timed)
			stat->in_steady += sync_steady(p, e->begin, end);
		*pending = (struct sync_pending){ stat - s->list + 1, e->end };
	}
	return e->timed ? ct_histogram_add(&stat->durations, e->duration) : 0;
}

static int sync_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct sync_state *s = a->state;
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);
	struct sync_pending *pending = p ? &s->pending[p - a->phases->processes] : NULL;

	if (ct_class_is(e->class, CT_IS_WAIT))
		return e->kind == CT_ON_BEGIN ? 0 : sync_returned(a, e, p, pending);
	if (!pending || !pending->stat || e->kind == CT_ON_END || e->begin < pending->end)
		return 0;
	s->list[pending->stat - 1].after += e->begin - pending->end;
	s->list[pending->stat - 1].afters++;
	pending->stat = 0;
	return 0;
}

static int sync_begin(struct ct_analysis *a)
{
	struct sync_state *s = a->state;

	s->pending = calloc(a->phases->processes_count + 1ul, sizeof(*s->pending));
	return s->pending ? 0 : -ENOMEM;
}

static int sync_order(const void *a, const void *b)
{
	const struct sync_stat *x = a, *y = b;

	if (x->durations.total != y->durations.total)
		return x->durations.total > y->durations.total ? -1 : 1;
	return x->class->id - y->class->id;
}

static void sync_row(struct ct_table *t, struct sync_stat *s, uint64_t total, uint64_t iterations,
		     uint64_t steady)
{
	struct ct_cell *row = ct_table_row(t);
	struct ct_histogram *h = &s->durations;

	row[NAME] = ct_const(s->class->name);
	row[CALLS] = ct_u64(s->count);
	row[HANDLES] = ct_u64(s->handles.count);
	if (iterations)
		row[PER_ITERATION] = ct_double((double)s->in_iterations / iterations);
	row[STEADY] = ct_u64(s->in_steady);
	if (steady)
		row[STEADY_SHARE] = ct_double(100.0 * s->in_steady / steady);
	if (s->afters) {
		row[AFTER] = ct_u64(s->after);
		row[AFTER_AVG] = ct_double((double)s->after / s->afters);
	}
	if (!h->count)
		return;
	row[TIME] = ct_double(total ? 100.0 * h->total / total : 0);
	row[TOTAL] = ct_u64(h->total);
	row[AVG] = ct_double(h->mean);
	row[MED] = ct_double(ct_histogram_median(h));
	row[MAX] = ct_u64(h->max);
}

static int sync_end(struct ct_analysis *a)
{
	struct sync_state *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "sync", "Synchronisations: how long the host waited",
					       columns, COLUMNS);
	uint64_t total = 0, iterations = 0, steady = 0;

	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];

		const struct ct_stage_span *own = a->filter->steady ? ct_phases_steady(p) : NULL;
		uint64_t from = own ? own->begin : a->filter->from;
		uint64_t to = own ? own->end : a->filter->to ? a->filter->to : UINT64_MAX;

		if ((a->filter->pid && a->filter->pid != p->pid) || (a->filter->steady && !own))
			continue;
		iterations += sync_iterations(p, from, to);
		steady += sync_steady(p, from, to);
	}
	ct_keyed_sort(s, sync_order);
	for (unsigned int i = 0; i < s->count; i++)
		total += s->list[i].durations.total;
	for (unsigned int i = 0; i < s->count; i++)
		sync_row(t, &s->list[i], total, iterations, steady);
	if (!s->count)
		ct_table_note(t, "No synchronisation was recorded.");
	else
		ct_table_note(t, "of steady: of the steady state (where there is no pattern: of the execution) of all processes.");
	if (s->count)
		ct_table_note(t, "avg to next: from the end of it until the process launches or copies something, where no other synchronisation comes before.");
	return 0;
}

static void sync_free(struct ct_analysis *a)
{
	struct sync_state *s = a->state;

	for (unsigned int i = 0; i < s->count; i++) {
		ct_histogram_free(&s->list[i].durations);
		ct_keyed_free(&s->list[i].handles);
	}
	ct_keyed_free(s);
	free(s->pending);
}

const struct ct_analyser ct_report_sync = {
	.name = "sync",
	.steady = true,
	.summary = "synchronisations by function: waiting, per iteration, and the time until the next launch",
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.wants = sync_wants,
	.phases = true,
	.single = true,
	.state_size = sizeof(struct sync_state),
	.begin = sync_begin,
	.event = sync_event,
	.end = sync_end,
	.free = sync_free,
};
