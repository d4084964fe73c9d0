/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the loaded objects are libcuda, libnccl, or a shared libcudart that is to be recorded; and which
 * have a libnccl inside, linked statically, that they export.
 */
#ifndef CT_DRIVER_H
#define CT_DRIVER_H

#include "base/elf.h"
#include "call/collective.h"
#include "hook/slot.h"

#define CT_DRIVERS_MAX	8

struct ct_driver {
	char path[256];		/* as the loader was told it */
	bool simulated;		/* it exports cudatrace_simulated_gpu */
};

/* What ct_driver_tables() has found. */
struct ct_driver_news {
	bool later;		/* a table is being filled: look again */
	bool unknown;		/* a libcuda has no table that is known */
	bool pointers;		/* one came whose calls are seen by the program's pointers */
};

/*
 * A look at the list of loaded objects, inside dl_iterate_phdr(): it begins, comes to an object
 * at base that it knows, or to one that may be new, and ends.  What it did not come to is gone.
 */
void ct_driver_look(void);
void ct_driver_see(u64 base);
/* True: it has a libnccl inside, which is asked only once there is a libcuda: most programs have none. */
bool ct_driver_note(const struct ct_object *o);
void ct_driver_looked(void);

/*
 * Looks at the tables of those that came; inside dl_iterate_phdr().  last: who is not ready yet
 * has had its time.
 */
void ct_driver_tables(bool last, struct ct_driver_news *news);

/* The same for a child whose parent's thread was in the middle of it, and that has no list. */
void ct_driver_finish(struct ct_driver_news *news);

/* All are looked at again, as if they had just come.  Inside dl_iterate_phdr(). */
void ct_driver_restart(void);

/* There is a libcuda in the process. */
bool ct_driver_here(void);

/* Is this address inside one of them that is loaded now?  No lock. */
bool ct_driver_contains(u64 address);

/*
 * Is it inside one whose calls are seen only where the program gets a thunk instead of this
 * pointer?  Not so of a libcuda that is seen by its own table.  No lock.
 */
bool ct_driver_needs_thunk(u64 address);

/*
 * Is it in an object that has a libnccl inside; if a name is given: of that libnccl's function of this name?  They
 * are seen by thunks, also where the object itself calls them through its global offset table.  Variables may have
 * such names, too.  No lock.
 */
bool ct_driver_is_inside(u64 address, const char *name);

/* The function of this name that the object exports in which this address is; 0: there is none.  No lock. */
u64 ct_driver_beside(u64 address, const char *name);

/* Whose functions these are: there is one of these, or was. */
enum ct_family { CT_FAMILY_CUDA = 1, CT_FAMILY_CUDART = 2, CT_FAMILY_NCCL = 4 };
extern u32 ct_driver_families;

/* Is it a name of the functions of one of these? */
static inline bool ct_driver_has_name(const char *name)
{
	u32 families = ct_driver_families;

	if (likely(!families) || (name[0] != 'c' && name[0] != 'n'))
		return false;
	if (name[0] == 'n')
		return families & CT_FAMILY_NCCL && ct_collective_is_name(name);
	return ct_is_name(name) && families & (name[2] == 'd' ? CT_FAMILY_CUDART : CT_FAMILY_CUDA);
}

/* Is the object a libcuda, by its name? */
bool ct_driver_is_real(const struct ct_object *o);

/*
 * The exported name of the function at this address of libcuda, one that begins
 * with prefix; NULL if it is not exported.  Valid as long as libcuda is loaded.
 */
const char *ct_driver_name_at(u64 address, const char *prefix);

/* The libcuda found last, NULL if there was none; changes when generation does. */
const struct ct_driver *ct_driver_last(void);
extern u32 ct_driver_generation;

#endif
