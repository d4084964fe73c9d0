/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CUPTI's records as ours. */
#ifndef CT_GPU_ACTIVITY_H
#define CT_GPU_ACTIVITY_H

#include "plugins/gpu/streams.h"

/* False if the record is of no kind that is asked for, or has no time (counted as lost, but for what is not done yet at the end). */
bool activity_entry(struct entry *e, const void *record);

/* The process is left, and goes on: records from here on are also of what is not done yet. */
void activity_leaves(void);

/* Another recording begins, in which names have other ids. */
void activity_forget(void);

#endif
