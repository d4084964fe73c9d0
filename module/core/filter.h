/* SPDX-License-Identifier: GPL-2.0 */
/* What is recorded: decided before the ring. */
#ifndef CT_FILTER_H
#define CT_FILTER_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "cudatrace.h"

/* Off while nothing is filtered: then a record pays one no-op for it. */
DECLARE_STATIC_KEY_FALSE(ct_filtering);

/*
 * ct_filter_passes - the slow half of the two below; preemption is disabled, and task
 * can't go away.
 */
bool ct_filter_passes(u8 category, u8 context, struct task_struct *task);

/*
 * ct_wanted - is a record of this category, in this context, wanted?
 * Any context; preemption must be disabled.
 */
static __always_inline bool ct_wanted(u8 category, u8 context)
{
	if (!static_branch_unlikely(&ct_filtering))
		return true;
	return ct_filter_passes(category, context, current);
}

/* ct_wanted_task - the same for a record about another task than the current one. */
static __always_inline bool ct_wanted_task(u8 category, struct task_struct *task)
{
	if (!static_branch_unlikely(&ct_filtering))
		return true;
	return ct_filter_passes(category, 0, task);
}

/*
 * ct_filter_set - replace the filter; a filter of zeros takes it away.
 * May sleep; the caller holds ct_session_lock.  Errors as CT_IOC_FILTER's.
 */
int ct_filter_set(const struct ct_filter *f);
void ct_filter_get(struct ct_filter *f);
void ct_filter_clear(void);

#endif
