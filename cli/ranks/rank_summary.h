/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Summaries: of each rank of a trace what comparing ranks needs, and no record.  'cudatrace summarize' writes
 * one of a trace; hundreds of them are read as one job.
 *
 * A summary is text, a line for each thing; numbers are decimal but ids of communicators, times are ns.
 * Each line begins with what it is:
 *
 *	cudatrace summary 1
 *	host NAME
 *	clock START REALTIME END	of the trace, on CLOCK_MONOTONIC and CLOCK_REALTIME
 *	records COUNT LOST
 *	gpu MEASURED SIMULATED		1 or 0: the GPU's work was recorded; the GPU is simulated
 *	stride N			of the calls each Nth number was kept, and the last of each row
 *	process PID RANK GPU FROM TO NAME	-1: not known; when its steady state begins and ends.  One that
 *					is several ranks has a line for each
 *	sum NAME VALUE			of the last process: struct ct_rank_sums
 *	step BEGIN DURATION		of the last process
 *	doing BEGIN END FUNCTION	of the last process: its last call; END 0: it has not returned
 *	communicator ID RANKS SPLIT_OF COLOR
 *	row PROCESS COMMUNICATOR RANK [KEY]	calls that are numbered together; indices from 0, in the order of lines; key: of a split
 *	shape ROW FUNCTION COUNT SIZE DATATYPE REDUCTION ROOT	calls that are alike
 *	next ROW NUMBER			the number of the row's next call, where it is not one more
 *	call SHAPE SINCE DURATION [SINCE DURATION [SHARE]]	since the last call's begin; of its kernel, since the call's
 *					begin; its share of that, in parts of a million, where it serves several calls
 *	same SHAPE ...			as call; its kernel is the one of the call before it of this process
 *	calls COUNT			the last line: so many calls
 */
#ifndef CT_CLI_RANK_SUMMARY_H
#define CT_CLI_RANK_SUMMARY_H

#include "base/error.h"
#include "phases/phases.h"
#include "ranks/collectives.h"

#define CT_SUMMARY_MAGIC	"cudatrace summary "
#define CT_SUMMARY_VERSION	1
#define CT_SUMMARIES_MAX	1024u	/* that are read as one: of more, pids would not fit */
#define CT_SUMMARY_LAST		64u	/* newest calls of each row that are kept, whatever the stride */

/* What a rank did in its steady state; ns but for .kernels and .peak. */
#define CT_RANK_SUMS(X)								\
	X(application) X(synchronisation) X(copies) X(off_cpu) X(driver)	\
	X(memory) X(modules)							\
	X(compute) X(kernels)	/* that are not libnccl's; how many */		\
	X(busy)			/* its GPU worked */				\
	X(alone)		/* its GPU did nothing but kernels of libnccl */	\
	X(idle)			/* its GPU had nothing to do, at least; without records of the GPU alone */ \
	X(peak)			/* bytes of GPUs' memory that its process held at most, by its calls */

#define CT_RANK_SUM_FIELD(name)	uint64_t name;
struct ct_rank_sums {
	CT_RANK_SUMS(CT_RANK_SUM_FIELD)
};
#undef CT_RANK_SUM_FIELD

struct ct_summary_process {
	uint32_t pid;
	int32_t rank, gpu;		/* -1: not known */
	char *name;
	struct ct_rank_sums sums;
	const struct ct_class *doing;	/* its last call; NULL: it made none */
	uint64_t doing_begin, doing_end;	/* ns; end 0: it has not returned */
};

struct ct_summaries {
	struct ct_collectives collectives;
	struct ct_phases phases;	/* of each process its steady state and steps */
	struct ct_summary_process *processes;	/* as the phases have them */
	unsigned int processes_count;
	unsigned int files;
	uint32_t stride;		/* of the calls each one of so many is there */
};

/* Is it a file that summarize wrote? */
bool ct_summary_is(const char *path);

/**
 * ct_summaries_open() - summaries as one trace without records
 * @t: set to it: t->summaries is set, it has sources and no streams
 * @name: what messages call it
 *
 * The clocks of hosts are fitted.  Close with ct_trace_close(), also after an error.
 *
 * Return: 0 or a negative errno with a line in @err that names file and line.
 */
int ct_summaries_open(struct ct_trace *t, const char *const *files, unsigned int count, const char *name,
		      struct ct_error *err);

#endif
