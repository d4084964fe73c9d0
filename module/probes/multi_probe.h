/* SPDX-License-Identifier: GPL-2.0 */
/* Multi-probe: thousands of functions at once, each only counted. */
#ifndef CT_MULTI_PROBE_H
#define CT_MULTI_PROBE_H

#include <linux/errno.h>

struct ct_probe_together;

/* For ct_probe_init(). */
extern const struct ct_probe_together ct_multi_probe_together;

/*
 * ct_multi_probe_arm - arm, in one batch, the probes of this owner that wait for it
 * (CT_PROBE_LATER).  May sleep, takes ct_session_lock.  Returns 0, -ENODATA if no session wants
 * them, -ENOMEM, or -EINTR: the task is being killed.  Where the kernel refuses a probe, the state
 * of that probe says so.
 */
#ifdef CONFIG_KRETPROBES
int ct_multi_probe_arm(const void *owner);
#else
static inline int ct_multi_probe_arm(const void *owner)
{
	return -ENODATA;
}
#endif

#endif
