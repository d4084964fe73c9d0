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
#include "hook/libraries.h"
#include "hook/table.h"

static u64 seen_adds, seen_subs;
static unsigned seen_objects;

/* An object that another thread is relocating is looked at again, but not for ever. */
#define AGAIN_NS	2000000000ull

static u64 again_since;		/* 0: nothing is unfinished */
static u64 again_adds;		/* which list it was in */

struct scan {
	unsigned index;
	unsigned from;		/* objects before it were looked at already */
	bool slots;		/* slots of global offset tables, too */
	bool unfinished;	/* an object is still being relocated, it seems */
	bool refused;		/* a slot could not be written */
	u32 put_back;		/* words of a table that another tool had put back */
	struct ct_driver_news news;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct ct_object o;

	(void)size;
	if (scan->index++ < scan->from) {
		ct_driver_see(info->dlpi_addr);
		return 0;
	}
	if (ct_object_is_ours(info) || !ct_object_read(&o, info))
		return 0;
	ct_libraries_note(&o, ct_driver_note(&o));
	if (!scan->slots)
		return 0;
	switch (ct_got_patch(&o)) {
	case CT_GOT_DONE: break;
	case CT_GOT_AGAIN: scan->unfinished = true; break;
	case CT_GOT_REFUSED: scan->refused = true; break;
	}
	return 0;
}

static void look(struct scan *scan)
{
	scan->index = 0;
	ct_driver_look();
	ct_each_object(look_at, scan);
	ct_driver_looked();
}

/* Must it be looked at again, what is unfinished?  last: it has had its time. */
static bool look_again(const struct scan *scan, u64 adds, bool last)
{
	if (!scan->news.later && (!scan->unfinished || last)) {
		again_since = 0;
		return false;
	}
	if (!again_since)
		again_since = ct_clock_real();
	again_adds = adds;
	return true;
}

/* The first object's callback does it all, so that the lock is held throughout. */
static int check(struct dl_phdr_info *info, size_t size, void *data)
{
	static const size_t needed = offsetof(struct dl_phdr_info, dlpi_subs) + 8;
	struct scan *scan = data;
	u64 gone = info->dlpi_subs - seen_subs;
	u32 drivers = ct_driver_generation;
	bool last;

	/* Here, too: all may have been put back while this thread waited for the lock. */
	if (size < needed || ct_load(&ct_stopped) == CT_STOPPED)
		return 1;
	if (info->dlpi_adds == seen_adds && info->dlpi_subs == seen_subs) {
		scan->put_back = ct_table_check();
		return 1;
	}
	if (again_adds != info->dlpi_adds)
		again_since = 0;
	last = again_since && ct_clock_real() - again_since >= AGAIN_NS;
	/* New objects go to the end of the list, where those that are gone made room. */
	if (gone < seen_objects)
		scan->from = seen_objects - (unsigned)gone;
	/* What a program is started with is bound to ours already. */
	scan->slots = seen_adds || !ct_got_bound;
	look(scan);
	/* A libcuda came: older objects may have a libnccl inside. */
	if (unlikely(ct_driver_generation != drivers)) {
		scan->from = 0;
		scan->slots = false;
		look(scan);
	}
	ct_driver_tables(last, &scan->news);
	scan->put_back = ct_table_check();
	/* A libcuda that came may be what older objects were waiting for. */
	if (scan->news.pointers) {
		scan->from = 0;
		scan->slots = true;
		look(scan);
	}
	if (look_again(scan, info->dlpi_adds, last))
		return 1;
	seen_objects = scan->index;
	seen_adds = info->dlpi_adds;
	seen_subs = info->dlpi_subs;
	return 1;
}

static u32 unseen;

void ct_objects_tell(void)
{
	static const char *const causes[] = { "slots", "namespace", "table", "put_back" };
	u32 what;

	/* Before the process's first call there is no trace. */
	if (likely(!ct_load(&unseen)) || !ct_process->life || !ct_load(&ct_backend)->producers)
		return;
	what = __atomic_exchange_n(&unseen, 0u, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		if (what & 1u << i)
			ct_backend->info("unseen_some", causes[i]);
}

static u32 known;

void ct_objects_unseen(enum ct_unseen cause)
{
	if (!(__atomic_fetch_or(&known, (u32)cause, __ATOMIC_RELAXED) & cause))
		__atomic_fetch_or(&unseen, (u32)cause, __ATOMIC_RELAXED);
}

bool ct_objects_without_table(void)
{
	return ct_load(&known) & CT_UNSEEN_TABLE;
}

static int put_back_in(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ct_object o;

	(void)size;
	if (ct_object_is_ours(info) || !ct_object_read(&o, info))
		return 0;
	*(u32 *)data += ct_table_put_back(&o);
	ct_got_put_back(&o);
	return 0;
}

/* All is to be looked at again. */
static void objects_forget(void)
{
	seen_adds = seen_subs = again_since = 0;
	seen_objects = 0;
	ct_driver_restart();
	ct_store(&known, 0u);
	ct_store(&unseen, 0u);
}

static int put_back(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	/* Another recording may have begun while this thread waited for the lock: what is there is its own. */
	if (ct_load(&ct_stopped) != CT_STOPPED)
		return 1;
	ct_each_object(put_back_in, data);
	objects_forget();
	return 1;
}

u32 ct_objects_put_back(void)
{
	u32 kept = 0;

	/* A child may not look at the list: there slots of global offset tables stay, and pass calls through. */
	if (!ct_each_object(put_back, &kept)) {
		ct_table_leave();
		objects_forget();
	}
	return kept;
}

/*
 * A child whose parent's thread was looking when it was forked: nobody will end that look.  Nothing can be
 * unloaded here, as that takes the same lock.
 */
static cold void objects_finish(void)
{
	struct ct_driver_news news = { .later = false };

	if (__atomic_exchange_n(&ct_process->finished, 1u, __ATOMIC_RELAXED))
		return;
	ct_driver_finish(&news);
	if (news.unknown)
		ct_objects_unseen(CT_UNSEEN_TABLE);
}

void ct_objects_check(void)
{
	struct scan scan = { .index = 0 };

	/* All was put back. */
	if (ct_load(&ct_stopped) == CT_STOPPED)
		return;
	/* Not at the program's start: most programs look nothing up, and do not fork. */
	if (seen_adds)
		ct_objects_learn();
	if (unlikely(!ct_load(&ct_process->objects) && ct_objects_blocked()))
		objects_finish();
	ct_each_object(check, &scan);
	if (unlikely(scan.refused))
		ct_objects_unseen(CT_UNSEEN_SLOTS);
	if (unlikely(scan.news.unknown))
		ct_objects_unseen(CT_UNSEEN_TABLE);
	if (unlikely(scan.put_back))
		ct_objects_unseen(CT_UNSEEN_PUT_BACK);
	ct_objects_tell();
	ct_libraries_tell();
}
