/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folded stacks of lines of the program, for flame graphs. */
#ifndef CT_CLI_FOLDED_LINES_H
#define CT_CLI_FOLDED_LINES_H

#include "export/export.h"

/* A line is LINE;LINE;... COST: the outermost caller first, and the costs x->weight.  0 or a negative errno. */
int ct_folded_lines(const struct ct_export *x, struct ct_error *err);

#endif
