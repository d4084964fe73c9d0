/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether an interrupted piece of code of this thread will ever go on.
 */
#ifndef CT_WRITER_H
#define CT_WRITER_H

#include "call/frame.h"

/*
 * A writer's claim (struct ct_claim) is at this place of the stack, and it was
 * interrupted, or left by longjmp; the caller's frame is at frame.  True if it may go on.
 * Slow.
 */
bool ct_writer_lives(u64 claim, u64 frame);

/* Copies what lies on a stack that may be gone; false if it is. */
bool ct_stack_read(void *to, u64 from, u64 size);

#endif
