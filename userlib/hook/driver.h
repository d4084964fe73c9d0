/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the loaded objects are libcuda, a shared libcudart, or stand in libcuda's place.
 *
 * What stands in its place: a library that exports cuInit, as GPU sharing shims and Nsight
 * Compute's libcuda-injection.so do.  The program's calls of it are recorded, for it may
 * reach libcuda by ways of its own, and may answer calls itself.
 */
#ifndef CT_DRIVER_H
#define CT_DRIVER_H

#include "base/elf.h"

#define CT_DRIVERS_MAX	8

struct ct_driver {
	u64 start, end;
	char path[256];		/* as the loader was told it */
	bool simulated;		/* it exports cudatrace_simulated_gpu */
};

/* Is the program's dlsym() ours?  Else one before ours gives it what it calls. */
extern bool ct_driver_dlsym_first;

/*
 * Looks at the list of loaded objects, inside dl_iterate_phdr(), and counts them.  True if
 * a libcuda came that was not there before.
 */
bool ct_driver_update(unsigned *objects);

/*
 * Looks at the tables of those that came; inside dl_iterate_phdr().  last: who is not ready yet
 * has had its time.  unknown: set if one has none that is known.  False: look again, a table is
 * being filled.
 */
bool ct_driver_tables(bool last, bool *unknown);

/* Is this address inside one of them that is loaded now?  No lock. */
bool ct_driver_contains(u64 address);

/*
 * Is it inside one whose calls are seen only where the program gets a thunk instead of this
 * pointer?  Not so of a libcuda that is seen by its own table.  No lock.
 */
bool ct_driver_needs_thunk(u64 address);

/* Is it inside one of this very file name, whatever else is in libcuda's place? */
bool ct_driver_is_real(const struct ct_object *o);

/*
 * The exported name of the function at this address of libcuda, one that begins
 * with prefix; NULL if it is not exported.  Valid as long as libcuda is loaded.
 */
const char *ct_driver_name_at(u64 address, const char *prefix);

/*
 * Does the caller wrap the function of this name, so that its call of the real one belongs
 * to a call that is recorded already?
 */
bool ct_driver_wraps(u64 caller, const char *name);

/*
 * The function that a caller linked to libcuda finds in it by this name, also
 * where libcuda was loaded for the caller's object alone; 0 if it is not.  version: NULL is any.
 */
u64 ct_driver_symbol_for(u64 caller, const char *name, const char *version);

/*
 * What RTLD_NEXT gives the caller: an address; 0 if only the loader knows; 1 if it is what
 * RTLD_DEFAULT gives to us.
 */
u64 ct_driver_next(u64 caller, const char *name, const char *version);

/* The libcuda found last, NULL if there was none; changes when generation does. */
const struct ct_driver *ct_driver_last(void);
extern u32 ct_driver_generation;

#endif
