/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of all rules. */
#ifndef CT_CLI_RULES_H
#define CT_CLI_RULES_H

#include <stdio.h>

#include "explain/rule.h"

extern const struct ct_rule ct_rules[];
extern const unsigned int ct_rules_count;

/* docs/rules.md; with @width in lines of so many columns, as a terminal wants it. */
void ct_explain_print_rules(FILE *out, unsigned int width);

#endif
