/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts by number: of kernels, of ranges, of ioctls.  Memory is bounded: beyond CT_TEXTS_MAX
 * different texts, all others are one, "(other)".
 */
#ifndef CT_CLI_TEXTS_H
#define CT_CLI_TEXTS_H

#include "base/keyed.h"
#include "trace/names.h"

#define CT_TEXTS_MAX	65536u

struct ct_text_of {
	char *text;
	uint32_t next;			/* another one with the same hash, index + 1 */
};

struct ct_text_hash {
	uint64_t hash;
	uint32_t first;			/* its first text, index + 1 */
};

/* Zeros are no texts. */
struct ct_texts {
	struct ct_text_of *list;	/* moves when one is added */
	unsigned int count, room;
	CT_KEYED(struct ct_text_hash) by_hash;
	uint32_t *by_string;		/* index + 1 by the id of a string of the registry */
	unsigned int strings;
};

/* The index of these bytes, or -ENOMEM.  What follows a NUL does not count. */
int ct_texts_put(struct ct_texts *t, const char *text, size_t len);

/* The same of string @id of the registry, in its readable form; "(unknown)" if there is none. */
int ct_texts_string(struct ct_texts *t, struct ct_names *names, uint64_t id);

/* Whether texts were put together as "(other)", which is then the last one. */
static inline bool ct_texts_full(const struct ct_texts *t)
{
	return t->count > CT_TEXTS_MAX;
}

void ct_texts_free(struct ct_texts *t);

#endif
