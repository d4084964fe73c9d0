/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All streams of a trace as one sequence of points in time order: B where a call
 * begins, E where it ends, I where something has no duration.
 *
 * The order is exact.  Memory is bounded by one packet of each stream that is
 * active at a moment, plus the open calls.  At one ns an outer call begins before
 * and ends after an inner one, and a call of the program begins before and ends
 * after what the kernel does for it.
 *
 * A call that never returned has a B and no E.  A call whose begin was recorded and
 * lost (the flight recorder overwrote it) has an E and no B; that E says begin_lost.
 */
#ifndef CT_CLI_MERGE_H
#define CT_CLI_MERGE_H

#include "trace/reader.h"

struct ct_point {
	char     phase;		/* 'B', 'E' or 'I' */
	bool     open;		/* a B of a call that never returned, known by now */
	bool     entry;		/* a B that was recorded when it happened */
	bool     begin_lost;	/* an E whose B was recorded, and lost or overwritten */
	uint64_t ts;		/* ns */
	uint64_t op_id;		/* from 1 in the order of begins; 0: not a call */
	uint64_t begin;		/* ns; of an E and I */
	uint32_t depth;		/* how many calls of its thread are around it */
	const struct ct_stream_file *stream;
	/*
	 * The record that it comes from.  With @open set by a call_open record or
	 * an in-flight page it is made up: class, pid, tid, depth and op, and no fields.
	 */
	struct ct_record record;
};

struct ct_merge;

/* NULL: no memory. */
struct ct_merge *ct_merge_new(const struct ct_trace *t);

/* Return: 1: @point is set (valid until the next call); 0: the end; -ENOMEM. */
int ct_merge_next(struct ct_merge *m, struct ct_point *point);
void ct_merge_free(struct ct_merge *m);

/* A key for what runs one after the other: a thread, or a CPU's interrupts. */
static inline uint64_t ct_track_key(const struct ct_record *r)
{
	if (r->class->layer != CT_LAYER_USER && (r->flags & CT_F_CONTEXT))
		return 1ull << 40 | (uint64_t)(uint32_t)r->cpu << 8 | (r->flags & CT_F_CONTEXT);
	return r->tid;
}

#endif
