/* SPDX-License-Identifier: GPL-2.0 */
/* Counting the calls of thousands of functions at once: CT_IOC_COUNT_ADD. */
#ifndef CT_COUNTER_H
#define CT_COUNTER_H

#include <linux/errno.h>
#include "cudatrace.h"

#ifdef CONFIG_KRETPROBES
int ct_counter_init(void);
void ct_counter_exit(void);

/*
 * The ioctls of this name, for the functions of one owner (an open file).  Each checks its
 * argument, may sleep and takes ct_session_lock.  The errors stand in cudatrace.h; also -EINTR:
 * the task is being killed.
 */
int ct_counter_add(const void *owner, struct ct_count_add *arg);
int ct_counter_read(const void *owner, struct ct_count_read *arg);

/* ct_counter_closed - the file is closed: its functions go.  Takes ct_session_lock, may sleep. */
void ct_counter_closed(const void *owner);
#else
static inline int ct_counter_init(void)
{
	return 0;
}

static inline void ct_counter_exit(void)
{
}

static inline int ct_counter_add(const void *owner, struct ct_count_add *arg)
{
	return -ENODATA;
}

static inline int ct_counter_read(const void *owner, struct ct_count_read *arg)
{
	return -ENOENT;
}

static inline void ct_counter_closed(const void *owner)
{
}
#endif

#endif
