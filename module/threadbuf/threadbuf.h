/* SPDX-License-Identifier: GPL-2.0 */
/* Thread buffers: threads' streams in memory that the threads write.  See thread buffer.c. */
#ifndef CT_THREADBUF_H
#define CT_THREADBUF_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "cudatrace.h"

struct ct_session_state;

/* A session's thread buffers. */
struct ct_threadbufs {
	struct mutex lock; /* list, count, session; the thread buffers' previous and next */
	struct mutex read; /* CT_IOC_THREADBUF_READ against itself */
	struct list_head list;
	struct list_head making;	/* without memory yet, for the quota */
	u32 count;		/* of the list */
	u32 session;		/* number of those that it takes now, 0: it takes none */
	u32 streams;		/* numbers given out */
	u8 *buf;		/* a packet on its way to the reader */
};

/* ct_threadbufs_init - for a session; wanted: it takes thread buffers.  0 or -ENOMEM. */
int ct_threadbufs_init(struct ct_threadbufs *threadbufs, bool wanted);

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
