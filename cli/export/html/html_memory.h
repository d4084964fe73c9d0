/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU's memory that each process holds, over time, for an HTML report. */
#ifndef CT_CLI_HTML_MEMORY_H
#define CT_CLI_HTML_MEMORY_H

#include "analysis/engine.h"
#include "export/html/blobs.h"

/* Collects the points; needs the analyser of memory/memory.h. */
extern const struct ct_analyser ct_html_memory_analyser;

/* manifest.memory with a comma behind it.  0 or -ENOMEM. */
int ct_html_memory_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out);

#endif
