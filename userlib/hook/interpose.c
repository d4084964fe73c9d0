// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What becomes of a pointer into libcuda before the program gets it: the C half
 * of dlsym() and dlvsym() (dlsym.S) and what follows cuGetProcAddress.
 *
 * Holds no list of function names and keeps no state but the addresses of the real
 * functions.  Must never replace a pointer that does not lead into libcuda.
 */
#include "hook/interpose.h"

#include <dlfcn.h>

#include "base/elf.h"
#include "base/process.h"
#include "hook/driver.h"
#include "hook/got.h"
#include "hook/objects.h"
#include "hook/slot.h"

/* dlvsym(), or dlsym(), which takes no notice of the version. */
typedef void *lookup_function(void *handle, const char *name, const char *version);

lookup_function *ct_real_dlsym, *ct_real_dlvsym;

lookup_function *ct_resolve(lookup_function **real);
void *ct_look_up(void *handle, const char *name, const char *version, u64 caller,
		 lookup_function **real);

static void *none(void *handle, const char *name, const char *version)
{
	(void)handle;
	(void)name;
	(void)version;
	return NULL;
}

/* glibc's, or that of another preloaded library which comes after this one. */
cold lookup_function *ct_resolve(lookup_function **real)
{
	struct ct_got_function *f = &ct_got_functions[real == &ct_real_dlvsym ? CT_GOT_DLVSYM : CT_GOT_DLSYM];

	f->name = real == &ct_real_dlsym ? "dlsym" : "dlvsym";
	f->real = ct_find_next(f->name);
	if (!f->real)
		return none;
	__atomic_store_n(real, (lookup_function *)f->real, __ATOMIC_RELAXED);
	return (lookup_function *)f->real;
}

static lookup_function *real_of(lookup_function **real)
{
	lookup_function *f = __atomic_load_n(real, __ATOMIC_RELAXED);

	return f ? f : ct_resolve(real);
}

/* What everybody finds by this name. */
static void *find_common(const char *name)
{
	return real_of(&ct_real_dlsym)(RTLD_DEFAULT, name, NULL);
}

void ct_interpose_start(void *ours_dlsym, void *ours_dlvsym, void *bound)
{
	void *real = (void *)real_of(&ct_real_dlsym);

	real_of(&ct_real_dlvsym);
	ct_driver_dlsym_first = bound == ours_dlsym;
	ct_got_functions[CT_GOT_DLSYM].ours = ours_dlsym;
	ct_got_functions[CT_GOT_DLVSYM].ours = ours_dlvsym;
	/* Where another library's dlsym() comes before ours, objects may be bound to that. */
	ct_got_functions[CT_GOT_DLSYM].lazy = ct_got_functions[CT_GOT_DLVSYM].lazy =
		bound == ours_dlsym || bound == real;
}

/*
 * An address that leads into no libcuda that the list of objects has shown.  A child does not
 * look at that list until it has loaded an object itself (see elf.h), such as this one.
 */
static cold bool in_new_driver(void *address, const char *name)
{
	int (*find)(const void *, Dl_info *);
	const char *file;
	Dl_info info;

	if (name[2] == 'd')
		return false;
	find = (__typeof__(find))find_common("dladdr");
	if (!find || !find(address, &info) || !info.dli_fname)
		return false;
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (strncmp(file, "libcuda.so", 10))
		return false;
	ct_objects_allow();
	ct_objects_check();
	if (ct_driver_contains((u64)address))
		return ct_driver_needs_thunk((u64)address);
	ct_say_once(CT_ONCE_OBJECTS, "calls of a libcuda that dlmopen() has loaded are not "
		    "traced, from ", name);
	ct_objects_unseen(CT_UNSEEN_NAMESPACE);
	return false;
}

/* As the real function would find it for the caller; NULL where only it can say. */
static void *find_for(u64 caller, void *handle, const char *name, const char *version,
		      lookup_function *real)
{
	void *address = NULL;
	u64 next;

	if (handle != RTLD_NEXT)
		address = real(handle, name, version);
	if (!ct_ready)
		return address;
	/* Both are relative to the caller's object; RTLD_DEFAULT was to ours. */
	if (handle == RTLD_NEXT) {
		next = ct_driver_next(caller, name, version);
		address = next == 1 ? real(RTLD_DEFAULT, name, version) : (void *)next;
	} else if (!address && handle == RTLD_DEFAULT) {
		address = (void *)ct_driver_symbol_for(caller, name, version);
	} else {
		return address;
	}
	/* Nothing failed for the caller: one that succeeds clears dlerror(). */
	if (address)
		find_common("dlsym");
	return address;
}

/*
 * The answer for a name of libcuda, or NULL if the real function is to answer the
 * caller itself: its errors, and the scopes that only the caller's objects see.
 */
void *ct_look_up(void *handle, const char *name, const char *version, u64 caller,
		 lookup_function **real)
{
	void *address;

	/* An object that went away must not be asked what it exports. */
	if (ct_ready)
		ct_objects_check();
	/* Of a call that is recorded already, what the wrapper calls is not recorded again. */
	if (ct_ready && ct_driver_wraps(caller, name))
		return NULL;
	/* Of a call of dlsym(), version is what a register held by chance. */
	if (real == &ct_real_dlsym)
		version = NULL;
	address = find_for(caller, handle, name, version, real_of(real));
	if (!address || !ct_ready)
		return handle == RTLD_NEXT ? NULL : address;
	if (ct_driver_needs_thunk((u64)address) ||
	    (!ct_driver_contains((u64)address) && in_new_driver(address, name)))
		return ct_thunk_for(name, address);
	return handle == RTLD_NEXT ? NULL : address;
}

/*
 * int cuGetProcAddress(const char *symbol, void **pfn, int version, u64 flags,
 * [int *status]): symbol is a base name, so the address says what it really is.
 */
void ct_after_get_proc_address(struct ct_frame *f)
{
	const char *asked = (const char *)f->arg[0], *name;
	void **pfn = (void **)f->arg[1];

	if ((u32)f->result || !pfn || !*pfn || !asked)
		return;
	ct_objects_check();
	if (!ct_driver_needs_thunk((u64)*pfn))
		return;
	name = ct_driver_name_at((u64)*pfn, asked);
	*pfn = ct_thunk_for(name ? name : asked, *pfn);
}
