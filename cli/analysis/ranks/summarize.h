/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing the summary of a trace: ranks/rank_summary.h. */
#ifndef CT_CLI_SUMMARIZE_H
#define CT_CLI_SUMMARIZE_H

#include "base/error.h"
#include "trace/reader.h"

#define CT_SUMMARY_STEP	3072u	/* bytes of a rank and step, at most */

/* What was written. */
struct ct_summarized {
	unsigned int ranks;
	uint64_t steps;			/* of the rank that has most */
	uint64_t calls, kept;		/* of libnccl */
	uint64_t bytes;
};

/**
 * ct_summarize() - write the summary of a trace
 * @t: one trace, not several as one
 * @step: bytes that the calls of a rank's step may take; where they are more, some are left out
 *
 * Return: 0; -ENODATA: it has no calls of libnccl; another negative errno; with a line in @err.
 */
int ct_summarize(const struct ct_trace *t, uint32_t step, int fd, struct ct_summarized *done, struct ct_error *err);

#endif
