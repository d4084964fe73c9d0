/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a stack what the interpreter says itself?  Distributions patch theirs, and a table may be
 * wrong: what was not checked is not recorded.
 */
#ifndef CT_STACKS_CHECK_H
#define CT_STACKS_CHECK_H

#include "plugins/stacks/frames.h"

/* Functions of the interpreter, from this library. */
void check_find(void *handle);

/*
 * Compares each frame: its lines with PyCode_Addr2Line(), and where the thread has the interpreter's
 * lock (thread is not NULL) all frames with those of its C API.  NULL, or why it is refused.
 */
const char *check_stack(const struct python *p, const struct python_stack *s, void *thread);

/* Do the numbers of the stack's code objects differ?  They are only used where they do. */
bool check_versions(const struct python *p, const struct python_stack *s);

/* The C API was asked. */
bool check_done(void);

#endif
