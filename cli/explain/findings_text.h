/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What explain found, as text for people: verdicts, then findings. */
#ifndef CT_CLI_FINDINGS_TEXT_H
#define CT_CLI_FINDINGS_TEXT_H

#include <stdio.h>

#include "explain/rule.h"
#include "table/format.h"

/* Prints the verdicts of the processes and the sorted findings of @x. */
void ct_findings_text(struct ct_explain *x, const struct ct_print_options *print, FILE *out);

#endif
