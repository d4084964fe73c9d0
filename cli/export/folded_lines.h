/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folded stacks of lines of the program, for flame graphs. */
#ifndef CT_CLI_FOLDED_LINES_H
#define CT_CLI_FOLDED_LINES_H

#include "base/out.h"
#include "export/export.h"

/* A frame: a ';' separates frames, and a line ends at a line feed, so that they become '_'. */
void ct_folded_word(struct ct_out *out, const char *word);

/* A line is LINE;LINE;... COST: the outermost caller first, and the costs x->weight.  0 or a negative errno. */
int ct_folded_lines(const struct ct_export *x, struct ct_error *err);

#endif
