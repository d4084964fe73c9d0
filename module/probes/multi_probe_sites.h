/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a multi-probe that have an ftrace site. */
#ifndef CT_MULTI_PROBE_SITES_H
#define CT_MULTI_PROBE_SITES_H

#include <linux/types.h>

struct ct_multi_probe;
struct ct_row;

/*
 * ct_multi_probe_sites_find - find the functions that have an ftrace site; they get its address.
 * Returns 0 or -ENOMEM.
 *
 * ct_multi_probe_sites_init - of a new multi-probe.
 *
 * ct_multi_probe_sites_arm - arm these sites, all or none.  Returns 0 or ftrace's error.
 *
 * ct_multi_probe_sites_disarm - these that are armed.  When it has disarmed the last one, no
 * handler of them runs.
 *
 * All may sleep; the caller holds ct_session_lock.
 */
int ct_multi_probe_sites_find(struct ct_row *row, u32 count);
void ct_multi_probe_sites_init(struct ct_multi_probe *m);
int ct_multi_probe_sites_arm(struct ct_multi_probe *m, unsigned long *site, u32 count);
void ct_multi_probe_sites_disarm(struct ct_multi_probe *m, unsigned long *site, u32 count);

#endif
