/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library keeps for each thread.
 *
 * Written by its own thread and by that thread's signal handlers, which may
 * interrupt anywhere: what both change is changed by single instructions.
 */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include "base/clock.h"
#include "base/sys.h"

/*
 * Two lines of the cache hold all that a recorded call touches; thunks.S knows the
 * offsets of some of it.
 */
struct ct_thread {
	/* Compared with struct ct_proc's as one word. */
	u32 life;		/* of the process when it attached; see process.h */
	u32 begins;		/* 1: the backend wants to know of each begin, or of the next */
	struct ct_inflight_page *open;
	u64 ops;		/* the next op */

	/* see packet.c */
	struct ct_packet *packet;	/* never NULL: ct_no_packet, which takes none */
	u64 limit;		/* bits that the outermost writer may fill */
	u64 op_base;
	u64 deadline;		/* the packet takes no later record */
	u64 writer;		/* where the outermost writer's claim lies, 0: none inside */

	struct ct_clock_copy clock;
	const u32 *cpu;		/* where libc says which CPU runs it */
	const u32 *accepting;	/* what session must be equal to */
	u32 session;		/* of its lane; see lane.c */
	u32 tid;
	u64 last;		/* a record's time: no packet begins before */
	u32 packet_size;
	u32 stream;		/* N of u-PID-N */

	u64 seq;
	u64 lost;
	u32 retry;		/* records to lose until the next try */
	u32 exits;		/* rounds of the thread's destructors so far */
	u64 file_size;		/* files.c: of the stream */
	u8 *slots;		/* handover.c: where packets are made; NULL: in the stream itself */
	u32 slot_count, slot_size;
	u64 stored;		/* how many packets are, as far as it knows */
	u64 told;		/* of lost: by the last packet that was given away */
	struct ct_threadbuf_head *lane;	/* lane.c */
	u64 lane_size;
	u32 lane_step;			/* which of the sizes */
	bool lane_grows;		/* the next, before the next call begins */
	struct ct_inflight_page *own_open;	/* device.c: while there is no lane */
} __attribute__((aligned(64)));

#define CT_LIFE_NEVER	0xffffffffu

extern __thread struct ct_thread ct_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Hands out the number of a thread's stream. */
u32 ct_stream_number(void);

/*
 * Makes the thread ready to record: in a new thread, or the first of a child.
 * False if there is no memory even for its open calls.
 */
bool ct_thread_attach(struct ct_thread *t);

#endif
