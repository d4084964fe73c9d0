/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Iterations by a pattern. */
#ifndef CT_CLI_PATTERN_ITERATIONS_H
#define CT_CLI_PATTERN_ITERATIONS_H

#include "phases/pattern.h"

/* Makes the process's iterations of pattern @p, without their launches.  0 or -ENOMEM. */
int ct_pattern_cut(const struct ct_pattern *p, const struct ct_thread_events *slice,
		   struct ct_phase_work *w);

#endif
