/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When communicators of libnccl were made. */
#ifndef CT_CLI_PHASES_MAKINGS_H
#define CT_CLI_PHASES_MAKINGS_H

#include "phases/process.h"

/* Sets the .makings of the process.  0 or -ENOMEM. */
int ct_makings_find(struct ct_phase_work *w);

#endif
