/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace explain: what limits a program, and what to try, most costly first. */
#ifndef CT_CLI_EXPLAIN_H
#define CT_CLI_EXPLAIN_H

#include "analysis/engine.h"
#include "explain/rule.h"

struct ct_explain_request {
	const struct ct_format *format;	/* NULL: text for people */
	struct ct_print_options print;
	struct ct_engine_options engine;
};

/* Adds the analysers that a pass must have for ct_explain_judge(). */
void ct_explain_analysers(struct ct_analysers *analysers);

/**
 * ct_explain_judge() - judge a pass by all rules
 * @x: its findings are sorted, the most costly first, steady state before startup
 *
 * Return: 0 or -ENOMEM.  Free with ct_explain_free(), also after an error, before the engine.
 */
int ct_explain_judge(struct ct_explain *x, const struct ct_trace *t, const struct ct_engine *e);
void ct_explain_free(struct ct_explain *x);

/* Prints the verdict and the findings.  0 or a negative errno with a line in @err. */
int ct_explain_print(const struct ct_trace *t, const struct ct_explain_request *request, FILE *out,
		     struct ct_error *err);

/**
 * ct_explain_tables() - the same as two tables, as its csv has them
 * @e: a pass with ct_explain_analysers(), and others if need be
 * @verdicts, @findings: made; to be freed by ct_table_free(), before the trace is closed
 *
 * Return: 0 or a negative errno; then there are no tables.
 */
int ct_explain_tables(const struct ct_trace *t, const struct ct_engine *e, struct ct_table *verdicts,
		      struct ct_table *findings);

#endif
