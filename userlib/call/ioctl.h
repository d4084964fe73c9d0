/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver's system calls as the process makes them.
 */
#ifndef CT_IOCTL_H
#define CT_IOCTL_H

#include "base/sys.h"

/* The ioctl() that ours passes on to was found with others; NULL: it was not. */
void ct_ioctl_found(void *real);

/* Finds the ioctl() that ours passes on to, and returns it; NULL: there is none. */
void *ct_ioctl_start(void);

/* Ours, whatever the name is bound to. */
int ct_ioctl(int fd, unsigned long cmd, ...);

#endif
