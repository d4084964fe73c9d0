/* SPDX-License-Identifier: GPL-2.0 */
/* Marks from user space. */
#ifndef CT_MARK_H
#define CT_MARK_H

#include <linux/types.h>

int ct_mark_init(void);
void ct_mark_exit(void);

/*
 * ct_mark - CT_IOC_MARK and CT_IOC_BEGIN.
 * @size:	bytes at user, from the ioctl's number
 * @begin:	CT_IOC_BEGIN
 * Task context.  Errors as in cudatrace.h.
 */
long ct_mark(void __user *user, u32 size, bool begin);

#endif
