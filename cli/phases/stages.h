/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stages of a process. */
#ifndef CT_CLI_PHASES_STAGES_H
#define CT_CLI_PHASES_STAGES_H

#include "phases/process.h"

/* Makes the stages of the process; after its iterations.  0 or -ENOMEM. */
int ct_stages_find(struct ct_phase_work *w);

#endif
