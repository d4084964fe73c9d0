// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of slots and the making of one; see slot.h.
 *
 * Looking up takes no lock; making takes the process's lock, inside which
 * nothing of the dynamic loader is called.  Nothing is ever freed: a program may
 * keep a thunk's address for ever.
 */
#include "hook/slot.h"

#include "base/process.h"
#include "call/chosen.h"
#include "call/function.h"

#define HEADS	1024

static u16 heads[HEADS];
static u32 used = 1;		/* index 0 ends a chain */

/* Copies of symbol names, since libcuda's own go away with it. */
static char *names, *names_end;

static const char *keep(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy;

	if ((size_t)(names_end - names) < n) {
		names = ct_map_private(1 << 16);
		if (!names)
			return NULL;
		names_end = names + (1 << 16);
	}
	copy = names;
	names += n;
	memcpy(copy, s, n);
	return copy;
}

static u32 index_of(const struct ct_slot *s)
{
	return (u32)(s - ct_slots);
}

static void *thunk_of(const struct ct_slot *s)
{
	return (void *)(ct_thunks + ((u64)index_of(s) << CT_THUNK_SHIFT));
}

bool ct_is_thunk(const void *address)
{
	const char *p = address;

	return p >= ct_thunks && p < ct_thunks + (CT_THUNKS << CT_THUNK_SHIFT);
}

void ct_thunk_retarget(void *thunk, void *target)
{
	ct_store(&ct_slots[((const char *)thunk - ct_thunks) >> CT_THUNK_SHIFT].target, target);
}

void *ct_thunk_target(const void *thunk)
{
	return ct_load(&ct_slots[((const char *)thunk - ct_thunks) >> CT_THUNK_SHIFT].target);
}

void ct_slots_route(void)
{
	u64 mask = ct_lock();

	for (u32 i = 1; i < used; i++)
		ct_function_route(&ct_slots[i]);
	ct_unlock(mask);
}

void ct_slots_renew(void)
{
	u64 mask = ct_lock();

	for (u32 i = 1; i < used; i++) {
		ct_store(&ct_slots[i].class, (u16)0);
		ct_slots[i].open = 0;
		ct_slots[i].failures = 0;
		ct_function_fill(&ct_slots[i]);
	}
	ct_unlock(mask);
}

static struct ct_slot *look_up(const char *symbol, u32 hash, void *target)
{
	for (u32 i = ct_load(&heads[hash % HEADS]); i; i = ct_slots[i].next) {
		struct ct_slot *s = &ct_slots[i];
		void *at = __atomic_load_n(&s->target, __ATOMIC_RELAXED);

		if (s->hash == hash && at == target && !strcmp(s->symbol, symbol))
			return s;
	}
	return NULL;
}

void *ct_slot_function(const char *symbol)
{
	u32 hash = (u32)ct_hash(symbol, strlen(symbol));

	for (u32 i = ct_load(&heads[hash % HEADS]); i; i = ct_slots[i].next) {
		struct ct_slot *s = &ct_slots[i];

		if (s->hash == hash && !s->stale && !strcmp(s->symbol, symbol))
			return ct_load(&s->target);
	}
	return NULL;
}

/* A slot of this symbol whose libcuda is gone, for the one that came. */
static struct ct_slot *look_up_stale(const char *symbol, u32 hash)
{
	for (u32 i = heads[hash % HEADS]; i; i = ct_slots[i].next) {
		struct ct_slot *s = &ct_slots[i];

		if (s->hash == hash && s->stale && !strcmp(s->symbol, symbol))
			return s;
	}
	return NULL;
}

static struct ct_slot *make(const char *symbol, u32 hash, void *target)
{
	struct ct_slot *s;

	if (used == CT_THUNKS)
		return NULL;
	s = &ct_slots[used];
	s->symbol = keep(symbol);
	if (!s->symbol)
		return NULL;
	used++;
	s->hash = hash;
	s->target = target;
	ct_function_fill(s);
	s->next = heads[hash % HEADS];
	ct_store(&heads[hash % HEADS], (u16)index_of(s));
	return s;
}

void *ct_thunk_for(const char *symbol, void *target)
{
	u32 hash = (u32)ct_hash(symbol, strlen(symbol));
	struct ct_slot *s;
	u64 mask;

	/* First: there may be one of a recording before, that was of other functions. */
	if (!ct_function_chosen(symbol))
		return target;
	s = look_up(symbol, hash, target);
	if (s && !s->stale)
		return thunk_of(s);
	mask = ct_lock();
	s = look_up(symbol, hash, target);
	if (!s)
		s = look_up_stale(symbol, hash);
	if (s) {
		ct_store(&s->target, target);
		s->stale = 0;
	} else {
		s = make(symbol, hash, target);
	}
	ct_unlock(mask);
	if (s)
		return thunk_of(s);
	ct_say_once(CT_ONCE_POOL, "more functions than thunks; not traced from here on: ",
		    symbol);
	return target;
}

void ct_slots_forget(u64 start, u64 end)
{
	u64 mask = ct_lock();

	for (u32 i = 1; i < used; i++) {
		u64 at = (u64)ct_slots[i].target;

		if (at >= start && at < end)
			ct_slots[i].stale = 1;
	}
	ct_unlock(mask);
}
