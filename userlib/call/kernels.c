// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table from handles to names; see kernels.h.
 *
 * Read at every launch, so it takes no lock: an entry's handle is set once and
 * for all by compare and exchange, and its name changes by one store.  An entry
 * without a name is one whose module is gone; it may be taken by another handle.
 * When the table is full, names are simply not known.
 */
#include "call/kernels.h"

#define PROBES	64

struct ct_kernel *ct_kernels;

/* Entries in use, so that an unload looks at those only. */
static u32 *order;
static u32 count;

static inline struct ct_kernel *find(u64 handle)
{
	struct ct_kernel *t = ct_load(&ct_kernels);
	u32 i = ct_kernel_first(handle);

	if (!t || !handle)
		return NULL;
	for (u32 n = 0; n < PROBES; n++, i = (i + 1) & (CT_KERNELS - 1)) {
		u64 h = __atomic_load_n(&t[i].handle, __ATOMIC_RELAXED);

		if (h == handle)
			return &t[i];
		if (!h)
			return NULL;
	}
	return NULL;
}

u32 ct_kernel_name(u64 handle)
{
	const struct ct_kernel *e = find(handle);

	return e ? __atomic_load_n(&e->name, __ATOMIC_RELAXED) : 0;
}

u64 ct_kernel_module(u64 handle)
{
	const struct ct_kernel *e = find(handle);

	return e ? e->module : 0;
}

static bool make_table(void)
{
	struct ct_kernel *t = ct_load(&ct_kernels);

	if (t)
		return ct_load(&order) != NULL;
	t = ct_map_private(CT_KERNELS * (sizeof(*t) + sizeof(*order)));
	if (!t)
		return false;
	if (ct_cas(&ct_kernels, NULL, t))
		ct_store(&order, (u32 *)(t + CT_KERNELS));
	else
		ct_unmap(t, CT_KERNELS * (sizeof(*t) + sizeof(*order)));
	return ct_load(&order) != NULL;
}

static struct ct_kernel *claim(u64 handle)
{
	u32 i = ct_kernel_first(handle);

	for (u32 n = 0; n < PROBES; n++, i = (i + 1) & (CT_KERNELS - 1)) {
		struct ct_kernel *e = &ct_kernels[i];
		u64 h = __atomic_load_n(&e->handle, __ATOMIC_RELAXED);

		if (h && __atomic_load_n(&e->name, __ATOMIC_RELAXED))
			continue;
		if (!ct_cas(&e->handle, h, handle))
			continue;
		if (!h)
			ct_store(&order[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)],
				 i + 1);
		return e;
	}
	return NULL;
}

cold void ct_kernel_learn(u64 handle, u64 module, u32 name)
{
	struct ct_kernel *e;

	if (!handle || !name || !make_table())
		return;
	e = find(handle);
	if (!e)
		e = claim(handle);
	if (!e)
		return;
	e->module = module;
	ct_store(&e->name, name);
}

cold void ct_kernels_forget(u64 module)
{
	struct ct_kernel *t = ct_load(&ct_kernels);
	u32 n = __atomic_load_n(&count, __ATOMIC_RELAXED);

	if (!t || !module || !ct_load(&order))
		return;
	for (u32 k = 0; k < n; k++) {
		u32 i = ct_load(&order[k]);

		/* 0: perhaps of this one. */
		if (i && (t[i - 1].module == module || !t[i - 1].module))
			ct_store(&t[i - 1].name, 0u);
	}
}
