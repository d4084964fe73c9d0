/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked about calls. */
#ifndef CT_CLI_CALL_REQUEST_H
#define CT_CLI_CALL_REQUEST_H

#include "analysis/filter.h"
#include "table/format.h"

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

#endif
