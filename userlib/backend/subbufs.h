/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a busy thread makes its packets, and who stores them; see struct ct_subbufs in
 * cudatrace.h.
 */
#ifndef CT_HANDOVER_H
#define CT_HANDOVER_H

#include "record/thread.h"

/* files.c: DIR, prefix, PID-N. */
void ct_files_path(struct ct_text *t, const char *prefix, u32 n);

/* files.c: DIR/name. */
void ct_files_path_of(struct ct_text *t, const char *name);

/* The thread makes its packets here from now on; false if there is no room. */
bool ct_subbufs_begin(struct ct_thread *t);

/* Gives away the packet in hand, and begins the next.  Signals are blocked. */
bool ct_subbufs_next(struct ct_thread *t, u64 op, u64 end);

/* Is this packet made here? */
bool ct_subbufs_holds(const struct ct_thread *t, const struct ct_packet *p);

/* Stores all that is left, the packet in hand as well, and has none any more. */
bool ct_subbufs_flush(struct ct_thread *t);

/* Lets go of the slots, which stay as they are. */
void ct_subbufs_forget(struct ct_thread *t);

#endif
