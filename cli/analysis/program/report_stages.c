// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report stages: the stages of each process, and where the wall time of each thread that
 * launches went in them.  The accounts of a thread add up to the duration of the stage.
 */
#include <errno.h>
#include <string.h>

#include "analysis/threads/accounting.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/gpu/coverage.h"

/* The last two only where there are records of the GPU. */
enum { PROCESS, PID, STAGE, START, DURATION, SHARE, CALLS, LAUNCHES, COPIES, SYNCS, IDLE, BUSY, BUSY_SHARE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 1 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 0 },
	[COPIES] = { "Copies", "copies", CT_CELL_COUNT, 0 },
	[SYNCS] = { "Syncs", "syncs", CT_CELL_COUNT, 0 },
	[IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 0 },
	[BUSY] = { "GPU Busy (ns)", "busy time", CT_CELL_NS, 0 },
	[BUSY_SHARE] = { "GPU Busy (%)", "GPU busy", CT_CELL_PERCENT, 0 },
};

enum { A_PID, A_TID, A_STAGE, A_ACCOUNT, A_TIME, A_SHARE, A_COLUMNS };

static const struct ct_column account_columns[A_COLUMNS] = {
	[A_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[A_TID] = { "Tid", "tid", CT_CELL_ID, 0 },
	[A_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[A_ACCOUNT] = { "Account", "account", CT_CELL_TEXT, 0 },
	[A_TIME] = { "Time (ns)", "time", CT_CELL_NS, 0 },
	[A_SHARE] = { "Time (%)", "share", CT_CELL_PERCENT, 0 },
};

/* Only where several threads of a process launch: what it did, and whose turn it was. */
enum { T_PID, T_STAGE, T_ACCOUNT, T_TIME, T_SHARE, T_COLUMNS };

static const struct ct_column together_columns[T_COLUMNS] = {
	[T_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[T_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[T_ACCOUNT] = { "Account", "account", CT_CELL_TEXT, 0 },
	[T_TIME] = { "Time (ns)", "time", CT_CELL_NS, 0 },
	[T_SHARE] = { "Time (%)", "share", CT_CELL_PERCENT, 0 },
};

enum { U_PID, U_TID, U_STAGE, U_TIME, U_SHARE, U_COLUMNS };

static const struct ct_column turn_columns[U_COLUMNS] = {
	[U_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[U_TID] = { "Tid", "thread", CT_CELL_ID, 0 },
	[U_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[U_TIME] = { "Turn (ns)", "turn", CT_CELL_NS, 0 },
	[U_SHARE] = { "Turn (%)", "of the stage", CT_CELL_PERCENT, 0 },
};

/* The same for people: a row for each thread and stage; "all" is the process. */
enum { W_PID, W_TID, W_STAGE, W_WALL, W_APP, W_WAIT, W_DRIVER, W_OFF, W_CALLS, W_MOST, W_TURN, W_COLUMNS };

static const struct ct_column wide_columns[W_COLUMNS] = {
	[W_PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[W_TID] = { "Tid", "thread", CT_CELL_TEXT, 0 },
	[W_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[W_WALL] = { "Wall (ns)", "wall", CT_CELL_NS, 0 },
	[W_APP] = { "Application (%)", "app", CT_CELL_PERCENT, 0 },
	[W_WAIT] = { "Waiting (%)", "waiting", CT_CELL_PERCENT, 0 },
	[W_DRIVER] = { "Driver (%)", "driver", CT_CELL_PERCENT, 0 },
	[W_OFF] = { "Off the CPU (%)", "off CPU", CT_CELL_PERCENT, 0 },
	[W_CALLS] = { "Calls (%)", "libcuda", CT_CELL_PERCENT, 1 },
	[W_MOST] = { "Most", "most of libcuda", CT_CELL_TEXT, 2 },
	/* Only where several threads of a process launch. */
	[W_TURN] = { "Turn (%)", "turn", CT_CELL_PERCENT, 0 },
};

static struct ct_cell stages_name(const struct ct_analysis *a, struct ct_table *t, uint32_t pid)
{
	char name[64], *end;

	ct_processes_name(a->processes, pid, name, sizeof(name));
	end = strrchr(name, '(');
	if (end && end > name && end[-1] == ' ')
		end[-1] = 0;
	return ct_text(t, name);
}

static void stages_rows(const struct ct_analysis *a, struct ct_table *t, unsigned int index)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_gpu_busy *gpu = ct_analysis_state(a, &ct_gpu_busy_analyser);
	const struct ct_gpu_coverage *coverage = ct_analysis_state(a, &ct_gpu_coverage_analyser);
	const struct ct_process_phases *p = &a->phases->processes[index];

	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *span = &p->stages[i];
		struct ct_stage_account sum = { 0 };
		struct ct_cell *row = ct_table_row(t);

		for (unsigned int k = 0; k < acc->threads_count; k++) {
			const struct ct_stage_account *s = &acc->threads[k]->stages[span->stage];

			if (acc->threads[k]->process != (int)index)
				continue;
			sum.calls += s->calls;
			sum.launches += s->launches;
			sum.copies += s->copies;
			sum.syncs += s->syncs;
		}
		row[PROCESS] = stages_name(a, t, p->pid);
		row[PID] = ct_u64(p->pid);
		row[STAGE] = ct_const(ct_stage_word[span->stage]);
		row[START] = ct_moment(a, span->begin);
		row[DURATION] = ct_u64(span->end - span->begin);
		row[SHARE] = ct_double(p->end > p->begin ? 100.0 * (span->end - span->begin) /
				       (p->end - p->begin) : 0);
		row[CALLS] = ct_u64(sum.calls);
		row[LAUNCHES] = ct_u64(sum.launches);
		row[COPIES] = ct_u64(sum.copies);
		row[SYNCS] = ct_u64(sum.syncs);
		if (!idle->processes[index].measured || ct_gpu_covers_some(coverage, p->pid, span->begin, span->end))
			row[IDLE] = ct_u64(idle->processes[index].stages[span->stage]);
		if (!gpu->processes[index].iterations || !ct_gpu_covers_some(coverage, p->pid, span->begin, span->end))
			continue;
		row[BUSY] = ct_u64(gpu->processes[index].any.stages[span->stage].busy);
		if (!ct_gpu_covers(coverage, p->pid, span->begin, span->end))
			continue;
		row[BUSY_SHARE] = ct_double(span->end > span->begin ?
			100.0 * gpu->processes[index].any.stages[span->stage].busy / (span->end - span->begin) : 0);
	}
}

static bool stages_shown(const struct ct_analysis *a, uint32_t pid, uint32_t tid)
{
	return (!a->filter->pid || a->filter->pid == pid) &&
	       (!tid || !a->filter->tid || a->filter->tid == tid);
}

/*
 * Is the thread shown in the stage?  Those that launch or have turns are, as one that only copies; before the warm-up the
 * one that works.
 */
static bool stages_of_thread(const struct ct_accounting *acc, const struct ct_thread_account *thread, enum ct_stage stage)
{
	return ct_account_launches(thread) || ct_account_has_turns(&acc->processes[thread->process], thread->tid) ||
	       (stage < CT_STAGE_WARMUP && acc->processes[thread->process].workers[stage] == thread);
}

/* Calls @fn for each stage of each thread that works in it. */
static void stages_each_account(const struct ct_analysis *a, struct ct_table *t,
			void (*fn)(struct ct_table *t, const struct ct_thread_account *thread,
				   const struct ct_stage_span *span))
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);

	for (unsigned int i = 0; i < acc->threads_count; i++) {
		const struct ct_thread_account *thread = acc->threads[i];
		const struct ct_process_phases *p;

		if (thread->process < 0 || !stages_shown(a, thread->pid, thread->tid))
			continue;
		p = &a->phases->processes[thread->process];
		for (unsigned int k = 0; k < p->stages_count; k++)
			if (stages_of_thread(acc, thread, p->stages[k].stage))
				fn(t, thread, &p->stages[k]);
	}
}

static void stages_accounts(struct ct_table *t, const struct ct_thread_account *thread,
			    const struct ct_stage_span *span)
{
	const struct ct_stage_account *s = &thread->stages[span->stage];
	uint64_t wall = span->end - span->begin;

	for (unsigned int i = 0; i < CT_ACCOUNT_COUNT; i++) {
		struct ct_cell *row;

		if (!s->ns[i])
			continue;
		row = ct_table_row(t);
		row[A_PID] = ct_u64(thread->pid);
		row[A_TID] = ct_u64(thread->tid);
		row[A_STAGE] = ct_const(ct_stage_word[span->stage]);
		row[A_ACCOUNT] = ct_const(ct_account_word(i));
		row[A_TIME] = ct_u64(s->ns[i]);
		row[A_SHARE] = ct_double(wall ? 100.0 * s->ns[i] / wall : 0);
	}
}

/* @tid: 0: all of the process's threads that launch; @turn: ns, UINT64_MAX: it is the only one */
static void stages_wide_row(struct ct_table *t, uint32_t pid, uint32_t tid, const struct ct_stage_account *s,
			    const struct ct_stage_span *span, uint64_t turn)
{
	double percent = span->end > span->begin ? 100.0 / (span->end - span->begin) : 0;
	struct ct_cell *row = ct_table_row(t);
	unsigned int most = CT_ACCOUNT_CALLS;
	uint64_t calls = 0;

	for (unsigned int i = CT_ACCOUNT_CALLS; i < CT_ACCOUNT_COUNT; i++) {
		calls += s->ns[i];
		most = s->ns[i] > s->ns[most] ? i : most;
	}
	row[W_PID] = ct_u64(pid);
	row[W_TID] = tid ? ct_format(t, "%u", tid) : ct_const("all");
	row[W_STAGE] = ct_const(ct_stage_word[span->stage]);
	row[W_WALL] = ct_u64(span->end - span->begin);
	if (turn != UINT64_MAX)
		row[W_TURN] = ct_double(percent * turn);
	row[W_APP] = ct_double(percent * (s->ns[CT_ACCOUNT_APP] + s->ns[CT_ACCOUNT_ABSENT]));
	row[W_WAIT] = ct_double(percent * s->ns[CT_ACCOUNT_WAIT]);
	row[W_DRIVER] = ct_double(percent * s->ns[CT_ACCOUNT_DRIVER]);
	row[W_OFF] = ct_double(percent * s->ns[CT_ACCOUNT_OFF_CPU]);
	row[W_CALLS] = ct_double(percent * calls);
	if (s->ns[most])
		row[W_MOST] = ct_format(t, "%s %.1f %%", ct_account_word(most), percent * s->ns[most]);
}

/* The process's threads that launch; those of less than 1 % of the turns are no reason to tell. */
static bool stages_several(const struct ct_analysis *a, unsigned int index)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);

	return ct_account_turns(&acc->processes[index]) > 1 && stages_shown(a, a->phases->processes[index].pid, 0);
}

static void stages_together(const struct ct_analysis *a, struct ct_table *t, unsigned int index)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_process_phases *p = &a->phases->processes[index];

	for (unsigned int i = 0; i < p->stages_count; i++)
		for (unsigned int k = 0; k < CT_ACCOUNT_COUNT; k++) {
			uint64_t ns = acc->processes[index].stages[p->stages[i].stage].ns[k];
			struct ct_cell *row;

			if (!ns)
				continue;
			row = ct_table_row(t);
			row[T_PID] = ct_u64(p->pid);
			row[T_STAGE] = ct_const(ct_stage_word[p->stages[i].stage]);
			row[T_ACCOUNT] = ct_const(ct_account_word(k));
			row[T_TIME] = ct_u64(ns);
			row[T_SHARE] = ct_double(100.0 * ns / (p->stages[i].end - p->stages[i].begin));
		}
}

static void stages_turns(const struct ct_analysis *a, struct ct_table *t, unsigned int index)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_launching_process *model = acc->processes[index].model;
	const struct ct_process_phases *p = &a->phases->processes[index];

	for (unsigned int i = 0; i < p->stages_count; i++)
		for (unsigned int k = 0; k < model->count; k++) {
			uint64_t ns = model->threads[k].turn[p->stages[i].stage];
			struct ct_cell *row;

			if (!ns)
				continue;
			row = ct_table_row(t);
			row[U_PID] = ct_u64(p->pid);
			row[U_TID] = ct_u64(model->threads[k].tid);
			row[U_STAGE] = ct_const(ct_stage_word[p->stages[i].stage]);
			row[U_TIME] = ct_u64(ns);
			row[U_SHARE] = ct_double(100.0 * ns / (p->stages[i].end - p->stages[i].begin));
		}
}

/* Two more tables, where they say something that those of the threads do not. */
static void stages_of_several(struct ct_analysis *a)
{
	struct ct_table *t = NULL;

	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		if (!stages_several(a, i))
			continue;
		if (!t)
			t = ct_analysis_table(a, "stages_together",
					      "Where the wall time of processes went, several threads of which launch",
					      together_columns, T_COLUMNS);
		stages_together(a, t, i);
	}
	if (!t)
		return;
	ct_table_note(t, "At each moment it is what the thread does that gives the GPU its next work; while that one is "
		      "in no call, what another launching thread has called since.");
	t = ct_analysis_table(a, "stages_turns", "Whose turn it was: which thread gave the GPU its next work",
			      turn_columns, U_COLUMNS);
	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		if (stages_several(a, i))
			stages_turns(a, t, i);
}

static int stages_end(struct ct_analysis *a)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	struct ct_table *t = ct_analysis_table(a, "stages", "Stages of each process", columns,
					       a->trace->has_gpu ? COLUMNS : BUSY);

	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];

		if (p->stages_count && stages_shown(a, p->pid, 0))
			stages_rows(a, t, i);
		if (idle->processes[i].streams.contexts)
			ct_table_note(t, "Process %u has several contexts: when its GPU was idle is not known from then on.",
				      p->pid);
		if (acc->processes[i].model->count > CT_LAUNCHING_COMPARED)
			ct_table_note(t, "Process %u has %u launching threads: of more than %u the one that called last has its turn.",
				      p->pid, acc->processes[i].model->count, CT_LAUNCHING_COMPARED);
	}
	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		const struct ct_idle_process *p = &idle->processes[i];
		size_t open = p->measured || p->streams.contexts ? 0 : p->streams.open.count;

		if (open && stages_shown(a, a->phases->processes[i].pid, 0))
			ct_table_note(t, "Process %u never waited for what it submitted last to %zu stream%s: no idle time is known after that.",
				      a->phases->processes[i].pid, open, open == 1 ? "" : "s");
	}
	if (!t->rows && !t->row_open)
		ct_table_note(t, "No process called libcuda.");
	ct_table_note(t, "GPU idle is %s.", ct_idle_meaning(idle));
	ct_gpu_coverage_notes(a, t, false);
	if (a->trace->lost)
		ct_table_note(t, "Records were lost: their time is counted as what the thread did before them.");
	t = ct_analysis_table(a, "stages_accounts",
			      "Where the wall time of each thread that launches went, by stage; before the warm-up, of the one that works",
			      account_columns, A_COLUMNS);
	stages_each_account(a, t, stages_accounts);
	stages_of_several(a);
	return 0;
}

static uint64_t stages_turn(const struct ct_launching_process *model, uint32_t tid, unsigned int stage)
{
	for (unsigned int i = 0; i < model->count; i++)
		if (model->threads[i].tid == tid)
			return model->threads[i].turn[stage];
	return 0;
}

static void stages_wide(const struct ct_analysis *a, struct ct_table *t)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);

	for (unsigned int i = 0; i < a->phases->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];
		bool several = stages_several(a, i);

		for (unsigned int k = 0; several && !a->filter->tid && k < p->stages_count; k++)
			stages_wide_row(t, p->pid, 0, &acc->processes[i].stages[p->stages[k].stage], &p->stages[k],
					UINT64_MAX);
		for (unsigned int n = 0; n < acc->threads_count; n++) {
			const struct ct_thread_account *thread = acc->threads[n];

			if (thread->process != (int)i || !stages_shown(a, thread->pid, thread->tid))
				continue;
			for (unsigned int k = 0; k < p->stages_count; k++)
				if (stages_of_thread(acc, thread, p->stages[k].stage))
					stages_wide_row(t, p->pid, thread->tid, &thread->stages[p->stages[k].stage],
							&p->stages[k], several ?
							stages_turn(acc->processes[i].model, thread->tid,
								    p->stages[k].stage) : UINT64_MAX);
		}
	}
}

/* For people the accounts stand beside each other. */
static int stages_text(const struct ct_analysis *a, FILE *out, const struct ct_print_options *print)
{
	struct ct_printer *printer = ct_printer_open(ct_format_find("table"), out, print, true);
	bool several = a->tables_count > 2;
	struct ct_table wide;
	int rc, closing;

	if (!printer)
		return -ENOMEM;
	ct_table_begin(&wide, "stages_accounts", a->tables[1].title, wide_columns, several ? W_COLUMNS : W_TURN);
	stages_wide(a, &wide);
	ct_table_note(&wide, several ? "app: between calls, and before and after the thread; of one thread also while it waits for "
		      "another that has its turn." : "app: between calls, and before and after the thread.");
	ct_table_note(&wide, "libcuda: in its calls, without waiting and without the kernel driver.");
	if (several) {
		ct_table_note(&wide, "turn: the thread gives the GPU its next work.");
		ct_table_note(&wide, "all: at each moment what the thread does whose turn it is; while it is in no call,");
		ct_table_note(&wide, "what another launching thread has called since.");
	}
	rc = ct_table_end(&wide);
	/* Only the module sees it: not seen is not never. */
	for (size_t i = 0; i < wide.rows && !a->trace->has_kernel; i++)
		wide.cells[i * wide.columns_count + W_OFF] = (struct ct_cell){ 0 };
	if (!rc)
		rc = ct_printer_table(printer, &a->tables[0]);
	if (!rc)
		rc = ct_printer_table(printer, &wide);
	closing = ct_printer_close(printer);
	ct_table_free(&wide);
	return rc ? rc : closing;
}

static const struct ct_analyser *const needs[] = {
	&ct_accounting_analyser, &ct_idle_analyser, &ct_gpu_busy_analyser, &ct_gpu_coverage_analyser, NULL
};

const struct ct_analyser ct_report_stages = {
	.name = "stages",
	.summary = "startup, initialisation ... steady state, teardown, and what threads did in them",
	.phases = true,
	.needs = needs,
	.end = stages_end,
	.text = stages_text,
};
