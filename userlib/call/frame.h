/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What thunks.S and the C code share: the slot of a thunk and the frame of one
 * call.  The assembly knows the offsets by the CT_* numbers below, which call.c
 * checks at compile time.
 */
#ifndef CT_THUNK_H
#define CT_THUNK_H

#define CT_THUNKS		4096	/* thunks in the pool */
#define CT_THUNK_SHIFT		4	/* each has 16 bytes of code */
#define CT_SLOT_SHIFT		6	/* sizeof(struct ct_slot) == 64 */

#define CT_SLOT_CLASS		8	/* of struct ct_slot */
#define CT_SLOT_FLAGS		10
#define CT_SLOT_WORDS		11
#define CT_SLOT_SIZE		12
#define CT_SLOT_EXTRACT		16
#define CT_SLOT_WAY		48
#define CT_SLOT_OPEN		56

#define CT_SLOT_VECTOR		0x01	/* xmm registers carry arguments, or may */
#define CT_SLOT_QUERY		0x02	/* stamped once, at its return */
#define CT_SLOT_UNKNOWN		0x04	/* no known signature: copy 16 words */
#define CT_SLOT_RESCAN		0x08	/* a good moment to look for new objects */
#define CT_SLOT_STACK		0x10	/* with the stack of its caller */
#define CT_SLOT_BEGINS		0x20	/* begins the capture range */
#define CT_SLOT_CLOSED		0x40	/* outside of the capture range: it is not recorded */
#define CT_SLOT_ONCE		0x80	/* its extractor counts: a quick path may ask it twice */
#define CT_SLOT_SPECIAL		(CT_SLOT_UNKNOWN | CT_SLOT_RESCAN | CT_SLOT_BEGINS | CT_SLOT_CLOSED)

#define CT_QUICK_WORDS		6	/* of the stack at most, on a quick way */

#define CT_FRAME_SIZE		384	/* of struct ct_frame, up to the saved rbp */
#define CT_FRAME_OP		0
#define CT_FRAME_BEGIN		8
#define CT_FRAME_RESULT		16
#define CT_FRAME_END		24
#define CT_FRAME_SLOT		32
#define CT_FRAME_WORDS		40
#define CT_FRAME_LEVEL		44
#define CT_FRAME_LIFE		48	/* and flags */
#define CT_SIMPLE_SIZE		56	/* so much of it has a call without arguments */
#define CT_FRAME_ARG		56
#define CT_FRAME_PAYLOAD	104
#define CT_FRAME_RAX		232
#define CT_FRAME_R10		240
#define CT_FRAME_XMM		256

#define CT_OPEN_DEPTH		16	/* of struct ct_inflight_page */
#define CT_OPEN_SIMPLE		48	/* deeper (of CT_INFLIGHT_MAX) takes the slow path */
#define CT_OPEN_ENTRY		32	/* of its first call: */
#define CT_OPEN_BEGIN		(CT_OPEN_ENTRY + 0)
#define CT_OPEN_OP		(CT_OPEN_ENTRY + 8)
#define CT_OPEN_STACK		(CT_OPEN_ENTRY + 16)
#define CT_OPEN_CLASS		(CT_OPEN_ENTRY + 24)	/* and flags */

#include "record/append.h"

#ifndef __ASSEMBLER__

struct ct_frame;
struct ct_slot;

/* Where a thunk jumps to, with what the caller passed and the slot in r11. */
typedef void ct_way(void);

/* Fills a record's payload from a call that has returned (see decode.h). */
typedef void ct_extract(const struct ct_frame *f, void *payload, bool after);

/*
 * One intercepted function.  Written under the process's lock before its thunk
 * is handed out; later only target (libcuda came back elsewhere) and class
 * (given at the first call) change.
 */
struct ct_slot {
	void *target;
	u16 class;		/* 0 until the backend gave an id */
	u8 flags;		/* CT_SLOT_* */
	u8 words;		/* arguments on the stack */
	u8 size;		/* bytes of payload */
	u8 layout;
	u16 next;		/* in the hash chain; 0 ends it */
	ct_extract *extract;
	void (*after)(struct ct_frame *f);	/* changes what the call returned */
	const char *symbol;
	u32 hash;
	u16 failures;		/* calls since the class was refused */
	u8 stale;		/* its libcuda was unloaded */
	u8 left_out;		/* CUDATRACE_ONLY is not for it */
	ct_way *way;		/* that its calls go */
	u64 open;		/* class and flags of its open call */
} __attribute__((aligned(64)));

/* What every call needs is at the front. */
struct ct_frame {
	u64 op;
	u64 begin;
	u64 result, result2;	/* on a fast path result2 is when it ended */
	struct ct_slot *slot;
	u32 words;
	u32 level;		/* index of its in-flight call */
	u32 life;		/* of the thread when the call began */
	u32 flags;
	/* The frame of a call without arguments to record ends here. */
	u64 arg[6];
	u64 payload[16];	/* what was extracted of the arguments */
	u64 rax, r10;
	u64 reserved;
	u64 xmm[8][2];
	u64 rbp, caller;
	u64 stack[];
};

#define CT_FRAME_BYPASS	1	/* nothing is recorded of this call */
#define CT_FRAME_BEGUN	2	/* its begin was recorded */

/* Argument n of the call, counted from 0, if none before it is floating point
 * or a structure. */
static inline u64 ct_arg(const struct ct_frame *f, unsigned n)
{
	return n < 6 ? f->arg[n] : f->stack[n - 6];
}

/* The program's stack may be 8 bytes off, and the compiler wants it aligned. */
#define CT_ALIGNS	__attribute__((force_align_arg_pointer))

/* Before and after a call that can't go the quick way, or can't any more. */
CT_ALIGNS void *ct_enter(struct ct_slot *s, struct ct_frame *f);

/* end: 0 if it is not stamped yet. */
CT_ALIGNS void ct_leave(struct ct_frame *f, u64 end);

#endif
#endif
