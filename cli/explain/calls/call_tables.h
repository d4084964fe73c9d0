/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trees of calls as tables: their calls, where their time went, what ran meanwhile. */
#ifndef CT_CLI_CALL_TABLES_H
#define CT_CLI_CALL_TABLES_H

#include <stdio.h>

#include "explain/calls/call_types.h"

struct ct_call_tables {
	struct ct_table tree, time, meanwhile, gpu;
	bool has_gpu;			/* the trace has records of the GPU */
};

void ct_call_tables_begin(struct ct_call_tables *tables, bool has_gpu);

/* Adds rows for the nodes that are @shown, and the sums. */
void ct_call_tables_add(struct ct_call_tables *tables, const struct ct_analysis *a,
			const struct ct_call_tree *t, const bool *shown);

/* Prints all in the format of @q where @print says so, and frees.  0 or a negative errno. */
int ct_call_tables_end(struct ct_call_tables *tables, const struct ct_call_request *q, FILE *out,
		       bool print);

/* For people: where the time of one tree went, and what ran meanwhile. */
int ct_call_tables_text(const struct ct_analysis *a, const struct ct_call_tree *t,
			const struct ct_call_request *q, FILE *out);

#endif
