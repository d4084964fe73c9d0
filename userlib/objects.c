// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walking the objects that are loaded in this process; see objects.h.
 *
 * dlsym() of an indirect function calls its resolver, and does so with the loader's lock
 * held.  While the program's dlsym() runs, ours is asked for by the real one, and walks
 * what the loader tells debuggers: its list of struct link_map.
 *
 * Must never call dlsym() in any other way, nor keep a pointer to an entry of the list.
 */
#include "objects.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "elf.h"
#include "process.h"

#ifndef FIND_OBJECT
#define FIND_OBJECT	"_dl_find_object"
#endif

typedef int iterate_function(ct_look *look, void *data);

/* What _dl_find_object() of glibc 2.35 tells, by its ABI: headers may be older. */
struct found {
	u64 flags;
	const u8 *start, *end;
	const struct link_map *map;
	u64 rest[8];
};
typedef int find_function(void *address, struct found *found);

static bool by_list;		/* inside dlsym(), if that works */
static ct_dlsym_function *real_dlsym;
static iterate_function *iterate;
static find_function *find;
static const struct r_debug *debug;

/*
 * What ct_objects_known() said, and of which list that is true by what dl_iterate_phdr()
 * counts.  Written by one thread at a time, and read meanwhile: changes is odd then.
 */
static struct {
	u32 changes;
	u64 all, first;
	unsigned count;
	u64 adds, subs;
} known;
static u64 current;
static unsigned kept_count;
static struct {
	const u64 *slot;
	u64 value;
} kept[CT_OBJECTS_KEPT];

/* What a thread wants the resolver to do, and whether it is in there. */
struct wish {
	ct_look *look;
	void *data;
	int ret;
	bool done;
};
#define THREADS_OWN	static __thread __attribute__((tls_model("initial-exec")))
THREADS_OWN struct wish *wish;
THREADS_OWN u32 locked;

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
	return ct_object_read_dynamic(o, m->l_ld);
}

static cold const struct r_debug *find_debug(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const ElfW(Dyn) *d = NULL;
	u64 count = getauxval(AT_PHNUM), base = 0;

	for (u64 i = 0; p && i < count; i++) {
		if (p[i].p_type == PT_PHDR)
			base = (u64)p - p[i].p_vaddr;
		if (p[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)p[i].p_vaddr;
	}
	d = d ? (const ElfW(Dyn) *)((u64)d + base) : NULL;
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (const struct r_debug *)d->d_un.d_ptr;
	return NULL;
}

static const struct link_map *first_object(void)
{
	if (!debug)
		debug = find_debug();
	return debug ? debug->r_map : NULL;
}

/*
 * A function of libc by its name, also where somebody else has put himself before it:
 * ThreadSanitizer has a dl_iterate_phdr() of its own, and asks dlsym() for libc's before
 * that one works.  Needs no lock, as the list is only walked as far as libc, and what may go
 * away stands behind.
 */
static cold void *find_in_libc(const char *name)
{
	const struct link_map *m = first_object();
	const ElfW(Sym) *s;
	struct ct_object o;

	for (; m; m = m->l_next) {
		if (!read_libc(&o, m))
			continue;
		s = ct_object_find(&o, name);
		if (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
			return (void *)(o.base + s->st_value);
		break;
	}
	return NULL;
}

/* Where the object's program headers are: its first segment begins with the file's. */
static void describe(const struct link_map *m, struct dl_phdr_info *info)
{
	struct found f;
	const ElfW(Ehdr) *e;

	info->dlpi_addr = m->l_addr;
	info->dlpi_name = m->l_name;
	info->dlpi_phdr = NULL;
	info->dlpi_phnum = 0;
	if (!m->l_prev) {	/* the program: as the kernel says */
		info->dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
		info->dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
		return;
	}
	if (!m->l_ld || find(m->l_ld, &f) || f.map != m)
		return;
	e = (const ElfW(Ehdr) *)f.start;
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_phentsize != sizeof(ElfW(Phdr)) ||
	    e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) > (u64)(f.end - f.start))
		return;
	info->dlpi_phdr = (const ElfW(Phdr) *)(f.start + e->e_phoff);
	info->dlpi_phnum = e->e_phnum;
}

static int walk_list(ct_look *look, void *data)
{
	struct dl_phdr_info info = { 0 };
	int ret = 0;

	for (const struct link_map *m = first_object(); m && !ret; m = m->l_next) {
		describe(m, &info);
		ret = look(&info, sizeof(info), data);
	}
	return ret;
}

typedef void nothing(void);

static void do_nothing(void)
{
}

/* With the loader's lock held, if somebody of us asked for it. */
static nothing *resolve(void)
{
	struct wish *w = wish;

	if (w) {
		wish = NULL;
		locked++;
		w->ret = walk_list(w->look, w->data);
		w->done = true;
		locked--;
	}
	return do_nothing;
}

__attribute__((visibility("default"), ifunc("resolve"))) nothing cudatrace_objects;

static bool walk_by_dlsym(struct wish *w)
{
	struct wish *outer = wish;	/* of what we interrupted */

	wish = w;
	barrier();
	real_dlsym(RTLD_DEFAULT, "cudatrace_objects");
	barrier();
	wish = outer;
	return w->done;
}

static int look_self(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ct_object o;

	(void)size;
	(void)data;
	return ct_object_read(&o, info) && (u64)&resolve >= o.start && (u64)&resolve < o.end;
}

void ct_objects_start(ct_dlsym_function *real)
{
	struct wish w = { look_self, NULL, 0, false };

	real_dlsym = real;
	find = (find_function *)find_in_libc(FIND_OBJECT);
	by_list = find && walk_by_dlsym(&w) && w.ret;
}

/*
 * A child inherits dl_iterate_phdr()'s lock as it is, and a thread that held it is not
 * there to give it back: who waits for it waits forever.  How many of ours were inside
 * is not wiped at a fork; what a process found out about that is.
 */
enum ct_objects_state { OBJECTS_FREE = 1, OBJECTS_HELD };

static u32 inside;

static bool held(void)
{
	u32 state = ct_load(&ct_process->objects);

	if (!state) {
		/* Another thread may be first; then it is right, and perhaps inside. */
		ct_cas(&ct_process->objects, 0u, ct_load(&inside) ? (u32)OBJECTS_HELD :
		       (u32)OBJECTS_FREE);
		state = ct_load(&ct_process->objects);
	}
	return state == OBJECTS_HELD;
}

bool ct_objects_hidden(void)
{
	return !by_list && held();
}

static int walk_by_libc(ct_look *look, void *data)
{
	iterate_function *f = __atomic_load_n(&iterate, __ATOMIC_RELAXED);
	int ret;

	if (held())
		return 0;
	if (!f) {
		f = (iterate_function *)find_in_libc("dl_iterate_phdr");
		if (!f)
			f = dl_iterate_phdr;
		__atomic_store_n(&iterate, f, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&inside, 1, __ATOMIC_ACQ_REL);
	ret = f(look, data);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_ACQ_REL);
	return ret;
}

int ct_each_object(ct_look *look, void *data)
{
	return locked ? walk_list(look, data) : walk_by_libc(look, data);
}

int ct_each_object_in_dlsym(ct_look *look, void *data)
{
	struct wish w = { look, data, 0, false };

	if (!locked && by_list && walk_by_dlsym(&w))
		return w.ret;
	return ct_each_object(look, data);
}

/* Of a list, and of what it begins with. */
struct hash {
	u64 all, first;
	unsigned count;		/* of the first */
	unsigned n;
};

/* By what no other object has at the same time. */
static void hash_object(struct hash *h, u64 base, const char *name)
{
	h->all = (h->all ^ base) * 0x9e3779b97f4a7c15;
	h->all = (h->all ^ (u64)name ^ h->all >> 32) * 0x9e3779b97f4a7c15;
	if (++h->n <= h->count)
		h->first = h->all;
}

static int look_hash(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	hash_object(data, info->dlpi_addr, info->dlpi_name);
	return 0;
}

static struct hash hash_list(unsigned count)
{
	struct hash h = { .count = count };

	if (!locked)
		walk_by_libc(look_hash, &h);
	else for (const struct link_map *m = first_object(); m; m = m->l_next)
		hash_object(&h, m->l_addr, m->l_name);
	return h;
}

static bool kept_all(void)
{
	for (unsigned i = 0, n = ct_load(&kept_count); i < n; i++)
		if (*kept[i].slot != kept[i].value)
			return false;
	return true;
}

/* It is the one that is known: what dl_iterate_phdr() says tells that at once, from now on. */
static void note_counts(const struct dl_phdr_info *info)
{
	if (locked)
		return;
	known.adds = info->dlpi_adds;
	known.subs = info->dlpi_subs;
}

/* (A child may have been forked between the two.) */
static void begin_change(void)
{
	ct_store(&known.changes, known.changes | 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_change(void)
{
	ct_store(&known.changes, known.changes + 1);
}

bool ct_objects_same(const struct dl_phdr_info *info)
{
	u32 changes = ct_load(&known.changes);
	bool same;

	if (locked)	/* where the list is the same, its memory is there */
		same = hash_list(0).all == known.all && kept_all();
	else
		same = info->dlpi_adds == known.adds && info->dlpi_subs == known.subs;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return same && !(changes & 1) && ct_load(&known.changes) == changes;
}

enum ct_objects_change ct_objects_changed(const struct dl_phdr_info *info)
{
	struct hash h = hash_list(known.count);

	current = h.all;
	/* Where the list begins alike, its objects' memory is there, too. */
	if (h.first != known.first || !kept_all()) {
		/* For another thread it is not the same either, till its objects are patched. */
		begin_change();
		known.all = known.adds = known.subs = 0;
		known.first = ~0ull;
		kept_count = 0;
		end_change();
		return CT_OBJECTS_OTHERS;
	}
	if (h.all != known.all)
		return CT_OBJECTS_MORE;
	begin_change();
	note_counts(info);
	end_change();
	return CT_OBJECTS_SAME;
}

u64 ct_objects_version(void)
{
	return current;
}

void ct_objects_known(const struct dl_phdr_info *info, unsigned count)
{
	struct hash h = hash_list(count);

	begin_change();
	known.all = h.all;
	known.first = h.first;
	known.count = count;
	note_counts(info);
	end_change();
}

void ct_objects_keep(const struct ct_object *o, const u64 *slot)
{
	for (unsigned i = 0; i < kept_count; i++)
		if ((u64)kept[i].slot >= o->start && (u64)kept[i].slot < o->end)
			return;
	if (kept_count == CT_OBJECTS_KEPT)
		return;
	kept[kept_count].slot = slot;
	kept[kept_count].value = *slot;
	ct_store(&kept_count, kept_count + 1);
}
