/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether an interrupted piece of code of this thread will ever go on.
 */
#ifndef CT_WRITER_H
#define CT_WRITER_H

#include "sys.h"

/*
 * A writer has put value at this place of the stack and was interrupted, or left
 * by longjmp; the caller's frame is at frame.  True if it may go on, and if 0 is
 * given for writer, of which nothing is known.  Slow.
 */
bool ct_writer_lives(u64 writer, u64 value, u64 frame);

#endif
