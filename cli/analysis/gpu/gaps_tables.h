/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of the report gaps where the trace has records of the GPU. */
#ifndef CT_CLI_GPU_GAPS_TABLES_H
#define CT_CLI_GPU_GAPS_TABLES_H

#include "analysis/engine.h"

/* The analysis must need ct_gpu_idle_analyser, ct_gpu_busy_analyser and ct_gpu_coverage_analyser.  0 or -ENOMEM. */
int ct_gpu_gaps_tables(struct ct_analysis *a);

#endif
