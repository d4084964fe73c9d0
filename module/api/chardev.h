/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/cudatrace. */
#ifndef CT_DEVICE_H
#define CT_DEVICE_H

int ct_device_init(void);
void ct_device_exit(void);

#endif
