/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Printing what explain found. */
#ifndef CT_CLI_FINDINGS_H
#define CT_CLI_FINDINGS_H

#include <stdio.h>

#include "explain/rule.h"

/* Prints the verdicts of the processes and the sorted findings of @x; @format NULL: as text.  0 or a negative errno. */
int ct_findings_print(struct ct_explain *x, const struct ct_format *format,
		      const struct ct_print_options *print, FILE *out);

#endif
