/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library keeps for each thread.
 *
 * Written by its own thread and by that thread's signal handlers, which may
 * interrupt anywhere: what both change is changed by single instructions.
 */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include "sys.h"

struct ct_thread {
	u32 life;		/* of the process when it attached; see process.h */
	u32 tid;
	u64 ops;		/* the last op given */
	struct ct_open_page *open;

	/* the lane: see lane.c */
	u8 *packet;		/* NULL: none, or the disk is full */
	u64 position;		/* next free byte of the packet */
	u64 limit;		/* the outermost writer stops here */
	u64 op_base;
	u64 deadline;		/* the packet takes no later record */
	u64 last;		/* time of the last record, at most */
	u32 nest;		/* writers that are inside, by interruption */
	u32 stream;		/* N of u-PID-N */
	u64 writer;		/* place on the stack of the outermost of them ... */
	u64 writer_op;		/* ... and what stands there while it is inside */
	u64 file_size;
	u64 seq;
	u64 lost;
	u32 packet_size;
	u32 retry;		/* records to lose until the next try */
	u32 exits;		/* rounds of the thread's destructors so far */
};

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

/* CPU the thread runs on, 0xffff if libc doesn't say; never a system call. */
u16 ct_cpu(void);

void ct_thread_start(void);

#endif
