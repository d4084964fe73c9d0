/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes of a call's tree: adding, weighing, dropping the smallest where they are too many. */
#ifndef CT_CLI_CALL_NODES_H
#define CT_CLI_CALL_NODES_H

#include "explain/calls/call_types.h"

/* Adds a node, whose key is new; its strings are the tree's.  0 or -ENOMEM. */
int ct_nodes_add(struct ct_call_tree *t, const struct ct_call_node *node);

/* Sorts the nodes, and sets the parent and the depth of each. */
void ct_nodes_order(struct ct_call_tree *t);

/*
 * Sets all weights, of nodes in order: the duration, but never less than that of a node inside
 * it; of what has no end, and of what ran elsewhere, the most.
 */
void ct_nodes_weigh(struct ct_call_tree *t);

/* Counts a call inside the node @within that has no node.  0 or -ENOMEM. */
int ct_nodes_rest(struct ct_call_tree *t, uint64_t within, const struct ct_class *class, uint64_t count,
		  uint64_t ns);

/* Sorts what was counted: by node, the largest sum first. */
void ct_nodes_sum(struct ct_call_tree *t);
void ct_nodes_free(struct ct_call_tree *t);

#endif
