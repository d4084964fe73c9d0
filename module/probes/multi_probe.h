/* SPDX-License-Identifier: GPL-2.0 */
/* Multi-probe: thousands of functions at once, each only counted. */
#ifndef CT_MULTI_PROBE_H
#define CT_MULTI_PROBE_H

void ct_multi_probe_init(void);
void ct_multi_probe_exit(void);

/*
 * ct_multi_probe_arm - arm, in one batch, the probes of this owner that wait for it
 * (CT_PROBE_LATER).  May sleep, takes ct_session_lock.  Returns 0, -ENODATA if no session wants
 * them, or -ENOMEM.  Where the kernel refuses a probe, the state of that probe says so.
 */
int ct_multi_probe_arm(const void *owner);

#endif
