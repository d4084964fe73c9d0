/* SPDX-License-Identifier: GPL-2.0 */
/* How marks stand in a program's memory, for mark.c and mark_array.c. */
#ifndef CT_MARK_WORDS_H
#define CT_MARK_WORDS_H

#include <linux/build_bug.h>
#include <linux/swab.h>
#include <linux/types.h>
#include "cudatrace.h"

/*
 * The first word of a mark: size, class, flags, depth, reserved.  In our copy of it the reserved
 * part holds what the module fills in: CT_MARK_UID, CT_MARK_WHO.
 */
#define MARK_SIZE(w) ((u16)(w))
#define MARK_CLASS(w) ((u16)((w) >> 16))
/* Depth and flags, in the order in which a record's duration has them. */
#define MARK_DEPTH_FLAGS(w) ((u64)swab16((u16)((w) >> 32)) << 48)
#define MARK_REFUSED ((u64)(CT_F_CONTEXT | CT_F_BEGIN) << 32 | 0xffffull << 48)

/* The other words of a head. */
#define MARK_OP 1
#define MARK_BEGIN 2
#define MARK_RESULT 3
#define MARK_WORDS 4 /* then comes the payload */
#define MARK_RECORD_WORDS 5 /* of a record's head */
static_assert(offsetof(struct ct_mark_head, op) == MARK_OP * sizeof(u64) &&
	      offsetof(struct ct_mark_head, begin) == MARK_BEGIN * sizeof(u64) &&
	      offsetof(struct ct_mark_head, result) == MARK_RESULT * sizeof(u64) &&
	      sizeof(struct ct_mark_head) == MARK_WORDS * sizeof(u64) &&
	      sizeof(struct ct_cpu_record) == MARK_RECORD_WORDS * sizeof(u64));

/*
 * Keeps the compiler from computing how often a loop will run and where it will end: that takes
 * longer than most of these loops.
 */
#define MARK_NO_ANALYSIS(i) asm("" : "+r"(i))

/* How many marks an array has. */
struct marks {
	u32 size; /* bytes, heads and payloads */
	u32 count;
};

/* Bytes that their records take in the ring. */
static __always_inline u32 ct_mark_ring_size(struct marks m)
{
	return m.size + m.count * (sizeof(struct ct_cpu_record) - sizeof(struct ct_mark_head));
}

#endif
