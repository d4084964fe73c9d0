// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_nodes.h.  Must never hold more nodes than the tree's limit, but for what can't be dropped. */
#include "explain/calls/call_nodes.h"

#include <errno.h>
#include <stdlib.h>

#define RESTS_MAX	(1u << 16)

int ct_nodes_rest(struct ct_call_tree *t, uint64_t within, const struct ct_class *class, uint64_t count,
		  uint64_t ns)
{
	struct ct_call_rest *rest = ct_keyed_get_pair(&t->rests, within, class ? class->id : UINT64_MAX);

	/* Beyond the limit they are known as one sum. */
	if (!rest && t->rests.count >= RESTS_MAX)
		class = NULL;
	rest = ct_keyed_put_pair(&t->rests, within, class ? class->id : UINT64_MAX);
	if (!rest)
		return -ENOMEM;
	rest->class = class;
	rest->count += count;
	rest->ns += ns;
	return 0;
}

/* ----------------------------------------------------------------- order --- */

static int nodes_compare(const void *a, const void *b)
{
	const struct ct_call_node *x = a, *y = b;

	if (!x->within != !y->within)
		return x->within ? 1 : -1;
	if (x->entered != y->entered)
		return x->entered < y->entered ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void ct_nodes_order(struct ct_call_tree *t)
{
	ct_keyed_sort(&t->nodes, nodes_compare);
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		struct ct_call_node *n = &t->nodes.list[i];
		const struct ct_call_node *in = n->within ? ct_keyed_get(&t->nodes, n->within) : NULL;

		n->parent = in && in < n ? (uint32_t)(in - t->nodes.list) : CT_NODE_NONE;
		/* Not where its tree is not complete yet. */
		if (n->parent == CT_NODE_NONE && i && !t->nodes.list[0].within)
			n->parent = 0;
		n->depth = n->parent == CT_NODE_NONE ? 0 : t->nodes.list[n->parent].depth;
		n->depth += n->parent != CT_NODE_NONE && n->depth < UINT16_MAX;
	}
}

void ct_nodes_weigh(struct ct_call_tree *t)
{
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		struct ct_call_node *n = &t->nodes.list[i];
		bool known = n->instant || (n->returned && !n->abandoned);

		n->weight = known && !n->deferred ? n->duration : UINT64_MAX;
	}
	/* A node comes behind the one that it is in. */
	for (uint32_t i = t->nodes.count; i-- > 0;) {
		const struct ct_call_node *n = &t->nodes.list[i];

		if (n->parent != CT_NODE_NONE && n->weight > t->nodes.list[n->parent].weight)
			t->nodes.list[n->parent].weight = n->weight;
	}
}

/* ------------------------------------------------------------------ drop --- */

static int nodes_by_weight(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The weight that a quarter of all nodes are not above. */
static int nodes_threshold(const struct ct_call_tree *t, uint64_t *weight)
{
	uint64_t *all = malloc(t->nodes.count * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nodes.count; i++)
		all[i] = t->nodes.list[i].weight;
	qsort(all, t->nodes.count, sizeof(*all), nodes_by_weight);
	*weight = all[t->nodes.count / 4];
	free(all);
	return 0;
}

/*
 * Drops the smallest nodes.  A node is never heavier than what it is in, so whole branches go, and
 * with them the sums of what is in them; what is still open has no node yet.
 */
static int nodes_drop(struct ct_call_tree *t)
{
	CT_KEYED(struct ct_call_node) old;
	CT_KEYED(struct ct_call_rest) rests;
	uint64_t least = 0;
	int rc;

	ct_nodes_order(t);
	ct_nodes_weigh(t);
	rc = nodes_threshold(t, &least);
	if (rc)
		return rc;
	old.keyed = t->nodes.keyed;
	rests.keyed = t->rests.keyed;
	t->nodes.keyed = t->rests.keyed = (struct ct_keyed){ 0 };
	for (size_t i = 0; i < old.count; i++) {
		struct ct_call_node *n = &old.list[i], *kept = NULL;
		bool stays = n->weight > least || n->weight == UINT64_MAX || !n->within;

		if (stays && !rc) {
			kept = ct_keyed_put(&t->nodes, n->key);
			rc = kept ? 0 : -ENOMEM;
		}
		if (kept) {
			*kept = *n;
			continue;
		}
		free(n->detail);
		/* What it is in was dropped before, or stays, or is still open. */
		if (!rc && (n->parent == CT_NODE_NONE || ct_keyed_get(&t->nodes, n->within)))
			rc = ct_nodes_rest(t, n->within, n->class, 1, n->duration);
	}
	for (size_t i = 0; i < rests.count && !rc; i++) {
		const struct ct_call_rest *rest = &rests.list[i];

		if (ct_keyed_get(&t->nodes, rest->within) || !ct_keyed_get(&old, rest->within))
			rc = ct_nodes_rest(t, rest->within, rest->class, rest->count, rest->ns);
	}
	ct_keyed_free(&old);
	ct_keyed_free(&rests);
	if (t->nodes.count > t->limit - t->limit / 8)
		t->limit += t->limit / 2;
	return rc;
}

int ct_nodes_add(struct ct_call_tree *t, const struct ct_call_node *node)
{
	int rc = t->nodes.count >= t->limit ? nodes_drop(t) : 0;
	struct ct_call_node *n = rc ? NULL : ct_keyed_put(&t->nodes, node->key);

	if (!n)
		return rc ? rc : -ENOMEM;
	free(n->detail); /* a trace that numbers two calls alike is damaged */
	*n = *node;
	return 0;
}

/* ------------------------------------------------------------------ sums --- */

static int nodes_by_parent(const void *a, const void *b)
{
	const struct ct_call_rest *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void ct_nodes_sum(struct ct_call_tree *t)
{
	for (size_t i = 0; i < t->rests.count; i++) {
		struct ct_call_rest *rest = &t->rests.list[i];
		const struct ct_call_node *n = ct_keyed_get(&t->nodes, rest->within);

		/* Of what has no node itself, in a call whose begin was lost. */
		n = n ? n : t->nodes.list;
		rest->parent = n - t->nodes.list;
	}
	if (t->rests.count)
		qsort(t->rests.list, t->rests.count, sizeof(*t->rests.list), nodes_by_parent);
}

void ct_nodes_free(struct ct_call_tree *t)
{
	for (uint32_t i = 0; i < t->nodes.count; i++)
		free(t->nodes.list[i].detail);
	ct_keyed_free(&t->nodes);
	ct_keyed_free(&t->rests);
}
