// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_strings.h.  Open addressing with linear probing. */
#include "export/html/html_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"


static uint64_t strings_hash(const struct ct_html_strings *s, const char *text, size_t len)
{
	/* The address is another one in each run: nobody can choose texts that collide. */
	uint64_t hash = (uintptr_t)s->table * 0x9e3779b97f4a7c15ull ^ len, word;

	for (; len >= 8; text += 8, len -= 8) {
		memcpy(&word, text, 8);
		hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text, len);
	hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

static void strings_place(struct ct_html_strings *s, uint32_t number, uint64_t hash)
{
	uint32_t i = hash & (s->table_size - 1);

	while (s->table[i])
		i = (i + 1) & (s->table_size - 1);
	s->table[i] = number;
}

/* A table of twice the size. */
static int strings_widen(struct ct_html_strings *s)
{
	uint32_t size = s->table_size ? 2 * s->table_size : 1024;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	free(s->table);
	s->table = table;
	s->table_size = size;
	for (uint32_t i = 0; i < s->count; i++) {
		struct ct_html_string *string = &s->list[i];

		string->hash = strings_hash(s, s->bytes + string->at, string->len);
		strings_place(s, i + 1, string->hash);
	}
	return 0;
}

static int strings_grow(struct ct_html_strings *s, size_t len)
{
	if (!s->bytes || s->used + len > s->room) {
		size_t room = 2 * s->room + len + 4096;
		char *more = realloc(s->bytes, room);

		if (!more)
			return -ENOMEM;
		s->bytes = more;
		s->room = room;
	}
	if (!ct_room(s->list, s->count, s->capacity))
		return -ENOMEM;
	return s->count + 1 > s->table_size / 2 ? strings_widen(s) : 0;
}

uint32_t ct_html_string(struct ct_html_strings *s, const char *text, size_t len)
{
	bool cut = len > CT_HTML_STRING_MAX;
	uint64_t hash;

	if (cut) {
		/* Not inside a character. */
		for (len = CT_HTML_STRING_MAX; len > CT_HTML_STRING_MAX - 4 && (text[len] & 0xc0) == 0x80; len--)
			;
	}
	if (s->used + len > CT_HTML_STRINGS_BYTES) {
		s->left_out++;
		return 0;
	}
	/* The hash depends on the table. */
	if (strings_grow(s, len)) {
		s->error = -ENOMEM;
		return 0;
	}
	hash = strings_hash(s, text, len);
	for (uint32_t i = hash & (s->table_size - 1); s->table[i]; i = (i + 1) & (s->table_size - 1)) {
		const struct ct_html_string *string = &s->list[s->table[i] - 1];

		if (string->hash == hash && string->len == len && !memcmp(s->bytes + string->at, text, len))
			return s->table[i];
	}
	s->cut += cut;
	s->list[s->count++] = (struct ct_html_string){ .hash = hash, .at = s->used, .len = len };
	memcpy(s->bytes + s->used, text, len);
	s->used += len;
	strings_place(s, s->count, hash);
	return s->count;
}

void ct_html_strings_free(struct ct_html_strings *s)
{
	free(s->bytes);
	free(s->list);
	free(s->table);
	*s = (struct ct_html_strings){ 0 };
}
