/* SPDX-License-Identifier: GPL-2.0 */
/* One thread buffer, and the packets that are made of its content: see packet.c. */
#ifndef CT_THREADBUF_PACKET_H
#define CT_THREADBUF_PACKET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include "cudatrace.h"
#include "core/limit.h"

struct ct_session_state;
struct mm_struct;

/* A session's thread buffers. */
struct ct_threadbufs {
	struct mutex lock;	/* lists, count, session; previous and next of thread buffers */
	struct mutex read;	/* serialises CT_IOC_THREADBUF_READ */
	struct list_head list;	/* thread buffers that are read */
	u32 count;		/* length of list */
	u32 session;		/* the clock page's number for them */
	u32 streams;		/* stream numbers assigned */
	struct xarray streams_of; /* how many of them each producer began */
	u8 *buf;		/* the packet for the reader, CT_THREADBUF_SUBBUF_MAX bytes */
};

/* The module's state of one thread buffer.  No program can map this struct. */
struct ct_threadbuf_state {
	struct kref ref;
	struct list_head node;
	/* Of the same stream and in the same list: read before this one, and after it. */
	struct ct_threadbuf_state *previous, *next;
	bool charged;			/* to the quota */
	bool mapped;			/* it can be mapped only once */
	bool dead;			/* unmapped: its thread writes no more */
	u8 *memory;
	u64 size;
	u32 subbufs, subbuf_size;
	u32 stream;
	u32 pid, tid, ppid, uid;
	struct pid *process;		/* with a reference: pid may be given to another process */
	struct mm_struct *mm;		/* the process's when it was made; for comparing only */
	struct wait_queue_entry exit;	/* in the process's queue of its end, until unmapped */
	struct ct_producer producer;	/* to which limits its records are charged */
	u64 start;			/* ns: no record begins before */

	spinlock_t closing;		/* one sets the next three; any context */
	/* Set by ct_threadbuf_close(), closed after begun and content. */
	u64 closed;			/* ns: no later record is passed on; 0: it is open */
	u64 begun;			/* packets begun when it was closed */

	/* For the reader, under ct_threadbufs.read. */
	u64 consumed;			/* packets */
	u32 offset;			/* bytes read of the next packet */
	u64 last;			/* ns: time of the last record passed on */
	u64 seq;			/* of the next packet passed on */
	u64 lost;			/* records throttled by limits, or invalid */
	u64 lost_claimed;		/* records that the thread says it lost */
	u64 lost_reported;		/* the sum of both in the last packet passed on */
	bool broken;			/* its thread stored an impossible number */
	u32 late;			/* packets passed on since the session ended */
	bool cut_counted;
	bool inflight_counted;
	u32 inflight;			/* in-flight calls that are passed on */

	u32 content[];			/* the most that each sub-buffer's packet may contain */
};

static inline struct ct_threadbuf_head *ct_threadbuf_head_of(const struct ct_threadbuf_state *tb)
{
	return (void *)tb->memory;
}

/* ct_threadbuf_put - drop a reference.  May sleep. */
void ct_threadbuf_put(struct ct_threadbuf_state *tb);

/*
 * ct_threadbuf_close - from now (ns) on, records that the thread writes are not passed on,
 * whatever time they carry.  A record that was being written at that moment counts as
 * lost later, if its time is not after now: see ct_threadbuf_count_cut().
 * Any context.  The reader may run at the same time.
 */
void ct_threadbuf_close(struct ct_threadbuf_state *tb, u64 now);

/*
 * ct_threadbuf_close_last - the same in constant time: earlier packets that are not yet read may
 * still be changed, only not by a thread that keeps the protocol.
 */
void ct_threadbuf_close_last(struct ct_threadbuf_state *tb, u64 now);

/*
 * ct_threadbuf_left - does its process run another program by now (exec)?  Then only others can
 * have the memory still mapped, and write in its name.
 */
bool ct_threadbuf_left(const struct ct_threadbuf_state *tb);

/*
 * All functions below are for the reader: the caller holds ct_threadbufs.read, and they may
 * sleep.  Those that return u32 write into ct_threadbufs.buf of the session and return the
 * number of bytes, 0 if there is nothing to pass on.
 */

/* ct_threadbuf_next_packet - @all: also records of a packet that is not full. */
u32 ct_threadbuf_next_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s, bool all);

/* ct_threadbuf_loss_packet - a packet without records, which reports the latest losses. */
u32 ct_threadbuf_loss_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/*
 * ct_threadbuf_count_cut - count a record as lost that was being written when the thread
 * buffer was closed.  The thread must not write to it any more.
 */
void ct_threadbuf_count_cut(struct ct_threadbuf_state *tb);

/*
 * ct_threadbuf_count_inflight - decide how many of the thread's in-flight calls are passed
 * on: the valid ones; none if the limits throttle them, in which case they count as lost.
 * All packets of the thread buffer must have been passed on.
 */
void ct_threadbuf_count_inflight(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/* ct_threadbuf_inflight_calls - a struct ct_inflight_page with those calls. */
u32 ct_threadbuf_inflight_calls(struct ct_threadbuf_state *tb, struct ct_session_state *s);

/*
 * ct_threadbuf_unread - would one of the functions above return anything?  A hint: it
 * trusts the numbers that the thread stored.
 */
bool ct_threadbuf_unread(const struct ct_threadbuf_state *tb);

#endif
