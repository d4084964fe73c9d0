/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The different values of a column in a row group, as Parquet's dictionary page has them. */
#ifndef CT_CLI_PARQUET_DICTIONARY_H
#define CT_CLI_PARQUET_DICTIONARY_H

#include "export/parquet/bytes.h"

/* More than this is not worth its memory: such values seldom come again. */
#define CT_DICTIONARY_BYTES	(1u << 20)
#define CT_DICTIONARY_FULL	(~0u)

struct ct_dictionary {
	struct ct_bytes page;		/* the values one after the other; texts with 4 bytes of length */
	bool texts;
	uint32_t count, capacity;
	uint32_t *offsets;		/* of the values in the page */
	uint32_t *slots;		/* a hash table of 2 * capacity: index + 1, or 0 */
	bool failed;			/* no memory */
};

/* The index of a value, which is added if it is new; CT_DICTIONARY_FULL: it has no place. */
uint32_t ct_dictionary_index(struct ct_dictionary *d, const void *value, size_t len);

/* The bytes of value @i. */
const uint8_t *ct_dictionary_value(const struct ct_dictionary *d, uint32_t i, size_t *len);

/* Without values again. */
void ct_dictionary_empty(struct ct_dictionary *d);
void ct_dictionary_free(struct ct_dictionary *d);

#endif
