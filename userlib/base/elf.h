/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A loaded object as the dynamic loader laid it out: its names, symbols and
 * relocations, read straight from its memory.
 *
 * Must never call dlsym, dladdr or anything else that takes the loader's main
 * lock or changes what dlerror() says: it is used while the program's own
 * dlsym() runs, and inside dl_iterate_phdr().
 */
#ifndef CT_ELF_H
#define CT_ELF_H

#include <link.h>

#include "base/sys.h"

struct ct_object {
	u64 base;
	u64 start, end;			/* of its loadable segments */
	u64 relro_start, relro_end;	/* whole pages, as the loader protects them */
	const char *path;
	const char *soname;		/* "" if it has none */
	const ElfW(Sym) *symbols;
	const char *strings;
	const u32 *gnu_hash;
	const u32 *sysv_hash;
	const ElfW(Rela) *plt, *rela;
	size_t plt_count, rela_count;
	const ElfW(Dyn) *dynamic;
	const ElfW(Phdr) *phdr;
	unsigned phnum;
};

/* False if the object has no dynamic section to read. */
bool ct_object_read(struct ct_object *o, const struct dl_phdr_info *info);

/* A defined function or variable by name; NULL if there is none. */
const ElfW(Sym) *ct_object_find(const struct ct_object *o, const char *name);

/* The name of the symbol at this address whose name begins with prefix. */
const char *ct_object_name_at(const struct ct_object *o, u64 address,
			      const char *prefix);

/* Is the object linked to a library whose name begins so? */
bool ct_object_needs(const struct ct_object *o, const char *prefix);

/* May the memory at this address be written, relro apart? */
bool ct_object_writable(const struct ct_object *o, u64 address);

/*
 * The first definition of name in an object that was loaded after this library,
 * as RTLD_NEXT would find it; NULL if there is none.  Functions and variables.
 */
void *ct_find_next(const char *name);

/* The first definition of all, as the loader binds it. */
void *ct_find_first(const char *name);

/* The same in any object but this library: for one that was loaded late. */
void *ct_find_any(const char *name);

/*
 * libc's dl_iterate_phdr(), also where somebody else has put himself before it.  Sees no
 * object in a child that was forked while another thread was in here: they are hidden.
 */
bool ct_objects_hidden(void);
int ct_each_object(int (*look)(struct dl_phdr_info *info, size_t size, void *data),
		   void *data);

#endif
