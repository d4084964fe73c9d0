/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nodes of stacks, each line below its caller once: processes number their stacks each for
 * itself, and so does who samples them.
 */
#ifndef CT_CLI_STACK_TREE_H
#define CT_CLI_STACK_TREE_H

#include "base/keyed.h"
#include "trace/stacks/stacks.h"

struct ct_stack_known {
	uint64_t node;
	uint32_t same;			/* the first node that is this stack */
};

struct ct_stack_place {
	uint64_t parent;		/* the first node of the caller's stack */
	uint64_t at;			/* function << 32 | line */
	uint32_t node;
};

/* Zeros are none. */
struct ct_stack_tree {
	CT_KEYED(struct ct_stack_known) known;
	CT_KEYED(struct ct_stack_place) places;
};

/* The first node that is the same stack as @node; 0: there is no such node, or no memory (@rc is -ENOMEM then). */
uint32_t ct_stack_same(struct ct_stack_tree *tree, const struct ct_registry *reg, uint32_t node, int *rc);
void ct_stack_tree_free(struct ct_stack_tree *tree);

#endif
