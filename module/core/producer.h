/* SPDX-License-Identifier: GPL-2.0 */
/* Producers: whom limits and quotas treat as one. */
#ifndef CT_PRODUCER_H
#define CT_PRODUCER_H

#include <linux/types.h>

struct task_struct;

/*
 * Entries of a session's table of producers (limit.c).  Entry 0 is shared by those for whom no
 * other one is free.
 */
#define CT_PRODUCERS		128u
#define CT_PRODUCER_SHARED	0u

/* A producer's key; 0 is none. */
#define CT_PRODUCER_KIND(kind)	((u64)(kind) << 60)
#define CT_PRODUCER_USER	CT_PRODUCER_KIND(1)	/* and its kuid */
#define CT_PRODUCER_CONTAINER	CT_PRODUCER_KIND(2)	/* and the number of its namespace */
#define CT_PRODUCER_PROCESS	CT_PRODUCER_KIND(3)	/* and its tgid */
#define CT_PRODUCER_CGROUP	CT_PRODUCER_KIND(4)	/* and its id */

/* Root of the machine: outside of all containers. */
#define CT_PRODUCER_ROOT	CT_PRODUCER_USER

/*
 * ct_producer_of - the producer that this task belongs to.
 * @flags:	CT_LIMIT_*; 0: users and containers
 * Any context, also with locks of the scheduler held; the caller makes sure that task is not
 * freed.
 */
u64 ct_producer_of(struct task_struct *task, u32 flags);

#endif
