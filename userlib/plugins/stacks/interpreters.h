/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs with more than one interpreter: which of their states run on the calling thread's stack, and in which
 * order they called each other.
 */
#ifndef CT_STACKS_INTERPRETERS_H
#define CT_STACKS_INTERPRETERS_H

#include "plugins/stacks/frames.h"

/* Where the runtime keeps its interpreters, or NULL; handle: the interpreter's library. */
const uint64_t *interpreters_find(void *handle, const struct layout *l);

/* There is a second one now, and its threads can be found. */
bool interpreters_several(void);

/*
 * The frames of all states that run on the stack between @here and @end, where the thread's stack begins, the innermost
 * first.  more: room for one of them.  False: there are none, or they can't be read.
 */
bool interpreters_walk(uint64_t here, uint64_t end, struct python_stack *more, struct python_stack *s);

#endif
