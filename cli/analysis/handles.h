/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RM's objects: clients, devices, channels, memory, from allocation to free. */
#ifndef CT_CLI_HANDLES_H
#define CT_CLI_HANDLES_H

#include "analysis/analysis.h"

/**
 * ct_handles_report() - a tree of the objects of each client
 *
 * Each with its class, when it was allocated and freed, and how many ioctls named it;
 * those that RM refused have the status.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_handles_report(const struct ct_analysis_run *run);

#endif
