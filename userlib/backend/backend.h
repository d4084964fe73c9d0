/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which backend the process has. */
#ifndef CT_BACKEND_H
#define CT_BACKEND_H

#include "backend/ops.h"

/* One without functions as long as none could be opened: then no thread attaches. */
extern const struct ct_backend *ct_backend;

/*
 * With the lock held, at a thread's first call: chooses, unless that is done.  What fails may
 * fail for the moment (no descriptor, no memory, no right): so it is tried again.
 */
void ct_backend_choose(void);

/* Another recording begins: it is chosen again.  With the lock held. */
void ct_backend_forget(void);

/*
 * The id of a text of n bytes; 0 if none could be had.  One that is longer than CT_STRING_MAX is
 * cut, and ends in a hash of the whole.
 */
u32 ct_backend_string(const char *s, size_t n);

#endif
