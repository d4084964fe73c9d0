/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beginning and end of a thread's life.
 */
#ifndef CT_ATTACH_H
#define CT_ATTACH_H

#include "record/record.h"

/*
 * Makes the thread ready to record: in a new thread, or the first of a child.  Its state, or
 * NULL if there is no memory even for its open calls; then a record was counted as lost.
 */
struct ct_thread *ct_thread_attach(void);

/* Makes the process ready to record: for a thread that asks, and may never call.  False: nothing is recorded. */
bool ct_process_attach(void);

/*
 * The recording ends while the process goes on: all threads' streams are let go of.  With the
 * lock held.
 */
void ct_threads_leave(void);

/* The process ends normally, in this thread; calls may still come. */
void ct_thread_end(void);

/* Tells the trace the calling thread's name, where it is new. */
void ct_thread_name(void);

#endif
