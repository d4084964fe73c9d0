// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns the records of a packet, which are in the order of their ends, into points
 * in the order of time.  Must never hold more than one packet of a stream.
 */
#include "trace/stream_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAR_MAX		64	/* early records, until the pages they were read from are dropped */

static void cursor_early_tie(const struct ct_stream_cursor *cursor, struct ct_tie *tie)
{
	const struct ct_early_record *s = ct_stream_cursor_early(cursor);

	*tie = (struct ct_tie){
		.ts = s->begin, .other = s->end, .kind = CT_TIE_B, .level = s->level,
		.user = cursor->stream->kind == CT_STREAM_THREAD,
	};
}

/* Is the next early record's begin before the next point? */
static bool cursor_early_first(const struct ct_stream_cursor *cursor)
{
	struct ct_tie early, p;

	ct_point_tie(&cursor->points, cursor->points.order[cursor->next], &p);
	if (cursor->early_ts != p.ts)
		return cursor->early_ts < p.ts;
	if (p.kind == CT_TIE_E)
		return false;
	cursor_early_tie(cursor, &early);
	if (p.level != early.level)
		return p.level > early.level;
	return ct_tie_compare(&early, &p) < 0;
}

void ct_stream_cursor_front(struct ct_stream_cursor *cursor)
{
	const struct ct_stream_file *s = cursor->stream;
	bool early = s && cursor->next_early < s->early_count;

	cursor->early_ts = early ? ct_stream_cursor_early(cursor)->begin : ~0ull;
	cursor->front = early ? CT_FRONT_EARLY : CT_FRONT_END;
	cursor->ts = cursor->early_ts;
	if (cursor->next < cursor->points.end) {
		if (!early || !cursor_early_first(cursor)) {
			cursor->front = CT_FRONT_POINT;
			cursor->ts = ct_point_ts(&cursor->points, cursor->next);
		}
	} else if (s && cursor->next_packet < s->packets_count) {
		uint64_t begin = ct_stream_time(s, s->packets[cursor->next_packet].ts_begin);

		if (!early || begin <= cursor->ts) {
			cursor->front = CT_FRONT_PACKET;
			cursor->ts = begin;
		}
	}
}

void ct_stream_cursor_tie(const struct ct_stream_cursor *cursor, struct ct_tie *tie)
{
	if (cursor->front == CT_FRONT_EARLY)
		cursor_early_tie(cursor, tie);
	else
		ct_point_tie(&cursor->points, cursor->points.order[cursor->next], tie);
}

void ct_stream_cursor_ahead(struct ct_stream_cursor *cursor, struct ct_packet_view *view)
{
	const struct ct_stream_file *s = cursor->stream;
	uint32_t packet = ct_stream_cursor_early(cursor)->packet;

	if (packet > cursor->next_packet && ++cursor->far == FAR_MAX) {
		uint64_t from = s->packets[cursor->next_packet].offset;

		ct_stream_give_back(s, &from, s->map_size, 0);
		cursor->far = 0;
	}
	ct_stream_packet(s, packet, view);
}

void ct_stream_cursor_close(struct ct_stream_cursor *cursor)
{
	if (cursor->stream)
		ct_stream_give_back(cursor->stream, &cursor->given, cursor->stream->map_size, 0);
	ct_points_free(&cursor->points);
}

/* ------------------------------------------------------------- loading --- */

/* Reads all records, in the order of the file. */
static int cursor_read_records(struct ct_stream_cursor *cursor)
{
	struct ct_stream_file *s = cursor->stream;
	uint32_t packet = cursor->next_packet, early = s->packets[packet].first_early;
	uint32_t offset = CT_PACKET_HEAD, size, early_at = CT_NONE;
	const struct ct_packet_view view = cursor->view;
	uint64_t from = ct_stream_time(s, view.ts_begin);
	struct ct_points *points = &cursor->points;
	struct ct_record r;
	const char *why;

	if (early < s->early_count && s->early[early].packet == packet)
		early_at = s->early[early].offset;
	points->count = points->first = points->end = 0;
	for (; offset < view.content; offset += size) {
		struct ct_packet_record *record;

		size = ct_record_parse(&view, offset, &cursor->trace->reg, &r, &why);
		if (!size)	/* whole when it was indexed: the file changed */
			break;
		if (points->count == points->capacity && ct_points_grow(points))
			return -ENOMEM;
		record = &points->records[points->count++];
		record->begin = record->end = r.end;
		record->offset = offset;
		record->early = CT_NONE;
		record->level = r.depth;
		record->user = r.class->layer == CT_LAYER_USER;
		if (r.class->id == CT_CLASS_call_open || (r.flags & CT_F_INSTANT)) {
			record->points = CT_POINTS_INSTANT;
		} else if (r.flags & CT_F_BEGIN) {
			record->points = CT_POINTS_BEGIN;
		} else {
			record->begin = ct_record_begin(&r);
			record->points = CT_POINTS_END;
			if (offset == early_at) {
				record->early = early;
			} else if (!(r.flags & CT_F_HAS_BEGIN)) {
				record->points = CT_POINTS_PAIR;
				record->op_id = record->depth = 0;
				if (record->begin < from) /* the file changed */
					record->begin = from;
			}
		}
		if (offset == early_at) {
			early++;
			early_at = early < s->early_count &&
				s->early[early].packet == packet ?
				s->early[early].offset : CT_NONE;
		}
	}
	return 0;
}

int ct_stream_cursor_load(struct ct_stream_cursor *cursor)
{
	struct ct_stream_file *s = cursor->stream;
	int rc;

	ct_stream_give_back(s, &cursor->given, s->packets[cursor->next_packet].offset,
			    CT_WINDOW / (cursor->trace->streams_count + 1));
	ct_stream_packet(s, cursor->next_packet, &cursor->view);
	rc = cursor_read_records(cursor);
	if (rc)
		return rc;
	if (cursor->trace->progress)
		cursor->trace->progress(cursor->trace->progress_arg, cursor->points.count);
	cursor->next_packet++;
	rc = s->kind == CT_STREAM_THREAD ? ct_points_order_tree(&cursor->points) :
					   ct_points_order_time(&cursor->points);
	cursor->next = cursor->points.first;
	if (!rc)
		ct_stream_cursor_front(cursor);
	return rc;
}
