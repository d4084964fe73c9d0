/* SPDX-License-Identifier: GPL-2.0 */
/* The list of all kprobes: of the driver's table, and those that users add. */
#ifndef CT_PROBE_H
#define CT_PROBE_H

#include <linux/types.h>
#include "probes/kprobe.h"

#ifdef CONFIG_KRETPROBES
int ct_probe_init(void);
void ct_probe_exit(void);

/*
 * The functions below are called with ct_session_lock held.
 *
 * ct_probe_new - add a probe, and arm it if the session wants it.  May sleep.
 * @desc:	how; freed with the probe if added
 * @class:	of its records, dropped with an added probe; 0: defined when it is armed
 * @sample:	1 in so many calls is recorded; 0: all
 * Returns ERR_PTR(-ENOMEM) if there is no memory or no id.
 */
struct ct_kprobe *ct_probe_new(const struct ct_probe_desc *desc, bool added, u32 class, u32 sample);

/* ct_probe_disarm, ct_probe_free - no handler of it runs when they return.  May sleep. */
void ct_probe_disarm(struct ct_kprobe *p);
void ct_probe_free(struct ct_kprobe *p);

/* ct_probe_sum - its counts over all CPUs. */
void ct_probe_sum(const struct ct_kprobe *p, u64 *hits, u64 *missed, u64 *lost);

/* ct_probe_next - the probe after *id, which starts as 0; NULL: no more. */
struct ct_kprobe *ct_probe_next(unsigned long *id);
#else
static inline int ct_probe_init(void)
{
	return 0;
}

static inline void ct_probe_exit(void)
{
}
#endif

#endif
