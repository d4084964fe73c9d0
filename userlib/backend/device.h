/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device backend's way into the kernel, for tests that have no module.
 */
#ifndef CT_DEVICE_H
#define CT_DEVICE_H

#include "backend/backend.h"

/* ioctl() with a negative errno. */
typedef long ct_device_call(int fd, unsigned long cmd, void *arg);
extern ct_device_call *ct_device_ioctl;

/* The ioctl, as the device answers now: also with the process's lock held. */
long ct_device_try(unsigned long cmd, void *arg);

/* The same without it: the device is opened again if somebody closed it. */
long ct_device_ask(unsigned long cmd, void *arg);

#endif
