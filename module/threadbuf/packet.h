/* SPDX-License-Identifier: GPL-2.0 */
/* One thread buffer, and what its memory holds.  See packet.c. */
#ifndef CT_THREADBUF_PACKET_H
#define CT_THREADBUF_PACKET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "cudatrace.h"
#include "core/limit.h"

struct ct_session_state;

/* A session's thread buffers. */
struct ct_threadbufs {
	struct mutex lock; /* list, count, session; the thread buffers' previous and next */
	struct mutex read; /* CT_IOC_THREADBUF_READ against itself */
	struct list_head list;
	struct list_head making;	/* without memory yet, for the quota */
	u32 count;		/* of the list */
	u32 session;		/* number of those that it takes now */
	u32 streams;		/* numbers given out */
	u8 *buf;		/* a packet on its way to the reader */
};

struct ct_threadbuf_state {
	struct kref ref;
	struct list_head node;
	/* In the list as well, of the same stream: read before this one, and after it. */
	struct ct_threadbuf_state *previous, *next;
	bool mapped;			/* once and no second time */
	bool dead;			/* unmapped: nothing more will come */
	u8 *memory;
	u64 size;
	u32 subbufs, subbuf_size;
	u32 stream;
	u32 pid, tid, ppid, uid;
	struct ct_producer who;		/* whose limits */
	u64 start;			/* no record begins before */

	/* What ct_threadbuf_close() found, which is settled before closed is. */
	u64 closed;			/* ns: nothing is passed on that came later; 0: open */
	u64 begun;			/* packets */

	/* The reader's, under ct_threadbufs.read. */
	u64 consumed;			/* packets */
	u32 offset;			/* read of the next one */
	u64 last;			/* time of the last record passed on */
	u64 seq;
	u64 lost;			/* by us, for limits or because it was no record */
	u64 lost_claimed;		/* by the thread */
	u64 lost_reported; /* of both, in a packet passed on */
	bool broken;			/* what it says of itself cannot be */
	u32 late;			/* packets passed on since the session ended */
	bool cut_counted;
	bool open_counted;
	u32 open;			/* so many open calls are passed on */

	u32 content[];			/* of each slot's packet, when it was closed */
};

static inline struct ct_threadbuf_head *ct_threadbuf_head_of(const struct ct_threadbuf_state *tb)
{
	return (void *)tb->memory;
}

/*
 * ct_threadbuf_close - nothing that its thread writes from here on is passed on, whatever time
 * it says of it.  What it was just writing counts as lost, as far as its time tells.
 * The caller holds ct_threadbufs.lock; the reader may be at work.
 */
void ct_threadbuf_close(struct ct_threadbuf_state *tb, u64 now);

/*
 * All of these are the reader's, under ct_threadbufs.read, and may sleep.  What they make
 * lies in ct_threadbufs.buf of the session; its bytes are returned, 0 where there is nothing.
 */

/* ct_threadbuf_next_packet - all: also of a packet that its thread has not finished. */
u32 ct_threadbuf_next_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s, bool all);

/* ct_threadbuf_loss_packet - without a record: it tells what was lost since the last one. */
u32 ct_threadbuf_loss_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/*
 * ct_threadbuf_count_cut - what was on its way when the thread buffer was closed is lost.  Its thread
 * writes no more.
 */
void ct_threadbuf_count_cut(struct ct_threadbuf_state *tb);

/*
 * ct_threadbuf_count_open - how many of the calls that its thread has open are passed on: those
 * that can be, and none where the limits have no room for them, which counts as lost.
 * Nothing more may come from this thread buffer.
 */
void ct_threadbuf_count_open(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/* ct_threadbuf_open_calls - those calls. */
u32 ct_threadbuf_open_calls(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/* ct_threadbuf_unread - would any of the above give something?  A hint, as all that a thread buffer says. */
bool ct_threadbuf_unread(const struct ct_threadbuf_state *tb);

#endif
