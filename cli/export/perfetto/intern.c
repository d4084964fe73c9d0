// SPDX-License-Identifier: LGPL-2.1-or-later
/* See intern.h. */
#include "export/perfetto/intern.h"

#include "base/hash.h"

static uint64_t intern_hash(enum ct_intern_kind kind, const char *text, size_t len)
{
	return ct_hash_add(CT_HASH_BEGIN ^ kind, text, len);
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
	struct ct_intern_text *known = ct_keyed_get(&t->known, key);
	char *kept;

	if (known) /* Another text with this hash was chosen by somebody. */
		return known->len == len && !memcmp(known->text, text, len) ? known->number : 0;
	if (t->known.count >= CT_INTERN_MAX || len > CT_INTERN_BYTES - t->bytes)
		return 0;
	kept = malloc(len + 1);
	known = kept ? ct_keyed_put(&t->known, key) : NULL;
	if (!known) {
		free(kept);
		return 0;
	}
	memcpy(kept, text, len);
	t->bytes += len;
	known->text = kept;
	known->len = len;
	known->number = ct_intern_new(t, kind, text, len);
	return known->number;
}

void ct_intern_free(struct ct_intern *t)
{
	for (size_t i = 0; i < t->known.count; i++)
		free(t->known.list[i].text);
	ct_keyed_free(&t->known);
	ct_proto_free(&t->added);
	ct_proto_free(&t->entry);
}
