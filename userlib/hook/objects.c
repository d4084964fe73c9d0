// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keeping up with objects that come and go; see objects.h.
 *
 * All is done inside dl_iterate_phdr(), which holds off unloading and other threads.
 */
#include "hook/objects.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "base/process.h"
#include "hook/driver.h"
#include "hook/got.h"
#include "hook/table.h"

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

struct scan {
	unsigned index;
	unsigned from;		/* objects before it were looked at already */
	bool unfinished;	/* an object is still being relocated, it seems */
	bool refused;		/* a slot could not be written */
	bool unknown;		/* a libcuda has no table that is known */
	u32 put_back;		/* words of a table that another tool had put back */
};

static int patch(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct ct_object o;

	(void)size;
	if (scan->index++ < scan->from || ct_object_is_ours(info) || !ct_object_read(&o, info))
		return 0;
	/* libcuda's calls of itself are not the program's. */
	switch (ct_got_patch(&o, ct_driver_contains(o.start) && ct_driver_is_real(&o))) {
	case CT_GOT_DONE: break;
	case CT_GOT_AGAIN: scan->unfinished = true; break;
	case CT_GOT_REFUSED: scan->refused = true; break;
	}
	return 0;
}

/* The first object's callback does it all, so that the lock is held throughout. */
static int check(struct dl_phdr_info *info, size_t size, void *data)
{
	static const size_t needed = offsetof(struct dl_phdr_info, dlpi_subs) + 8;
	struct scan *scan = data;
	u64 gone = info->dlpi_subs - seen_subs;
	unsigned objects;
	bool news, ready;

	if (size < needed)
		return 1;
	if (info->dlpi_adds == seen_adds && info->dlpi_subs == seen_subs) {
		scan->put_back = ct_table_check();
		return 1;
	}
	if (look.count && (look.adds != info->dlpi_adds || look.subs != info->dlpi_subs))
		look.count = 0;
	if (look.count >= LOOKS && ct_clock_real() - look.last < LOOK_NS)
		return 1;
	/*
	 * New objects go to the end of the list, where those that are gone made room; but a
	 * libcuda that came may be what older ones were waiting for.
	 */
	news = ct_driver_update(&objects);
	ready = ct_driver_tables(look.count && ct_clock_real() - look.first >= LOOKS_NS, &scan->unknown);
	scan->put_back = ct_table_check();
	if (!news && gone < seen_objects)
		scan->from = seen_objects - (unsigned)gone;
	/* At a program's start nothing but a slot that leads into libcuda is of interest. */
	if (news || look.count || seen_adds)
		ct_each_object(patch, scan);
	if (scan->unfinished || !ready) {
		look.last = ct_clock_real();
		if (!look.count++)
			look.first = look.last;
		look.adds = info->dlpi_adds;
		look.subs = info->dlpi_subs;
		if (look.last - look.first < LOOKS_NS || !ready)
			return 1;
	}
	seen_objects = objects;
	look.count = 0;
	seen_adds = info->dlpi_adds;
	seen_subs = info->dlpi_subs;
	return 1;
}

static u32 unseen;

void ct_objects_tell(void)
{
	u32 what;

	/* Before the process's first call there is no trace. */
	if (likely(!ct_load(&unseen)) || !ct_process->life)
		return;
	what = __atomic_exchange_n(&unseen, 0u, __ATOMIC_RELAXED);
	if (what & CT_UNSEEN_SLOTS)
		ct_backend->info("unseen_some", "slots");
	if (what & CT_UNSEEN_NAMESPACE)
		ct_backend->info("unseen_some", "namespace");
	if (what & CT_UNSEEN_TABLE)
		ct_backend->info("unseen_some", "table");
	if (what & CT_UNSEEN_PUT_BACK)
		ct_backend->info("unseen_some", "put_back");
}

void ct_objects_unseen(enum ct_unseen cause)
{
	static u32 known;

	if (!(__atomic_fetch_or(&known, (u32)cause, __ATOMIC_RELAXED) & cause))
		__atomic_fetch_or(&unseen, (u32)cause, __ATOMIC_RELAXED);
}

void ct_objects_check(void)
{
	struct scan scan = { .index = 0 };

	/* Not at the program's start: most programs look nothing up, and do not fork. */
	if (seen_adds)
		ct_objects_learn();
	ct_each_object(check, &scan);
	if (unlikely(scan.refused))
		ct_objects_unseen(CT_UNSEEN_SLOTS);
	if (unlikely(scan.unknown))
		ct_objects_unseen(CT_UNSEEN_TABLE);
	if (unlikely(scan.put_back))
		ct_objects_unseen(CT_UNSEEN_PUT_BACK);
	ct_objects_tell();
}
