// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Open addressing with linear probing.  A removal moves the entries after it back, so
 * that a map whose entries are added and removed needs no tombstones.
 */
#include "base/hash.h"

#include <stdlib.h>

static size_t hash_home(const struct ct_hash *map, uint64_t key, uint32_t who)
{
	key ^= who * 0x9e3779b97f4a7c15ull;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93ull;
	key ^= key >> 32;
	return key & (map->size - 1);
}

static bool hash_is(const struct ct_hash_slot *slot, uint64_t key, uint32_t who)
{
	return slot->key == key && slot->who == who;
}

struct ct_hash_slot *ct_hash_get_pair(const struct ct_hash *map, uint64_t key, uint32_t who)
{
	if (!map->size)
		return NULL;
	for (size_t i = hash_home(map, key, who); map->slots[i].used; i = (i + 1) & (map->size - 1))
		if (hash_is(&map->slots[i], key, who))
			return &map->slots[i];
	return NULL;
}

static struct ct_hash_slot *hash_place(struct ct_hash *map, uint64_t key, uint32_t who)
{
	size_t i = hash_home(map, key, who);

	while (map->slots[i].used && !hash_is(&map->slots[i], key, who))
		i = (i + 1) & (map->size - 1);
	return &map->slots[i];
}

struct ct_hash_slot *ct_hash_put_pair(struct ct_hash *map, uint64_t key, uint32_t who)
{
	struct ct_hash_slot *slot = ct_hash_get_pair(map, key, who);

	if (slot)
		return slot;
	if (map->count * 4 >= map->size * 3) {
		struct ct_hash more = { .size = map->size ? map->size * 2 : 64 };

		more.slots = calloc(more.size, sizeof(*more.slots));
		if (!more.slots)
			return NULL;
		for (size_t i = 0; i < map->size; i++)
			if (map->slots[i].used)
				*hash_place(&more, map->slots[i].key, map->slots[i].who) =
					map->slots[i];
		more.count = map->count;
		free(map->slots);
		*map = more;
	}
	slot = hash_place(map, key, who);
	*slot = (struct ct_hash_slot){ .key = key, .who = who, .used = true };
	map->count++;
	return slot;
}

struct ct_hash_slot *ct_hash_get(const struct ct_hash *map, uint64_t key)
{
	return ct_hash_get_pair(map, key, 0);
}

struct ct_hash_slot *ct_hash_put(struct ct_hash *map, uint64_t key)
{
	return ct_hash_put_pair(map, key, 0);
}

void ct_hash_remove(struct ct_hash *map, struct ct_hash_slot *slot)
{
	size_t hole = slot - map->slots, i = hole, mask = map->size - 1;

	for (;;) {
		i = (i + 1) & mask;
		if (!map->slots[i].used)
			break;
		/* May move back unless its home lies after the hole. */
		if (((i - hash_home(map, map->slots[i].key, map->slots[i].who)) & mask) >=
		    ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].used = false;
	map->count--;
}

void ct_hash_free(struct ct_hash *map)
{
	free(map->slots);
	*map = (struct ct_hash){ 0 };
}
