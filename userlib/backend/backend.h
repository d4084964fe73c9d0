/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which backend the process has. */
#ifndef CT_BACKEND_H
#define CT_BACKEND_H

#include "backend/ops.h"

/* Never NULL: one that takes nothing, at first. */
extern const struct ct_backend *ct_backend;

/* With the lock held, at the first call of a process: chooses, or renews. */
void ct_backend_renew(void);

#endif
