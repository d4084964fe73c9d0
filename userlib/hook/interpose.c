// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What becomes of a pointer into libcuda before the program gets it: the C half
 * of dlsym() (dlsym.S) and what follows cuGetProcAddress.
 *
 * Holds no list of function names and keeps no state but the address of the real
 * dlsym.  Must never replace a pointer that does not lead into libcuda.
 */
#include <dlfcn.h>

#include "hook/interpose.h"

#include "hook/driver.h"
#include "base/elf.h"
#include "base/process.h"
#include "hook/slot.h"

typedef void *dlsym_function(void *handle, const char *name);

dlsym_function *ct_real_dlsym;

dlsym_function *ct_resolve_dlsym(void);
void *ct_dlsym_driver(void *handle, const char *name, const void *caller);

static void *no_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

/* glibc's, or that of another preloaded library which comes after this one. */
cold dlsym_function *ct_resolve_dlsym(void)
{
	dlsym_function *real = (dlsym_function *)ct_find_next("dlsym");

	if (!real)
		return no_dlsym;
	__atomic_store_n(&ct_real_dlsym, real, __ATOMIC_RELAXED);
	return real;
}

/*
 * The answer for a name of libcuda, or NULL if the real dlsym is to answer the
 * caller itself: its errors, and the scopes that only the caller's objects see.
 */
void *ct_dlsym_driver(void *handle, const char *name, const void *caller)
{
	dlsym_function *real = __atomic_load_n(&ct_real_dlsym, __ATOMIC_RELAXED);
	void *address;

	if (!real)
		real = ct_resolve_dlsym();
	address = real(handle, name);
	if (!ct_ready)
		return address;
	ct_objects_check();
	/* RTLD_DEFAULT is relative to the caller's object, and was to ours. */
	if (!address && handle == RTLD_DEFAULT) {
		address = ct_driver_symbol_for(caller, name);
		/* Nothing failed for the caller: one that succeeds clears dlerror(). */
		if (address)
			real(RTLD_DEFAULT, "dlsym");
	}
	if (!address)
		return NULL;
	if (!ct_driver_contains((u64)address)) {
		if (ct_objects_hidden() && name[0] == 'c' && name[1] == 'u' &&
		    name[2] >= 'A' && name[2] <= 'Z')
			ct_say_once(CT_ONCE_OBJECTS, "a child that was forked during another "
				    "thread's lookup loaded libcuda: it is not traced, from ", name);
		return address;
	}
	return ct_thunk_for(name, address);
}

/*
 * int cuGetProcAddress(const char *symbol, void **pfn, int version, u64 flags,
 * [int *status]): symbol is a base name, so the address says what it really is.
 */
void ct_after_get_proc_address(struct ct_frame *f)
{
	const char *asked = (const char *)f->arg[0];
	void **pfn = (void **)f->arg[1];
	char name[CT_NAME_LEN];

	if ((u32)f->result || !pfn || !*pfn || !asked)
		return;
	ct_objects_check();
	if (!ct_driver_contains((u64)*pfn))
		return;
	if (ct_driver_name_at((u64)*pfn, asked, name, sizeof(name)))
		asked = name;
	*pfn = ct_thunk_for(asked, *pfn);
}
