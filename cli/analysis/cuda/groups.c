// SPDX-License-Identifier: LGPL-2.1-or-later
/* See groups.h.  Must never take two texts for one because their hashes are equal. */
#include "analysis/cuda/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t groups_hash(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

/* A new group at the end of the list: its index, or -ENOMEM. */
static int groups_add(struct ct_text_groups *g, const char *text, size_t len)
{
	if (g->count == g->capacity) {
		unsigned int capacity = g->capacity ? 2 * g->capacity : 64;
		struct ct_text_group *more = reallocarray(g->list, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		g->list = more;
		g->capacity = capacity;
	}
	g->list[g->count] = (struct ct_text_group){ .text = strndup(text, len) };
	return g->list[g->count].text ? (int)g->count++ : -ENOMEM;
}

int ct_groups_text(struct ct_text_groups *g, const char *text, size_t len)
{
	struct ct_text_hash *same;
	uint64_t hash;
	int index;

	len = strnlen(text, len);
	hash = groups_hash(text, len);
	same = ct_keyed_get(&g->by_hash, hash);
	for (uint32_t i = same ? same->first : 0; i; i = g->list[i - 1].next)
		if (!strncmp(g->list[i - 1].text, text, len) && !g->list[i - 1].text[len])
			return i - 1;
	if (ct_groups_full(g))
		return CT_GROUPS_MAX;
	if (g->count == CT_GROUPS_MAX)
		return groups_add(g, "(other)", 7);
	same = ct_keyed_put(&g->by_hash, hash);
	if (!same)
		return -ENOMEM;
	index = groups_add(g, text, len);
	if (index < 0)
		return index;
	g->list[index].next = same->first;
	same->first = index + 1;
	return index;
}

int ct_groups_string(struct ct_text_groups *g, struct ct_names *names, uint64_t id)
{
	const char *text;
	int index;

	if (!g->by_string) {
		g->strings = names->reg->strings_count;
		g->by_string = calloc(g->strings + 1, sizeof(*g->by_string));
		if (!g->by_string)
			return -ENOMEM;
	}
	if (id >= g->strings)
		id = 0;
	if (g->by_string[id])
		return g->by_string[id] - 1;
	text = id ? ct_names_string(names, id) : NULL;
	if (!text || !*text)
		text = "(unknown)";
	index = ct_groups_text(g, text, strlen(text));
	if (index >= 0)
		g->by_string[id] = index + 1;
	return index;
}

static int groups_compare(const void *a, const void *b)
{
	const struct ct_text_group *x = *(struct ct_text_group *const *)a;
	const struct ct_text_group *y = *(struct ct_text_group *const *)b;

	if (x->values.total != y->values.total)
		return x->values.total > y->values.total ? -1 : 1;
	if (x->values.count != y->values.count)
		return x->values.count > y->values.count ? -1 : 1;
	return strcmp(x->text, y->text);
}

struct ct_text_group **ct_groups_sorted(struct ct_text_groups *g, unsigned int *count)
{
	struct ct_text_group **list = calloc(g->count + 1, sizeof(*list));

	*count = 0;
	if (!list)
		return NULL;
	for (unsigned int i = 0; i < g->count && i < CT_GROUPS_MAX; i++)
		if (g->list[i].values.count)
			list[(*count)++] = &g->list[i];
	qsort(list, *count, sizeof(*list), groups_compare);
	if (ct_groups_full(g) && g->list[CT_GROUPS_MAX].values.count)
		list[(*count)++] = &g->list[CT_GROUPS_MAX];
	return list;
}

void ct_groups_free(struct ct_text_groups *g)
{
	for (unsigned int i = 0; i < g->count; i++) {
		free(g->list[i].text);
		ct_histogram_free(&g->list[i].values);
	}
	free(g->list);
	free(g->by_string);
	ct_keyed_free(&g->by_hash);
	*g = (struct ct_text_groups){ 0 };
}
