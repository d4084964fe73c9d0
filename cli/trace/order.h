/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The points of the records of one packet, in the order of time. */
#ifndef CT_CLI_ORDER_H
#define CT_CLI_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define CT_NONE		(~0u)

/* Which points a record has. */
enum ct_points_of {
	CT_POINTS_PAIR,		/* a B and an E */
	CT_POINTS_END,		/* an E: its B is a straddler's or a record of its own */
	CT_POINTS_BEGIN,	/* a B that was recorded at entry, or of a call in flight */
	CT_POINTS_INSTANT,	/* an I */
};

/* A record of the packet: where it is, and what decides its order. */
struct ct_loaded {
	uint64_t begin, end;	/* ns; the same where it has no duration */
	uint64_t op_id;		/* PAIR: set when its B was emitted */
	uint32_t offset;	/* in its packet */
	uint32_t straddler;	/* END: of this straddler, or CT_NONE */
	uint32_t depth;		/* PAIR: as its B was emitted */
	uint8_t  points;	/* enum ct_points_of */
	uint8_t  level;		/* the depth that the record says */
	bool     user;
};

/* Records in the order of the file, and their points in the order of time. */
struct ct_points {
	struct ct_loaded *records;
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
	const struct ct_loaded *r = &p->records[p->order[i] >> 1];

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
