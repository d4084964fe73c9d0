/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report without a name: what a trace says, on one screen. */
#ifndef CT_CLI_SUMMARY_H
#define CT_CLI_SUMMARY_H

#include "analysis/engine.h"

extern const struct ct_analyser ct_report_summary;

/**
 * ct_summary_print() - what record prints at its end
 * @dir: a trace, finished or not; it isn't changed
 */
int ct_summary_print(const char *dir, FILE *out, struct ct_error *err);

#endif
