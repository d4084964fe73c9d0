/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the report cuda_gpu_trace from records of the GPU.  Columns and their names are nsys's. */
#ifndef CT_CLI_GPU_TRACE_ROWS_H
#define CT_CLI_GPU_TRACE_ROWS_H

#include "analysis/engine.h"

struct ct_table *ct_gpu_trace_table(struct ct_analysis *a, const char *title);

/* The row of a record. */
void ct_gpu_trace_row(struct ct_analysis *a, struct ct_table *t, const struct ct_span *s);

#endif
