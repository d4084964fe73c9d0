/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table diff_ranks: the ranks of a job in both traces, and which one makes the others wait more than before. */
#ifndef CT_CLI_DIFF_RANKS_H
#define CT_CLI_DIFF_RANKS_H

#include "analysis/ranks/job_why.h"
#include "table/table.h"

struct ct_diff_ranks {
	struct ct_phases phases[2];		/* found for it */
	const struct ct_phases *of[2];		/* those, or those that were there; NULL: of summaries */
	struct ct_engine *engines[2];
	const struct ct_job *jobs[2];		/* NULL: a trace has no job of several ranks */
	const struct ct_job_rank *changed[2];	/* the rank that makes others wait more, or less; NULL: none does */
	uint32_t pids[2];			/* of that rank; 0: none */
};

/**
 * ct_diff_ranks_find() - look for jobs in both traces, and for the rank that changed
 * @phases: of both, found already; each may be NULL
 *
 * A pass over each trace that has calls of libnccl and is compared as a whole.  Free with
 * ct_diff_ranks_free(), also after an error.
 *
 * Return: 0 or a negative errno with a line in @err.
 */
int ct_diff_ranks_find(struct ct_diff_ranks *r, const struct ct_trace *const traces[2],
		       const struct ct_phases *const phases[2], struct ct_error *err);

/* Fills and describes the table, to be freed by ct_table_free().  Return: how many rows it has, or -ENOMEM. */
int ct_diff_ranks_table(struct ct_table *t, const struct ct_diff_ranks *r);
void ct_diff_ranks_free(struct ct_diff_ranks *r);

#endif
