/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making reports of a trace and printing them. */
#ifndef CT_CLI_PRINT_H
#define CT_CLI_PRINT_H

#include <stdio.h>

#include "analysis/reports.h"
#include "table/format.h"

#define CT_REPORTS_MAX	48	/* of one call */

struct ct_report_request {
	const struct ct_analyser *reports[CT_REPORTS_MAX];
	unsigned int count;
	const struct ct_format *format;	/* NULL: tables for people */
	/*
	 * Where to: NULL: standard output.  Several reports get a file each, OUTPUT_NAME.EXTENSION,
	 * one gets OUTPUT.
	 */
	const char *output;
	bool force;			/* replace a file that is there */
	bool steady;			/* no range was given: reports that say so are of the steady state */
	const char *sort;		/* a column, with "-" in front the smallest first; NULL: as made */
	struct ct_print_options print;
	struct ct_engine_options engine;
};

/**
 * ct_reports_print() - make reports and print them, in the order in which they are asked for
 *
 * Reports are made in one pass; with @steady, those of the steady state in another one.  A report
 * that is a list of all records goes out while it is made, in a pass of its own.
 *
 * Return: 0 or a negative errno with a line in @err; -EPIPE: nobody reads the output any more.
 */
int ct_reports_print(const struct ct_trace *t, const struct ct_report_request *request,
		     struct ct_error *err);

#endif
