/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structs that are found by a key: an array of them, and where in it each key is.
 *
 *	struct call { uint64_t op_id; uint64_t begin; };	its first field, of 64 bits, is the key
 *	CT_KEYED(struct call) open = { 0 };
 *
 *	call = ct_keyed_get(&open, op_id);			NULL: there is none
 *	call = ct_keyed_put(&open, op_id);			made if there is none; NULL: no memory
 *	for (size_t i = 0; i < open.count; i++)
 *		use(&open.list[i]);				in the order in which they were made
 *	ct_keyed_remove(&open, call);				the last one takes its place
 *	ct_keyed_free(&open);
 *
 * A struct that is made has its key, and zeros.  Must never keep a pointer to one over a put or a
 * remove, which move them.  CT_KEYED(uint64_t) is a set.  A struct may have a CT_KEYED(...); without
 * a name: then it has .list and .count itself.
 */
#ifndef CT_CLI_KEYED_H
#define CT_CLI_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ct_keyed {
	void *list;
	size_t count, room;
	uint32_t *places;	/* 2 * room of them: index + 1, 0: free */
};

#define CT_KEYED(type)	union { struct ct_keyed keyed; struct { type *list; size_t count; }; }

#define CT_KEYED_TYPE(set)	__typeof__((set)->list)
#define CT_KEYED_SIZE(set)	sizeof(*(set)->list)

#define ct_keyed_get(set, key)							\
	((CT_KEYED_TYPE(set))ct_keyed_find(&(set)->keyed, CT_KEYED_SIZE(set), key, 0, false))
#define ct_keyed_put(set, key)							\
	((CT_KEYED_TYPE(set))ct_keyed_make(&(set)->keyed, CT_KEYED_SIZE(set), key, 0, false))

/*
 * The same with a key of two numbers: the first two fields, of 64 bits each.  Unlike ct_mix(), nobody
 * who chooses one of them can make two keys the same.
 */
#define ct_keyed_get_pair(set, key, who)					\
	((CT_KEYED_TYPE(set))ct_keyed_find(&(set)->keyed, CT_KEYED_SIZE(set), key, who, true))
#define ct_keyed_put_pair(set, key, who)					\
	((CT_KEYED_TYPE(set))ct_keyed_make(&(set)->keyed, CT_KEYED_SIZE(set), key, who, true))
#define ct_keyed_remove(set, one)						\
	ct_keyed_drop(&(set)->keyed, CT_KEYED_SIZE(set), (one) - (set)->list, false)
#define ct_keyed_remove_pair(set, one)						\
	ct_keyed_drop(&(set)->keyed, CT_KEYED_SIZE(set), (one) - (set)->list, true)

/* Sorts the list as qsort() does; keys are found afterwards, too. */
#define ct_keyed_sort(set, compare)						\
	ct_keyed_order(&(set)->keyed, CT_KEYED_SIZE(set), compare)
#define ct_keyed_free(set)	ct_keyed_release(&(set)->keyed)

void *ct_keyed_make(struct ct_keyed *set, size_t size, uint64_t key, uint64_t who, bool pair);
void ct_keyed_drop(struct ct_keyed *set, size_t size, size_t index, bool pair);
void ct_keyed_order(struct ct_keyed *set, size_t size, int (*compare)(const void *, const void *));
void ct_keyed_release(struct ct_keyed *set);

static inline size_t ct_keyed_home(const struct ct_keyed *set, uint64_t key, uint64_t who)
{
	key ^= who * 0x9e3779b97f4a7c15ull;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93ull;
	key ^= key >> 32;
	return key & (2 * set->room - 1);
}

static inline bool ct_keyed_is(const char *one, uint64_t key, uint64_t who, bool pair)
{
	uint64_t its[2] = { 0 };

	memcpy(its, one, pair ? 16 : 8);
	return its[0] == key && its[1] == who;
}

static inline void *ct_keyed_find(const struct ct_keyed *set, size_t size, uint64_t key, uint64_t who, bool pair)
{
	if (!set->count)
		return NULL;
	for (size_t i = ct_keyed_home(set, key, who); set->places[i]; i = (i + 1) & (2 * set->room - 1)) {
		char *one = (char *)set->list + (set->places[i] - 1) * size;

		if (ct_keyed_is(one, key, who, pair))
			return one;
	}
	return NULL;
}

/* One key of two numbers. */
static inline uint64_t ct_mix(uint64_t a, uint64_t b)
{
	a ^= b * 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
	return a;
}

#endif
