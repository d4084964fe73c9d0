/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the GPU did for a call: of a launch or copy, its records; of a synchronisation, the work
 * that ended while it waited.  Kernels of CUDA graphs have the line that made their nodes.
 */
#ifndef CT_CLI_CALL_GPU_H
#define CT_CLI_CALL_GPU_H

#include <stdio.h>

#include "explain/calls/call_types.h"

/* Gets the struct ct_call_found as ct_call_collect does.  Empty where a trace has no records of the GPU. */
extern const struct ct_analyser ct_call_gpu;

/* Of several calls (@t NULL) each row names its call, and all columns are there. */
void ct_call_gpu_begin(struct ct_table *table, const struct ct_analysis *a, const struct ct_call_tree *t);

/* Adds what the GPU did for a tree's call; @a needs ct_call_gpu.  False: there is nothing to say. */
bool ct_call_gpu_add(struct ct_table *table, const struct ct_analysis *a, const struct ct_call_tree *t, bool call);

#endif
