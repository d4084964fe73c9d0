/* SPDX-License-Identifier: GPL-2.0 */
/* Clock records after a suspend, which CLOCK_MONOTONIC does not count. */
#ifndef CT_POWER_H
#define CT_POWER_H

int ct_power_init(void);
void ct_power_exit(void);

#endif
