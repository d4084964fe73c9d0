/* SPDX-License-Identifier: GPL-2.0 */
/* What the module has to know of NVIDIA's ioctls. */
#ifndef CT_NV_IOCTL_H
#define CT_NV_IOCTL_H

#include "cudatrace.h"

struct file;

/*
 * ct_nv_ioctl_fill - the record of one ioctl of the driver.
 * @done:	the call has returned: look for its words in the user's block
 * Runs in the caller's task, with preemption disabled: user memory is read only
 * where it is present, word by word, and never trusted.
 */
void ct_nv_ioctl_fill(struct ct_ioctl *p, const struct file *file, u32 cmd,
		      unsigned long arg, s64 ret, bool done);

/* "NV_ESC_RM_CONTROL", "UVM_INITIALIZE" ...; NULL for a number of no name. */
const char *ct_nv_ioctl_name(u32 device, u32 cmd);

#endif
