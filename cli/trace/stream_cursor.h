/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One stream as a sequence of points, a packet at a time.  Used by the merge
 * alone.
 */
#ifndef CT_CLI_STREAM_CURSOR_H
#define CT_CLI_STREAM_CURSOR_H

#include "trace/reader.h"

enum ct_mark_kind { CT_MARK_E, CT_MARK_I, CT_MARK_B };

/* A point before it is emitted: where it is, and what decides the order at one ns. */
struct ct_mark_point {
	uint64_t ts;
	uint64_t other;		/* B: the end (~0: not known); E: the begin */
	uint64_t op_id;		/* E: set when its B was emitted */
	uint32_t offset;	/* of the record in its packet */
	uint32_t mate;		/* of a B with an E here: the index of that E */
	uint32_t depth;		/* E: as its B */
	uint32_t straddler;	/* E: of a straddler; B: is one.  ~0: none */
	uint8_t  kind;		/* enum ct_mark_kind */
	uint8_t  level;		/* the depth that the record says */
	bool     user;
	bool     entry;		/* of a CT_F_BEGIN record */
};
#define CT_NONE		(~0u)

struct ct_stream_cursor {
	const struct ct_trace *trace;
	struct ct_stream_file *stream;		/* NULL: the pending calls */
	struct ct_packet_view view;		/* of the loaded packet */
	uint32_t next_packet;
	uint32_t next_straddler;		/* index into by_begin */
	struct ct_mark_point *points;
	uint32_t count, next, capacity;
	bool waiting;		/* its next packet isn't loaded: front.ts is its begin */
	struct ct_mark_point front;		/* the next point, or the begin of the next packet */
};

/*
 * Sets cursor->front to the next point, or to the begin of the packet that must be
 * loaded first (waiting).  Return: 1; 0: the cursor is at its end.
 */
int ct_stream_cursor_front(struct ct_stream_cursor *cursor);

/* Loads the packet that it waits for.  0 or -ENOMEM. */
int ct_stream_cursor_load(struct ct_stream_cursor *cursor);

/* Steps past the front. */
void ct_stream_cursor_step(struct ct_stream_cursor *cursor);

/* At one ns: < 0 if @a must be emitted before @b, > 0 after; 0: any order. */
int ct_mark_compare(const struct ct_mark_point *a, const struct ct_mark_point *b);

#endif
