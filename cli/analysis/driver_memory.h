/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that the kernel driver allocated while it was recorded, and did not free. */
#ifndef CT_CLI_DRIVER_MEMORY_H
#define CT_CLI_DRIVER_MEMORY_H

#include "analysis/analysis.h"

/**
 * ct_driver_memory_report() - the blocks that are not freed at the trace's end
 *
 * A line for each function, process and outermost call that allocated it, and with
 * options->blocks a line for each block.  Prints nothing where nothing is held.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_driver_memory_report(const struct ct_analysis_run *run);

#endif
