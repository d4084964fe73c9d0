/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a writer is about to write, and whether an interrupted writer of this thread will
 * ever go on.
 */
#ifndef CT_WRITER_H
#define CT_WRITER_H

/* The mark of a claim that stands, and of one whose record is written. */
#define CT_CLAIMED		0x63757472
#define CT_CLAIM_DONE		0x656e6f64

#define CT_OP_SPAN		0x7fffffff	/* a packet's ops lie so close together */
#define CT_WORD_INSTANT		0x400	/* CT_RECORD_WORD() of CT_F_INSTANT */

#ifndef __ASSEMBLER__

#include "base/sys.h"

/*
 * What a writer is about to write, while it does so: see packet.c.  Of a call, and of
 * who else writes a record.  thunks.S knows the offsets.
 */
struct ct_claim {
	/* What thunks.S is about to store into the packet's head, where it pops it from. */
	u64 end, content;
	u64 op;
	u64 begin;
	u32 mark;		/* whether it is one: CT_CLAIMED, CT_CLAIM_DONE */
	u32 size;		/* of its payload, in bytes */
	u64 stamp;		/* CT_STAMP() */
	u32 reserved;
	u32 word;		/* CT_RECORD_WORD() */
	const u64 *payload;
};

/*
 * A writer's claim (struct ct_claim) is at this place of the stack, and it was
 * interrupted, or left by longjmp; the caller's frame is at frame.  True if it may go on.
 * Slow.
 */
bool ct_writer_lives(u64 claim, u64 frame);

/* Copies what lies on a stack that may be gone; false if it is. */
bool ct_stack_read(void *to, u64 from, u64 size);

#endif
#endif
