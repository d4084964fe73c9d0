/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which call caused a record of the GPU.
 *
 * CUPTI numbers the launches, copies and sets of a process in the order in which they are
 * submitted, from 1, and each record has the number of its call.  So the calls of the process
 * that submit work, counted in the order in which they began, and the numbers go side by side:
 * also those that fail, have nothing to copy, or are captured into a graph.  A pair counts only if the call fits the record: kernel, grid and block, bytes, or that it is a
 * graph launch; and the record began after its call.  Where they do not go side by side (a
 * number was taken by something else, two threads submitted at the same time), the nearest call
 * that fits is taken, and no call twice; what fits none is not joined.
 */
#ifndef CT_CLI_GPU_JOIN_H
#define CT_CLI_GPU_JOIN_H

#include "trace/order.h"

struct ct_gpu_join;

/* NULL: no memory. */
struct ct_gpu_join *ct_gpu_join_new(const struct ct_registry *reg);
void ct_gpu_join_free(struct ct_gpu_join *j);

/**
 * ct_gpu_join_point() - for each point of a merge, in its order
 * @launch_op_id: of a B or E of layer gpu: op_id of the call that caused it, 0: none is
 *	known.  Then ask again at its E: by the uncertainty of its clock, it may begin before
 *	its call.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_gpu_join_point(struct ct_gpu_join *j, const struct ct_point *p, uint64_t *launch_op_id);

#endif
