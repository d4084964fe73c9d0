/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes of a call's tree: adding, weighing, dropping the smallest where they are too many. */
#ifndef CT_CLI_CALL_NODES_H
#define CT_CLI_CALL_NODES_H

#include "explain/calls/call_types.h"

/* Adds an empty node and sets *index.  0 or -ENOMEM. */
int ct_nodes_add(struct ct_call_tree *t, uint32_t *index);

/*
 * Sets all weights: the duration, but never less than that of a node inside it; of what has
 * no end, and of what ran elsewhere, the most.
 */
void ct_nodes_weigh(struct ct_call_tree *t);

/* Counts a call inside @parent that has no node.  0 or -ENOMEM. */
int ct_nodes_rest(struct ct_call_tree *t, uint32_t parent, const struct ct_class *class,
		  uint64_t count, uint64_t ns);
void ct_nodes_free(struct ct_call_tree *t);

#endif
