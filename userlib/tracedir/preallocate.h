/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Room for packets in a file.
 */
#ifndef CT_PREALLOCATE_H
#define CT_PREALLOCATE_H

#include "base/sys.h"

/*
 * size bytes at the file's end, which is at offset, as zeros.  0, or a negative errno if there
 * is no space for them, or the process may not write that much: then the file is as long as
 * it was.
 */
long ct_preallocate(int fd, u64 offset, u64 size);

/* Appends so many zeros (at most 4096) in one write: how many, or a negative errno. */
long ct_preallocate_append(int fd, u64 size);

/* Bytes that a file of the program may have; ~0: any. */
u64 ct_preallocate_limit(void);

/* Would a file of this size be beyond that limit, with a signal? */
bool ct_preallocate_beyond(u64 size);

#endif
