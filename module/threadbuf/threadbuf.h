/* SPDX-License-Identifier: GPL-2.0 */
/* Thread buffers: threads' streams in memory that the threads write.  See thread buffer.c. */
#ifndef CT_THREADBUF_H
#define CT_THREADBUF_H

#include <linux/types.h>
#include "cudatrace.h"

struct ct_session_state;

/*
 * What a session that takes thread buffers has of them, defined in packet.h.  Functions with
 * this argument take NULL for a session that takes none.
 */
struct ct_threadbufs;

/* ct_threadbufs_new - for a session's threadbufs.  May sleep.  NULL: no memory. */
struct ct_threadbufs *ct_threadbufs_new(void);

/* ct_threadbufs_session - the number that the clock page shows while they are taken, or 0. */
u32 ct_threadbufs_session(const struct ct_threadbufs *threadbufs);

/*
 * ct_threadbufs_close - the threads' thread buffers are closed: of what they write there from here on
 * nothing is passed on.  Those that come later have another number.  The clock page has
 * said before that no thread buffers are taken.  The caller holds ct_session_lock.
 */
void ct_threadbufs_close(struct ct_threadbufs *threadbufs);

/*
 * ct_threadbufs_unread - is there anything that CT_IOC_THREADBUF_READ would tell?  Nobody may read
 * meanwhile.  May sleep.
 */
bool ct_threadbufs_unread(struct ct_threadbufs *threadbufs);

/* ct_threadbufs_free - nobody reads them any more; memory that is mapped lives on. */
void ct_threadbufs_free(struct ct_threadbufs *threadbufs);

/* CT_IOC_THREADBUF, for the current thread.  May sleep.  Errors as in cudatrace.h. */
int ct_threadbuf_make(struct ct_threadbuf_new *arg);

/* CT_IOC_THREADBUF_READ.  May sleep.  Errors as in cudatrace.h. */
int ct_threadbuf_read(struct ct_session_state *s, struct ct_threadbuf_read *arg);

#endif
