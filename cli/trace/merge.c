// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The merge of all streams: a tournament of cursors (a tree that holds the loser of each
 * game), each of which knows its next point or the time from which on it must load a packet.  Must never emit a point
 * before every cursor whose next packet could hold an earlier one is loaded.
 */
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/stacks/stacks.h"
#include "trace/stream_cursor.h"

/*
 * Begins without an end at a moment, and threads.  No program has as many, but anyone may
 * have written the trace: further begins are left out, further threads have no nesting.
 */
#define MERGE_OPEN	(1u << 19)
#define MERGE_TRACKS	(1u << 19)

/* A cursor's place in the tree: the time of its front. */
struct merge_place {
	uint64_t ts;
	uint64_t cursor;
};

/* How deep calls are nested at a moment. */
struct merge_track {
	uint64_t key;			/* ct_track_key() */
	uint32_t calls, kernel;		/* the program's calls, the kernel's in them */
};

/* A call that was recorded at its entry and has not ended. */
struct merge_open {
	uint64_t op, who;		/* as its record has it; see merge_op_who() */
	uint64_t op_id, begin;
	uint32_t depth;
};

struct ct_merge {
	const struct ct_trace *trace;
	struct ct_stream_cursor *cursors;
	uint32_t cursors_count;
	struct merge_place *losers;	/* [1..cursors_count - 1]: who lost at this node */
	struct merge_place first;	/* who won: the cursor with the next point */
	uint64_t ops;			/* op_ids assigned */
	CT_KEYED(struct merge_open) open;
	CT_KEYED(struct merge_track) tracks;
	struct ct_stream_cursor *inflight;
	struct ct_stacks stacks;
	bool samples;
	struct ct_causes *causes;	/* NULL: the GPU was not recorded */
	void *filter;			/* the state of trace->filter */
};

/* Two cursors whose fronts are at one ns. */
static bool merge_tie_before(const struct ct_stream_cursor *a, const struct ct_stream_cursor *b)
{
	struct ct_tie x, y;
	int order;

	if (a->front == CT_FRONT_END || b->front == CT_FRONT_END)
		return a->front != CT_FRONT_END || (b->front == CT_FRONT_END && a < b);
	/* Load first: only then are all points of this ns there to compare. */
	if (a->front == CT_FRONT_PACKET || b->front == CT_FRONT_PACKET)
		return a->front == CT_FRONT_PACKET && (b->front != CT_FRONT_PACKET || a < b);
	ct_stream_cursor_tie(a, &x);
	ct_stream_cursor_tie(b, &y);
	order = ct_tie_compare(&x, &y);
	return order ? order < 0 : a < b;
}

static inline bool merge_before(const struct ct_merge *m, const struct merge_place *a,
				const struct merge_place *b)
{
	if (__builtin_expect(a->ts == b->ts, 0))
		return merge_tie_before(&m->cursors[a->cursor], &m->cursors[b->cursor]);
	return a->ts < b->ts;
}

/*
 * The front of the first cursor changed: it plays against who lost to it.  Who wins is
 * as good as random, so they change places without a branch.
 */
static inline void merge_advance(struct ct_merge *m)
{
	struct merge_place place = m->first;

	place.ts = m->cursors[place.cursor].ts;
	for (uint32_t i = (place.cursor + m->cursors_count) / 2; i; i /= 2) {
		struct merge_place *loser = &m->losers[i];
		uint64_t swap = -(uint64_t)merge_before(m, loser, &place);
		uint64_t ts = (loser->ts ^ place.ts) & swap;
		uint64_t cursor = (loser->cursor ^ place.cursor) & swap;

		loser->ts ^= ts;
		place.ts ^= ts;
		loser->cursor ^= cursor;
		place.cursor ^= cursor;
	}
	m->first = place;
}

/* Who wins below node @i; the others are the losers there. */
static struct merge_place merge_play(struct ct_merge *m, uint32_t i)
{
	struct merge_place a, b;
	bool lost;

	if (i >= m->cursors_count) {
		a.cursor = i - m->cursors_count;
		a.ts = m->cursors[a.cursor].ts;
		return a;
	}
	a = merge_play(m, 2 * i);
	b = merge_play(m, 2 * i + 1);
	lost = merge_before(m, &b, &a);
	m->losers[i] = lost ? a : b;
	return lost ? b : a;
}

static int merge_compare_pending(const void *a, const void *b)
{
	const struct ct_packet_record *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->level - y->level;
}

/* The calls of the in-flight pages are a cursor of their own. */
static int merge_add_pending(struct ct_merge *m, struct ct_stream_cursor *cursor)
{
	const struct ct_trace *t = m->trace;
	struct ct_points *p = &cursor->points;

	m->inflight = cursor;
	while (p->capacity < t->inflight_count)
		if (ct_points_grow(p))
			return -ENOMEM;
	for (uint32_t i = 0; i < t->inflight_count; i++)
		p->records[i] = (struct ct_packet_record){
			.begin = t->inflight[i].begin,
			.end = t->inflight[i].begin,
			.offset = i,
			.early = CT_NONE,
			.points = CT_POINTS_BEGIN,
			.level = t->inflight[i].level,
			.user = true,
		};
	p->count = p->end = t->inflight_count;
	if (p->count)
		qsort(p->records, p->count, sizeof(*p->records), merge_compare_pending);
	for (uint32_t i = 0; i < p->count; i++)
		p->order[i] = i << 1 | 1;
	return 0;
}

struct ct_merge *ct_merge_new(const struct ct_trace *t)
{
	struct ct_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->trace = t;
	m->cursors_count = t->streams_count + 1;
	m->cursors = calloc(m->cursors_count, sizeof(*m->cursors));
	m->losers = calloc(m->cursors_count, sizeof(*m->losers));
	m->causes = t->has_gpu ? ct_causes_new(&t->reg) : NULL;
	m->filter = t->filter ? t->filter->begin(t->filter, &t->reg) : NULL;
	if (!m->cursors || !m->losers || (t->has_gpu && !m->causes) || (t->filter && !m->filter) ||
	    merge_add_pending(m, &m->cursors[t->streams_count]))
		goto bad;
	for (uint32_t i = 0; i < m->cursors_count; i++) {
		struct ct_stream_cursor *cursor = &m->cursors[i];

		cursor->trace = t;
		cursor->stream = i < t->streams_count ? &t->streams[i] : NULL;
		ct_stream_cursor_front(cursor);
	}
	m->first = merge_play(m, 1);
	return m;
bad:
	ct_merge_free(m);
	return NULL;
}

void ct_merge_samples(struct ct_merge *m)
{
	m->samples = true;
}

void ct_merge_free(struct ct_merge *m)
{
	if (!m)
		return;
	if (m->cursors)
		for (uint32_t i = 0; i < m->cursors_count; i++)
			ct_stream_cursor_close(&m->cursors[i]);
	free(m->cursors);
	free(m->losers);
	ct_keyed_free(&m->open);
	ct_keyed_free(&m->tracks);
	ct_stacks_free(&m->stacks);
	ct_causes_free(m->causes);
	if (m->filter)
		m->trace->filter->end(m->filter);
	free(m);
}

/* ---------------------------------------------------------------- points --- */

/*
 * An op is unique among a thread's calls; the rest of the key says whose it is.  In the CPUs'
 * streams that is the tid, which the module vouches for: a program chooses its ops itself, and must
 * not end the calls of others.
 */
#define MERGE_STREAM	(1u << 31)	/* or a stream's index + 1; no tid has this bit */

static uint32_t merge_op_who(const struct ct_stream_cursor *cursor, const struct ct_record *r)
{
	if (cursor->stream && cursor->stream->kind != CT_STREAM_THREAD)
		return r->tid & ~MERGE_STREAM;
	return MERGE_STREAM | (cursor->stream ? cursor->stream->index + 1 : 0);
}

/* The track of @r; it is the cursor's last one in most cases.  NULL: there is none. */
static inline struct merge_track *merge_track(struct ct_merge *m, struct ct_stream_cursor *cursor,
					      const struct ct_record *r)
{
	uint64_t key = ct_track_key(r);
	struct merge_track *track;

	if (cursor->has_track && cursor->track_key == key)
		return &m->tracks.list[cursor->track];
	track = ct_keyed_get(&m->tracks, key);
	if (!track)
		return NULL;
	cursor->has_track = true;
	cursor->track_key = key;
	cursor->track = track - m->tracks.list;
	return track;
}

/*
 * The nesting depth.  The program's calls say theirs; what the kernel does is
 * nested in them, and its depth is counted here.  When a call of the program
 * begins or ends, the kernel is done with the last one: that corrects a count that
 * is wrong because an end was lost.
 */
static int merge_enter(struct ct_merge *m, struct ct_stream_cursor *cursor,
		       const struct ct_record *r, uint32_t *depth)
{
	struct merge_track *track;

	/* What the GPU does at the same time is not nested. */
	*depth = 0;
	if (r->class->layer == CT_LAYER_GPU)
		return 0;
	track = merge_track(m, cursor, r);
	if (!track && m->tracks.count == MERGE_TRACKS) {
		*depth = r->depth;
		return 0;
	}
	if (!track)
		track = ct_keyed_put(&m->tracks, ct_track_key(r));
	if (!track)
		return -ENOMEM;
	if (r->class->layer == CT_LAYER_USER) {
		*depth = r->depth;
		track->calls = r->depth + 1;
		track->kernel = 0;
	} else {
		*depth = track->calls + track->kernel;
		track->kernel++;
	}
	return 0;
}

static void merge_leave(struct ct_merge *m, struct ct_stream_cursor *cursor,
			const struct ct_record *r, uint32_t depth)
{
	struct merge_track *track = r->class->layer == CT_LAYER_GPU ? NULL : merge_track(m, cursor, r);

	if (!track)
		return;
	if (r->class->layer == CT_LAYER_USER) {
		track->calls = depth;
		track->kernel = 0;
	} else {
		track->kernel = depth > track->calls ? depth - track->calls : 0;
	}
}

static uint32_t merge_depth_now(struct ct_merge *m, struct ct_stream_cursor *cursor,
				const struct ct_record *r)
{
	struct merge_track *track;

	if (r->class->layer == CT_LAYER_USER)
		return r->depth;
	if (r->class->layer == CT_LAYER_GPU)
		return 0;
	track = merge_track(m, cursor, r);
	return track ? track->calls + track->kernel : 0;
}

/* Makes the record of a call that has none: only its thread and class are known. */
static bool merge_open_record(struct ct_merge *m, const struct ct_inflight *p,
			      const struct ct_early_record *s, struct ct_record *r)
{
	if (p) {
		*r = (struct ct_record){
			.class = ct_registry_class(&m->trace->reg, p->class),
			.pid = p->pid, .tid = p->tid, .depth = p->level, .op = p->op,
		};
	} else {
		const struct ct_class *class =
			ct_registry_class(&m->trace->reg, ct_record_known(r, CT_KNOWN_FUNCTION));

		*r = (struct ct_record){
			.class = class, .pid = r->pid, .tid = r->tid, .depth = s->level,
			.op = ct_record_known(r, CT_KNOWN_OP),
		};
	}
	r->cpu = CT_NO_CPU;
	r->flags = CT_F_BEGIN | CT_F_NO_RESULT;
	return r->class != NULL;
}

/* A B that may have been recorded twice, or whose E is found by its op. */
static int merge_emit_entry(struct ct_merge *m, struct ct_stream_cursor *cursor, uint32_t who,
			    struct ct_point *out)
{
	struct merge_open *open;

	if (ct_keyed_get_pair(&m->open, out->record.op, who))
		return 0;	/* emitted already: recorded at entry as well */
	if (m->open.count >= MERGE_OPEN)
		return 0;
	open = ct_keyed_put_pair(&m->open, out->record.op, who);
	if (!open || merge_enter(m, cursor, &out->record, &out->depth))
		return -ENOMEM;
	open->op_id = out->op_id = ++m->ops;
	open->begin = out->ts;
	open->depth = out->depth;
	return 1;
}

static int merge_emit_inflight(struct ct_merge *m, struct ct_stream_cursor *cursor,
			      const struct ct_inflight *p, struct ct_point *out)
{
	out->phase = 'B';
	out->open = true;
	out->stream = p->stream < 0 ? NULL : &m->trace->streams[p->stream];
	if (!merge_open_record(m, p, NULL, &out->record))
		return 0;
	return merge_emit_entry(m, cursor, MERGE_STREAM | (p->stream + 1), out);
}

static int merge_emit_early(struct ct_merge *m, struct ct_stream_cursor *cursor,
			    struct ct_point *out)
{
	struct ct_early_record *early = ct_stream_cursor_early(cursor);
	struct ct_packet_view view;
	const char *why;

	ct_stream_cursor_ahead(cursor, &view);
	/* Whole when it was indexed: if not now, the file changed. */
	if (!ct_record_parse(&view, early->offset, &m->trace->reg, &out->record, &why))
		return 0;
	out->phase = 'B';
	out->open = early->open;
	if (out->open) {
		if (!merge_open_record(m, NULL, early, &out->record))
			return 0;
		return merge_emit_entry(m, cursor, merge_op_who(cursor, &out->record), out);
	}
	if (merge_enter(m, cursor, &out->record, &out->depth))
		return -ENOMEM;
	early->op_id = out->op_id = ++m->ops;
	early->depth = out->depth;
	return 1;
}

static int merge_emit_begin(struct ct_merge *m, struct ct_stream_cursor *cursor,
			    struct ct_packet_record *record, struct ct_point *out)
{
	out->phase = 'B';
	if (record->points == CT_POINTS_BEGIN) {
		out->entry = true;
		return merge_emit_entry(m, cursor, merge_op_who(cursor, &out->record), out);
	}
	if (merge_enter(m, cursor, &out->record, &out->depth))
		return -ENOMEM;
	record->op_id = out->op_id = ++m->ops;
	record->depth = out->depth;
	return 1;
}

static int merge_emit_end(struct ct_merge *m, struct ct_stream_cursor *cursor,
			  const struct ct_packet_record *record, struct ct_point *out)
{
	struct merge_open *open;

	out->phase = 'E';
	out->begin = ct_record_begin(&out->record);
	if (out->record.flags & CT_F_HAS_BEGIN) {
		open = ct_keyed_get_pair(&m->open, out->record.op, merge_op_who(cursor, &out->record));
		if (open) {
			out->op_id = open->op_id;
			out->depth = open->depth;
			if (!out->record.duration)
				out->begin = open->begin;
			ct_keyed_remove_pair(&m->open, open);
		} else {
			out->op_id = ++m->ops;
			out->depth = merge_depth_now(m, cursor, &out->record);
			out->begin_lost = true;
		}
	} else if (record->early != CT_NONE) {
		out->op_id = cursor->stream->early[record->early].op_id;
		out->depth = cursor->stream->early[record->early].depth;
	} else {
		out->op_id = record->op_id;
		out->depth = record->depth;
	}
	merge_leave(m, cursor, &out->record, out->depth);
	return 1;
}

/* Return: 1: emitted; 0: the front has no point to emit; -ENOMEM. */
static inline int merge_emit(struct ct_merge *m, struct ct_stream_cursor *cursor,
			     struct ct_point *out)
{
	struct ct_packet_record *record;
	const char *why;
	uint32_t point;

	out->open = out->entry = out->begin_lost = false;
	out->ts = out->begin = cursor->ts;
	out->op_id = 0;
	out->depth = 0;
	out->stream = cursor->stream;
	out->cause = NULL;
	out->stack = 0;
	if (cursor->front == CT_FRONT_EARLY)
		return merge_emit_early(m, cursor, out);
	point = cursor->points.order[cursor->next];
	record = &cursor->points.records[point >> 1];
	if (cursor == m->inflight)
		return merge_emit_inflight(m, cursor, &m->trace->inflight[record->offset], out);
	/* Whole when it was indexed: if not now, the file changed. */
	if (!ct_record_parse(&cursor->view, record->offset, &m->trace->reg, &out->record, &why))
		return 0;
	if (point & 1)
		return merge_emit_begin(m, cursor, record, out);
	if (record->points != CT_POINTS_INSTANT)
		return merge_emit_end(m, cursor, record, out);
	out->phase = 'I';
	out->depth = merge_depth_now(m, cursor, &out->record);
	if (out->record.class->call)
		out->op_id = ++m->ops;
	return 1;
}

/* A record that says the stack of a call is no point of its own.  As merge_emit(). */
static int merge_emit_stack(struct ct_merge *m, struct ct_stream_cursor *cursor, struct ct_point *out)
{
	int rc = merge_emit(m, cursor, out);
	const struct ct_stream_file *stream = out->stream;
	uint64_t who;

	if (rc <= 0)
		return rc;
	if (!m->stacks.calls.count && out->record.class->id >= CT_CLASS_DYNAMIC)
		return rc;
	who = cursor == m->inflight ? MERGE_STREAM | (stream ? stream->index + 1 : 0) :
				     merge_op_who(cursor, &out->record);
	if (out->record.class->id == CT_CLASS_stack)
		return ct_stacks_note(&m->stacks, &out->record, who);
	if (ct_class_is_sampled(out->record.class)) {
		out->stack = ct_record_known(&out->record, CT_KNOWN_STACK);
		return m->samples;
	}
	out->stack = out->phase == 'I' ? 0 : ct_stacks_find(&m->stacks, out, who);
	return rc;
}

int ct_merge_next(struct ct_merge *m, struct ct_point *out)
{
	for (;;) {
		struct ct_stream_cursor *cursor = &m->cursors[m->first.cursor];
		int rc;

		if (cursor->front == CT_FRONT_END)
			return 0;
		if (cursor->front == CT_FRONT_PACKET) {
			rc = ct_stream_cursor_load(cursor);
		} else {
			rc = merge_emit_stack(m, cursor, out);
			if (m->causes && rc > 0 && ct_causes_point(m->causes, out))
				rc = -ENOMEM;
			if (m->filter && rc > 0)
				rc = m->trace->filter->passes(m->filter, out);
			ct_stream_cursor_step(cursor);
		}
		if (cursor->front == CT_FRONT_END)
			ct_stream_cursor_close(cursor);
		merge_advance(m);
		if (rc)
			return rc;
	}
}
