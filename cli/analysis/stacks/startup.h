/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program does before its first call of CUDA, by the stacks and states of its samples: imports, files, compilation. */
#ifndef CT_CLI_STACK_STARTUP_H
#define CT_CLI_STACK_STARTUP_H

#include "analysis/stacks/costs.h"

/*
 * "62 % imports (41 % torch, 12 % numpy), 20 % waiting for files, 5 % compilation, 13 % other lines" of the time before the
 * first call of @part; "" without samples of Python lines.  0 or -ENOMEM.
 */
int ct_startup_text(const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part, char *buf, size_t size);

#endif
