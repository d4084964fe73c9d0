/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reports of a trace, and its memory over time, in the manifest of an HTML report. */
#ifndef CT_CLI_HTML_TABLES_H
#define CT_CLI_HTML_TABLES_H

#include "analysis/engine.h"
#include "export/html/blobs.h"

/* Adds all reports that are no lists of records to @list.  Return: the new count. */
unsigned int ct_html_tables_add(const struct ct_analyser **list, unsigned int count, unsigned int room);

/* manifest.tables and .memory, each with a comma behind it.  0 or -ENOMEM. */
int ct_html_tables_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out);

#endif
