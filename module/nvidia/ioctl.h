/* SPDX-License-Identifier: GPL-2.0 */
/* NVIDIA's ioctls, as far as the module decodes them. */
#ifndef CT_NV_IOCTL_H
#define CT_NV_IOCTL_H

#include "cudatrace.h"

struct file;

/*
 * ct_nv_ioctl_fill - fill the record of one ioctl of the driver.
 * @file:	the device's, or NULL if it is not certain that it is one
 * @done:	the call has returned: read the words of the user's parameter block
 * Runs in the caller's task with preemption disabled.  User memory is read without
 * faults (a page that is not present is skipped), and its content is not trusted.
 */
void ct_nv_ioctl_fill(struct ct_ioctl *p, const struct file *file, u32 cmd,
		      unsigned long arg, s64 ret, bool done);

/* ct_nv_ioctl_name - "NV_ESC_RM_CONTROL", "UVM_INITIALIZE" ...; NULL: it has no name. */
const char *ct_nv_ioctl_name(u32 device, u32 cmd);

#endif
