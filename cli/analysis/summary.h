/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the report that print the figures of stats.h. */
#ifndef CT_CLI_SUMMARY_H
#define CT_CLI_SUMMARY_H

#include "analysis/analysis.h"

int ct_report_head(const struct ct_analysis_run *run);
int ct_report_totals(const struct ct_analysis_run *run);
int ct_report_categories(const struct ct_analysis_run *run);
int ct_report_top_by_time(const struct ct_analysis_run *run);
int ct_report_top_by_count(const struct ct_analysis_run *run);
int ct_report_precision(const struct ct_analysis_run *run);

#endif
