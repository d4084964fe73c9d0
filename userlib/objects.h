/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking the objects that are loaded in this process.
 *
 * Two ways, by whose locks the program waits for without us.  What loads or unloads an
 * object takes both.
 *
 * While its dlsym() runs it is the lock that this takes anyway, and no other: another
 * thread may be in dl_iterate_phdr() for long, whose callback may call dlsym(), or may
 * have been there when a child was forked.  (Before glibc 2.35, and in a namespace of
 * dlmopen(), there is only the other way.)
 *
 * In all other places it is libc's dl_iterate_phdr(): that does not wait for a library's
 * constructor, which dlopen() may be running in another thread.
 */
#ifndef CT_OBJECTS_H
#define CT_OBJECTS_H

#include <link.h>

#include "sys.h"

typedef int ct_look(struct dl_phdr_info *info, size_t size, void *data);

typedef void *ct_dlsym_function(void *handle, const char *name);

/* Finds out how to walk inside dlsym(). */
void ct_objects_start(ct_dlsym_function *real);

/*
 * Calls look for each object, in the loader's order, until it returns something else than
 * 0, and returns that.  No object comes or goes meanwhile.  One that the loader has not
 * finished may have no dlpi_phdr.  look may call ct_each_object() itself.
 */
int ct_each_object(ct_look *look, void *data);

/* The same while the program's dlsym() runs.  Clears what dlerror() would say. */
int ct_each_object_in_dlsym(ct_look *look, void *data);

/*
 * True in a child that was forked while another thread was in dl_iterate_phdr(), if there
 * is no other way: no object is looked at any more.
 */
bool ct_objects_hidden(void);

/*
 * What follows is for a look.  This one at any time: is the list the one that is known?
 * (False also while another thread is about to know another.)
 */
bool ct_objects_same(const struct dl_phdr_info *info);

/*
 * From here on it is for one thread at a time.
 *
 * What has become of the list that is known; with OTHERS nothing is kept any more.
 */
enum ct_objects_change {
	CT_OBJECTS_SAME,
	CT_OBJECTS_MORE,	/* behind those that are known */
	CT_OBJECTS_OTHERS,
} ct_objects_changed(const struct dl_phdr_info *info);

/* Which list the last ct_objects_changed() saw, if not the SAME. */
u64 ct_objects_version(void);

/* The list, up to its first count objects, is known from now on. */
void ct_objects_known(const struct dl_phdr_info *info, unsigned count);

/*
 * An object that was unloaded and loaded again may lie at the same place, and so may its
 * entry in the list.  So of those that were patched one slot is kept in mind: it then has
 * another value.
 */
#define CT_OBJECTS_KEPT	64	/* of so many objects */
struct ct_object;
void ct_objects_keep(const struct ct_object *o, const u64 *slot);

#endif
