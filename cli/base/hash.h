/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash map from 64 bits, or from 64 and 32, to a small value, which is moved when the map changes:
 * must never keep a pointer to a value over ct_hash_put() or ct_hash_remove().
 */
#ifndef CT_CLI_HASH_H
#define CT_CLI_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_hash_slot {
	uint64_t key;
	uint64_t a, b;
	uint32_t c, d;
	uint32_t who;	/* the second part of the key, or 0 */
	bool used;
};

struct ct_hash {
	struct ct_hash_slot *slots;
	size_t size;	/* a power of two, or 0 */
	size_t count;
};

/* NULL if @key isn't there. */
struct ct_hash_slot *ct_hash_get(const struct ct_hash *map, uint64_t key);

/* The slot of @key, made with zeros if it isn't there; NULL: no memory. */
struct ct_hash_slot *ct_hash_put(struct ct_hash *map, uint64_t key);

/*
 * The same with a key of two numbers.  Unlike ct_hash_mix(), nobody who chooses one of them
 * can make two keys the same.
 */
struct ct_hash_slot *ct_hash_get_pair(const struct ct_hash *map, uint64_t key, uint32_t who);
struct ct_hash_slot *ct_hash_put_pair(struct ct_hash *map, uint64_t key, uint32_t who);

void ct_hash_remove(struct ct_hash *map, struct ct_hash_slot *slot);
void ct_hash_free(struct ct_hash *map);

/* One key of two numbers. */
static inline uint64_t ct_hash_mix(uint64_t a, uint64_t b)
{
	a ^= b * 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
	return a;
}

#endif
