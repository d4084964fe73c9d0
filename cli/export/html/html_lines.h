/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks of the program in an HTML report: a tree of lines, with what each costs. */
#ifndef CT_CLI_HTML_LINES_H
#define CT_CLI_HTML_LINES_H

#include "analysis/engine.h"
#include "base/out.h"

/* Writes manifest.lines, null where there are no stacks.  0 or -ENOMEM. */
int ct_html_lines_write(const struct ct_trace *t, struct ct_engine *e, struct ct_out *out);

#endif
