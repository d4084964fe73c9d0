/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* manifest.job: the ranks of a job, and how late each came in each step. */
#ifndef CT_CLI_HTML_JOB_H
#define CT_CLI_HTML_JOB_H

#include "base/out.h"
#include "explain/explain.h"

/* "job":{...}, or "job":null where the trace is of no job of several ranks.  0 or -ENOMEM. */
int ct_html_job(const struct ct_explain *x, struct ct_out *out);

#endif
