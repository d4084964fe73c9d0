/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One stream as a sequence of points, a packet at a time.  Used by the merge
 * alone.
 */
#ifndef CT_CLI_STREAM_CURSOR_H
#define CT_CLI_STREAM_CURSOR_H

#include "trace/order.h"
#include "trace/reader.h"

/* What the front of a cursor is. */
enum ct_front {
	CT_FRONT_END,		/* the cursor is at its end */
	CT_FRONT_PACKET,	/* the begin of the next packet, which must be loaded first */
	CT_FRONT_POINT,		/* the point @next */
	CT_FRONT_EARLY,		/* the begin of the early record @next_early */
};

struct ct_stream_cursor {
	uint64_t ts;				/* ns, of the front; ~0 at the end */
	enum ct_front front;
	const struct ct_trace *trace;
	struct ct_stream_file *stream;		/* NULL: the calls in flight */
	struct ct_packet_view view;		/* of the loaded packet */
	struct ct_points points;		/* of the loaded packet */
	uint32_t next;				/* index into points.order */
	uint32_t next_packet;
	uint32_t next_early;		/* index into by_begin */
	uint32_t far;				/* early records read ahead of the packet */
	uint64_t early_ts;			/* ns, of the next early record; ~0: none */
	uint64_t given;				/* file offset up to which pages were given back */
	uint64_t track_key;			/* of the last track, while has_track */
	uint32_t track;
	bool     has_track;
};

/* Sets the front of a cursor that is new or has a packet loaded or was stepped. */
void ct_stream_cursor_front(struct ct_stream_cursor *cursor);

/* Loads the packet that is its front.  0 or -ENOMEM. */
int ct_stream_cursor_load(struct ct_stream_cursor *cursor);

/* Steps past the front, which is a point or an early record, and sets the next one. */
static inline void ct_stream_cursor_step(struct ct_stream_cursor *cursor)
{
	if (cursor->front == CT_FRONT_POINT && ++cursor->next < cursor->points.end) {
		const struct ct_points *p = &cursor->points;
		const struct ct_packet_record *r = &p->records[p->order[cursor->next] >> 1];

		/*
		 * Until it is this stream's turn again, the cache may have lost it.  The cursor of
		 * calls in flight has no packet: there it is no address, which does no harm.
		 */
		__builtin_prefetch((const void *)((uintptr_t)cursor->view.data + r->offset));
		__builtin_prefetch(r + 4);
		cursor->ts = ct_point_ts(p, cursor->next);
		if (cursor->ts < cursor->early_ts)
			return;
	} else if (cursor->front == CT_FRONT_EARLY) {
		cursor->next_early++;
	}
	ct_stream_cursor_front(cursor);
}

/* The early record that is the front. */
static inline struct ct_early_record *ct_stream_cursor_early(const struct ct_stream_cursor *cursor)
{
	const struct ct_stream_file *s = cursor->stream;

	return &s->early[s->by_begin[cursor->next_early]];
}

/* The packet that holds the record of the early record that is the front. */
void ct_stream_cursor_ahead(struct ct_stream_cursor *cursor, struct ct_packet_view *view);

/* What decides the order of the front, a point or an early record, at one ns. */
void ct_stream_cursor_tie(const struct ct_stream_cursor *cursor, struct ct_tie *tie);

/* Frees what was loaded and gives back the pages of the file. */
void ct_stream_cursor_close(struct ct_stream_cursor *cursor);

#endif
