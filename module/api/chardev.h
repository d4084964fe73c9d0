/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/cudatrace. */
#ifndef CT_CHARDEV_H
#define CT_CHARDEV_H

int ct_chardev_init(void);
void ct_chardev_exit(void);

#endif
