/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The summary as a table of figures. */
#ifndef CT_CLI_FIGURES_H
#define CT_CLI_FIGURES_H

#include "analysis/engine.h"

/*
 * How long was recorded, ns: until the last record, from the first one, or from the begin of a
 * process, which may come long before its first record.
 */
uint64_t ct_summary_duration(const struct ct_analysis *a);

/* Makes the table of all figures: Metric, Value, Unit. */
int ct_summary_table(struct ct_analysis *a);

#endif
