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
	const ElfW(Rela) *plt, *rela;	/* rela: without those that have no symbol */
	size_t plt_count, rela_count;
	size_t relative_count;		/* relocations without a symbol, right before rela */
	const ElfW(Phdr) *phdr;
	unsigned phnum;
};

static inline bool ct_object_contains(const struct ct_object *o, u64 address)
{
	return address >= o->start && address < o->end;
}

/* False if the object has no dynamic section to read. */
bool ct_object_read(struct ct_object *o, const struct dl_phdr_info *info);

/* A defined function or variable by name; NULL if there is none. */
const ElfW(Sym) *ct_object_find(const struct ct_object *o, const char *name);

/* How many dynamic symbols it has. */
u32 ct_object_symbols(const struct ct_object *o);

/* The name of the symbol at this address whose name begins with prefix. */
const char *ct_object_name_at(const struct ct_object *o, u64 address,
			      const char *prefix);

/* May the memory at this address be written, relro apart? */
bool ct_object_writable(const struct ct_object *o, u64 address);

/* The object that this library is. */
bool ct_object_is_ours(const struct dl_phdr_info *info);

/*
 * The first definition of name in an object that was loaded after this library,
 * as RTLD_NEXT would find it, or else in any other; NULL if there is none.  Functions and
 * variables.
 */
void *ct_find_next(const char *name);

/* The same of several: names are so many texts, one behind the other.  One look at each object. */
void ct_find_next_all(const char *names, void **found, unsigned count);

/*
 * libc's dl_iterate_phdr(), also where somebody else has put himself before it.  In a child
 * it shows no object as long as its lock may be that of a thread of the parent which was
 * inside at the fork, and is not there to give it back.
 */
int ct_each_object(int (*look)(struct dl_phdr_info *info, size_t size, void *data),
		   void *data);

/* This process is such a child, and it will show none. */
bool ct_objects_blocked(void);

/* Nobody who is gone holds that lock: an object was loaded in this process. */
void ct_objects_allow(void);

/* Finds out where that lock is, for children.  Cheap once it is known. */
void ct_objects_learn(void);

#endif
