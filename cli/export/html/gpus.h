/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the machine's GPUs were like over time, for an HTML report. */
#ifndef CT_CLI_HTML_GPUS_H
#define CT_CLI_HTML_GPUS_H

#include "analysis/engine.h"
#include "export/html/blobs.h"

/* Collects the points. */
extern const struct ct_analyser ct_html_gpus_analyser;

/* manifest.gpus with a comma behind it.  0 or -ENOMEM. */
int ct_html_gpus_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out);

#endif
