/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The points of a trace, and those of the records of one packet in the order of time. */
#ifndef CT_CLI_ORDER_H
#define CT_CLI_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keyed.h"
#include "trace/record.h"

struct ct_stream_file;
struct ct_cause;

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
	 * Of what the GPU did: the call that caused it, as far as it is known by now; valid until
	 * the next point.  NULL: not known, or not of the GPU.
	 */
	const struct ct_cause *cause;
	/*
	 * From where a call was made, a node (stacks/stacks.h); of the GPU's work that of its cause.  0: not
	 * known.
	 */
	uint32_t stack;
	/*
	 * The record that it comes from.  With @open set by a call_open record or
	 * an in-flight page it is made up: class, pid, tid, depth and op, and no fields.
	 */
	struct ct_record record;
};

/* The bit of a track's key that says: a stream of the GPU. */
#define CT_TRACK_GPU	(1ull << 63)

/* The stream of the GPU that a record is of: of this process, device and context. */
static inline uint64_t ct_track_gpu(const struct ct_record *r)
{
	uint64_t place = ct_record_known(r, CT_KNOWN_GPU) << 32 | (uint32_t)ct_record_known(r, CT_KNOWN_CONTEXT);

	return CT_TRACK_GPU | ct_mix(ct_mix(r->pid, place), ct_record_gpu_stream(r));
}

/* A key for what runs one after the other: a thread, a CPU's interrupts, a stream of the GPU. */
static inline uint64_t ct_track_key(const struct ct_record *r)
{
	if (r->class->layer == CT_LAYER_GPU)
		return ct_track_gpu(r);
	if (r->class->layer != CT_LAYER_USER && (r->flags & CT_F_CONTEXT))
		return 1ull << 40 | (uint64_t)(uint32_t)r->cpu << 8 | (r->flags & CT_F_CONTEXT);
	return r->tid;
}

/* Is it the key of a CPU's interrupts? */
static inline bool ct_track_is_interrupts(uint64_t key)
{
	return !(key & CT_TRACK_GPU) && key >> 40;
}

/* ------------------------------------------------- those of a packet --- */

#define CT_NONE		(~0u)

/* Which points a record has. */
enum ct_points_of {
	CT_POINTS_PAIR,		/* a B and an E */
	CT_POINTS_END,		/* an E: its B is an early record's or a record of its own */
	CT_POINTS_BEGIN,	/* a B that was recorded at entry, or of a call in flight */
	CT_POINTS_INSTANT,	/* an I */
};

/* A record of the packet: where it is, and what decides its order. */
struct ct_packet_record {
	uint64_t begin, end;	/* ns; the same where it has no duration */
	uint64_t op_id;		/* PAIR: set when its B was emitted */
	uint32_t offset;	/* in its packet */
	uint32_t early;		/* END: of this early record, or CT_NONE */
	uint32_t depth;		/* PAIR: as its B was emitted */
	uint8_t  points;	/* enum ct_points_of */
	uint8_t  level;		/* the depth that the record says */
	bool     user;
};

/* Records in the order of the file, and their points in the order of time. */
struct ct_points {
	struct ct_packet_record *records;
	uint32_t count, capacity;
	uint32_t *order;	/* index of a record << 1 | it is the B */
	uint32_t first, end;	/* the points are order[first] to order[end - 1] */
};

enum ct_tie_kind { CT_TIE_E, CT_TIE_I, CT_TIE_B };

/* What decides the order of two points at one ns. */
struct ct_tie {
	uint64_t ts;
	uint64_t other;		/* B: the end (~0: not known); E: the begin */
	uint8_t  kind;		/* enum ct_tie_kind */
	uint8_t  level;		/* the depth that the record says */
	bool     user;
};

/* ns of the point order[@i] */
static inline uint64_t ct_point_ts(const struct ct_points *p, uint32_t i)
{
	const struct ct_packet_record *r = &p->records[p->order[i] >> 1];

	return p->order[i] & 1 ? r->begin : r->end;
}

/* What decides the order of @point, an element of an order. */
void ct_point_tie(const struct ct_points *p, uint32_t point, struct ct_tie *tie);

/* < 0 if @a must be emitted before @b, > 0 after; 0: any order. */
int ct_tie_compare(const struct ct_tie *a, const struct ct_tie *b);

/* Room for twice as many records as now.  0 or -ENOMEM. */
int ct_points_grow(struct ct_points *p);
void ct_points_free(struct ct_points *p);

/*
 * Orders the points of a thread's records: their order with their depths is the call
 * tree itself (an inner call's record precedes its caller's), so that points of one ns
 * are in the right order, too.  0 or -ENOMEM.
 */
int ct_points_order_tree(struct ct_points *p);

/* Orders the points of records of many threads: by time, and at one ns by struct ct_tie. */
int ct_points_order_time(struct ct_points *p);

#endif
