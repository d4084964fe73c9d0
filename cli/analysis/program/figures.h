/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The summary as a table of figures. */
#ifndef CT_CLI_FIGURES_H
#define CT_CLI_FIGURES_H

#include "analysis/engine.h"

/* Makes the table of all figures: Metric, Value, Unit. */
int ct_summary_table(struct ct_analysis *a);

#endif
