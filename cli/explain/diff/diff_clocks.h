/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the GPUs were like in two runs, where both recorded it (record --gpu-metrics): a kernel that takes longer may run at a lower clock. */
#ifndef CT_CLI_DIFF_CLOCKS_H
#define CT_CLI_DIFF_CLOCKS_H

#include "analysis/engine.h"
#include "table/table.h"

/**
 * ct_diff_clocks() - make a table, a row a GPU that both runs used
 * @metrics: results of ct_gpu_metrics_analyser, of A and B
 * @process: the processes that are compared, by their index in the phases; -1: none
 *
 * The caller frees it.  Return: how many rows it has.
 */
unsigned int ct_diff_clocks(struct ct_table *t, const struct ct_analysis *const metrics[2], const int process[2]);

#endif
