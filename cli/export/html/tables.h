/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reports of a trace in the manifest of an HTML report. */
#ifndef CT_CLI_HTML_TABLES_H
#define CT_CLI_HTML_TABLES_H

#include "analysis/engine.h"
#include "base/out.h"

/* manifest.tables with a comma behind it. */
void ct_html_tables_write(const struct ct_engine *e, struct ct_out *out);

#endif
