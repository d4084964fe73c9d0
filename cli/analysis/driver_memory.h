/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that the kernel driver took while it was recorded, and did not give back. */
#ifndef CT_CLI_DRIVER_MEMORY_H
#define CT_CLI_DRIVER_MEMORY_H

#include <stdio.h>

#include "trace/reader.h"

/**
 * ct_driver_memory_report() - what is still held at the trace's end
 * @blocks: list each block too, not only the sums
 *
 * A line for each function, process and outermost call that it was taken in; nothing
 * at all where nothing is held.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_driver_memory_report(const struct ct_trace *t, FILE *out, bool blocks);

#endif
