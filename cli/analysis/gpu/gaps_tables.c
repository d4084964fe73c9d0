// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gaps_tables.h. */
#include "analysis/gpu/gaps_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/gpu/busy.h"
#include "analysis/gpu/coverage.h"
#include "analysis/gpu/idle_causes.h"
#include "view/term.h"

enum { S_CAUSE, S_COUNT, S_TOTAL, S_SHARE, S_MAX, S_COLUMNS };

static const struct ct_column sum_columns[S_COLUMNS] = {
	[S_CAUSE] = { "Cause", "what the launching thread did", CT_CELL_TEXT, 0 },
	[S_COUNT] = { "Gaps", "gaps", CT_CELL_COUNT, 0 },
	[S_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[S_SHARE] = { "Time (%)", "of idle", CT_CELL_PERCENT, 0 },
	[S_MAX] = { "Max (ns)", "max", CT_CELL_NS, 0 },
};

enum { PAIR_PID, PAIR_DEVICE, PAIR_COUNT, PAIR_TOTAL, PAIR_SHARE, PAIR_MEDIAN, PAIR_MAX, PAIR_PREVIOUS, PAIR_NEXT, PAIR_COLUMNS };

/* Process and GPU stay where there are several: @rank is 0. */
#define PAIR_COLUMNS(rank) {							\
	[PAIR_PID] = { "Pid", "pid", CT_CELL_ID, rank },				\
	[PAIR_DEVICE] = { "Device", "GPU", CT_CELL_ID, rank },			\
	[PAIR_COUNT] = { "Gaps", "gaps", CT_CELL_COUNT, 0 },			\
	[PAIR_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },		\
	[PAIR_SHARE] = { "Time (%)", "of idle", CT_CELL_PERCENT, 1 },		\
	[PAIR_MEDIAN] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 0 },		\
	[PAIR_MAX] = { "Max (ns)", "max", CT_CELL_NS, 2 },				\
	[PAIR_PREVIOUS] = { "Previous", "previous", CT_CELL_KERNEL, 0 },		\
	[PAIR_NEXT] = { "Next", "next", CT_CELL_KERNEL, 0 },			\
}

static const struct ct_column pair_columns[2][PAIR_COLUMNS] = { PAIR_COLUMNS(9), PAIR_COLUMNS(0) };

enum { START, DURATION, MOST, PID, TID, DEVICE, CAUSES, PREVIOUS = CAUSES + CT_IDLE_CAUSE_COUNT, NEXT, CORRELATION, COLUMNS };

#define ROW(id, words, column, head, priority)	[CAUSES + CT_IDLE_##id] = { column, head, CT_CELL_NS, priority },
#define GAP_COLUMNS(rank) {							\
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },			\
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },		\
	[MOST] = { "Cause", "main cause", CT_CELL_TEXT, 0 },			\
	[PID] = { "Pid", "pid", CT_CELL_ID, rank },				\
	[TID] = { "Tid", "tid", CT_CELL_ID, 7 },				\
	[DEVICE] = { "Device", "GPU", CT_CELL_ID, rank },			\
	CT_IDLE_CAUSES(ROW)							\
	[PREVIOUS] = { "Previous", "previous", CT_CELL_KERNEL, 1 },		\
	[NEXT] = { "Next", "next", CT_CELL_KERNEL, 0 },				\
	[CORRELATION] = { "CorrId", "op id", CT_CELL_ID, 4 },			\
}

static const struct ct_column columns[2][COLUMNS] = { GAP_COLUMNS(6), GAP_COLUMNS(0) };
#undef ROW

enum { I_PID, I_DEVICE, I_STAGE, I_DURATION, I_BUSY, I_IDLE, I_SHARE, I_GAPS, I_WAITING, I_COLUMNS };

/* The last one only where a GPU waited for other ranks: then it is neither busy nor idle. */
static const struct ct_column idle_columns[I_COLUMNS] = {
	[I_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[I_DEVICE] = { "Device", "GPU", CT_CELL_ID, 0 },
	[I_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[I_DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[I_BUSY] = { "Busy (ns)", "busy", CT_CELL_NS, 0 },
	[I_IDLE] = { "Device Idle (ns)", "idle", CT_CELL_NS, 0 },
	[I_WAITING] = { "Waiting for Ranks (ns)", "waiting", CT_CELL_NS, 0 },
	[I_SHARE] = { "Device Idle (%)", "of it", CT_CELL_PERCENT, 0 },
	[I_GAPS] = { "Gaps", "gaps", CT_CELL_COUNT, 0 },
};

static void gaps_causes(struct ct_analysis *a, const struct ct_gpu_idle *idle)
{
	struct ct_table *t = ct_analysis_table(a, "gaps_sum", "Why the GPU was idle between its work", sum_columns,
					       S_COLUMNS);
	struct ct_idle_sum sums[CT_IDLE_CAUSE_COUNT] = { 0 };
	bool said[CT_IDLE_CAUSE_COUNT] = { 0 };
	char gaps[CT_TERM_TEXT], ns[CT_TERM_TEXT];
	uint64_t total = 0;

	for (unsigned int i = 0; i < idle->devices_count; i++)
		for (unsigned int k = 0; k < (CT_STAGE_COUNT + 1) * CT_IDLE_CAUSE_COUNT; k++) {
			const struct ct_idle_sum *from = &idle->devices[i]->causes[k / CT_IDLE_CAUSE_COUNT]
									  [k % CT_IDLE_CAUSE_COUNT];
			struct ct_idle_sum *to = &sums[k % CT_IDLE_CAUSE_COUNT];

			to->gaps += from->gaps;
			to->total += from->total;
			to->longest = from->longest > to->longest ? from->longest : to->longest;
			total += from->total;
		}
	for (;;) {
		int most = -1;
		struct ct_cell *row;

		for (int i = 0; i < CT_IDLE_CAUSE_COUNT; i++)
			if (!said[i] && sums[i].gaps && (most < 0 || sums[i].total > sums[most].total))
				most = i;
		if (most < 0)
			break;
		said[most] = true;
		row = ct_table_row(t);
		row[S_CAUSE] = ct_const(ct_idle_cause_word[most]);
		row[S_COUNT] = ct_u64(sums[most].gaps);
		row[S_TOTAL] = ct_u64(sums[most].total);
		row[S_SHARE] = ct_double(total ? 100.0 * sums[most].total / total : 0);
		row[S_MAX] = ct_u64(sums[most].longest);
	}
	ct_table_note(t, "A gap is from the end of all work of a GPU to the begin of the next: %s in all, %s.",
		      ct_term_count(gaps, idle->gaps), ct_term_ns(ns, total));
	ct_table_note(t, "Its parts are what the thread did that submitted the next work.");
	ct_table_note(t, "Start latency is from the end of its call to the begin on the GPU.");
	if (idle->threads_left_out)
		ct_table_note(t, "There are very many threads: what those after the first 16,384 did is not known.");
	ct_gpu_coverage_notes(a, t, true);
}

static struct ct_cell gaps_work(const struct ct_analysis *a, struct ct_table *t, const struct ct_gpu_work_name *work)
{
	char buf[40];

	return ct_text(t, ct_gap_work(work, a->names, buf, sizeof(buf)));
}

/* What most of a gap went to. */
static const char *gaps_most(const struct ct_gpu_gap *g)
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < CT_IDLE_CAUSE_COUNT; i++)
		most = g->parts[i] > g->parts[most] ? i : most;
	return ct_idle_cause_word[most];
}

/* Gaps of several GPUs, or of several processes. */
static bool gaps_devices(const struct ct_gpu_idle *idle)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < idle->devices_count; i++)
		n += idle->devices[i]->pairs.count > 0;
	return n > 1;
}

struct gaps_of_pair {
	struct ct_gap_pair *pair;	/* the first, for ct_gap_pair_order() */
	const struct ct_gpu_idle_device *device;
};

static int gaps_pair_rows(struct ct_analysis *a, const struct ct_gpu_idle *idle)
{
	struct ct_table *t = ct_analysis_table(a, "gaps_pairs", "Gaps by what the GPU did before and after them",
					       pair_columns[gaps_devices(idle)], PAIR_COLUMNS);
	struct gaps_of_pair *list;
	uint64_t total = 0;
	size_t count = 0;

	for (unsigned int i = 0; i < idle->devices_count; i++)
		count += idle->devices[i]->pairs.count;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	count = 0;
	for (unsigned int i = 0; i < idle->devices_count; i++)
		for (size_t k = 0; k < idle->devices[i]->pairs.count; k++) {
			list[count].pair = &idle->devices[i]->pairs.list[k];
			list[count].device = idle->devices[i];
			total += list[count++].pair->total;
		}
	qsort(list, count, sizeof(*list), ct_gap_pair_order);
	for (size_t i = 0; i < count; i++) {
		struct ct_gap_pair *pair = list[i].pair;
		struct ct_cell *row = ct_table_row(t);

		row[PAIR_PID] = ct_u64(list[i].device->pid);
		row[PAIR_DEVICE] = ct_u64(list[i].device->gpu);
		row[PAIR_COUNT] = ct_u64(pair->count);
		row[PAIR_TOTAL] = ct_u64(pair->total);
		row[PAIR_SHARE] = ct_double(total ? 100.0 * pair->total / total : 0);
		row[PAIR_MEDIAN] = ct_double(ct_gap_pair_median(pair));
		row[PAIR_MAX] = ct_u64(pair->longest);
		row[PAIR_PREVIOUS] = gaps_work(a, t, &pair->previous);
		row[PAIR_NEXT] = gaps_work(a, t, &pair->next);
	}
	free(list);
	return 0;
}

static void gaps_longest(struct ct_analysis *a, const struct ct_gpu_idle *idle)
{
	struct ct_table *t = ct_analysis_table(a, "gaps", "The longest times in which the GPU was idle",
					       columns[gaps_devices(idle)], COLUMNS);
	char gaps[CT_TERM_TEXT];

	for (unsigned int i = 0; i < idle->longest_count; i++) {
		const struct ct_gpu_gap *g = &idle->longest[i];
		struct ct_cell *row = ct_table_row(t);

		row[START] = ct_moment(a, g->start);
		row[DURATION] = ct_u64(g->duration);
		row[PID] = ct_u64(g->pid);
		if (g->tid)
			row[TID] = ct_u64(g->tid);
		row[DEVICE] = ct_u64(g->gpu);
		for (unsigned int k = 0; k < CT_IDLE_CAUSE_COUNT; k++)
			if (k != CT_IDLE_OFF || a->trace->has_kernel)
				row[CAUSES + k] = ct_u64(g->parts[k]);
		row[PREVIOUS] = gaps_work(a, t, &g->previous);
		row[NEXT] = gaps_work(a, t, &g->next);
		row[MOST] = ct_const(gaps_most(g));
		if (g->op_id)
			row[CORRELATION] = ct_u64(g->op_id);
	}
	if (idle->gaps > idle->longest_count)
		ct_table_note(t, "There are %s; these are the %u longest, all that are kept. gaps_pairs counts all.",
			      ct_term_count(gaps, idle->gaps), idle->longest_count);
}

static bool gaps_waited(const struct ct_gpu_busy *busy)
{
	for (unsigned int i = 0; i < busy->processes_count; i++)
		if (busy->processes[i].any.all.waiting)
			return true;
	return false;
}

static void gaps_stages(struct ct_analysis *a, const struct ct_gpu_idle *idle)
{
	const struct ct_gpu_coverage *coverage = ct_analysis_state(a, &ct_gpu_coverage_analyser);
	const struct ct_gpu_busy *busy = ct_analysis_state(a, &ct_gpu_busy_analyser);
	bool waited = gaps_waited(busy);
	struct ct_table *t = ct_analysis_table(a, "gaps_idle", "Idle time of each GPU by stage", idle_columns,
					       waited ? I_COLUMNS : I_WAITING);

	for (unsigned int i = 0; i < busy->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];

		for (unsigned int d = 0; d < busy->processes[i].count; d++) {
			const struct ct_gpu_busy_device *device = &busy->processes[i].devices[d];
			const struct ct_gpu_idle_device *gaps = NULL;

			for (unsigned int k = 0; k < idle->devices_count; k++)
				if (idle->devices[k]->pid == p->pid && idle->devices[k]->gpu == device->gpu)
					gaps = idle->devices[k];
			for (unsigned int k = 0; k < p->stages_count; k++) {
				const struct ct_stage_span *span = &p->stages[k];
				uint64_t begin = span->begin, end = span->end, ns = device->chosen[span->stage];
				uint64_t wall = ct_filter_clip(a->filter, &begin, &end);
				uint64_t waiting = device->chosen_waiting[span->stage], used = ns + waiting;
				struct ct_cell *row;

				if (!wall || (a->filter->pid && a->filter->pid != p->pid) ||
				    !ct_filter_main(a->filter, span->stage))
					continue;
				row = ct_table_row(t);
				row[I_PID] = ct_u64(p->pid);
				row[I_DEVICE] = ct_u64(device->gpu);
				row[I_STAGE] = ct_const(ct_stage_word[span->stage]);
				row[I_DURATION] = ct_u64(wall);
				/* Time without records is no idle time. */
				if (!ct_gpu_covers(coverage, p->pid, begin, end))
					continue;
				row[I_BUSY] = ct_u64(ns);
				row[I_IDLE] = ct_u64(wall > used ? wall - used : 0);
				row[I_SHARE] = ct_double(wall > used ? 100.0 * (wall - used) / wall : 0);
				row[I_GAPS] = ct_u64(gaps ? gaps->gaps[span->stage] : 0);
				if (waited)
					row[I_WAITING] = ct_u64(waiting);
			}
		}
	}
	ct_table_note(t, "Busy counts work of several streams at the same time once.");
	if (waited)
		ct_table_note(t, "A GPU that only waits for other ranks in a collective is neither busy nor idle.");
	ct_gpu_coverage_notes(a, t, false);
}

int ct_gpu_gaps_tables(struct ct_analysis *a)
{
	const struct ct_gpu_idle *idle = ct_analysis_state(a, &ct_gpu_idle_analyser);

	int rc;

	gaps_causes(a, idle);
	rc = gaps_pair_rows(a, idle);
	gaps_longest(a, idle);
	gaps_stages(a, idle);
	return rc;
}
