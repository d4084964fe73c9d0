// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding libcuda and libcudart among the loaded objects; see driver.h.
 *
 * Must never call dlsym(), dladdr() or dlopen(): their lock is taken before that of
 * dl_iterate_phdr() elsewhere.
 */
#include "hook/driver.h"

#include "base/options.h"
#include "hook/slot.h"
#include "hook/table.h"

/*
 * Only written inside dl_iterate_phdr(), which holds off unloading.  Readers see whole
 * entries: an object is not changed while its entry's end is set.
 */
static struct entry {
	u64 start, end;		/* end 0: free */
	enum { NOT_LOOKED, BY_TABLE, BY_POINTER } seen;
	bool there;		/* in the list, as far as it was looked at */
	struct ct_object object;
} entries[CT_DRIVERS_MAX];

static struct ct_driver last;
u32 ct_driver_generation;
bool ct_driver_pointers;

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

const char *ct_driver_name_at(u64 address, const char *prefix)
{
	const struct entry *e = entry_at(address);

	return e ? ct_object_name_at(&e->object, address, prefix) : NULL;
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

void ct_driver_note(const struct ct_object *o)
{
	bool real = ct_driver_is_real(o);
	struct entry *e = NULL;

	if (!real && !(ct_options.runtime && is_named(o, "libcudart.so")))
		return;
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		if (!entries[i].end) {
			e = &entries[i];
		} else if (entries[i].start == o->start && entries[i].end == o->end) {
			entries[i].there = true;
			return;
		}
	}
	if (!e)
		return;
	e->object = *o;
	e->seen = NOT_LOOKED;
	e->there = true;
	ct_store(&e->start, o->start);
	ct_store(&e->end, o->end);
	if (real)
		found_libcuda(o);
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
	ct_driver_pointers = false;
}

bool ct_driver_here(void)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++)
		if (ct_load(&entries[i].end) && ct_driver_is_real(&entries[i].object))
			return true;
	return false;
}

void ct_driver_tables(bool last, struct ct_driver_news *news)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		struct entry *e = &entries[i];
		enum ct_table_state state;
		bool table;

		if (!e->end || e->seen != NOT_LOOKED)
			continue;
		table = ct_options.table && ct_driver_is_real(&e->object);
		state = table ? ct_table_use(&e->object) : CT_TABLE_UNKNOWN;
		if (state == CT_TABLE_LATER && !last) {
			news->later = true;
			continue;
		}
		ct_store(&e->seen, state == CT_TABLE_USED ? BY_TABLE : BY_POINTER);
		if (state == CT_TABLE_USED)
			continue;
		ct_driver_pointers = news->pointers = true;
		news->unknown |= table;
	}
}
