// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table with open addressing, to which entries are only added; see names.h.  A thread
 * claims an entry by its key and then stores the text.  A text is never changed or freed.
 */
#include "plugins/nvtx/names.h"

#include <stdbool.h>
#include <string.h>

#define NAMES	65536u
#define TEXTS	(8u << 20)	/* bytes for their texts */

static struct name {
	u64 key;		/* 0: free */
	const char *text;	/* NULL: not stored yet */
} names[2 * NAMES];		/* half of them stay free, so that a search is short */
static u32 names_used;

static char texts[TEXTS];
static u32 texts_used;

/* A domain may have the same handle as a string; no pointer has the highest bit. */
static u64 key_of(enum name_kind kind, u64 handle)
{
	return handle ^ (u64)kind << 63;
}

/* The entry with this key, or the free one where it belongs. */
static struct name *find(u64 key)
{
	for (u64 i = key * 0x9e3779b97f4a7c15 >> 47;; i++) {
		struct name *n = &names[i % (2 * NAMES)];
		u64 there = load(&n->key);

		if (!there || there == key)
			return n;
	}
}

const char *names_text(enum name_kind kind, u64 handle)
{
	return handle ? load(&find(key_of(kind, handle))->text) : NULL;
}

static const char *copy(const char *text)
{
	u32 size = (u32)strnlen(text, TEXT - 1) + 1, at;

	/* Never given back: another thread may have taken what lies behind. */
	if (load(&texts_used) > TEXTS - size)
		return NULL;
	at = __atomic_fetch_add(&texts_used, size, __ATOMIC_RELAXED);
	if (at > TEXTS - size)
		return NULL;
	memcpy(texts + at, text, size - 1);
	return texts + at;
}

/* The entry with this key, from now on if there was none; NULL if there is no room. */
static struct name *claim(u64 key)
{
	for (;;) {
		struct name *n = find(key);
		u64 free = 0;

		if (load(&n->key))
			return n;
		if (__atomic_fetch_add(&names_used, 1, __ATOMIC_RELAXED) < NAMES &&
		    __atomic_compare_exchange_n(&n->key, &free, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return n;
		__atomic_fetch_sub(&names_used, 1, __ATOMIC_RELAXED);
		if (!free)
			return NULL;
		/* Another thread was first, perhaps for another key. */
	}
}

u64 names_learn(enum name_kind kind, u64 handle, const char *text)
{
	u64 hash = 0xcbf29ce484222325, id;
	const char *old, *kept;
	struct name *n;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	/* Two texts may have the same hash: the second gets the next number. */
	for (id = handle ? handle : hash >> 1 | 1;; id += 2) {
		n = claim(key_of(kind, id));
		if (!n)
			return 0;
		old = load(&n->text);
		if (old && !strncmp(old, text, TEXT - 1))
			return id;
		/* Another library's handle may come again for something else. */
		if (!old || handle)
			break;
	}
	kept = copy(text);
	if (!kept)
		return 0;
	store(&n->text, kept);
	return id;
}
