// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a loaded object's dynamic section; see elf.h.
 *
 * Must never write to an object, nor keep a pointer into one beyond the
 * dl_iterate_phdr() callback that it was called from.
 */
#include "base/elf.h"

#include "base/process.h"

#include <pthread.h>
#include <sys/auxv.h>

#define PAGE	4096ull

/*
 * glibc relocates these in place, except for objects like the vDSO, which may be linked
 * at any address: what leads into the object is an address already.  NULL: neither does.
 */
static const void *address_of(const struct ct_object *o, u64 value)
{
	u64 moved = o->base + value;

	if (value >= o->start && value < o->end)
		return (const void *)value;
	return moved >= o->start && moved < o->end ? (const void *)moved : NULL;
}

/* What the dynamic section says; start and end are known. */
static bool read_dynamic(struct ct_object *o, const ElfW(Dyn) *d)
{
	u64 soname = ~0ull, plt_size = 0, rela_size = 0, relative = 0;

	for (; d->d_tag != DT_NULL; d++) {
		u64 at = d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB:	  o->symbols = address_of(o, at); break;
		case DT_STRTAB:	  o->strings = address_of(o, at); break;
		case DT_GNU_HASH: o->gnu_hash = address_of(o, at); break;
		case DT_HASH:	  o->sysv_hash = address_of(o, at); break;
		case DT_JMPREL:	  o->plt = address_of(o, at); break;
		case DT_RELA:	  o->rela = address_of(o, at); break;
		case DT_PLTRELSZ: plt_size = d->d_un.d_val; break;
		case DT_RELASZ:	  rela_size = d->d_un.d_val; break;
		case DT_RELACOUNT: relative = d->d_un.d_val; break;
		case DT_SONAME:	  soname = d->d_un.d_val; break;
		}
	}
	if (!o->symbols || !o->strings)
		return false;
	if (soname != ~0ull)
		o->soname = o->strings + soname;
	o->plt_count = o->plt ? plt_size / sizeof(ElfW(Rela)) : 0;
	o->rela_count = o->rela ? rela_size / sizeof(ElfW(Rela)) : 0;
	/* They come first, and large libraries have hundreds of thousands of them. */
	if (relative <= o->rela_count) {
		o->rela += relative;
		o->rela_count -= relative;
		o->relative_count = relative;
	}
	return true;
}

bool ct_object_read(struct ct_object *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *d = NULL;

	memset(o, 0, sizeof(*o));
	o->base = info->dlpi_addr;
	o->path = info->dlpi_name ? info->dlpi_name : "";
	o->soname = "";
	o->phdr = info->dlpi_phdr;
	o->phnum = info->dlpi_phnum;
	o->start = ~0ull;

	for (unsigned i = 0; i < o->phnum; i++) {
		const ElfW(Phdr) *p = &o->phdr[i];
		u64 at = o->base + p->p_vaddr;

		if (p->p_type == PT_LOAD) {
			if (at < o->start)
				o->start = at;
			if (at + p->p_memsz > o->end)
				o->end = at + p->p_memsz;
		} else if (p->p_type == PT_DYNAMIC) {
			d = (const ElfW(Dyn) *)at;
		} else if (p->p_type == PT_GNU_RELRO) {
			o->relro_start = at & -PAGE;
			o->relro_end = (at + p->p_memsz) & -PAGE;
		}
	}
	if (!d)
		return false;
	return read_dynamic(o, d);
}

static bool defined(const struct ct_object *o, u32 i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       !strcmp(o->strings + s->st_name, name);
}

static const ElfW(Sym) *find_gnu(const struct ct_object *o, const char *name)
{
	const u32 *h = o->gnu_hash;
	u32 buckets = h[0], first = h[1], words = h[2], shift = h[3];
	const u64 *bloom = (const u64 *)(h + 4);
	const u32 *bucket = (const u32 *)(bloom + words);
	const u32 *chain = bucket + buckets;
	u32 hash = 5381, i;
	u64 word;

	if (!buckets || !words)
		return NULL;
	for (const u8 *c = (const u8 *)name; *c; c++)
		hash = hash * 33 + *c;
	word = bloom[hash / 64 % words];
	if (!(word >> hash % 64 & 1) || !(word >> (hash >> shift) % 64 & 1))
		return NULL;
	i = bucket[hash % buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		u32 c = chain[i - first];

		if ((c | 1) == (hash | 1) && defined(o, i, name))
			return &o->symbols[i];
		if (c & 1)
			return NULL;
	}
}

static const ElfW(Sym) *find_sysv(const struct ct_object *o, const char *name)
{
	const u32 *bucket = o->sysv_hash + 2;
	const u32 *chain = bucket + o->sysv_hash[0];
	u32 hash = 0;

	if (!o->sysv_hash[0])
		return NULL;
	for (const u8 *c = (const u8 *)name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (u32 i = bucket[hash % o->sysv_hash[0]]; i; i = chain[i])
		if (defined(o, i, name))
			return &o->symbols[i];
	return NULL;
}

const ElfW(Sym) *ct_object_find(const struct ct_object *o, const char *name)
{
	if (o->gnu_hash)
		return find_gnu(o, name);
	if (o->sysv_hash)
		return find_sysv(o, name);
	return NULL;
}

/* No header says it with DT_GNU_HASH. */
u32 ct_object_symbols(const struct ct_object *o)
{
	const u32 *h = o->gnu_hash, *bucket, *chain;
	u32 last = 0;

	if (o->sysv_hash)
		return o->sysv_hash[1];
	if (!h)
		return 0;
	bucket = (const u32 *)((const u64 *)(h + 4) + h[2]);
	chain = bucket + h[0];
	for (u32 i = 0; i < h[0]; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < h[1])
		return h[1];
	while (!(chain[last - h[1]] & 1))
		last++;
	return last + 1;
}

const char *ct_object_name_at(const struct ct_object *o, u64 address,
			      const char *prefix)
{
	u32 count = ct_object_symbols(o);
	size_t n = strlen(prefix);
	const char *best = NULL;

	for (u32 i = 0; i < count; i++) {
		const ElfW(Sym) *s = &o->symbols[i];
		const char *name = o->strings + s->st_name;

		if (s->st_shndx == SHN_UNDEF || o->base + s->st_value != address ||
		    strncmp(name, prefix, n))
			continue;
		/* Aliases: the shortest is the nearest to what was asked for. */
		if (!best || strlen(name) < strlen(best))
			best = name;
	}
	return best;
}

bool ct_object_writable(const struct ct_object *o, u64 address)
{
	for (unsigned i = 0; i < o->phnum; i++) {
		const ElfW(Phdr) *p = &o->phdr[i];
		u64 at = o->base + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && address >= at &&
		    address + 8 <= at + p->p_memsz)
			return true;
	}
	return false;
}

typedef int iterate_function(int (*look)(struct dl_phdr_info *, size_t, void *), void *data);

static early_data iterate_function *iterate;

/*
 * libc is there from the start to the end: its entry may be looked at.  Where its headers
 * are that does not say, for l_addr is what was added to its addresses and may be 0.
 */
static bool read_libc(struct ct_object *o, const struct link_map *m)
{
	const char *name = m->l_name ? strrchr(m->l_name, '/') : NULL;

	if (!name || strcmp(name, "/libc.so.6") || !m->l_ld)
		return false;
	memset(o, 0, sizeof(*o));
	o->base = m->l_addr;
	o->soname = "";
	o->start = m->l_addr;	/* so that both is taken: relocated or not */
	o->end = ~0ull;
	return read_dynamic(o, m->l_ld);
}

/*
 * ThreadSanitizer has a dl_iterate_phdr() of its own, and asks dlsym() for libc's
 * before that one works.  What the loader tells debuggers leads past it: the list of
 * objects, which is only walked as far as libc, since what may go away stands behind.
 */
static cold iterate_function *find_iterate(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const ElfW(Dyn) *d = NULL;
	const struct link_map *m = NULL;
	const ElfW(Sym) *s;
	struct ct_object o;
	u64 base = 0;
	bool placed = false;

	for (u64 i = 0; p && i < getauxval(AT_PHNUM); i++) {
		if (p[i].p_type == PT_PHDR) {
			base = (u64)p - p[i].p_vaddr;
			placed = true;
		}
		if (p[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)p[i].p_vaddr;
	}
	/* Of a program that does not say it, where it was put is not known here. */
	d = d && placed ? (const ElfW(Dyn) *)((u64)d + base) : NULL;
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			m = ((const struct r_debug *)d->d_un.d_ptr)->r_map;
	for (; m; m = m->l_next) {
		if (!read_libc(&o, m))
			continue;
		s = ct_object_find(&o, "dl_iterate_phdr");
		if (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
			return (iterate_function *)(o.base + s->st_value);
		break;
	}
	return dl_iterate_phdr;
}

/*
 * dl_iterate_phdr()'s lock: of the recursive mutexes in the loader's data it is the one that
 * this thread holds inside and not outside.  A child learns from it whether a thread that is
 * gone holds it.  NULL: not known.
 */
static const pthread_mutex_t *list_lock;

struct held {
	const pthread_mutex_t *lock;
	unsigned count;
	int tid;
};

static int find_held(struct dl_phdr_info *info, size_t size, void *data)
{
	struct held *h = data;
	const ElfW(Sym) *s;
	struct ct_object o;

	(void)size;
	s = ct_object_read(&o, info) ? ct_object_find(&o, "_rtld_global") : NULL;
	for (u64 at = 0; s && at + sizeof(*h->lock) <= s->st_size; at += 8) {
		const pthread_mutex_t *m = (const void *)(o.base + s->st_value + at);

		if (m->__data.__owner != h->tid || !m->__data.__lock || !m->__data.__count ||
		    m->__data.__kind != PTHREAD_MUTEX_RECURSIVE_NP)
			continue;
		h->lock = m;
		h->count++;
	}
	return s != NULL;
}

void ct_objects_learn(void)
{
	static u32 tries;
	struct held h = { NULL, 0, 0 };

	/* Inside dlopen() the thread holds two: at the next lookup it may hold one. */
	if (__atomic_load_n(&list_lock, __ATOMIC_RELAXED) || tries == 16)
		return;
	tries++;
	h.tid = (int)ct_sys0(SYS_gettid);
	ct_each_object(find_held, &h);
	if (h.count == 1 && h.lock->__data.__owner != h.tid)
		__atomic_store_n(&list_lock, h.lock, __ATOMIC_RELAXED);
}

/* May we take the lock?  Where that is not known, ct_objects_allow() says it. */
static cold bool list_is_free(void)
{
	const pthread_mutex_t *m = __atomic_load_n(&list_lock, __ATOMIC_RELAXED);

	if (!m || __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED))
		return false;
	ct_objects_allow();
	return true;
}

bool ct_objects_blocked(void)
{
	const pthread_mutex_t *m = __atomic_load_n(&list_lock, __ATOMIC_RELAXED);

	return ct_ready && !ct_load(&ct_process->objects) && m && !list_is_free();
}

int ct_each_object(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
	iterate_function *f = __atomic_load_n(&iterate, __ATOMIC_RELAXED);

	/* Before the library's start nobody forks. */
	if (ct_ready && !ct_load(&ct_process->objects) && !list_is_free())
		return 0;
	if (!f) {
		f = find_iterate();
		__atomic_store_n(&iterate, f, __ATOMIC_RELAXED);
	}
	return f(look, data);
}

void ct_objects_allow(void)
{
	ct_store(&ct_process->objects, 1u);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

bool ct_object_is_ours(const struct dl_phdr_info *info)
{
	return info->dlpi_addr == (u64)__ehdr_start;
}

struct search {
	const char *names;	/* so many texts, one behind the other */
	void **found;
	unsigned count;
	bool here;		/* also in objects before this library */
};

static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *n = data;
	const char *name = n->names;
	unsigned missing = 0;
	struct ct_object o;

	(void)size;
	if (ct_object_is_ours(info)) {
		n->here = true;
		return 0;
	}
	if (!n->here || !ct_object_read(&o, info))
		return 0;
	for (unsigned i = 0; i < n->count; i++, name += strlen(name) + 1) {
		const ElfW(Sym) *s = n->found[i] ? NULL : ct_object_find(&o, name);

		if (s && ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC && ELF64_ST_TYPE(s->st_info) != STT_TLS)
			n->found[i] = (void *)(o.base + s->st_value);
		missing += !n->found[i];
	}
	return !missing;
}

void ct_find_next_all(const char *names, void **found, unsigned count)
{
	struct search n = { names, found, count, false };

	memset(found, 0, count * sizeof(*found));
	if (ct_each_object(search_object, &n))
		return;
	/* One that was loaded late has nobody behind it. */
	n.here = true;
	ct_each_object(search_object, &n);
}

void *ct_find_next(const char *name)
{
	void *found;

	ct_find_next_all(name, &found, 1);
	return found;
}
