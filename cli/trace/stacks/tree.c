// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tree.h. */
#include "trace/stacks/tree.h"

#include <errno.h>

/* Its caller is known already. */
static uint32_t tree_add(struct ct_stack_tree *tree, uint32_t node, uint32_t caller, const struct ct_stack_frame *f)
{
	uint64_t at = (uint64_t)f->function << 32 | f->line;
	struct ct_stack_place *place = ct_keyed_get_pair(&tree->places, caller, at);
	struct ct_stack_known *known = ct_keyed_put(&tree->known, node);

	if (!known)
		return 0;
	if (!place) {
		place = ct_keyed_put_pair(&tree->places, caller, at);
		if (!place)
			return 0;
		place->node = node;
	}
	known->same = place->node;
	return place->node;
}

uint32_t ct_stack_same(struct ct_stack_tree *tree, const struct ct_registry *reg, uint32_t node, int *rc)
{
	uint32_t path[CT_STACK_DEPTH], depth = 0, same = 0;
	struct ct_stack_frame frames[CT_STACK_DEPTH];

	/* Up to a caller that is known. */
	while (node && depth < CT_STACK_DEPTH) {
		struct ct_stack_known *known = ct_keyed_get(&tree->known, node);

		if (known) {
			same = known->same;
			break;
		}
		if (!ct_stack_frame(reg, node, &frames[depth]))
			return 0;
		path[depth] = node;
		node = frames[depth++].parent;
	}
	while (depth--) {
		same = tree_add(tree, path[depth], same, &frames[depth]);
		if (!same) {
			*rc = -ENOMEM;
			return 0;
		}
	}
	return same;
}

void ct_stack_tree_free(struct ct_stack_tree *tree)
{
	ct_keyed_free(&tree->known);
	ct_keyed_free(&tree->places);
}
