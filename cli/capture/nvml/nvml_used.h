/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much of the GPUs' memory each process of this machine uses, as NVML says: with its contexts and what it keeps for
 * later, so more than the calls that allocate add up to.
 *
 * A thread asks once a second: a driver that hangs is just what somebody may want to look at, and must not stop the view.
 */
#ifndef CT_CLI_NVML_USED_H
#define CT_CLI_NVML_USED_H

#include <stdbool.h>
#include <stdint.h>

struct ct_nvml_used;

/* NULL: it can't be asked here; the numbers of another namespace of pids would be those of other processes. */
struct ct_nvml_used *ct_nvml_used_start(void);

/* NVML has answered, at least once. */
bool ct_nvml_used_known(struct ct_nvml_used *u);

/* Of all devices together.  False: NVML has no such process. */
bool ct_nvml_used_of(struct ct_nvml_used *u, uint64_t pid, uint64_t *bytes);

/* NULL: nothing. */
void ct_nvml_used_stop(struct ct_nvml_used *u);

#endif
