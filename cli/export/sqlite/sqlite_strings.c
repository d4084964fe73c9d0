// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sqlite_strings.h.  Must never take two texts for one because their hashes are equal. */
#include "export/sqlite/sqlite_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

int ct_strings_begin(struct ct_strings *s, struct ct_db *db)
{
	*s = (struct ct_strings){ 0 };
	return ct_insert_begin(&s->insert, db, "StringIds", 2, true);
}

static uint32_t strings_add(struct ct_strings *s, const char *text, uint64_t hash)
{
	struct ct_strings_id *first = ct_keyed_put(&s->by_hash, hash);
	struct ct_value *row;

	if (!ct_room(s->list, s->count, s->room))
		return 0;
	s->list[s->count].text = first ? strdup(text) : NULL;
	if (!s->list[s->count].text)
		return 0;
	s->list[s->count++].next = first->id;
	first->id = s->count;
	row = ct_insert_row(&s->insert);
	ct_value_int(&row[0], s->count);
	ct_insert_text(&s->insert, &row[1], text, strlen(text));
	return s->count;
}

uint32_t ct_strings_id(struct ct_strings *s, const char *text)
{
	uint64_t hash = ct_hash_add(CT_HASH_BEGIN, text, strlen(text));
	const struct ct_strings_id *first = ct_keyed_get(&s->by_hash, hash);
	uint32_t id = first ? first->id : 0;

	while (id && strcmp(s->list[id - 1].text, text))
		id = s->list[id - 1].next;
	if (!id)
		id = strings_add(s, text, hash);
	if (!id && !s->insert.error)
		s->insert.error = -ENOMEM;
	return id;
}

uint32_t ct_strings_const(struct ct_strings *s, const char *text)
{
	struct ct_strings_id *constant = text ? ct_keyed_get(&s->by_address, (uintptr_t)text) : NULL;
	uint32_t id;

	if (!text || constant)
		return constant ? constant->id : 0;
	id = ct_strings_id(s, text);
	constant = ct_keyed_put(&s->by_address, (uintptr_t)text);
	if (constant)
		constant->id = id;
	else
		s->insert.error = -ENOMEM;
	return id;
}

uint32_t ct_strings_registry(struct ct_strings *s, struct ct_names *names, uint64_t id)
{
	const char *text;

	if (!s->by_registry)
		s->by_registry = calloc(names->reg->strings_count + 1, sizeof(*s->by_registry));
	if (!s->by_registry) {
		s->insert.error = -ENOMEM;
		return 0;
	}
	if (id >= names->reg->strings_count)
		return 0;
	if (!s->by_registry[id]) {
		text = ct_names_string(names, id);
		s->by_registry[id] = text ? ct_strings_id(s, text) : 0;
	}
	return s->by_registry[id];
}

int ct_strings_end(struct ct_strings *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].text);
	free(s->list);
	s->list = NULL;
	s->count = 0;
	ct_keyed_free(&s->by_hash);
	ct_keyed_free(&s->by_address);
	free(s->by_registry);
	return ct_insert_end(&s->insert);
}
