/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The iterations of a process. */
#ifndef CT_CLI_PHASES_ITERATIONS_H
#define CT_CLI_PHASES_ITERATIONS_H

#include "phases/process.h"

/* Finds the iterations of the process, or says why there are none.  0 or -ENOMEM. */
int ct_iterations_find(struct ct_phase_work *w);

/* They are no steady state, since @lost % of the launches lie outside of them: there are none. */
void ct_iterations_drop(struct ct_phase_work *w, unsigned int lost);

#endif
