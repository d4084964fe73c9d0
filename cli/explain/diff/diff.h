/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace diff: what changed from one trace to another, by its effect on wall time. */
#ifndef CT_CLI_DIFF_H
#define CT_CLI_DIFF_H

#include <stdio.h>

#include "base/error.h"
#include "phases/phases.h"
#include "table/format.h"
#include "trace/reader.h"

struct ct_diff_request {
	const struct ct_format *format;		/* NULL: tables for people */
	struct ct_print_options print;
	const struct ct_phases *phases[2];	/* of both traces, found already; NULL: they are found */
};

/**
 * ct_diff() - compare two traces and print tables
 * @a, @b: before and after
 * @worst_percent: set to how much slower @b is: by the median iteration where both traces have
 *	iterations, else by the main process's execution; 0 where the difference is within the
 *	noise; below 0: faster.  Of several processes it is the most that one of them became slower
 *
 * Figures are per iteration of the steady state where both traces have iterations, else of the
 * whole run.  Noise is the spread of the iterations within the traces; without iterations it is
 * not known.  Of summaries, which both are then, the ranks are compared, and nothing else.
 *
 * Return: 0, or a negative errno with a line in @err.
 */
int ct_diff(const struct ct_trace *a, const struct ct_trace *b, const struct ct_diff_request *q,
	    FILE *out, double *worst_percent, struct ct_error *err);

#endif
