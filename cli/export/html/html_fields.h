/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The classes of an HTML report, with the arguments of their records as columns. */
#ifndef CT_CLI_HTML_FIELDS_H
#define CT_CLI_HTML_FIELDS_H

#include "analysis/engine.h"
#include "export/html/html_columns.h"

/* Makes the columns and writes manifest.classes; @e: the reports' pass.  0 or a negative errno. */
int ct_html_fields(struct ct_html_columns *c, const struct ct_engine *e, struct ct_out *out);

#endif
