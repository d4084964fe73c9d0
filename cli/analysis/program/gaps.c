// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report gaps: the times in which a process had no submission under way, from the end of
 * one to the begin of the next, and what the thread that made the next one did meanwhile; where
 * several threads launch, what the process did (analysis/threads/launching.h).
 * Memory is bounded: the longest GAPS_KEPT are kept, all are counted.  Where there are records of
 * the GPU, its own idle times are reported instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/largest.h"
#include "spans/work.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/gap_pairs.h"
#include "analysis/gpu/busy.h"
#include "analysis/gpu/coverage.h"
#include "analysis/gpu/gaps_tables.h"
#include "analysis/gpu/idle_causes.h"
#include "analysis/threads/launching.h"

#define GAPS_KEPT	16384

enum gap_part { G_APP, G_SYNC, G_MEMORY, G_MODULE, G_DRIVER, G_OFF, G_OTHER, G_COUNT };

static const char *const gap_word[G_COUNT] = {
	"application", "synchronisation", "memory", "module loading", "kernel driver", "off the CPU",
	"other calls",
};

enum {
	START, DURATION, PID, TID, APP, SYNC, MEMORY, MODULE, DRIVER, OFF, OTHER, IDLE, PREVIOUS, NEXT,
	COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 5 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 6 },
	[APP] = { "Application (ns)", "app", CT_CELL_NS, 0 },
	[SYNC] = { "Sync (ns)", "sync", CT_CELL_NS, 1 },
	[MEMORY] = { "Memory (ns)", "memory", CT_CELL_NS, 3 },
	[MODULE] = { "Module (ns)", "module", CT_CELL_NS, 2 },
	[DRIVER] = { "Driver (ns)", "driver", CT_CELL_NS, 2 },
	[OFF] = { "Off CPU (ns)", "off CPU", CT_CELL_NS, 3 },
	[OTHER] = { "Other Calls (ns)", "other", CT_CELL_NS, 4 },
	[IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
	[PREVIOUS] = { "Previous", "previous", CT_CELL_TEXT, 1 },
	[NEXT] = { "Next", "next", CT_CELL_TEXT, 1 },
};

static const unsigned int part_column[G_COUNT] = { APP, SYNC, MEMORY, MODULE, DRIVER, OFF, OTHER };

enum { S_MAIN, S_COUNT, S_TOTAL, S_SHARE, S_MAX, S_IDLE, S_COLUMNS };

static const struct ct_column sum_columns[S_COLUMNS] = {
	[S_MAIN] = { "Most Of It", "main cause", CT_CELL_TEXT, 0 },
	[S_COUNT] = { "Gaps", "gaps", CT_CELL_COUNT, 0 },
	[S_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[S_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[S_MAX] = { "Max (ns)", "max", CT_CELL_NS, 0 },
	[S_IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 0 },
};

enum { PAIR_PID, PAIR_COUNT, PAIR_TOTAL, PAIR_SHARE, PAIR_MEDIAN, PAIR_MAX, PAIR_PREVIOUS, PAIR_NEXT, PAIR_COLUMNS };

static const struct ct_column pair_columns[PAIR_COLUMNS] = {
	[PAIR_PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[PAIR_COUNT] = { "Gaps", "gaps", CT_CELL_COUNT, 0 },
	[PAIR_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[PAIR_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[PAIR_MEDIAN] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 0 },
	[PAIR_MAX] = { "Max (ns)", "max", CT_CELL_NS, 2 },
	[PAIR_PREVIOUS] = { "Previous", "previous", CT_CELL_TEXT, 0 },
	[PAIR_NEXT] = { "Next", "next", CT_CELL_TEXT, 0 },
};

enum { I_PID, I_STAGE, I_DURATION, I_IDLE, I_SHARE, I_COLUMNS };

static const struct ct_column idle_columns[I_COLUMNS] = {
	[I_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[I_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[I_DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[I_IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 0 },
	[I_SHARE] = { "Device Idle (%)", "of it", CT_CELL_PERCENT, 0 },
};

struct gap {
	uint64_t start, duration, idle;
	uint64_t parts[G_COUNT];
	uint32_t pid, tid;
	const struct ct_class *previous, *next;
};

/* What a thread did since the gap of its process began. */
struct gap_thread {
	uint64_t last;			/* ns: until then it is charged */
	uint64_t number;		/* of the gap that parts are of */
	uint64_t parts[G_COUNT];
	uint8_t  part;			/* what it does since last */
};

struct gap_process {
	uint32_t open;			/* submissions under way */
	uint64_t number;		/* of the gap, from 1; 0: nothing was submitted yet */
	uint64_t start;			/* ns, of the gap */
	uint64_t idle;			/* ns of the device, until the gap */
	const struct ct_class *previous;
	struct ct_gap_pairs pairs;
};

struct gap_sum {
	uint64_t count, total, max, idle;
};

struct gaps_state {
	const struct ct_launching *launching;
	struct gap_thread *threads;	/* by the tracks' index */
	unsigned int threads_count;
	struct gap_process *processes;	/* as the phases have them */
	struct gap *longest;		/* GAPS_KEPT */
	unsigned int longest_count;
	struct gap_sum sums[G_COUNT];
	bool measured;			/* by records of the GPU, in other tables */
};

static unsigned int gaps_part(unsigned int account)
{
	switch (account) {
	case CT_ACCOUNT_APP: case CT_ACCOUNT_ABSENT:
		return G_APP;
	case CT_ACCOUNT_WAIT:
		return G_SYNC;
	case CT_ACCOUNT_OFF_CPU:
		return G_OFF;
	case CT_ACCOUNT_DRIVER:
		return G_DRIVER;
	case CT_ACCOUNT_CALLS + CT_CAT_MEMORY:
		return G_MEMORY;
	case CT_ACCOUNT_CALLS + CT_CAT_MODULE:
		return G_MODULE;
	}
	return G_OTHER;
}

static struct gap_thread *gaps_thread(struct gaps_state *s, unsigned int index)
{
	return ct_room_at(s->threads, index, s->threads_count) ? &s->threads[index] : NULL;
}

/* Charges a thread until @now with what it did since the gap began. */
static void gaps_charge(struct gap_thread *t, const struct gap_process *p, uint64_t now)
{
	if (t->number != p->number) {
		memset(t->parts, 0, sizeof(t->parts));
		t->number = p->number;
		if (t->last < p->start)
			t->last = p->start;
	}
	if (now > t->last) {
		t->parts[t->part] += now - t->last;
		t->last = now;
	}
}

/* Where several threads launch, an event of one may change what the process does for each. */
static int gaps_several(struct gaps_state *s, const struct ct_track *track, const struct gap_process *p, uint64_t now)
{
	const struct ct_launching_process *lp = ct_launching_several(s->launching, track);
	uint8_t would[CT_LAUNCHING_COMPARED];

	if (lp)
		ct_launching_would(lp, would);
	for (unsigned int i = 0; lp && i < lp->count; i++) {
		struct gap_thread *t;

		if (!lp->threads[i].track)
			continue;
		t = gaps_thread(s, lp->threads[i].track->index);
		if (!t)
			return -ENOMEM;
		gaps_charge(t, p, now);
		t->part = gaps_part(would[i]);
	}
	return 0;
}

/* The longest first. */
static int gaps_order(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	if (x->duration != y->duration)
		return x->duration > y->duration ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* ------------------------------------------------------------------- events --- */

static int gaps_close(struct gaps_state *s, struct gap_process *p, const struct gap_thread *t,
		       const struct ct_trace_event *e, uint64_t idle)
{
	struct gap g = {
		.start = p->start, .duration = e->begin - p->start, .pid = e->track->pid,
		.tid = e->track->tid, .previous = p->previous, .next = e->class,
		.idle = idle - p->idle,
	};
	unsigned int most = 0;
	struct gap_sum *sum;

	memcpy(g.parts, t->parts, sizeof(g.parts));
	if (g.idle > g.duration)
		g.idle = g.duration;
	for (unsigned int i = 1; i < G_COUNT; i++)
		most = g.parts[i] > g.parts[most] ? i : most;
	sum = &s->sums[most];
	sum->count++;
	sum->total += g.duration;
	sum->idle += g.idle;
	sum->max = g.duration > sum->max ? g.duration : sum->max;
	ct_largest_keep(s->longest, &s->longest_count, GAPS_KEPT, sizeof(g), &g, gaps_order);
	return ct_gap_pairs_add(&p->pairs, &(struct ct_gpu_work_name){ .class = g.previous },
				&(struct ct_gpu_work_name){ .class = g.next }, g.duration);
}

static int gaps_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct gaps_state *s = a->state;
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	const struct ct_process_phases *phases = ct_phases_process(a->phases, e->track->pid, now);
	struct gap_process *p;
	struct gap_thread *t;
	uint64_t idled;
	bool submits = ct_class_is(e->class, CT_IS_WORK);

	if (s->measured)
		return 0;
	if (!phases || !e->track->tid || !phases->stages_count)
		return 0;
	p = &s->processes[phases - a->phases->processes];
	idled = idle->processes[phases - a->phases->processes].total;
	t = gaps_thread(s, e->track->index);
	if (!t)
		return -ENOMEM;
	if (e->kind != CT_ON_UNRETURNED) {
		gaps_charge(t, p, now);
		if (submits && e->kind != CT_ON_END && !p->open && p->number && now > p->start &&
		    gaps_close(s, p, t, e, idled))
			return -ENOMEM;
		t->part = gaps_part(ct_launching_account(s->launching, e->track));
		if (gaps_several(s, e->track, p, now))
			return -ENOMEM;
		t = &s->threads[e->track->index];
	}
	if (!submits)
		return 0;
	if (e->kind == CT_ON_BEGIN) {
		p->open++;
		return 0;
	}
	p->open -= e->kind != CT_ON_INSTANT && p->open;
	if (p->open || e->kind == CT_ON_UNRETURNED)
		return 0;
	p->number++;
	p->start = now;
	p->previous = e->class;
	p->idle = idled;
	return 0;
}

/* -------------------------------------------------------------- begin, end --- */

static int gaps_begin(struct ct_analysis *a)
{
	struct gaps_state *s = a->state;

	s->launching = ct_analysis_state(a, &ct_launching_analyser);
	s->measured = ct_gpu_measured(a->trace, a->filter->layer);
	s->processes = calloc(a->phases->processes_count + 1ul, sizeof(*s->processes));
	s->longest = calloc(GAPS_KEPT, sizeof(*s->longest));
	return s->processes && s->longest ? 0 : -ENOMEM;
}

static void gaps_sums(struct ct_table *t, const struct gaps_state *s, uint64_t total)
{
	bool said[G_COUNT] = { 0 };

	for (unsigned int k = 0; k < G_COUNT; k++) {
		unsigned int most = G_COUNT;
		struct ct_cell *row;

		for (unsigned int i = 0; i < G_COUNT; i++)
			if (!said[i] && s->sums[i].count &&
			    (most == G_COUNT || s->sums[i].total > s->sums[most].total))
				most = i;
		if (most == G_COUNT)
			break;
		said[most] = true;
		row = ct_table_row(t);
		row[S_MAIN] = ct_const(gap_word[most]);
		row[S_COUNT] = ct_u64(s->sums[most].count);
		row[S_TOTAL] = ct_u64(s->sums[most].total);
		row[S_SHARE] = ct_double(total ? 100.0 * s->sums[most].total / total : 0);
		row[S_MAX] = ct_u64(s->sums[most].max);
		row[S_IDLE] = ct_u64(s->sums[most].idle);
	}
}

struct gaps_of_pair {
	struct ct_gap_pair *pair;	/* the first, for ct_gap_pair_order() */
	uint32_t pid;
};

static int gaps_pairs(struct ct_analysis *a, struct gaps_state *s, uint64_t total)
{
	struct ct_table *t = ct_analysis_table(a, "gaps_pairs", "Times without a submission by the calls before and after them",
					       pair_columns, PAIR_COLUMNS);
	struct gaps_of_pair *list;
	size_t count = 0;

	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		count += s->processes[i].pairs.count;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	count = 0;
	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		for (size_t k = 0; k < s->processes[i].pairs.count; k++)
			list[count++] = (struct gaps_of_pair){ &s->processes[i].pairs.list[k], a->phases->processes[i].pid };
	qsort(list, count, sizeof(*list), ct_gap_pair_order);
	for (size_t i = 0; i < count; i++) {
		struct ct_gap_pair *pair = list[i].pair;
		struct ct_cell *row = ct_table_row(t);

		row[PAIR_PID] = ct_u64(list[i].pid);
		row[PAIR_COUNT] = ct_u64(pair->count);
		row[PAIR_TOTAL] = ct_u64(pair->total);
		row[PAIR_SHARE] = ct_double(total ? 100.0 * pair->total / total : 0);
		row[PAIR_MEDIAN] = ct_double(ct_gap_pair_median(pair));
		row[PAIR_MAX] = ct_u64(pair->longest);
		row[PAIR_PREVIOUS] = ct_const(ct_gap_work(&pair->previous, a->names, NULL, 0));
		row[PAIR_NEXT] = ct_const(ct_gap_work(&pair->next, a->names, NULL, 0));
	}
	free(list);
	return 0;
}

/* Where the GPU had nothing to do. */
static void gaps_idle(struct ct_analysis *a, struct ct_table *t)
{
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);

	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];

		if (a->filter->pid && a->filter->pid != p->pid)
			continue;
		for (unsigned int k = 0; k < p->stages_count; k++) {
			const struct ct_stage_span *span = &p->stages[k];
			uint64_t ns = idle->processes[i].chosen[span->stage], begin = span->begin, end = span->end;
			uint64_t wall = ct_filter_clip(a->filter, &begin, &end);
			struct ct_cell *row;

			if (!wall || !ct_filter_main(a->filter, span->stage))
				continue;
			row = ct_table_row(t);
			row[I_PID] = ct_u64(p->pid);
			row[I_STAGE] = ct_const(ct_stage_word[span->stage]);
			row[I_DURATION] = ct_u64(wall);
			row[I_IDLE] = ct_u64(ns);
			row[I_SHARE] = ct_double(100.0 * ns / wall);
		}
	}
	ct_table_note(t, "GPU idle is %s.", ct_idle_meaning(idle));
}

static int gaps_end(struct ct_analysis *a)
{
	struct gaps_state *s = a->state;
	struct ct_table *sum, *t;
	uint64_t total = 0, count = 0;

	if (s->measured) {
		return ct_gpu_gaps_tables(a);
	}
	sum = ct_analysis_table(a, "gaps_sum", "Times without a submission, by what most of each was", sum_columns,
				S_COLUMNS);
	for (unsigned int i = 0; i < G_COUNT; i++) {
		total += s->sums[i].total;
		count += s->sums[i].count;
	}
	gaps_sums(sum, s, total);
	if (gaps_pairs(a, s, total))
		return -ENOMEM;
	t = ct_analysis_table(a, "gaps", "The longest times without a submission, and what the host did then",
			      columns, COLUMNS);
	qsort(s->longest, s->longest_count, sizeof(*s->longest), gaps_order);
	for (unsigned int i = 0; i < s->longest_count; i++) {
		const struct gap *g = &s->longest[i];
		struct ct_cell *row = ct_table_row(t);

		row[START] = ct_moment(a, g->start);
		row[DURATION] = ct_u64(g->duration);
		row[PID] = ct_u64(g->pid);
		row[TID] = ct_u64(g->tid);
		for (unsigned int k = 0; k < G_COUNT; k++)
			if (k != G_OFF || a->trace->has_kernel)
				row[part_column[k]] = ct_u64(g->parts[k]);
		row[IDLE] = ct_u64(g->idle);
		row[PREVIOUS] = ct_const(g->previous->name);
		row[NEXT] = ct_const(g->next->name);
	}
	if (count > s->longest_count)
		ct_table_note(t, "There are %llu; these are the %u longest, all that are kept. gaps_pairs counts all.",
			      (unsigned long long)count, s->longest_count);
	gaps_idle(a, ct_analysis_table(a, "gaps_idle", "Idle time of the GPU by stage", idle_columns, I_COLUMNS));
	return 0;
}

static void gaps_free(struct ct_analysis *a)
{
	struct gaps_state *s = a->state;

	for (unsigned int i = 0; s->processes && i < a->phases->processes_count; i++)
		ct_gap_pairs_free(&s->processes[i].pairs);
	free(s->threads);
	free(s->processes);
	free(s->longest);
}

static const struct ct_analyser *const needs[] = {
	&ct_idle_analyser, &ct_gpu_idle_analyser, &ct_gpu_busy_analyser, &ct_gpu_coverage_analyser,
	&ct_launching_analyser, NULL
};

const struct ct_analyser ct_report_gaps = {
	.name = "gaps",
	.steady = true,
	.summary = "when the GPU was idle and why; without its records: times without a launch or copy",
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.phases = true,
	.samples = true,	/* as in gpu/idle_causes.c */
	.needs = needs,
	.state_size = sizeof(struct gaps_state),
	.begin = gaps_begin,
	.event = gaps_event,
	.end = gaps_end,
	.free = gaps_free,
};
