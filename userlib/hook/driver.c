// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding libcuda and libcudart among the loaded objects; see driver.h.
 *
 * The list of objects is only read inside dl_iterate_phdr(), which holds off
 * unloading.  Must never call dlsym(), dladdr() or dlopen(): their lock is taken
 * before that of dl_iterate_phdr() elsewhere.
 */
#include "hook/driver.h"

#include "base/options.h"
#include "hook/slot.h"
#include "hook/table.h"

/*
 * Only written inside dl_iterate_phdr().  Readers see whole entries: an object is not
 * changed while its entry's end is set.
 */
static struct entry {
	u64 start, end;
	bool wraps;		/* its own calls of libcuda belong to calls of it */
	enum { NOT_LOOKED, BY_TABLE, BY_POINTER } seen;
	struct ct_object object;
} entries[CT_DRIVERS_MAX];

static struct ct_driver last;
u32 ct_driver_generation;
bool ct_driver_dlsym_first;

/* Objects that the program was started with: they are first in the list, in their order. */
static unsigned initial;

static const struct entry *entry_at(u64 address)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		u64 start = __atomic_load_n(&entries[i].start, __ATOMIC_RELAXED);
		u64 end = ct_load(&entries[i].end);

		if (address >= start && address < end)
			return &entries[i];
	}
	return NULL;
}

bool ct_driver_contains(u64 address)
{
	return entry_at(address);
}

bool ct_driver_needs_thunk(u64 address)
{
	const struct entry *e = entry_at(address);

	return e && ct_load(&e->seen) == BY_POINTER;
}

const struct ct_driver *ct_driver_last(void)
{
	return ct_load(&ct_driver_generation) ? &last : NULL;
}

static bool is_named(const struct ct_object *o, const char *prefix)
{
	const char *file = strrchr(o->path, '/');

	file = file ? file + 1 : o->path;
	return !strncmp(*o->soname ? o->soname : file, prefix, strlen(prefix));
}

bool ct_driver_is_real(const struct ct_object *o)
{
	return is_named(o, "libcuda.so");
}

static bool exports(const struct ct_object *o, const char *name)
{
	const ElfW(Sym) *s = ct_object_find(o, name);

	return s && ELF64_ST_TYPE(s->st_info) == STT_FUNC;
}

/*
 * (The program itself, the first object, is none: its calls of itself are not seen.)  By
 * libcuda's table its calls of libcuda are seen: they would be counted twice.
 */
static bool stands_in(const struct ct_object *o, unsigned index)
{
	return index && !ct_options.table && ct_driver_dlsym_first && exports(o, "cuInit");
}

struct scan {
	unsigned index;
	unsigned count;
	struct entry found[CT_DRIVERS_MAX];
	struct ct_driver newest;
};

static int find_drivers(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	unsigned index = scan->index++;
	struct entry *e = &scan->found[scan->count];
	struct ct_object *o = &e->object;
	bool real;

	(void)size;
	if (scan->count == CT_DRIVERS_MAX || ct_object_is_ours(info) || !ct_object_read(o, info))
		return 0;
	real = ct_driver_is_real(o);
	if (!real && !stands_in(o, index) &&
	    !(ct_options.runtime && is_named(o, "libcudart.so")))
		return 0;
	e->start = o->start;
	e->end = o->end;
	/* One that was loaded later may have its callers inside: then only these are seen. */
	e->wraps = real || index < initial || exports(o, "dlsym");
	scan->count++;
	if (real && !ct_driver_contains(o->start)) {
		struct ct_text t = { scan->newest.path, sizeof(scan->newest.path), 0 };

		scan->newest.start = o->start;
		scan->newest.end = o->end;
		scan->newest.simulated = ct_object_find(o, "cudatrace_simulated_gpu") != NULL;
		ct_put(&t, o->path);
	}
	return 0;
}

static bool still_there(const struct scan *scan, u64 start, u64 end)
{
	for (unsigned i = 0; i < scan->count; i++)
		if (scan->found[i].start == start && scan->found[i].end == end)
			return true;
	return false;
}

static void add(const struct entry *e)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		if (entries[i].end)
			continue;
		entries[i].object = e->object;
		entries[i].wraps = e->wraps;
		entries[i].seen = ct_options.table && ct_driver_is_real(&e->object) ? NOT_LOOKED : BY_POINTER;
		ct_store(&entries[i].start, e->start);
		ct_store(&entries[i].end, e->end);
		return;
	}
}

bool ct_driver_update(unsigned *objects)
{
	struct scan scan = { .index = 0 };
	bool news = false;

	if (!initial && ct_driver_dlsym_first)
		initial = ~0u;		/* all that are there now */
	ct_each_object(find_drivers, &scan);
	*objects = scan.index;
	if (initial == ~0u)
		initial = scan.index;
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		u64 start = entries[i].start, end = entries[i].end;

		if (end && !still_there(&scan, start, end)) {
			ct_store(&entries[i].end, 0ull);
			ct_table_forget(start);
			ct_slots_forget(start, end);
		}
	}
	for (unsigned d = 0; d < scan.count; d++) {
		if (ct_driver_contains(scan.found[d].start))
			continue;
		add(&scan.found[d]);
		news = true;
	}
	if (scan.newest.end) {
		last = scan.newest;
		ct_store(&ct_driver_generation, ct_driver_generation + 1);
	}
	return news;
}

bool ct_driver_tables(bool last, bool *unknown)
{
	bool later = false;

	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		struct entry *e = &entries[i];
		enum ct_table_state state;

		if (!e->end || e->seen != NOT_LOOKED)
			continue;
		state = ct_table_use(&e->object);
		if (state == CT_TABLE_LATER && !last) {
			later = true;
			continue;
		}
		ct_store(&e->seen, state == CT_TABLE_USED ? BY_TABLE : BY_POINTER);
		*unknown |= state != CT_TABLE_USED;
	}
	return !later;
}

const char *ct_driver_name_at(u64 address, const char *prefix)
{
	const struct entry *e = entry_at(address);

	return e ? ct_object_name_at(&e->object, address, prefix) : NULL;
}

bool ct_driver_wraps(u64 caller, const char *name)
{
	const struct entry *e = entry_at(caller);

	return e && e->wraps && exports(&e->object, name);
}

struct lookup {
	const char *name;
	const char *version;	/* NULL: any */
	u64 caller;
	u64 address;
	unsigned index;
	bool linked;		/* the caller, to libcuda */
	bool behind;		/* in the list: the caller */
	bool before;		/* who is not behind the caller defines the name, too */
	bool other_version;	/* only the loader knows */
};

static u64 defined_at(const struct ct_object *o, struct lookup *l)
{
	const ElfW(Sym) *s = ct_object_find(o, l->name);

	if (!s)
		return 0;
	l->other_version |= l->version && !ct_object_has_version(o, s, l->version);
	return o->base + s->st_value;
}

static int find_linked(struct dl_phdr_info *info, size_t size, void *data)
{
	struct lookup *l = data;
	struct ct_object o;

	(void)size;
	if (!ct_object_read(&o, info))
		return 0;
	if (ct_object_contains(&o, l->caller))
		l->linked = ct_object_needs(&o, "libcuda.so");
	if (!l->address && ct_driver_contains(o.start))
		l->address = defined_at(&o, l);
	return 0;
}

u64 ct_driver_symbol_for(u64 caller, const char *name, const char *version)
{
	struct lookup l = { .name = name, .version = version, .caller = caller };

	ct_each_object(find_linked, &l);
	return l.linked && !l.other_version ? l.address : 0;
}

static int find_next(struct dl_phdr_info *info, size_t size, void *data)
{
	struct lookup *l = data;
	struct ct_object o;
	u64 address;

	(void)size;
	if (l->index++ == initial)
		return 1;
	if (!ct_object_read(&o, info))
		return 0;
	address = defined_at(&o, l);
	if (l->behind)
		l->address = address;
	else
		l->before |= address != 0;
	l->behind |= ct_object_contains(&o, l->caller);
	return l->address != 0;
}

/*
 * The objects that the program was started with are searched in their order, and behind them
 * those that were loaded for all: these are known if nobody in front defines the name.
 * What a caller that was loaded later finds, only the loader knows.
 */
u64 ct_driver_next(u64 caller, const char *name, const char *version)
{
	struct lookup l = { .name = name, .version = version, .caller = caller };

	ct_each_object(find_next, &l);
	if (!l.behind || l.other_version)
		return 0;
	return l.address ? l.address : !l.before;
}
