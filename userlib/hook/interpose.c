// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dlsym() and dlvsym(): moments to look for new objects.  Of a libcuda without a known table,
 * and of a libcudart, the program gets thunks instead of pointers, here and from
 * cuGetProcAddress.
 *
 * Holds no list of function names and keeps no state but the addresses of the real
 * functions.  Must never replace a pointer that leads elsewhere.
 */
#include "hook/interpose.h"

#include <dlfcn.h>

#include "base/elf.h"
#include "base/process.h"
#include "call/collective.h"
#include "call/ioctl.h"
#include "hook/driver.h"
#include "hook/got.h"
#include "hook/objects.h"
#include "hook/slot.h"

/* dlvsym(), or dlsym(), which takes no notice of the version. */
typedef void *lookup_function(void *handle, const char *name, const char *version);

lookup_function *ct_real_dlsym, *ct_real_dlvsym;

void *ct_look_up(void *handle, const char *name, const char *version, lookup_function **real);

static void *none(void *handle, const char *name, const char *version)
{
	(void)handle;
	(void)name;
	(void)version;
	return NULL;
}

/* glibc's, or that of another preloaded library which comes after this one; NULL: not yet. */
static void keep_real(lookup_function **real, void *found)
{
	__atomic_store_n(real, found ? (lookup_function *)found : none, __ATOMIC_RELAXED);
}

static cold void find_real(lookup_function **real)
{
	keep_real(real, ct_find_next(real == &ct_real_dlsym ? "dlsym" : "dlvsym"));
}

void ct_interpose_start(void *ours_dlsym, void *ours_dlvsym, void *bound)
{
	void *real[3];
	bool lazy;

	ct_find_next_all("dlsym\0dlvsym\0ioctl", real, 3);
	keep_real(&ct_real_dlsym, real[0]);
	keep_real(&ct_real_dlvsym, real[1]);
	ct_ioctl_found(real[2]);
	/* Where another library's dlsym() comes before ours, objects may be bound to that. */
	lazy = bound == ours_dlsym || bound == real[0];
	ct_got_bound = bound == ours_dlsym;
	ct_got_functions[CT_GOT_DLSYM] =
		(struct ct_got_function){ "dlsym", real[0], ours_dlsym, lazy };
	ct_got_functions[CT_GOT_DLVSYM] =
		(struct ct_got_function){ "dlvsym", real[1], ours_dlvsym, lazy };
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

	if (name[0] != 'c' || name[2] == 'd')
		return false;
	find = (__typeof__(find))ct_real_dlsym(RTLD_DEFAULT, "dladdr", NULL);
	if (!find || !find(address, &info) || !info.dli_fname)
		return false;
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (strncmp(file, "libcuda.so", 10))
		return false;
	/* Or its parent has loaded it, and a thread that is gone was about to look. */
	if (ct_objects_blocked())
		return true;
	ct_objects_allow();
	ct_objects_check();
	if (ct_driver_contains((u64)address))
		return ct_driver_needs_thunk((u64)address);
	ct_say_once(CT_ONCE_OBJECTS, "calls of a libcuda that dlmopen() has loaded are not "
		    "traced, from ", name);
	ct_objects_unseen(CT_UNSEEN_NAMESPACE);
	return false;
}

/*
 * A thunk, or NULL if the real function is to answer the caller itself, as it mostly is: it
 * goes by who its caller is.
 */
void *ct_look_up(void *handle, const char *name, const char *version, lookup_function **real)
{
	lookup_function *f = ct_load(real);
	void *address;

	/* At any time: before the library's start, too. */
	if (unlikely(!f || f == none))
		find_real(real);
	if (!ct_ready || ct_load(&ct_stopped) == CT_STOPPED)
		return NULL;
	ct_objects_check();
	/* RTLD_NEXT is relative to the caller. */
	if (!name || (!ct_is_name(name) && !ct_collective_is_name(name)) || handle == RTLD_NEXT)
		return NULL;
	address = f(handle, name, version);
	if (address && (ct_driver_needs_thunk((u64)address) ||
			ct_driver_is_inside((u64)address, name) ||
			(!ct_driver_contains((u64)address) && in_new_driver(address, name))))
		return ct_thunk_for(name, address);
	return NULL;
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
