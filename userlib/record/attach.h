/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beginning and end of a thread's life.
 */
#ifndef CT_ATTACH_H
#define CT_ATTACH_H

#include "record/record.h"

/*
 * Makes the thread ready to record: in a new thread, or the first of a child.
 * False if there is no memory even for its open calls.
 */
bool ct_thread_attach(struct ct_thread *t);

/* The process ends normally, in this thread; calls may still come. */
void ct_thread_end(void);

#endif
