// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding libcuda and libcudart among the loaded objects; see driver.h.
 *
 * All reading of objects happens inside dl_iterate_phdr(), which holds off
 * unloading.  Must never call dlsym(), dladdr() or dlopen(): their lock is taken
 * before that of dl_iterate_phdr() elsewhere.
 */
#include "hook/driver.h"

#include "base/clock.h"
#include "hook/got.h"
#include "base/options.h"
#include "hook/slot.h"

/* Only written inside dl_iterate_phdr(); readers see whole entries. */
static struct {
	u64 start, end;
} ranges[CT_DRIVERS_MAX];

static struct ct_driver last;
u32 ct_driver_generation;

static u64 seen_adds, seen_subs;
static unsigned seen_objects;

/*
 * An unfinished object is looked at again: a few times at once, then once in a while, and
 * for so long, as it may have a slot that stays empty.
 */
#define LOOKS		8
#define LOOK_NS		1000000ull
#define LOOKS_NS	2000000000ull

static struct {
	unsigned count;		/* 0: nothing is unfinished */
	u64 first, last;
	u64 adds, subs;		/* what it is true of */
} look;

bool ct_driver_contains(u64 address)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		u64 start = __atomic_load_n(&ranges[i].start, __ATOMIC_RELAXED);
		u64 end = __atomic_load_n(&ranges[i].end, __ATOMIC_RELAXED);

		if (address >= start && address < end)
			return true;
	}
	return false;
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

static bool is_driver(const struct ct_object *o)
{
	return is_named(o, "libcuda.so");
}

/*
 * Nsight Compute (ncu) gives the program its own functions under libcuda's names.  The
 * program's calls go to them, not to libcuda, so their pointers need thunks as well.
 */
static bool is_stand_in(const struct ct_object *o)
{
	return is_named(o, "libcuda-injection.so");
}

static bool is_runtime(const struct ct_object *o)
{
	return ct_options.runtime && is_named(o, "libcudart.so");
}

struct scan {
	unsigned index;
	unsigned from;		/* objects before it were looked at already */
	u64 found[CT_DRIVERS_MAX][2];
	unsigned drivers;
	bool news;		/* one that was not there before */
	bool unfinished;	/* an object is still being relocated, it seems */
	struct ct_driver newest;
};

static int find_drivers(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct ct_object o;

	(void)size;
	if (!ct_object_read(&o, info) || (!is_driver(&o) && !is_stand_in(&o) && !is_runtime(&o)))
		return 0;
	if (scan->drivers == CT_DRIVERS_MAX)
		return 1;
	scan->found[scan->drivers][0] = o.start;
	scan->found[scan->drivers][1] = o.end;
	scan->drivers++;
	if (ct_driver_contains(o.start))
		return 0;
	scan->news = true;
	if (is_driver(&o)) {
		struct ct_text t = { scan->newest.path, sizeof(scan->newest.path), 0 };

		scan->newest.start = o.start;
		scan->newest.end = o.end;
		scan->newest.simulated =
			ct_object_find(&o, "cudatrace_simulated_gpu") != NULL;
		ct_put(&t, o.path);
	}
	return 0;
}

static bool still_there(const struct scan *scan, u64 start, u64 end)
{
	for (unsigned i = 0; i < scan->drivers; i++)
		if (scan->found[i][0] == start && scan->found[i][1] == end)
			return true;
	return false;
}

/* True if one came that was not there before. */
static bool update_ranges(struct scan *scan)
{
	for (int i = 0; i < CT_DRIVERS_MAX; i++) {
		u64 start = ranges[i].start, end = ranges[i].end;

		if (end && !still_there(scan, start, end)) {
			ct_store(&ranges[i].end, 0ull);
			ct_slots_forget(start, end);
		}
	}
	for (unsigned d = 0; d < scan->drivers; d++) {
		if (ct_driver_contains(scan->found[d][0]))
			continue;
		for (int i = 0; i < CT_DRIVERS_MAX; i++) {
			if (ranges[i].end)
				continue;
			ct_store(&ranges[i].start, scan->found[d][0]);
			ct_store(&ranges[i].end, scan->found[d][1]);
			break;
		}
	}
	if (scan->newest.end) {
		last = scan->newest;
		ct_store(&ct_driver_generation, ct_driver_generation + 1);
	}
	return scan->news;
}

static int patch(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct ct_object o;

	(void)size;
	if (scan->index++ < scan->from || !ct_object_read(&o, info))
		return 0;
	/* Neither libcuda's calls of itself nor our own are the program's. */
	if (ct_driver_contains(o.start) ||
	    ((u64)&patch >= o.start && (u64)&patch < o.end))
		return 0;
	scan->unfinished |= !ct_got_patch(&o);
	return 0;
}

/* The first object's callback does it all, so that the lock is held throughout. */
static int check(struct dl_phdr_info *info, size_t size, void *data)
{
	static const size_t needed = offsetof(struct dl_phdr_info, dlpi_subs) + 8;
	struct scan scan;

	(void)data;
	if (size < needed ||
	    (info->dlpi_adds == seen_adds && info->dlpi_subs == seen_subs))
		return 1;
	if (look.count && (look.adds != info->dlpi_adds || look.subs != info->dlpi_subs))
		look.count = 0;
	if (look.count >= LOOKS && ct_clock_real() - look.last < LOOK_NS)
		return 1;
	memset(&scan, 0, sizeof(scan));
	ct_each_object(find_drivers, &scan);
	/* New objects go to the end of the list; but a libcuda that came may be
	 * what older ones were waiting for. */
	if (!update_ranges(&scan) && info->dlpi_subs == seen_subs)
		scan.from = seen_objects;
	if (scan.drivers)
		ct_each_object(patch, &scan);
	if (scan.unfinished) {
		look.last = ct_clock_real();
		if (!look.count++)
			look.first = look.last;
		look.adds = info->dlpi_adds;
		look.subs = info->dlpi_subs;
		if (look.last - look.first < LOOKS_NS)
			return 1;
	}
	seen_objects = scan.drivers ? scan.index : 0;
	look.count = 0;
	seen_adds = info->dlpi_adds;
	seen_subs = info->dlpi_subs;
	return 1;
}

void ct_objects_check(void)
{
	ct_each_object(check, NULL);
}

struct lookup {
	u64 address;
	const char *prefix;
	struct ct_text text;
	bool found;
};

static int name_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct lookup *l = data;
	struct ct_object o;
	const char *name;

	(void)size;
	if (!ct_object_read(&o, info) || l->address < o.start || l->address >= o.end)
		return 0;
	name = ct_object_name_at(&o, l->address, l->prefix);
	if (name && strlen(name) < l->text.size) {
		ct_put(&l->text, name);
		l->found = true;
	}
	return 1;
}

bool ct_driver_name_at(u64 address, const char *prefix, char *name, size_t size)
{
	struct lookup l = { address, prefix, { name, size, 0 }, false };

	ct_each_object(name_at, &l);
	return l.found;
}

struct linked {
	const char *name;
	u64 caller;
	u64 address;
	bool needs;
};

static int find_linked(struct dl_phdr_info *info, size_t size, void *data)
{
	struct linked *l = data;
	struct ct_object o;
	const ElfW(Sym) *s;

	(void)size;
	if (!ct_object_read(&o, info))
		return 0;
	if (l->caller >= o.start && l->caller < o.end)
		l->needs = ct_object_needs(&o, "libcuda.so");
	if (!l->address && ct_driver_contains(o.start)) {
		s = ct_object_find(&o, l->name);
		if (s)
			l->address = o.base + s->st_value;
	}
	return 0;
}

void *ct_driver_symbol_for(const void *caller, const char *name)
{
	struct linked l = { name, (u64)caller, 0, false };

	ct_each_object(find_linked, &l);
	return l.needs ? (void *)l.address : NULL;
}
