// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report memory: what each process held, over time, and what it never freed. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/memory/memory.h"
#include "analysis/program/tasks.h"

enum {
	OF_PROCESS_PID, OF_PROCESS_PROCESS, OF_PROCESS_KIND, OF_PROCESS_ALLOCATIONS, OF_PROCESS_FREES,
	OF_PROCESS_BYTES, OF_PROCESS_PEAK, OF_PROCESS_PEAK_AT, OF_PROCESS_HELD, OF_PROCESS_COUNT, OF_PROCESS_COLUMNS
};

static const struct ct_column process_columns[OF_PROCESS_COLUMNS] = {
	[OF_PROCESS_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[OF_PROCESS_PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[OF_PROCESS_KIND] = { "Kind", "kind", CT_CELL_TEXT, 0 },
	[OF_PROCESS_ALLOCATIONS] = { "Allocations", "allocations", CT_CELL_COUNT, 0 },
	[OF_PROCESS_FREES] = { "Frees", "frees", CT_CELL_COUNT, 0 },
	[OF_PROCESS_BYTES] = { "Allocated (bytes)", "allocated", CT_CELL_BYTES, 1 },
	[OF_PROCESS_PEAK] = { "Peak (bytes)", "peak", CT_CELL_BYTES, 0 },
	[OF_PROCESS_PEAK_AT] = { "Peak Time (ns)", "peak at", CT_CELL_TIME, 1 },
	[OF_PROCESS_HELD] = { "Held (bytes)", "held at the end", CT_CELL_BYTES, 0 },
	[OF_PROCESS_COUNT] = { "Held", "blocks held", CT_CELL_COUNT, 3 },
};

enum { T_PID, T_PROCESS, T_TIME, T_PEAK, T_AFTER, T_COLUMNS };

static const struct ct_column time_columns[T_COLUMNS] = {
	[T_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[T_PROCESS] = { "Process", "process", CT_CELL_TEXT, 1 },
	[T_TIME] = { "Time (ns)", "at", CT_CELL_TIME, 0 },
	[T_PEAK] = { "Peak (bytes)", "peak", CT_CELL_BYTES, 0 },
	[T_AFTER] = { "After (bytes)", "held after", CT_CELL_BYTES, 0 },
};

enum { L_PID, L_PROCESS, L_NAME, L_COUNT, L_BYTES, L_FIRST, L_LAST, L_SMALLEST, L_LARGEST, L_THEN,
       L_COLUMNS };

static const struct ct_column leak_columns[L_COLUMNS] = {
	[L_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[L_PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[L_NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
	[L_COUNT] = { "Allocations", "allocations", CT_CELL_COUNT, 0 },
	[L_BYTES] = { "Total (bytes)", "total", CT_CELL_BYTES, 0 },
	[L_FIRST] = { "First (ns)", "first", CT_CELL_TIME, 1 },
	[L_LAST] = { "Last (ns)", "last", CT_CELL_TIME, 1 },
	[L_SMALLEST] = { "Smallest (bytes)", "smallest", CT_CELL_BYTES, 3 },
	[L_LARGEST] = { "Largest (bytes)", "largest", CT_CELL_BYTES, 3 },
	[L_THEN] = { "Afterwards", "afterwards", CT_CELL_TEXT, 4 },
};

/* The program's name, which another one under its pid does not change. */
static struct ct_cell memory_report_name(struct ct_analysis *a, const struct ct_memory_process *p)
{
	const char *name = ct_task_name(ct_analysis_state(a, &ct_tasks_analyser), p->pid, p->generation);

	return ct_const(name ? name : ct_processes_word(a->processes, p->pid));
}

static void memory_report_sums(struct ct_analysis *a, const struct ct_memory_process *p,
			       struct ct_table *t)
{
	struct ct_cell name = memory_report_name(a, p);

	for (unsigned int kind = 0; kind < CT_MEMORY_SUMS; kind++) {
		const struct ct_memory_sum *s = &p->sums[kind];
		struct ct_cell *row;

		if (!s->allocations)
			continue;
		row = ct_table_row(t);
		row[OF_PROCESS_PID] = ct_u64(p->pid);
		row[OF_PROCESS_PROCESS] = name;
		row[OF_PROCESS_KIND] = ct_const(ct_memory_word[kind]);
		row[OF_PROCESS_ALLOCATIONS] = ct_u64(s->allocations);
		row[OF_PROCESS_FREES] = ct_u64(s->frees);
		row[OF_PROCESS_BYTES] = ct_u64(s->bytes);
		row[OF_PROCESS_PEAK] = ct_u64(s->peak);
		if (s->peak)
			row[OF_PROCESS_PEAK_AT] = ct_moment(a, s->peak_at);
		row[OF_PROCESS_HELD] = ct_u64(s->held);
		row[OF_PROCESS_COUNT] = ct_u64(s->held_count);
	}
}

static void memory_report_time(struct ct_analysis *a, const struct ct_memory_process *p,
			       struct ct_table *t)
{
	struct ct_cell name = memory_report_name(a, p);

	for (unsigned int i = 0; p->buckets && i < CT_MEMORY_BUCKETS; i++) {
		const struct ct_memory_bucket *b = &p->buckets[i];
		struct ct_cell *row;

		if (!b->used)
			continue;
		row = ct_table_row(t);
		row[T_PID] = ct_u64(p->pid);
		row[T_PROCESS] = name;
		row[T_TIME] = ct_moment(a, b->peak_at);
		row[T_PEAK] = ct_u64(b->peak);
		row[T_AFTER] = ct_u64(b->after);
	}
}

static int memory_report_compare(const void *a, const void *b)
{
	const struct ct_memory_leak *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->class->id - y->class->id;
}

static void memory_report_leaks(struct ct_analysis *a, struct ct_memory_process *p,
				struct ct_table *t)
{
	struct ct_cell name = memory_report_name(a, p);

	if (p->leaks_count)
		qsort(p->leaks, p->leaks_count, sizeof(*p->leaks), memory_report_compare);
	for (unsigned int i = 0; i < p->leaks_count; i++) {
		const struct ct_memory_leak *l = &p->leaks[i];
		struct ct_cell *row = ct_table_row(t);

		row[L_PID] = ct_u64(p->pid);
		row[L_PROCESS] = name;
		row[L_NAME] = ct_const(l->class->name);
		row[L_COUNT] = ct_u64(l->count);
		row[L_BYTES] = ct_u64(l->bytes);
		row[L_FIRST] = ct_moment(a, l->first);
		row[L_LAST] = ct_moment(a, l->last);
		row[L_SMALLEST] = ct_u64(l->smallest);
		row[L_LARGEST] = ct_u64(l->largest);
		if (p->context_gone > l->last)
			row[L_THEN] = ct_const("a context was destroyed");
		else if (p->ended)
			row[L_THEN] = ct_const("the program ended");
	}
}

static int memory_report_end(struct ct_analysis *a)
{
	struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	struct ct_report_filter f = *a->filter;
	struct ct_table *sums, *time, *leaks;

	sums = ct_analysis_table(a, "memory_processes",
		"Memory by process, from the calls: gpu is the sum of all kinds but host",
		process_columns, OF_PROCESS_COLUMNS);
	for (unsigned int i = 0; i < m->processes_count; i++)
		memory_report_sums(a, m->processes[i], sums);
	if (m->unknown_frees)
		ct_table_note(sums, "%llu frees were of memory that no recorded call allocated; they do not count.",
			      (unsigned long long)m->unknown_frees);
	if (m->left_out)
		ct_table_note(sums, "%llu allocations are left out: too many at once, or of too many processes.",
			      (unsigned long long)m->left_out);
	/* Of one process, and of the program's layer, all are there. */
	f.pid = 0;
	f.layer = f.layer == CT_LAYER_USER ? -1 : f.layer;
	if (ct_filter_chooses(&f))
		ct_table_note(sums, "Allocations and frees that the filter leaves out are missing here.");
	time = ct_analysis_table(a, "memory_time",
		"Memory of the GPU over time: the peak of each part of the time, then what is held at its end",
		time_columns, T_COLUMNS);
	for (unsigned int i = 0; i < m->processes_count; i++)
		memory_report_time(a, m->processes[i], time);
	leaks = ct_analysis_table(a, "memory_leaks", "Allocations that were never freed",
				  leak_columns, L_COLUMNS);
	for (unsigned int i = 0; i < m->processes_count; i++)
		memory_report_leaks(a, m->processes[i], leaks);
	if (leaks->rows || leaks->row_open)
		ct_table_note(leaks, "The driver takes memory back when its context is destroyed or its process ends.");
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_memory_analyser, &ct_tasks_analyser, NULL };

const struct ct_analyser ct_report_memory = {
	.name = "memory",
	.summary = "memory by process and kind: peaks, over time, allocations never freed",
	.needs = needs,
	.end = memory_report_end,
};
