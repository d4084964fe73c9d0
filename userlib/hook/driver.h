/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where libcuda (and a shared libcudart) lies in this process, and keeping up with objects that come and
 * go.
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

/*
 * Looks at the list of loaded objects if it has changed: finds libcuda, and
 * patches the GOT slots that lead into it.  Cheap when nothing changed; takes
 * the loader's lock of dl_iterate_phdr() and, inside, the process's.
 */
void ct_objects_check(void);

/* Is this address inside a libcuda or libcudart that is loaded now?  No lock. */
bool ct_driver_contains(u64 address);

/*
 * The exported name of the function at this address of libcuda, one that begins
 * with prefix; copied to name.  False if it is not exported.
 */
bool ct_driver_name_at(u64 address, const char *prefix, char *name, size_t size);

/*
 * The function that a caller linked to libcuda finds in it by this name, also
 * where libcuda was loaded for the caller's object alone; NULL if it is not.
 */
void *ct_driver_symbol_for(const void *caller, const char *name);

/* The libcuda found last, NULL if there was none; changes when generation does. */
const struct ct_driver *ct_driver_last(void);
extern u32 ct_driver_generation;

#endif
