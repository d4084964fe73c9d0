/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the machine's GPUs while a trace is recorded: clocks and what limits them, power, temperature,
 * memory, and how far its parts are used. A thread of the recorder asks NVML again and again.
 */
#ifndef CT_CLI_NVML_METRICS_H
#define CT_CLI_NVML_METRICS_H

#include <stdint.h>

#include "write/write_registry.h"

struct ct_metrics;

#define CT_METRICS_RATE	10	/* a second, unless somebody chooses */
#define CT_METRICS_MOST	100	/* GPM measures no faster */

/**
 * ct_metrics_start() - begin to record GPU metrics into a trace
 * @dirfd: the trace directory
 *
 * Return: NULL if there can't be any, which the registry says.
 */
struct ct_metrics *ct_metrics_start(int dirfd, const uint8_t uuid[16], unsigned int rate,
				    struct ct_registry_writer *registry);

/* Ends it; @m may be NULL. */
void ct_metrics_stop(struct ct_metrics *m);

#endif
