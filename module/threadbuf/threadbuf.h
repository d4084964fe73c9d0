/* SPDX-License-Identifier: GPL-2.0 */
/* Thread buffers: streams of threads in memory that the threads write.  See threadbuf.c. */
#ifndef CT_THREADBUF_H
#define CT_THREADBUF_H

#include <linux/types.h>
#include "cudatrace.h"

struct ct_session_state;

/*
 * The thread buffers of a session, defined in packet.h.  NULL for a session without
 * CT_SESSION_THREADBUFS: all functions with this argument accept that.
 */
struct ct_threadbufs;

/* ct_threadbufs_new - for a session's threadbufs.  May sleep.  NULL: no memory. */
struct ct_threadbufs *ct_threadbufs_new(void);

/* ct_threadbufs_session - the number of the clock page while they are read; 0 for NULL. */
u32 ct_threadbufs_session(const struct ct_threadbufs *threadbufs);

/*
 * ct_threadbufs_close - close all thread buffers: records that threads write there from now
 * on are not passed on.  Later thread buffers get a new number.  Before the call, the clock
 * page must say that thread buffers are not read.  May sleep; the caller holds
 * ct_session_lock.
 */
void ct_threadbufs_close(struct ct_threadbufs *threadbufs);

/*
 * ct_threadbufs_unread - would CT_IOC_THREADBUF_READ return anything?  No file may read them
 * at the same time.  May sleep.
 */
bool ct_threadbufs_unread(struct ct_threadbufs *threadbufs);

/* ct_threadbufs_free - after the last read.  Memory that a thread has mapped stays. */
void ct_threadbufs_free(struct ct_threadbufs *threadbufs);

/* ct_threadbuf_make - CT_IOC_THREADBUF for the current thread.  May sleep.  Errors as there. */
int ct_threadbuf_make(struct ct_threadbuf_new *arg);

/* ct_threadbuf_read - CT_IOC_THREADBUF_READ of this session.  May sleep.  Errors as there. */
int ct_threadbuf_read(struct ct_session_state *s, struct ct_threadbuf_read *arg);

#endif
