/* SPDX-License-Identifier: GPL-2.0 */
/* The filter of CT_IOC_FILTER: applied before a record is reserved in the ring. */
#ifndef CT_FILTER_H
#define CT_FILTER_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "cudatrace.h"

/* Off while there is no filter: then it costs a record one no-op. */
DECLARE_STATIC_KEY_FALSE(ct_filtering);

/*
 * ct_filter_passes - the slow path of the two functions below.  Preemption must be
 * disabled, and the caller makes sure that task is not freed.
 */
bool ct_filter_passes(u8 category, u8 context, struct task_struct *task);

/*
 * ct_wanted - does a record of this category, of the current task, pass the filter?
 * @context:	CT_F_CONTEXT bits of the record
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
 * ct_filter_set - replace the filter; a struct of zeros removes it.
 * ct_filter_get - fill f with the filter, keeping f->size.
 * ct_filter_clear - remove the filter.
 * All may sleep; the caller holds ct_session_lock.  Errors as of CT_IOC_FILTER.
 */
int ct_filter_set(const struct ct_filter *f);
void ct_filter_get(struct ct_filter *f);
void ct_filter_clear(void);

#endif
