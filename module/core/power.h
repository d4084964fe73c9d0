/* SPDX-License-Identifier: GPL-2.0 */
/* Clock pairs: the machine slept, and CLOCK_MONOTONIC did not count that. */
#ifndef CT_POWER_H
#define CT_POWER_H

int ct_power_init(void);
void ct_power_exit(void);

#endif
