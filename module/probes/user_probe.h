/* SPDX-License-Identifier: GPL-2.0 */
/* Probes that a user adds while the module runs: CT_IOC_PROBE_ADD, REMOVE and SET. */
#ifndef CT_USER_PROBE_H
#define CT_USER_PROBE_H

#include <linux/errno.h>
#include "cudatrace.h"

/*
 * ct_user_probe_add - add a probe.
 * ct_user_probe_remove - also fills in the last counts.
 * ct_user_probe_set - change the sampling.
 * All may sleep and take ct_session_lock.  Errors as in cudatrace.h, and -EINTR: the task is being
 * killed.
 */
#ifdef CONFIG_KRETPROBES
int ct_user_probe_add(const struct ct_probe_add *arg);
int ct_user_probe_remove(struct ct_probe_add *arg);
int ct_user_probe_set(const struct ct_probe_add *arg);
#else
static inline int ct_user_probe_add(const struct ct_probe_add *arg)
{
	return -EOPNOTSUPP;
}

static inline int ct_user_probe_remove(struct ct_probe_add *arg)
{
	return -ENOENT;
}

static inline int ct_user_probe_set(const struct ct_probe_add *arg)
{
	return -EOPNOTSUPP;
}
#endif

#endif
