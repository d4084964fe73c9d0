/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples of the threads that make CUDA calls, and before the first one of the main thread of each
 * Python program: from outside, by a thread of the recorder.  The program is never stopped nor signalled.
 */
#ifndef CT_CLI_SAMPLER_H
#define CT_CLI_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "write/write_registry.h"

struct ct_sampler;

#define CT_SAMPLER_RATE	200	/* a second, unless somebody chooses */
#define CT_SAMPLER_MOST	10000

/**
 * ct_sampler_start() - begin to sample what records into a trace
 * @dir: of the trace; @dirfd: it is open
 * @module: the module assigns ids of texts
 * @quiet: keep samples also of processes that call nothing: they were attached to
 *
 * Return: the sampler; NULL if there can't be one, with a line on stderr.
 */
struct ct_sampler *ct_sampler_start(const char *dir, int dirfd, const uint8_t uuid[16], bool module, bool quiet, unsigned int rate);

/* Ends it: writes the last samples, and says in the registry what there is.  @s may be NULL. */
void ct_sampler_stop(struct ct_sampler *s, struct ct_registry_writer *registry);

#endif
