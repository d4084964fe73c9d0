/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An analysis: one part of the report.  A new one is a file with a function of this
 * type, and a row of the table in analyses.c.
 */
#ifndef CT_CLI_ANALYSIS_H
#define CT_CLI_ANALYSIS_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/reader.h"

struct ct_stats;

struct ct_report_options {
	unsigned int top;	/* operations in each list */
	bool summary_only;
	bool handles;		/* RM's objects too */
	bool blocks;		/* each block of the driver's memory that is still held */
};

/* What every analysis gets. */
struct ct_analysis_run {
	const struct ct_trace *trace;
	const struct ct_stats *stats;	/* of the whole trace */
	const struct ct_report_options *options;
	FILE *out;
};

struct ct_analysis {
	const char *name;
	/* Prints its part to run->out.  Return: 0 or a negative errno. */
	int (*print)(const struct ct_analysis_run *run);
	/* Is this part wanted?  NULL: in every report that is not only the summary. */
	bool (*wanted)(const struct ct_report_options *options);
};

#endif
