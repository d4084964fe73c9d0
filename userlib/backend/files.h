/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backend of the trace directory's files. */
#ifndef CT_FILES_H
#define CT_FILES_H

#include "backend/ops.h"

extern const struct ct_backend ct_backend_files;

/* Makes the trace directory and its registry usable; false if that failed. */
bool ct_files_open(void);

/* Another recording begins, with a recorder of its own.  With the lock held. */
void ct_files_forget(void);

/*
 * May so many bytes be written to the trace directory?  Always, but where the recorder keeps it
 * within bounds.
 */
bool ct_files_room(u64 bytes);

/* Is a stream of so many bytes to be followed by another one?  Only where the recorder drops the oldest. */
bool ct_files_is_long(u64 size);

#endif
