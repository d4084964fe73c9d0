/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backend of the kernel module's device. */
#ifndef CT_DEVICE_H
#define CT_DEVICE_H

#include "backend/ops.h"

extern const struct ct_backend ct_backend_device;

/* Can the device be used?  Opens it.  passing: not now, but perhaps later. */
bool ct_device_open(bool *passing);

/* Why it can't, without a word to anybody: a negative errno (EPROTO: its version is another one), or 0. */
long ct_device_refused(void);

/* The recording was left: lets go of the device, which may then be unloaded.  With the lock held. */
void ct_device_forget(void);

/* A record was not written, as nobody records; NULL: nobody wants to know. */
extern void (*ct_device_unread)(void);

/* ioctl() with a negative errno.  Tests put a module of their own in its place. */
typedef long ct_device_call(int fd, unsigned long cmd, void *arg);
extern ct_device_call *ct_device_ioctl;

#endif
