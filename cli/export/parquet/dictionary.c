// SPDX-License-Identifier: LGPL-2.1-or-later
/* See dictionary.h. */
#include "export/parquet/dictionary.h"

#define LENGTH	4		/* bytes before a text */

static uint64_t dictionary_hash(const void *value, size_t len)
{
	const uint8_t *p = value;
	uint64_t h = len * 0x9e3779b97f4a7c15ull, word;

	for (; len; p += word, len -= word) {
		uint64_t v = 0;

		word = len < 8 ? len : 8;
		memcpy(&v, p, word);
		h = (h ^ v) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return h;
}

const uint8_t *ct_dictionary_value(const struct ct_dictionary *d, uint32_t i, size_t *len)
{
	uint32_t end = i + 1 < d->count ? d->offsets[i + 1] : d->page.len;
	uint32_t head = d->texts ? LENGTH : 0;

	*len = end - d->offsets[i] - head;
	return d->page.data + d->offsets[i] + head;
}

/* The slot where the value is, or where it belongs. */
static uint32_t *dictionary_slot(const struct ct_dictionary *d, const void *value, size_t len)
{
	uint32_t mask = 2 * d->capacity - 1, at = dictionary_hash(value, len) & mask;
	const uint8_t *there;
	size_t there_len;

	for (; d->slots[at]; at = (at + 1) & mask) {
		there = ct_dictionary_value(d, d->slots[at] - 1, &there_len);
		if (there_len == len && !memcmp(there, value, len))
			break;
	}
	return &d->slots[at];
}

static bool dictionary_grow(struct ct_dictionary *d)
{
	uint32_t capacity = d->capacity ? 2 * d->capacity : 64;
	uint32_t *offsets = realloc(d->offsets, capacity * sizeof(*offsets));
	uint32_t *slots = calloc(2 * capacity, sizeof(*slots));
	const uint8_t *value;
	size_t len;

	if (offsets)
		d->offsets = offsets;
	if (!offsets || !slots) {
		free(slots);
		d->failed = true;
		return false;
	}
	free(d->slots);
	d->slots = slots;
	d->capacity = capacity;
	for (uint32_t i = 0; i < d->count; i++) {
		value = ct_dictionary_value(d, i, &len);
		*dictionary_slot(d, value, len) = i + 1;
	}
	return true;
}

uint32_t ct_dictionary_index(struct ct_dictionary *d, const void *value, size_t len)
{
	uint32_t *slot;

	if (d->count == d->capacity && !dictionary_grow(d))
		return CT_DICTIONARY_FULL;
	slot = dictionary_slot(d, value, len);
	if (*slot)
		return *slot - 1;
	if (len + LENGTH > CT_DICTIONARY_BYTES - d->page.len)
		return CT_DICTIONARY_FULL;
	d->offsets[d->count] = d->page.len;
	if (d->texts)
		ct_bytes_number(&d->page, len, LENGTH);
	ct_bytes_put(&d->page, value, len);
	d->failed |= d->page.failed;
	*slot = ++d->count;
	return d->count - 1;
}

void ct_dictionary_empty(struct ct_dictionary *d)
{
	if (d->count)
		memset(d->slots, 0, 2 * d->capacity * sizeof(*d->slots));
	d->count = 0;
	d->page.len = 0;
}

void ct_dictionary_free(struct ct_dictionary *d)
{
	ct_bytes_free(&d->page);
	free(d->offsets);
	free(d->slots);
	*d = (struct ct_dictionary){ 0 };
}
