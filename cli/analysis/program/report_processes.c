// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report processes: each program that the trace has, from its first record to its last. */
#include "analysis/memory/memory.h"
#include "analysis/program/tasks.h"

enum { PROCESS, PID, GENERATION, BEGIN, END, THREADS, CALLS, LAUNCHES, ITERATIONS, PEAK, EXIT, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[GENERATION] = { "Generation", "generation", CT_CELL_ID, 5 },
	[BEGIN] = { "Begin (ns)", "begin", CT_CELL_TIME, 1 },
	[END] = { "End (ns)", "end", CT_CELL_TIME, 2 },
	[THREADS] = { "Threads", "threads", CT_CELL_COUNT, 1 },
	[CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 0 },
	[ITERATIONS] = { "Iterations", "iterations", CT_CELL_COUNT, 3 },
	[PEAK] = { "Peak Memory (bytes)", "GPU memory", CT_CELL_BYTES, 2 },
	[EXIT] = { "Exit", "exit", CT_CELL_TEXT, 4 },
};

static void processes_row(const struct ct_analysis *a, struct ct_table *t,
			  const struct ct_task_process *p, const struct ct_memory *memory)
{
	const struct ct_process_phases *phases =
		ct_phases_process(a->phases, p->pid, p->first + (p->last - p->first) / 2);
	const struct ct_memory_process *held = ct_memory_of(memory, p->pid, p->generation);
	struct ct_cell *row = ct_table_row(t);

	row[PROCESS] = p->name ? ct_text(t, p->name) : ct_const(ct_processes_word(a->processes, p->pid));
	row[PID] = ct_u64(p->pid);
	row[GENERATION] = ct_u64(p->generation);
	row[BEGIN] = ct_moment(a, p->first);
	row[END] = ct_moment(a, p->last);
	row[THREADS] = ct_u64(p->threads);
	row[CALLS] = ct_u64(p->calls);
	row[LAUNCHES] = ct_u64(p->launches);
	if (phases && phases->source != CT_ITER_NONE)
		row[ITERATIONS] = ct_u64(phases->iterations_count - ct_phases_warmup(phases) + phases->iterations_dropped);
	if (held)
		row[PEAK] = ct_u64(held->sums[CT_MEMORY_GPU].peak);
	if (p->exit == CT_TASK_EXITED)
		row[EXIT] = ct_const("exited");
	else if (p->inside)
		row[EXIT] = ct_format(t, "in %s", p->inside->name);
}

static int processes_end(struct ct_analysis *a)
{
	const struct ct_memory *memory = ct_analysis_state(a, &ct_memory_analyser);
	const struct ct_tasks *s = ct_analysis_state(a, &ct_tasks_analyser);
	struct ct_table *t = ct_analysis_table(a, "processes",
		"Processes, from their first record to their last", columns, COLUMNS);

	for (unsigned int i = 0; i < s->processes_count; i++)
		if (s->processes[i].threads)
			processes_row(a, t, &s->processes[i], memory);
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_tasks_analyser, &ct_memory_analyser, NULL };

const struct ct_analyser ct_report_processes = {
	.name = "processes",
	.summary = "by process: begin, end, threads, calls, iterations, GPU memory, how it ended",
	.single = true,
	.phases = true,
	.needs = needs,
	.end = processes_end,
};
