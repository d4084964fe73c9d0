// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_nodes.h.  Must never hold more nodes than the tree's limit, but for open calls. */
#include "explain/calls/call_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define RESTS_MAX	(1u << 16)

int ct_nodes_rest(struct ct_call_tree *t, uint32_t parent, const struct ct_class *class,
		  uint64_t count, uint64_t ns)
{
	uint64_t key = (uint64_t)parent << 16 | class->id;
	struct ct_call_rest *rest;

	t->nodes[parent].rest_count += count;
	t->nodes[parent].rest_ns += ns;
	/* Beyond the limit they are known as one sum. */
	if (t->rests.count == RESTS_MAX && !ct_keyed_get(&t->rests, key))
		return 0;
	rest = ct_keyed_put(&t->rests, key);
	if (!rest)
		return -ENOMEM;
	rest->parent = parent;
	rest->class = class;
	rest->count += count;
	rest->ns += ns;
	return 0;
}

void ct_nodes_weigh(struct ct_call_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct ct_call_node *n = &t->nodes[i];
		bool known = n->instant || (n->returned && !n->abandoned);

		n->weight = known && !n->deferred ? n->duration : UINT64_MAX;
	}
	/* A node comes behind the one that it is in. */
	for (uint32_t i = t->count; i-- > 1;)
		if (t->nodes[i].weight > t->nodes[t->nodes[i].parent].weight)
			t->nodes[t->nodes[i].parent].weight = t->nodes[i].weight;
}

static int nodes_by_weight(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The weight that a quarter of all nodes are not above. */
static int nodes_threshold(const struct ct_call_tree *t, uint64_t *weight)
{
	uint64_t *all = malloc(t->count * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		all[i] = t->nodes[i].weight;
	qsort(all, t->count, sizeof(*all), nodes_by_weight);
	*weight = all[t->count / 4];
	free(all);
	return 0;
}

/* The sums of nodes that are gone go with them: they are inside the sums of their parents. */
static int nodes_move_rests(struct ct_call_tree *t, const uint32_t *moved)
{
	CT_KEYED(struct ct_call_rest) old = { .keyed = t->rests.keyed };
	int rc = 0;

	t->rests.keyed = (struct ct_keyed){ 0 };
	for (size_t i = 0; i < old.count && !rc; i++) {
		const struct ct_call_rest *rest = &old.list[i];
		uint32_t parent = moved[rest->parent];

		if (parent == CT_NODE_NONE)
			continue;
		t->nodes[parent].rest_count -= rest->count;
		t->nodes[parent].rest_ns -= rest->ns;
		rc = ct_nodes_rest(t, parent, rest->class, rest->count, rest->ns);
	}
	ct_keyed_free(&old);
	return rc;
}

static void nodes_move_items(struct ct_call_tree *t, const uint32_t *moved)
{
	for (size_t i = 0; i < t->items.count; i++) {
		uint32_t *node = &t->items.list[i].node;

		if (*node)
			*node = moved[*node - 1] == CT_NODE_NONE ? 0 : moved[*node - 1] + 1;
	}
}

/* Which nodes stay, and where; those that are dropped below one that stays go to @sums. */
static uint32_t nodes_choose(const struct ct_call_tree *t, uint64_t least, uint32_t *moved,
			     struct ct_call_rest *sums, uint32_t *kept)
{
	uint32_t count = 0;

	*kept = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct ct_call_node *n = &t->nodes[i];

		if (!i || n->weight > least || n->weight == UINT64_MAX) {
			moved[i] = (*kept)++;
			continue;
		}
		moved[i] = CT_NODE_NONE;
		if (moved[n->parent] != CT_NODE_NONE)
			sums[count++] = (struct ct_call_rest){ 0, moved[n->parent], n->class, 1, n->duration };
	}
	return count;
}

static void nodes_compact(struct ct_call_tree *t, const uint32_t *moved, uint32_t kept)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (moved[i] == CT_NODE_NONE) {
			free(t->nodes[i].detail);
			continue;
		}
		if (i)
			t->nodes[i].parent = moved[t->nodes[i].parent];
		t->nodes[moved[i]] = t->nodes[i];
	}
	t->count = kept;
	for (uint32_t i = 0; i < t->depth; i++)
		if (t->stack[i].node != CT_NODE_NONE)
			t->stack[i].node = moved[t->stack[i].node];
}

/* Drops the smallest nodes.  A node is never heavier than what it is in, so whole branches go. */
static int nodes_drop(struct ct_call_tree *t)
{
	uint32_t *moved = malloc(t->count * sizeof(*moved)), kept, count;
	struct ct_call_rest *sums = malloc(t->count * sizeof(*sums));
	uint64_t least = 0;
	int rc = moved && sums ? 0 : -ENOMEM;

	ct_nodes_weigh(t);
	if (!rc)
		rc = nodes_threshold(t, &least);
	if (!rc) {
		count = nodes_choose(t, least, moved, sums, &kept);
		nodes_compact(t, moved, kept);
		nodes_move_items(t, moved);
		rc = nodes_move_rests(t, moved);
		for (uint32_t i = 0; i < count && !rc; i++)
			rc = ct_nodes_rest(t, sums[i].parent, sums[i].class, 1, sums[i].ns);
		/* Calls that are still open can't be dropped. */
		if (kept > t->limit - t->limit / 8)
			t->limit += t->limit / 2;
	}
	free(moved);
	free(sums);
	return rc;
}

int ct_nodes_add(struct ct_call_tree *t, uint32_t *index)
{
	if (t->count >= t->limit) {
		int rc = nodes_drop(t);

		if (rc)
			return rc;
	}
	if (!ct_room(t->nodes, t->count, t->capacity))
		return -ENOMEM;
	*index = t->count++;
	t->nodes[*index] = (struct ct_call_node){ .parent = CT_NODE_NONE, .cpu = CT_NO_CPU };
	return 0;
}

void ct_nodes_free(struct ct_call_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->nodes[i].detail);
	free(t->nodes);
	ct_keyed_free(&t->rests);
	t->nodes = NULL;
	t->count = 0;
}
