/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ct_phases_find() with a bound of its own, for tests. */
#ifndef CT_CLI_PHASES_FIND_H
#define CT_CLI_PHASES_FIND_H

#include "phases/phases.h"

/* As ct_phases_find(), but about @max records are kept; 0: CT_PHASE_RECORDS_MAX.  */
int ct_phases_find_bounded(struct ct_phases *phases, const struct ct_trace *t, uint64_t max);

#endif
