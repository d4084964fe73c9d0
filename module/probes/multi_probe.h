/* SPDX-License-Identifier: GPL-2.0 */
/* Thousands of functions at once, each only counted. */
#ifndef CT_MULTI_PROBE_H
#define CT_MULTI_PROBE_H

#include <linux/types.h>

struct ct_kprobe;

/*
 * ct_multi_probe_arm - arm, in batches, the probes of this owner that wait for it
 * (CT_PROBE_LATER).  Sleeps; takes ct_session_lock.  Returns 0, -ENODATA where no
 * session wants them, or -ENOMEM; of a probe that the kernel refuses its state says so.
 */
int ct_multi_probe_arm(const void *owner);

/*
 * ct_multi_probe_disarm - disarm what was armed together in this module (NULL: any) by this
 * owner (NULL: any); no handler of it runs any more when this returns.
 * ct_multi_probe_drop - one of them alone.
 * Both sleep; the caller holds ct_session_lock.
 */
void ct_multi_probe_disarm(const char *module, const void *owner);
void ct_multi_probe_drop(struct ct_kprobe *p);

/* Calls that the kernel has not told of, of one that is armed. */
u64 ct_multi_probe_missed(const struct ct_kprobe *p);

#endif
