/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call through the layers: what happened inside it, on its thread and elsewhere, and
 * where its time went.
 */
#ifndef CT_CLI_CALL_TREE_H
#define CT_CLI_CALL_TREE_H

#include <stdio.h>

#include "analysis/filter.h"
#include "base/error.h"
#include "table/format.h"
#include "trace/reader.h"

#define CT_CALLS_SLOWEST_MAX	100
#define CT_CALL_PARTS_MAX	1000	/* calls of a tree that are printed */

enum ct_call_question {
	CT_CALL_ONE,		/* the call op_id */
	CT_CALL_SLOWEST,	/* the count calls that took longest */
	CT_CALL_AT,		/* the calls that were open at the moment at */
};

struct ct_call_request {
	enum ct_call_question question;
	uint64_t op_id;			/* as cudatrace export numbers calls */
	unsigned int count;		/* 1 to CT_CALLS_SLOWEST_MAX */
	uint64_t at;			/* ns, as records have it */
	/* Which calls count for CT_CALL_SLOWEST, and which threads for CT_CALL_AT. */
	struct ct_report_filter filter;
	const struct ct_format *format;	/* NULL: text for people */
	/* print.top: the largest parts of a tree to print; 0: CT_CALL_PARTS_MAX, of SLOWEST 12 */
	struct ct_print_options print;
};

/**
 * ct_explain_calls() - print the trees of calls, or what ran at a moment
 *
 * Makes two passes over the trace.  Memory is bounded: of a call with very many calls inside,
 * the small ones are summed up by function.
 *
 * Return: 0, or a negative errno with a line in @err: -ENOENT there is no such call, or none
 * that the filter lets pass.
 */
int ct_explain_calls(const struct ct_trace *t, const struct ct_call_request *q, FILE *out,
		     struct ct_error *err);

#endif
