/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as Trace Event JSON, which chrome://tracing and Perfetto open.
 */
#ifndef CT_CLI_CHROME_H
#define CT_CLI_CHROME_H

#include "export/export.h"

/**
 * ct_chrome_export() - write the whole trace
 *
 * A thread has two tracks: what the program called, and below it what the driver
 * did for it (its ioctls, and with the module the kernel's functions), with an
 * arrow from each call to its ioctls.  Interrupts have a track for each CPU.
 *
 * Return: 0; -ENOMEM; the error of write().
 */
int ct_chrome_export(const struct ct_export *x, struct ct_error *err);

#endif
