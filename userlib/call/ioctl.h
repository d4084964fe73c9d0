/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver's system calls as the process makes them.
 */
#ifndef CT_IOCTL_H
#define CT_IOCTL_H

#include "base/sys.h"

/* Finds the ioctl() that ours passes on to. */
void ct_ioctl_start(void);

/*
 * What a parameter block says after the call, into an ioctl record's fields (see
 * ioctl_decode.c).  arg is the program's pointer: it may be anything.
 */
void ct_ioctl_decode(struct ct_ioctl *o, unsigned long cmd, u64 arg);

#endif
