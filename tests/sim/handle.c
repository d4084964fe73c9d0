// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * handle.c - the numbers that programs hold for contexts, streams, events,
 * modules, kernels and graphs.
 *
 * A handle carries the slot, the slot's generation and the type, so a handle
 * of something destroyed, or of another type, is never mistaken for a live
 * one. It must never be turned into one of our pointers without the table.
 */
#include <stdlib.h>

#include "sim.h"

/* handle = generation << 28 | slot << 8 | type << 4: never 0, 1 or 2, which
 * mean the default streams. */
#define TYPE_SHIFT 4
#define SLOT_SHIFT 8
#define SLOT_BITS 20
#define GENERATION_SHIFT (SLOT_SHIFT + SLOT_BITS)
#define GENERATION_BITS 18

struct slot {
	struct sim_object *object;
	unsigned int generation;
	unsigned int next_free;		/* slot + 1, or 0 */
};

static struct slot *slots;
static unsigned int slot_count, slot_space, first_free;

static void *make_handle(unsigned int slot, enum sim_type type)
{
	uintptr_t value = (uintptr_t)slots[slot].generation << GENERATION_SHIFT;

	value |= (uintptr_t)slot << SLOT_SHIFT | (uintptr_t)type << TYPE_SHIFT;
	return (void *)value;
}

static unsigned int slot_of(const void *handle)
{
	return ((uintptr_t)handle >> SLOT_SHIFT) & ((1u << SLOT_BITS) - 1);
}

void *sim_handle_new(struct sim_object *obj, enum sim_type type,
		     void (*destroy)(struct sim_object *obj))
{
	unsigned int slot;

	if (first_free) {
		slot = first_free - 1;
		first_free = slots[slot].next_free;
	} else {
		if (slot_count == slot_space) {
			unsigned int space = slot_space ? 2 * slot_space : 64;
			struct slot *more;

			if (space > 1u << SLOT_BITS)
				return NULL;
			more = realloc(slots, space * sizeof(*slots));
			if (!more)
				return NULL;
			slots = more;
			slot_space = space;
		}
		slot = slot_count++;
		slots[slot].generation = 0;
	}
	slots[slot].generation =
		(slots[slot].generation + 1) & ((1u << GENERATION_BITS) - 1);
	if (!slots[slot].generation)
		slots[slot].generation = 1;
	slots[slot].object = obj;
	obj->type = type;
	obj->refs = 1;
	obj->destroy = destroy;
	obj->handle = make_handle(slot, type);
	return obj->handle;
}

void *sim_handle_find(const void *handle, enum sim_type type)
{
	unsigned int slot = slot_of(handle);

	if (!handle || slot >= slot_count || !slots[slot].object)
		return NULL;
	if (slots[slot].object->handle != handle ||
	    slots[slot].object->type != type)
		return NULL;
	return slots[slot].object;
}

/* From here on the handle is unknown; what still refers to @obj keeps it. */
void sim_handle_close(struct sim_object *obj)
{
	unsigned int slot = slot_of(obj->handle);

	slots[slot].object = NULL;
	slots[slot].next_free = first_free;
	first_free = slot + 1;
	sim_put(obj);
}

void sim_get(struct sim_object *obj)
{
	obj->refs++;
}

void sim_put(struct sim_object *obj)
{
	if (--obj->refs == 0)
		obj->destroy(obj);
}
