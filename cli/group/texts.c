// SPDX-License-Identifier: LGPL-2.1-or-later
/* See texts.h.  Must never take two texts for one because their hashes are equal. */
#include "group/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

/* A new text at the end of the list: its index, or -ENOMEM. */
static int texts_add(struct ct_texts *t, const char *text, size_t len)
{
	if (!ct_room(t->list, t->count, t->room))
		return -ENOMEM;
	t->list[t->count] = (struct ct_text_of){ .text = strndup(text, len) };
	return t->list[t->count].text ? (int)t->count++ : -ENOMEM;
}

int ct_texts_put(struct ct_texts *t, const char *text, size_t len)
{
	struct ct_text_hash *same;
	uint64_t hash;
	int index;

	len = strnlen(text, len);
	hash = ct_hash_add(CT_HASH_BEGIN, text, len);
	same = ct_keyed_get(&t->by_hash, hash);
	for (uint32_t i = same ? same->first : 0; i; i = t->list[i - 1].next)
		if (!strncmp(t->list[i - 1].text, text, len) && !t->list[i - 1].text[len])
			return i - 1;
	if (ct_texts_full(t))
		return CT_TEXTS_MAX;
	if (t->count == CT_TEXTS_MAX)
		return texts_add(t, "(other)", 7);
	same = ct_keyed_put(&t->by_hash, hash);
	if (!same)
		return -ENOMEM;
	index = texts_add(t, text, len);
	if (index < 0)
		return index;
	t->list[index].next = same->first;
	same->first = index + 1;
	return index;
}

int ct_texts_string(struct ct_texts *t, struct ct_names *names, uint64_t id)
{
	const char *text;
	int index;

	if (!t->by_string) {
		t->strings = names->reg->strings_count;
		t->by_string = calloc(t->strings + 1, sizeof(*t->by_string));
		if (!t->by_string)
			return -ENOMEM;
	}
	if (id >= t->strings)
		id = 0;
	if (t->by_string[id])
		return t->by_string[id] - 1;
	text = id ? ct_names_string(names, id) : NULL;
	if (!text || !*text)
		text = "(unknown)";
	index = ct_texts_put(t, text, strlen(text));
	if (index >= 0)
		t->by_string[id] = index + 1;
	return index;
}

void ct_texts_free(struct ct_texts *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		free(t->list[i].text);
	free(t->list);
	free(t->by_string);
	ct_keyed_free(&t->by_hash);
	*t = (struct ct_texts){ 0 };
}
