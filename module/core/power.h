/* SPDX-License-Identifier: GPL-2.0 */
/* Clock pairs: the machine slept, and CLOCK_MONOTONIC did not count that. */
#ifndef CT_SUSPEND_H
#define CT_SUSPEND_H

int ct_suspend_init(void);
void ct_suspend_exit(void);

#endif
