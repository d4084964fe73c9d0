/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library keeps for each thread: its state.
 *
 * Written by its own thread and by that thread's signal handlers, which may
 * interrupt anywhere: what both change is changed by single instructions.
 */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include "backend/producer.h"
#include "base/clock.h"
#include "record/backoff.h"

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
	u64 limit;		/* bits that it may hold */
	u64 op_base;
	u64 deadline;		/* the packet takes no later record */
	s64 rseq;		/* where its struct rseq is, from %fs; 0: nowhere */

	struct ct_clock_copy clock;
	const u32 *cpu;		/* where libc says which CPU runs it */
	const u32 *accepting;	/* what session must be equal to */
	u32 session;		/* of its stream's memory */
	u32 tid;
	u64 last;		/* a record's time: no packet begins before */
	u32 packet_size;
	u16 exits;		/* rounds of the thread's destructors so far */
	u8 left;		/* its recording ended while the process went on */
	u8 changing;		/* it is about to get a packet, perhaps in other memory */

	u32 ranges;		/* pushed since the one that is the capture range, see call/range.h */
	u32 tried;		/* of the process when it tried to attach */
	struct ct_backoff backoff;	/* for a packet, or for the thread to be attached */
	struct ct_producer producer;
	struct ct_thread *next;	/* in the list of states that no thread has */
	struct ct_thread *older;	/* in the list of all states */
	char name[16];		/* that the trace has been told */

	/* The kernel's struct rseq, if libc registers none (glibc before 2.35). */
	struct {
		u32 cpu_id_start, cpu_id;
		u64 sequence;
		u32 flags, rest[3];
	} own_rseq __attribute__((aligned(32)));
} __attribute__((aligned(64)));

#define CT_LIFE_NEVER	0xffffffffu

/*
 * Behind a pointer: of the memory that the loader keeps for thread variables of libraries that
 * come late (--inject), little may be left.  Never NULL: before its first call a thread has
 * ct_thread_none, which is not written to.
 */
extern __thread struct ct_thread *ct_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct ct_thread ct_thread_none;

/* Takes over what the backend has changed of the stream.  Signals are blocked. */
static inline void ct_thread_update(struct ct_thread *t)
{
	struct ct_producer *s = &t->producer;

	t->open = s->inflight;
	t->accepting = s->accepting ? s->accepting : &t->session;
	t->session = s->session;
	t->begins = s->begins;
	if (s->first_op)
		t->ops = s->first_op;
	s->first_op = 0;
}

#endif
