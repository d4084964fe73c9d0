// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table from handles to names; see kernels.h.
 *
 * Read at every launch, without a lock: an entry's handle is stored last, and its name
 * changes by one store.  Written in the process's lock, as that is rare.  An entry without a
 * name is one whose module is gone; another handle may take it.
 */
#include "call/kernels.h"

#include "base/process.h"

#define PROBES	64
#define END	CT_KERNELS	/* of the list of entries in use, which begins with newest */

struct ct_kernel *ct_kernels;
u32 (*ct_kernel_asked)(u64 handle);
static u32 newest = END;

static inline struct ct_kernel *kernels_find(u64 handle)
{
	struct ct_kernel *t = ct_load(&ct_kernels);
	u32 i = ct_kernel_first(handle);

	if (!t || !handle)
		return NULL;
	for (u32 n = 0; n < PROBES; n++, i = (i + 1) & (CT_KERNELS - 1)) {
		u64 h = ct_load(&t[i].handle);

		if (h == handle)
			return &t[i];
		if (!h)
			return NULL;
	}
	return NULL;
}

u32 ct_kernel_name(u64 handle)
{
	const struct ct_kernel *e = kernels_find(handle);

	return e ? __atomic_load_n(&e->name, __ATOMIC_RELAXED) : 0;
}

u64 ct_kernel_module(u64 handle)
{
	const struct ct_kernel *e = kernels_find(handle);

	return e ? e->module : 0;
}

/* An entry for a handle that has none; NULL if there is no room. */
static struct ct_kernel *kernels_claim(u64 handle)
{
	u32 i = ct_kernel_first(handle);

	if (!ct_kernels)
		ct_store(&ct_kernels, ct_map_private(CT_KERNELS * sizeof(*ct_kernels)));
	if (!ct_kernels)
		return NULL;
	for (u32 n = 0; n < PROBES; n++, i = (i + 1) & (CT_KERNELS - 1)) {
		struct ct_kernel *e = &ct_kernels[i];

		if (!e->handle || !e->name)
			return e;
	}
	return NULL;
}

cold void ct_kernel_learn(u64 handle, u64 module, u32 name)
{
	struct ct_kernel *e = kernels_find(handle);
	u64 mask;

	if (!handle || !name || (e && e->module == module && e->name == name))
		return;
	mask = ct_lock();
	e = kernels_find(handle);
	if (!e)
		e = kernels_claim(handle);
	if (e) {
		bool taken_over = e->handle;

		e->module = module;
		ct_store(&e->name, name);
		ct_store(&e->handle, handle);
		if (!taken_over) {
			e->next = newest;
			newest = (u32)(e - ct_kernels);
		}
	}
	ct_unlock(mask);
	if (!e)
		ct_say_once(CT_ONCE_KERNELS, "more kernels than there is room for: launches of "
			    "some have no name", "");
}

void ct_kernels_renew(void)
{
	u64 mask = ct_lock();

	for (u32 i = newest; i != END; i = ct_kernels[i].next)
		ct_store(&ct_kernels[i].name, 0u);
	ct_unlock(mask);
}

cold void ct_kernels_forget(u64 module)
{
	u64 mask;

	if (!module)
		return;
	mask = ct_lock();
	for (u32 i = newest; i != END; i = ct_kernels[i].next) {
		struct ct_kernel *e = &ct_kernels[i];

		/* 0: perhaps of this one. */
		if (e->module == module || !e->module)
			ct_store(&e->name, 0u);
	}
	ct_unlock(mask);
}
