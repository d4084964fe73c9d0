/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread's stream: the memory that its packets are made in.
 *
 * The memory is a ring of sub-buffers, mapped by a backend; a packet is made in each.  A
 * full one is published, and is free again when it was drained: by somebody else, or by
 * the thread itself, if the backend can.  A stream begins with little memory, and gets
 * more when that is full.  The in-flight calls of the thread lie in the same memory, or in
 * a private page as long as there is none.
 *
 * All of this is called by the stream's thread with signals blocked, and the caller writes
 * into no packet any more.  None touches errno or allocates by malloc.
 */
#ifndef CT_PRODUCER_H
#define CT_PRODUCER_H

#include "base/sys.h"

/* Sub-buffers of a stream: a power of two, bytes of each. */
struct ct_producer_size {
	u32 count, bytes;
};

/* What a backend has mapped. */
struct ct_producer_memory {
	u8 *map;		/* NULL: nothing */
	u64 length;
	struct ct_inflight_page *inflight;
	u8 *subbufs;
	struct ct_producer_size size;
	u64 first;		/* number of the first packet in this memory */
	/* The others' part, counted from first. */
	const __u64 *drained;
	__u64 *begun;		/* NULL: nobody wants to know */
	__u64 *lost;		/* likewise; then they only stand in packets */
};

struct ct_producer {
	/* For the layer above; ct_thread_update() takes them. */
	struct ct_inflight_page *inflight;	/* never NULL */
	u64 first_op;		/* not 0: the thread's ops go on here */
	const u32 *accepting;	/* its memory is valid while this is equal to session; NULL: always */
	u32 session;
	bool begins;		/* the backend wants to know of the next begin */

	/* Of the layer above. */
	u32 tid;
	u64 seq;		/* of the next packet */
	u64 lost;
	u64 last;		/* while no thread has it: no packet begins before */
	u64 op;			/* likewise: the next */

	const struct ct_producer_ops *backend;
	struct ct_producer_memory m;
	struct ct_inflight_page *own;	/* private, while there is no memory */
	struct ct_packet *packet;	/* begun and not published yet */
	u64 drained;		/* packets of the memory that are, as far as it knows */
	u32 step;		/* which of the sizes */
	bool grows;		/* the next, before the next call begins */
	u32 number;		/* N of u-PID-N; CT_NO_STREAM: there is none yet */
	u64 file_size;		/* files.c */
	struct ct_producer *next;	/* in the list of those that no thread has */
	struct { void *map; u64 length; } left;	/* memory of a recording that was left */
};

#define CT_NO_STREAM	(~0u)

/* What backends do differently. */
struct ct_producer_ops {
	const struct ct_producer_size *sizes;	/* ascending; bytes 0 ends them */
	/* Maps memory of this size, in place of s->m, if there is some; false if it can't. */
	bool (*map)(struct ct_producer *s, const struct ct_producer_size *size,
		    struct ct_producer_memory *m);
	/* Packet n of the memory has so many bytes, and gets no more.  NULL: nothing to do. */
	void (*publish)(struct ct_producer *s, u64 n, u64 bytes);
	/* The thread itself writes packet n away.  NULL: it can't. */
	bool (*drain)(struct ct_producer *s, u64 n);
	/* Another thread takes over the stream.  NULL: it ends with its thread. */
	void (*adopt)(struct ct_producer *s);
	/* Is the stream so long that another one is to go on?  NULL: never. */
	bool (*is_long)(const struct ct_producer *s);
	/* Its packets are all in the stream, and its memory is needed no more; or (empty) it never had a packet. */
	void (*end)(struct ct_producer *s, bool empty);
	bool inherited;		/* a child has the memory, too */
	bool dated;		/* it takes no record that ended before it was mapped */
};

/* A new packet's memory. */
struct ct_producer_room {
	void *at;
	u32 size;
	bool late;		/* what ended before now does not belong into it */
	bool closed;		/* there is none: nobody reads the memory any more */
};

/*
 * For a thread, with the process's lock held; tid is set.  False if there is no memory even
 * for its in-flight calls.
 */
bool ct_producer_attach(struct ct_producer *s, const struct ct_producer_ops *ops);

/* The thread ends.  With the process's lock held. */
void ct_producer_detach(struct ct_producer *s);

/*
 * In a child, more than once perhaps: what the parent's thread had is not ours, but memory
 * stays where an interrupted call may still write.
 */
void ct_producer_forget(struct ct_producer *s);

/* In a child, with the process's lock held: nor is what no thread had. */
void ct_producers_forget(void);

/*
 * The recording ends while the process goes on; from any thread, with the process's lock held:
 * what is mapped is let go of, and memory stays for who may still write.  @own: the thread is one of this
 * process, and not of one that forked it.
 */
void ct_producer_leave(struct ct_producer *s, bool own);

/*
 * The thread records again, after that: the memory of the time before it is unmapped.  An
 * interrupted call may still write to that of the recording that was left last.
 */
void ct_producer_return(struct ct_producer *s);

/* The thread ends, and its stream is of a recording that was left. */
void ct_producer_drop(struct ct_producer *s);

/* Ends the packet, and gives memory for the next, or false. */
bool ct_producer_next(struct ct_producer *s, struct ct_producer_room *room);

/* That packet is valid now. */
void ct_producer_begun(struct ct_producer *s, struct ct_packet *p);

/* Ends the packet; all are drained then, if the thread can do it. */
bool ct_producer_flush(struct ct_producer *s);

/* Maps memory of a size, in place of what there is. */
bool ct_producer_map(struct ct_producer *s, u32 step);

/* Lets go of the memory. */
void ct_producer_unmap(struct ct_producer *s);

/* May packets be made in its memory? */
static inline bool ct_producer_valid(const struct ct_producer *s)
{
	return s->m.map && (!s->accepting || *(const volatile u32 *)s->accepting == s->session);
}

#endif
