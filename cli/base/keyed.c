// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open addressing with linear probing, half full at most.  A removal moves the places after it
 * back, so that a set whose structs are added and removed needs no tombstones.
 */
#include "base/keyed.h"

#include <stdlib.h>

#define KEYED_ROOM	8	/* at first; a power of two */

static char *keyed_at(const struct ct_keyed *set, size_t size, size_t index)
{
	return (char *)set->list + index * size;
}

static size_t keyed_home_of(const struct ct_keyed *set, const char *one, bool pair)
{
	uint64_t key[2] = { 0 };

	memcpy(key, one, pair ? 16 : 8);
	return ct_keyed_home(set, key[0], key[1]);
}

/* Notes the place of a struct that has none. */
static void keyed_place(struct ct_keyed *set, size_t size, size_t index, bool pair)
{
	size_t i = keyed_home_of(set, keyed_at(set, size, index), pair);

	while (set->places[i])
		i = (i + 1) & (2 * set->room - 1);
	set->places[i] = index + 1;
}

static bool keyed_grow(struct ct_keyed *set, size_t size, bool pair)
{
	size_t room = set->room ? 2 * set->room : KEYED_ROOM;
	uint32_t *places;
	void *list;

	if (room > UINT32_MAX / 2)
		return false;
	list = reallocarray(set->list, room, size);
	if (!list)
		return false;
	set->list = list;
	places = calloc(2 * room, sizeof(*places));
	if (!places)
		return false;
	free(set->places);
	set->places = places;
	set->room = room;
	for (size_t i = 0; i < set->count; i++)
		keyed_place(set, size, i, pair);
	return true;
}

void *ct_keyed_make(struct ct_keyed *set, size_t size, uint64_t key, uint64_t who, bool pair)
{
	char *one = ct_keyed_find(set, size, key, who, pair);
	uint64_t keys[2] = { key, who };

	if (one)
		return one;
	if (set->count == set->room && !keyed_grow(set, size, pair))
		return NULL;
	one = keyed_at(set, size, set->count);
	memset(one, 0, size);
	memcpy(one, keys, pair ? 16 : 8);
	keyed_place(set, size, set->count++, pair);
	return one;
}

/* The place that says @index. */
static size_t keyed_place_of(const struct ct_keyed *set, size_t size, size_t index, bool pair)
{
	size_t i = keyed_home_of(set, keyed_at(set, size, index), pair);

	while (set->places[i] != index + 1)
		i = (i + 1) & (2 * set->room - 1);
	return i;
}

void ct_keyed_drop(struct ct_keyed *set, size_t size, size_t index, bool pair)
{
	size_t hole = keyed_place_of(set, size, index, pair), i = hole, mask = 2 * set->room - 1;
	size_t last = set->count - 1;

	for (;;) {
		size_t home;

		i = (i + 1) & mask;
		if (!set->places[i])
			break;
		home = keyed_home_of(set, keyed_at(set, size, set->places[i] - 1), pair);
		/* May move back unless its home lies after the hole. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			set->places[hole] = set->places[i];
			hole = i;
		}
	}
	set->places[hole] = 0;
	if (index != last) {
		set->places[keyed_place_of(set, size, last, pair)] = index + 1;
		memcpy(keyed_at(set, size, index), keyed_at(set, size, last), size);
	}
	set->count--;
}

void ct_keyed_order(struct ct_keyed *set, size_t size, int (*compare)(const void *, const void *))
{
	if (!set->count)
		return;
	qsort(set->list, set->count, size, compare);
	memset(set->places, 0, 2 * set->room * sizeof(*set->places));
	for (size_t i = 0; i < set->count; i++)
		keyed_place(set, size, i, false);
}

void ct_keyed_release(struct ct_keyed *set)
{
	free(set->list);
	free(set->places);
	*set = (struct ct_keyed){ 0 };
}
