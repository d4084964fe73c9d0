// SPDX-License-Identifier: LGPL-2.1-or-later
/* See intern.h. */
#include "export/perfetto/intern.h"

static uint64_t intern_hash(enum ct_intern_kind kind, const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ kind;	/* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

uint64_t ct_intern_new(struct ct_intern *t, enum ct_intern_kind kind, const char *text, size_t len)
{
	ct_proto_number(&t->entry, 1, ++t->last[kind]);
	ct_proto_text(&t->entry, 2, text, len);
	ct_proto_message(&t->added, kind, &t->entry);
	return t->last[kind];
}

uint64_t ct_intern(struct ct_intern *t, enum ct_intern_kind kind, const char *text, size_t len)
{
	uint64_t key = intern_hash(kind, text, len);
	struct ct_hash_slot *slot = ct_hash_get(&t->known, key);
	char *kept;

	if (slot) /* Another text with this hash was chosen by somebody. */
		return slot->c == len && !memcmp((char *)(uintptr_t)slot->a, text, len) ? slot->b : 0;
	if (t->known.count >= CT_INTERN_MAX || len > CT_INTERN_BYTES - t->bytes)
		return 0;
	kept = malloc(len + 1);
	slot = kept ? ct_hash_put(&t->known, key) : NULL;
	if (!slot) {
		free(kept);
		return 0;
	}
	memcpy(kept, text, len);
	t->bytes += len;
	slot->a = (uintptr_t)kept;
	slot->c = len;
	slot->b = ct_intern_new(t, kind, text, len);
	return slot->b;
}

void ct_intern_free(struct ct_intern *t)
{
	for (size_t i = 0; i < t->known.size; i++)
		if (t->known.slots[i].used)
			free((char *)(uintptr_t)t->known.slots[i].a);
	ct_hash_free(&t->known);
	ct_proto_free(&t->added);
	ct_proto_free(&t->entry);
}
