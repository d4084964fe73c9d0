// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The second way in, for programs that cannot be preloaded: libcuda loads the library
 * that CUDA_INJECTION64_PATH names when it is initialised, and calls
 * InitializeInjection().
 *
 * By then the program has pointers into libcuda already, from the loader and from the
 * real dlsym.  They lie in its objects' writable data, word by word, and are put right
 * there (got.c sees to its slots of dlsym()).  One that lies on the heap or on a stack only is
 * not found: its calls are not seen.
 */
#include <dlfcn.h>

#include "hook/driver.h"
#include "hook/objects.h"
#include "base/options.h"
#include "base/process.h"
#include "backend/backend.h"
#include "hook/slot.h"

/* A word of an object's data that may be a pointer to a function of libcuda. */
static void word(u64 *at, const struct ct_driver *d)
{
	const char *name;
	u64 value = *at;

	if (value < d->start || value >= d->end || !ct_driver_needs_thunk(value))
		return;
	name = ct_driver_name_at(value, "cu");
	/* The program may write another value there at any time. */
	if (name)
		ct_cas(at, value, (u64)ct_thunk_for(name, (void *)value));
}

static int sweep(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct ct_driver *d = ct_driver_last();
	struct ct_object o;

	(void)size;
	(void)data;
	if (!d || ct_object_is_ours(info) || !ct_object_read(&o, info) || o.start == d->start)
		return 0;
	for (unsigned i = 0; i < o.phnum; i++) {
		const ElfW(Phdr) *p = &o.phdr[i];
		u64 *at = (u64 *)((o.base + p->p_vaddr + 7) & ~7ull);
		u64 *end = (u64 *)((o.base + p->p_vaddr + p->p_memsz) & ~7ull);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		for (; at < end; at++)
			if ((u64)at < o.relro_start || (u64)at >= o.relro_end)
				word(at, d);
	}
	return 0;
}

static void chain(void)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))ct_find_any("dlopen");
	void *(*sym)(void *, const char *) = (void *(*)(void *, const char *))ct_find_any("dlsym");
	int (*next)(void) = NULL;
	void *handle;

	if (!*ct_options.injection_next || !open || !sym)
		return;
	handle = open(ct_options.injection_next, RTLD_LAZY);
	if (handle)
		next = (int (*)(void))sym(handle, "InitializeInjection");
	if (next)
		next();
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static u32 once;

	if (__atomic_exchange_n(&once, 1u, __ATOMIC_RELAXED))
		return 1;
	if (ct_ready && !ct_driver_dlsym_first) {
		ct_objects_check();
		ct_each_object(sweep, NULL);
	}
	chain();
	return 1;
}
