// SPDX-License-Identifier: GPL-2.0
/* The list of sources. */
#include <linux/errno.h>
#include <linux/lockdep.h>
#include "core/session.h"
#include "core/source.h"

static LIST_HEAD(sources); /* ct_session_lock */

void ct_source_register(struct ct_source *source)
{
	mutex_lock(&ct_session_lock);
	list_add_tail(&source->list, &sources);
	mutex_unlock(&ct_session_lock);
}

void ct_source_unregister(struct ct_source *source)
{
	mutex_lock(&ct_session_lock);
	list_del(&source->list);
	mutex_unlock(&ct_session_lock);
}

void ct_source_arm(u64 groups)
{
	struct ct_source *source;

	lockdep_assert_held(&ct_session_lock);
	list_for_each_entry(source, &sources, list)
		source->arm(source, groups);
}

void ct_source_disarm(void)
{
	struct ct_source *source;

	lockdep_assert_held(&ct_session_lock);
	list_for_each_entry(source, &sources, list)
		source->disarm(source);
}

u32 ct_source_count(void)
{
	struct ct_source *source;
	u32 count = 0;

	lockdep_assert_held(&ct_session_lock);
	list_for_each_entry(source, &sources, list)
		count += source->count(source);
	return count;
}

u64 ct_source_memory(void)
{
	struct ct_source *source;
	u64 bytes = 0;

	lockdep_assert_held(&ct_session_lock);
	list_for_each_entry(source, &sources, list)
		if (source->memory)
			bytes += source->memory(source);
	return bytes;
}

void ct_source_changed(void)
{
	struct ct_session_state *s = ct_session_running();

	if (s)
		WRITE_ONCE(s->facts->probes, ct_source_count());
}

int ct_source_info(struct ct_probe_info *info)
{
	struct ct_source *source;
	u32 index = info->index, count;
	int err = -ENOENT;

	*info = (struct ct_probe_info){ .size = info->size, .index = index };
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	list_for_each_entry(source, &sources, list) {
		count = source->count(source);
		if (index < count) {
			source->info(source, info, index);
			err = 0;
			break;
		}
		index -= count;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}
