// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding libcuda, libcudart and libnccl among the loaded objects; see driver.h.
 *
 * Must never call dlsym(), dladdr() or dlopen(): their lock is taken before that of
 * dl_iterate_phdr() elsewhere.
 */
#include "hook/driver.h"

#include "base/options.h"
#include "hook/table.h"

/*
 * Only written inside dl_iterate_phdr(), which holds off unloading.  Readers see whole
 * entries: an object is not changed while its entry's end is set.
 */
static struct entry {
	u64 start, end;		/* end 0: free */
	enum { NOT_LOOKED, BY_TABLE, BY_POINTER } seen;
	bool there;		/* in the list, as far as it was looked at */
	bool inside;		/* it is another object, and has a libnccl inside */
	u32 family;
	struct ct_object object;
} entries[CT_DRIVERS_MAX];

static struct ct_driver last;
u32 ct_driver_generation;
u32 ct_driver_families;

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

	return e && ct_load(&e->seen) == BY_POINTER && !e->inside;
}

bool ct_driver_is_inside(u64 address, const char *name)
{
	const struct entry *e = name && !ct_collective_is_name(name) ? NULL : entry_at(address);
	const ElfW(Sym) *s;

	if (!e || ct_load(&e->seen) != BY_POINTER || !e->inside)
		return false;
	s = name ? ct_object_find(&e->object, name) : NULL;
	return !name || (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC && e->object.base + s->st_value == address);
}

u64 ct_driver_beside(u64 address, const char *name)
{
	const struct entry *e = entry_at(address);
	const ElfW(Sym) *s = e ? ct_object_find(&e->object, name) : NULL;

	return s && s->st_value && ELF64_ST_TYPE(s->st_info) == STT_FUNC ? e->object.base + s->st_value : 0;
}

const char *ct_driver_name_at(u64 address, const char *prefix)
{
	const struct entry *e = entry_at(address);

	return e ? ct_object_name_at(&e->object, address, prefix) : NULL;
}

const struct ct_driver *ct_driver_last(void)
{
	return ct_load(&ct_driver_generation) ? &last : NULL;
}

/* By its name, 0: it is none of these.  Each program's start pays for this. */
static u32 family_of(const struct ct_object *o)
{
	const char *file = *o->soname ? NULL : strrchr(o->path, '/');
	const char *name = *o->soname ? o->soname : file ? file + 1 : o->path;

	if (likely(name[0] != 'l' || name[1] != 'i' || name[2] != 'b' || (name[3] != 'c' && name[3] != 'n')))
		return 0;
	if (!strncmp(name, "libcuda.so", 10))
		return CT_FAMILY_CUDA;
	if (!strncmp(name, "libcudart.so", 12))
		return CT_FAMILY_CUDART;
	return strncmp(name, "libnccl.so", 10) ? 0 : CT_FAMILY_NCCL;
}

/* It exports a function that every libnccl has. */
static bool has_inside(const struct ct_object *o)
{
	return ct_object_find(o, "ncclCommInitRank") != NULL;
}

bool ct_driver_is_real(const struct ct_object *o)
{
	return family_of(o) == CT_FAMILY_CUDA;
}

void ct_driver_look(void)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		entries[i].there = false;
}

void ct_driver_see(u64 base)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		entries[i].there |= entries[i].object.base == base;
}

static void found_libcuda(const struct ct_object *o)
{
	struct ct_text t = { last.path, sizeof(last.path), 0 };

	last.simulated = ct_object_find(o, "cudatrace_simulated_gpu") != NULL;
	ct_put(&t, o->path);
	ct_store(&ct_driver_generation, ct_driver_generation + 1);
}

bool ct_driver_here(void)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		if (ct_load(&entries[i].end) && entries[i].family == CT_FAMILY_CUDA)
			return true;
	return false;
}

bool ct_driver_note(const struct ct_object *o)
{
	u32 family = family_of(o);
	bool inside = !family && ct_driver_here() && has_inside(o);
	struct entry *e = NULL;

	if (inside)
		family = CT_FAMILY_NCCL;
	if (likely(!family) || (family == CT_FAMILY_CUDART && !ct_options.runtime))
		return false;
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		if (!entries[i].end) {
			e = &entries[i];
		} else if (entries[i].start == o->start && entries[i].end == o->end) {
			entries[i].there = true;
			return inside;
		}
	}
	if (!e)
		return false;
	e->object = *o;
	e->family = family;
	e->inside = inside;
	e->seen = NOT_LOOKED;
	e->there = true;
	ct_store(&e->start, o->start);
	ct_store(&e->end, o->end);
	if (family == CT_FAMILY_CUDA)
		found_libcuda(o);
	return inside;
}

void ct_driver_looked(void)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		struct entry *e = &entries[i];
		u64 end = e->end;

		if (!end || e->there)
			continue;
		ct_store(&e->end, 0ull);
		ct_table_forget(e->start);
		ct_slots_forget(e->start, end);
	}
}

void ct_driver_restart(void)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		ct_store(&entries[i].seen, NOT_LOOKED);
	ct_store(&ct_driver_generation, ct_driver_generation + 1);
	ct_driver_families = 0;
}

void ct_driver_tables(bool last, struct ct_driver_news *news)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		struct entry *e = &entries[i];
		enum ct_table_state state;
		bool table;

		if (!e->end || e->seen != NOT_LOOKED)
			continue;
		table = ct_options.table && e->family == CT_FAMILY_CUDA;
		state = table ? ct_table_use(&e->object) : CT_TABLE_UNKNOWN;
		if (state == CT_TABLE_LATER && !last) {
			news->later = true;
			continue;
		}
		ct_store(&e->seen, state == CT_TABLE_USED ? BY_TABLE : BY_POINTER);
		if (state == CT_TABLE_USED)
			continue;
		ct_driver_families |= e->family;
		news->pointers = true;
		news->unknown |= table;
	}
}

void ct_driver_finish(struct ct_driver_news *news)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		if (entries[i].end && entries[i].seen == NOT_LOOKED)
			ct_table_forget(entries[i].start);
	ct_driver_tables(true, news);
}
