/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctls of /dev/cudatrace. */
#ifndef CT_IOCTL_H
#define CT_IOCTL_H

struct file;

/* ct_ioctl - file_operations.unlocked_ioctl; may sleep. */
long ct_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
