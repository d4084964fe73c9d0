/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table diff_processes: all processes of both traces, those of the same role side by side. */
#ifndef CT_CLI_DIFF_PROCESSES_H
#define CT_CLI_DIFF_PROCESSES_H

#include "explain/diff/compare.h"

/**
 * ct_diff_processes() - fill and describe the table
 * @t: set to the table, to be freed by ct_table_free()
 * @a: of a pass over each trace
 * @worst: raised to the most that the median iteration of a process became slower, beyond the
 *	noise, in percent
 *
 * Return: how many rows it has; -ENOMEM.
 */
int ct_diff_processes(struct ct_table *t, const struct ct_analysis *const a[2], double *worst);

#endif
