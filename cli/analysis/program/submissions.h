/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls give the GPU something to do: launches of kernels and graphs, copies and sets. */
#ifndef CT_CLI_SUBMISSIONS_H
#define CT_CLI_SUBMISSIONS_H

#include "analysis/engine.h"

static inline bool ct_submits(const struct ct_class *class)
{
	if (class->layer != CT_LAYER_USER || !class->call)
		return false;
	if (class->op == CT_OP_LAUNCH)
		return class->category == CT_CAT_KERNEL || class->category == CT_CAT_GRAPH;
	return class->category == CT_CAT_TRANSFER &&
	       (class->op == CT_OP_COPY || class->op == CT_OP_SET);
}

#endif
