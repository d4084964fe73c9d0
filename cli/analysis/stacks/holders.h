/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who holds Python's lock (GIL), and in which line, while a thread waits for it that gives the GPU work. */
#ifndef CT_CLI_HOLDERS_H
#define CT_CLI_HOLDERS_H

#include "analysis/stacks/costs.h"

/*
 * "held by thread 12 at train.py:12 (tokenise)", "held by 4 threads, for 60 % at ...", and what the holder waits for where it does
 * not run: of @part, CT_STACK_PART() of process @pid.  "": mostly it is not known, or no memory.
 */
const char *ct_holders_text(const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part, uint32_t pid, char *buf,
			    size_t size);

/* Does the holder mostly wait for something, and keep the lock meanwhile? */
bool ct_holders_wait(const struct ct_stack_costs *costs, uint64_t part);

#endif
