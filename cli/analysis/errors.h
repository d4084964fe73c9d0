/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part of the report: which calls failed, with which result, how often. */
#ifndef CT_CLI_ERRORS_H
#define CT_CLI_ERRORS_H

#include "analysis/analysis.h"

/* Prints nothing if no call failed.  0 or -ENOMEM. */
int ct_errors_report(const struct ct_analysis_run *run);

#endif
