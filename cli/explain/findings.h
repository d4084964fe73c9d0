/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What explain found: words and tables. */
#ifndef CT_CLI_FINDINGS_H
#define CT_CLI_FINDINGS_H

#include <stdio.h>

#include "analysis/verdict.h"
#include "explain/rule.h"

/* "sure", "startup" ... by enum ct_certainty and enum ct_scope. */
extern const char *const ct_certainty_word[], *const ct_scope_word[];

/* The verdict on the process that @x is set to. */
enum ct_limit ct_findings_verdict(const struct ct_explain *x, char *text, size_t size);

/* Prints the verdicts of the processes and the sorted findings of @x as tables.  0 or a negative errno. */
int ct_findings_print(struct ct_explain *x, const struct ct_format *format,
		      const struct ct_print_options *print, FILE *out);

/* Makes the same as tables, which the caller frees.  0 or a negative errno; then there are none. */
int ct_findings_tables(struct ct_explain *x, struct ct_table *verdicts, struct ct_table *findings);

#endif
