// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report threads: what each thread did, waited for and when it did not run. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/program/tasks.h"

enum { PROCESS, PID, TID, FIRST, LAST, CALLS, LAUNCHES, IN_CALLS, WAITING, OFF_CPU, SWITCHES, EXIT,
       COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 0 },
	[FIRST] = { "First (ns)", "first", CT_CELL_TIME, 3 },
	[LAST] = { "Last (ns)", "last", CT_CELL_TIME, 4 },
	[CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 0 },
	[IN_CALLS] = { "In Calls (ns)", "in calls", CT_CELL_NS, 0 },
	[WAITING] = { "Waiting (ns)", "waiting", CT_CELL_NS, 0 },
	[OFF_CPU] = { "Off CPU (ns)", "off the CPU", CT_CELL_NS, 1 },
	[SWITCHES] = { "Switches", "switches", CT_CELL_COUNT, 2 },
	[EXIT] = { "Exit", "exit", CT_CELL_TEXT, 5 },
};

static int threads_compare(const void *a, const void *b)
{
	const struct ct_task_thread *x = *(struct ct_task_thread *const *)a;
	const struct ct_task_thread *y = *(struct ct_task_thread *const *)b;

	if (x->in_calls != y->in_calls)
		return x->in_calls > y->in_calls ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void threads_row(const struct ct_analysis *a, const struct ct_tasks *s, struct ct_table *t,
			const struct ct_task_thread *thread)
{
	const char *name = s->processes[thread->process].name;
	struct ct_cell *row = ct_table_row(t);

	row[PROCESS] = name ? ct_text(t, name) : ct_const(ct_processes_word(a->processes, thread->pid));
	row[PID] = ct_u64(thread->pid);
	row[TID] = ct_u64(thread->tid);
	row[FIRST] = ct_moment(a, thread->first);
	row[LAST] = ct_moment(a, thread->last);
	row[CALLS] = ct_u64(thread->calls);
	row[LAUNCHES] = ct_u64(thread->launches);
	row[IN_CALLS] = ct_u64(thread->in_calls);
	row[WAITING] = ct_u64(thread->waiting);
	if (a->trace->has_kernel) {
		row[OFF_CPU] = ct_u64(thread->off_cpu);
		row[SWITCHES] = ct_u64(thread->switches);
	}
	if (thread->exit == CT_TASK_EXITED)
		row[EXIT] = ct_const("exited");
}

static int threads_end(struct ct_analysis *a)
{
	struct ct_tasks *s = ct_analysis_state(a, &ct_tasks_analyser);
	struct ct_task_thread **list = calloc(s->threads_count + 1, sizeof(*list));
	struct ct_table *t = ct_analysis_table(a, "threads",
		"Threads: their calls of libcuda, how long they waited in them and were off the CPU",
		columns, COLUMNS);

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->threads_count; i++)
		list[i] = &s->threads[i];
	qsort(list, s->threads_count, sizeof(*list), threads_compare);
	for (unsigned int i = 0; i < s->threads_count; i++)
		threads_row(a, s, t, list[i]);
	if (!a->trace->has_kernel)
		ct_table_note(t, "Only the kernel module sees when a thread is off the CPU.");
	if (s->left_out)
		ct_table_note(t, "%llu records of further threads are left out.",
			      (unsigned long long)s->left_out);
	free(list);
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_tasks_analyser, NULL };

const struct ct_analyser ct_report_threads = {
	.name = "threads",
	.summary = "by thread: calls, launches, time in calls, waiting, off the CPU",
	.single = true,
	.needs = needs,
	.end = threads_end,
};
