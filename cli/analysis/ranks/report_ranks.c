// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report ranks: the ranks of a job side by side, in their steady states. */
#include "analysis/ranks/job_uncovered.h"
#include "analysis/ranks/job_verdict.h"

#include <string.h>

#include "ranks/clocks.h"

enum { RANK, PID, PROCESS, GPU, STEPS, STEP, COMPUTE, WAITING, MOVING, APP, WAIT, MADE_WAIT, LAST, LATE, LATE_95, MEMORY, CLOCK, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[RANK] = { "Rank", "rank", CT_CELL_ID, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 6 },
	[GPU] = { "GPU", "GPU", CT_CELL_ID, 5 },
	[STEPS] = { "Steps", "steps", CT_CELL_COUNT, 0 },
	[STEP] = { "Step Med (ns)", "step med", CT_CELL_NS_MEAN, 0 },
	[COMPUTE] = { "Compute (ns/step)", "compute", CT_CELL_NS_MEAN, 0 },
	[WAITING] = { "Waiting (ns/step)", "waiting", CT_CELL_NS_MEAN, 0 },
	[MOVING] = { "Moving (ns/step)", "moving", CT_CELL_NS_MEAN, 0 },
	[APP] = { "Application (ns/step)", "application", CT_CELL_NS_MEAN, 2 },
	[WAIT] = { "Synchronisation (ns/step)", "sync", CT_CELL_NS_MEAN, 4 },
	[MADE_WAIT] = { "Makes Others Wait (ns/step)", "makes wait", CT_CELL_NS_MEAN, 0 },
	[LAST] = { "Came Last (%)", "last", CT_CELL_PERCENT, 1 },
	[LATE] = { "Late Med (ns)", "late med", CT_CELL_NS_MEAN, 3 },
	[LATE_95] = { "Late P95 (ns)", "late p95", CT_CELL_NS, 3 },
	[MEMORY] = { "Peak Memory (bytes)", "peak memory", CT_CELL_BYTES, 5 },
	[CLOCK] = { "Clock Uncertainty (ns)", "clock +-", CT_CELL_NS, 4 },
};

#define MANY	16u	/* ranks */
#define HOSTS	8u	/* whose clocks are told */

static void ranks_row(const struct ct_analysis *a, struct ct_table *t, struct ct_job_rank *r)
{
	int32_t gpu = (uint32_t)r->who != CT_ONE_RANK ? r->gpu : ct_processes_gpu(a->processes, r->pid);
	struct ct_cell *row = ct_table_row(t);

	row[RANK] = ct_u64(r->rank);
	row[PID] = ct_u64(r->pid);
	row[PROCESS] = ct_const(ct_processes_word(a->processes, r->pid));
	if (gpu >= 0)
		row[GPU] = ct_u64(gpu);
	if (r->sums.peak)
		row[MEMORY] = ct_u64(r->sums.peak);
	if (!r->steps)
		return;
	row[STEPS] = ct_u64(r->steps);
	row[STEP] = ct_double(r->step);
	row[APP] = ct_double(r->sums.application / r->steps);
	row[WAIT] = ct_double(r->sums.synchronisation / r->steps);
	if (r->measured)
		row[COMPUTE] = ct_double(r->sums.compute / r->steps);
	/* Not 0, but not known, where the kernels of the others are missing: a rank that was killed took them along. */
	if (r->waiting || r->moving) {
		row[WAITING] = ct_double(r->waiting / r->steps);
		row[MOVING] = ct_double(r->moving / r->steps);
	}
	if (r->waiting || r->moving || r->made_wait)
		row[MADE_WAIT] = ct_double(r->made_wait / r->steps);
	if (!r->operations)
		return;
	if (r->unsure && r->unsure != UINT64_MAX)
		row[CLOCK] = ct_u64(r->unsure);
	row[LAST] = ct_double(100.0 * r->late_count / r->operations);
	row[LATE] = ct_double(ct_histogram_median(&r->lateness));
	row[LATE_95] = ct_u64(ct_histogram_value(&r->lateness, 950));
}

/* Ranks may exchange data by other ways than libnccl's calls. */
static void ranks_not_covered(const struct ct_analysis *a, struct ct_table *t)
{
	const struct ct_ranks *ranks = &a->processes->ranks;
	const struct ct_registry *reg = &a->trace->reg;
	const char *launcher = "";
	char uncovered[1000];
	bool job = false, nvshmem = false;

	for (size_t i = 0; i < ranks->list.count; i++) {
		job |= ranks->list.list[i].size > 1;
		launcher = ranks->list.list[i].launcher;
	}
	for (uint32_t id = 1; id < reg->strings_count && !nvshmem; id++)
		nvshmem = reg->strings[id] && strstr(reg->strings[id], "nvshmem");
	if (job && !a->collectives->parts_count && !a->collectives->uncalled.count)
		ct_table_note(t, "The processes are ranks of a job%s%.32s, but made no call of libnccl that was seen: what ranks exchange by "
			      "MPI, by NVSHMEM or by a libnccl that is linked statically and not exported is not covered.", *launcher ? " by " : "", launcher);
	if (*ct_job_unrecorded(a, uncovered, sizeof(uncovered)))
		ct_table_note(t, "%s What the others do is not known: give the traces of all nodes together.", uncovered);
	if (*ct_job_uncovered(a, uncovered, sizeof(uncovered)))
		ct_table_note(t, "%s", uncovered);
	if (nvshmem)
		ct_table_note(t, "Kernels of NVSHMEM ran: what ranks exchange by it is not covered.");
	if (*ct_job_uncalled(a, uncovered, sizeof(uncovered)))
		ct_table_note(t, "%s They are in no figure of this table.", uncovered);
}

static int ranks_end(struct ct_analysis *a)
{
	struct ct_table *t = ct_analysis_table(a, "ranks", "The ranks of the job, a step of the steady state each", columns, COLUMNS);
	struct ct_job *job = ct_analysis_state(a, &ct_job_analyser);
	bool collectives = false, several = false;
	char clock[320], verdict[1200];

	for (unsigned int i = 0; i < job->count; i++) {
		ranks_row(a, t, &job->ranks[i]);
		collectives |= job->ranks[i].steps && !job->ranks[i].iterations;
	}
	for (unsigned int i = 0; i < a->trace->sources_count; i++)
		several |= !a->trace->sources[i].clock.same;
	for (unsigned int i = 0; several && i < a->trace->sources_count && i < HOSTS; i++)
		ct_table_note(t, "Host %s.", ct_clocks_text(&a->trace->sources[i], clock, sizeof(clock)));
	if (several && a->trace->sources_count > HOSTS)
		ct_table_note(t, "... and %u more hosts: how exactly their clocks are known stands with each rank (Clock Uncertainty).",
			      a->trace->sources_count - HOSTS);
	/* Of many ranks the one that matters need not be among the rows that are shown. */
	for (unsigned int i = 0; job->count > MANY && ct_job_verdict(a, job, i, verdict, sizeof(verdict)); i++)
		ct_table_note(t, "%s", verdict);
	ranks_not_covered(a, t);
	if (!job->alike)
		ct_table_note(t, "What ranks have in a step can't be compared: steps of one are far longer than those of another. Of a job that "
			      "hangs or was killed, only few iterations may be found.");
	if (collectives)
		ct_table_note(t, "Where a rank has no iterations, a step is a collective.");
	if (job->measured)
		ct_table_note(t, "Compute, waiting and moving are sums of kernels, which may overlap: those of libnccl wait until the "
			      "last rank has come, and move data from then on. The sentence on the job counts the time in which a "
			      "GPU does nothing but wait.");
	else if (job->count)
		ct_table_note(t, "Lateness is that of the calls; waiting and moving are known with --gpu only.");
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_job_analyser, NULL };

const struct ct_analyser ct_report_ranks = {
	.name = "ranks",
	.summary = "the ranks of a job side by side: who computes, who waits, who makes the others wait",
	.single = true,
	.phases = true,
	.collectives = true,
	.summaries = true,
	.needs = needs,
	.end = ranks_end,
};
