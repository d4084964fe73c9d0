/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources of records: kprobes, tracepoints.  Each registers here, so that a session arms them
 * without knowing them.
 */
#ifndef CT_SOURCE_H
#define CT_SOURCE_H

#include <linux/list.h>
#include <linux/types.h>
#include "cudatrace.h"

/* All functions are called with ct_session_lock held, and may sleep. */
struct ct_source {
	struct list_head list;
	/* Arm what these groups (bits 1 << CT_GROUP_*) want, also what appears later. */
	void (*arm)(struct ct_source *source, u64 groups);
	/* Disarm all: no handler runs when it returns. */
	void (*disarm)(struct ct_source *source);
	/* Rows that info() knows. */
	u32 (*count)(struct ct_source *source);
	/* Fill in row index; info is zeroed but for its size and index. */
	void (*info)(struct ct_source *source, struct ct_probe_info *info, u32 index);
	/* Bytes that the kernel keeps for the calls of what is armed; NULL: none. */
	u64 (*memory)(struct ct_source *source);
};

/*
 * ct_source_register - at the end of the list; it must be at rest.
 * ct_source_unregister - the caller has disarmed it.
 * Both take ct_session_lock.
 */
void ct_source_register(struct ct_source *source);
void ct_source_unregister(struct ct_source *source);

/* All sources, in the order of their registration.  The caller holds ct_session_lock. */
void ct_source_arm(u64 groups);
void ct_source_disarm(void);
u32 ct_source_count(void);
u64 ct_source_memory(void);

/* ct_source_changed - a source has another count(): report it to readers of the facts page.
 * The caller holds ct_session_lock.
 */
void ct_source_changed(void);

/*
 * ct_source_info - CT_IOC_GET_PROBE: row info->index of all sources.  0, -ENOENT, or -EINTR: the
 * task is being killed.
 */
int ct_source_info(struct ct_probe_info *info);

#endif
