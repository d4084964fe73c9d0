/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the ways of making iterations share. */
#ifndef CT_CLI_PHASES_ITERATIONS_H
#define CT_CLI_PHASES_ITERATIONS_H

#include "phases/pattern.h"

/* A pause so many times as long as an iteration ends a run of iterations. */
#define CT_PAUSE	8u

/* Adds an iteration; counts it only if there are too many.  0 or -ENOMEM. */
int ct_iteration_add(struct ct_process_phases *p, uint64_t begin, uint64_t end, uint32_t note);

/* The median duration of the iterations. */
int ct_iterations_median(const struct ct_process_phases *p, uint64_t *median);

/* Makes the process's iterations of pattern @p.  0 or -ENOMEM. */
int ct_pattern_cut(const struct ct_pattern *p, const struct ct_slice *slice,
		   struct ct_phase_work *w);

#endif
