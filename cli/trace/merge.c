// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The merge of all streams: a heap of cursors, each of which knows its next point
 * or the time from which on it must load a packet.  Must never emit a point
 * before every cursor whose next packet could hold an earlier one is loaded.
 */
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/stream_cursor.h"

struct ct_merge {
	const struct ct_trace *trace;
	struct ct_stream_cursor *cursors;
	struct ct_stream_cursor **heap;
	unsigned int heap_count;
	uint64_t ops;			/* op_ids assigned */
	struct ct_hash open;		/* calls recorded at entry: a: op_id, b: begin, c: depth */
	struct ct_hash tracks;		/* c: depth of the program's calls, d: of the kernel's */
	struct ct_stream_cursor *pending;
};

static int merge_cursor_before(const struct ct_stream_cursor *a, const struct ct_stream_cursor *b)
{
	int order;

	if (a->front.ts != b->front.ts)
		return a->front.ts < b->front.ts;
	/* Load first: only then are all points of this ns there to compare. */
	if (a->waiting != b->waiting)
		return a->waiting;
	order = a->waiting ? 0 : ct_mark_compare(&a->front, &b->front);
	return order ? order < 0 : a < b;
}

static void merge_sift_down(struct ct_merge *m, unsigned int i)
{
	struct ct_stream_cursor *cursor = m->heap[i];

	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child >= m->heap_count)
			break;
		if (child + 1 < m->heap_count &&
		    merge_cursor_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!merge_cursor_before(m->heap[child], cursor))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = cursor;
}

/* The top cursor moved on. */
static void merge_advance(struct ct_merge *m)
{
	if (!ct_stream_cursor_front(m->heap[0])) {
		free(m->heap[0]->points);
		m->heap[0]->points = NULL;
		m->heap[0] = m->heap[--m->heap_count];
	}
	if (m->heap_count)
		merge_sift_down(m, 0);
}

static int merge_compare_pending(const void *a, const void *b, void *arg)
{
	const struct ct_pending *all = arg;
	const struct ct_mark_point *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return all[x->offset].level - all[y->offset].level;
}

/* The calls of the in-flight pages are a cursor of their own. */
static int merge_add_pending(struct ct_merge *m, struct ct_stream_cursor *cursor)
{
	const struct ct_trace *t = m->trace;

	cursor->points = calloc(t->pending_count + 1, sizeof(*cursor->points));
	if (!cursor->points)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->pending_count; i++)
		cursor->points[i] = (struct ct_mark_point){
			.ts = t->pending[i].begin,
			.other = ~0ull,
			.offset = i,
			.mate = CT_NONE,
			.straddler = CT_NONE,
			.kind = CT_MARK_B,
			.level = t->pending[i].level,
			.user = true,
		};
	cursor->count = t->pending_count;
	qsort_r(cursor->points, cursor->count, sizeof(*cursor->points), merge_compare_pending,
		t->pending);
	m->pending = cursor;
	return 0;
}

struct ct_merge *ct_merge_new(const struct ct_trace *t)
{
	struct ct_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->trace = t;
	m->cursors = calloc(t->streams_count + 1, sizeof(*m->cursors));
	m->heap = calloc(t->streams_count + 1, sizeof(*m->heap));
	if (!m->cursors || !m->heap || merge_add_pending(m, &m->cursors[t->streams_count]))
		goto bad;
	for (unsigned int i = 0; i <= t->streams_count; i++) {
		struct ct_stream_cursor *cursor = &m->cursors[i];

		cursor->trace = t;
		cursor->stream = i < t->streams_count ? &t->streams[i] : NULL;
		if (ct_stream_cursor_front(cursor))
			m->heap[m->heap_count++] = cursor;
	}
	for (unsigned int i = m->heap_count; i-- > 0;)
		merge_sift_down(m, i);
	return m;
bad:
	ct_merge_free(m);
	return NULL;
}

void ct_merge_free(struct ct_merge *m)
{
	if (!m)
		return;
	if (m->cursors)
		for (unsigned int i = 0; i <= m->trace->streams_count; i++)
			free(m->cursors[i].points);
	free(m->cursors);
	free(m->heap);
	ct_hash_free(&m->open);
	ct_hash_free(&m->tracks);
	free(m);
}

/* ---------------------------------------------------------------- points --- */

/* An op is unique in a thread's stream, and among all CPUs' streams. */
static uint64_t merge_op_key(const struct ct_stream_cursor *cursor, uint64_t op)
{
	if (cursor->stream && cursor->stream->kind != CT_STREAM_THREAD)
		return op;
	return ct_hash_mix(op, cursor->stream ? cursor->stream->index + 1 : 0);
}

/*
 * The nesting depth.  The program's calls say theirs; what the kernel does is
 * nested in them, and its depth is counted here.  When a call of the program
 * begins or ends, the kernel is done with the last one: that corrects a count that
 * is wrong because an end was lost.
 */
static int merge_enter(struct ct_merge *m, const struct ct_record *r, uint32_t *depth)
{
	struct ct_hash_slot *track = ct_hash_put(&m->tracks, ct_track_key(r));

	if (!track)
		return -ENOMEM;
	if (r->class->layer == CT_LAYER_USER) {
		*depth = r->depth;
		track->c = r->depth + 1;
		track->d = 0;
	} else {
		*depth = track->c + track->d;
		track->d++;
	}
	return 0;
}

static void merge_leave(struct ct_merge *m, const struct ct_record *r, uint32_t depth)
{
	struct ct_hash_slot *track = ct_hash_get(&m->tracks, ct_track_key(r));

	if (!track)
		return;
	if (r->class->layer == CT_LAYER_USER) {
		track->c = depth;
		track->d = 0;
	} else {
		track->d = depth > track->c ? depth - track->c : 0;
	}
}

static uint32_t merge_depth_now(struct ct_merge *m, const struct ct_record *r)
{
	struct ct_hash_slot *track;

	if (r->class->layer == CT_LAYER_USER)
		return r->depth;
	track = ct_hash_get(&m->tracks, ct_track_key(r));
	return track ? track->c + track->d : 0;
}

/* Makes the record of a call that has none: only its thread and class are known. */
static bool merge_open_record(struct ct_merge *m, struct ct_stream_cursor *cursor,
			      struct ct_record *r)
{
	const struct ct_straddler *s;
	const struct ct_class *class;
	uint64_t op;

	if (cursor == m->pending) {
		const struct ct_pending *p = &m->trace->pending[cursor->front.offset];

		*r = (struct ct_record){
			.class = ct_registry_class(&m->trace->reg, p->class),
			.pid = p->pid, .tid = p->tid, .depth = p->level, .op = p->op,
		};
	} else {
		s = &cursor->stream->straddlers[cursor->front.straddler];
		class = ct_registry_class(&m->trace->reg,
					  ct_record_quick(r, CT_QUICK_FUNCTION));
		op = ct_record_quick(r, CT_QUICK_OP);
		*r = (struct ct_record){
			.class = class, .pid = r->pid, .tid = r->tid, .depth = s->level,
			.op = op,
		};
	}
	r->cpu = CT_NO_CPU;
	r->flags = CT_F_BEGIN | CT_F_NO_RESULT;
	return r->class != NULL;
}

static int merge_emit_begin(struct ct_merge *m, struct ct_stream_cursor *cursor,
			    struct ct_point *out)
{
	struct ct_mark_point *p = &cursor->front;
	struct ct_straddler *straddler = NULL;
	struct ct_hash_slot *slot;

	if (p->straddler != CT_NONE)
		straddler = &cursor->stream->straddlers[p->straddler];
	out->open = cursor == m->pending || (straddler && straddler->open);
	out->entry = p->entry;
	if (out->open && !merge_open_record(m, cursor, &out->record))
		return 0;
	if (out->open || p->entry) {
		uint64_t key;

		if (cursor == m->pending) {
			int stream = m->trace->pending[p->offset].stream;

			key = ct_hash_mix(out->record.op, stream + 1);
			out->stream = stream < 0 ? NULL : &m->trace->streams[stream];
		} else {
			key = merge_op_key(cursor, out->record.op);
		}
		if (ct_hash_get(&m->open, key))
			return 0;	/* emitted already: recorded at entry as well */
		slot = ct_hash_put(&m->open, key);
		if (!slot || merge_enter(m, &out->record, &out->depth))
			return -ENOMEM;
		slot = ct_hash_get(&m->open, key);
		slot->a = ++m->ops;
		slot->b = p->ts;
		slot->c = out->depth;
	} else {
		if (merge_enter(m, &out->record, &out->depth))
			return -ENOMEM;
		++m->ops;
		if (straddler) {
			straddler->op_id = m->ops;
			straddler->depth = out->depth;
		} else if (p->mate < cursor->count) {
			cursor->points[p->mate].op_id = m->ops;
			cursor->points[p->mate].depth = out->depth;
		}
	}
	out->phase = 'B';
	out->op_id = m->ops;
	out->begin = p->ts;
	return 1;
}

static int merge_emit_end(struct ct_merge *m, struct ct_stream_cursor *cursor, struct ct_point *out)
{
	struct ct_mark_point *p = &cursor->front;
	struct ct_hash_slot *slot;

	out->phase = 'E';
	out->begin = ct_record_begin(&out->record);
	if (out->record.flags & CT_F_HAS_BEGIN) {
		slot = ct_hash_get(&m->open, merge_op_key(cursor, out->record.op));
		if (slot) {
			out->op_id = slot->a;
			out->depth = slot->c;
			if (!out->record.duration)
				out->begin = slot->b;
			ct_hash_remove(&m->open, slot);
		} else {
			out->op_id = ++m->ops;
			out->depth = merge_depth_now(m, &out->record);
			out->begin_lost = true;
		}
	} else if (p->straddler != CT_NONE) {
		out->op_id = cursor->stream->straddlers[p->straddler].op_id;
		out->depth = cursor->stream->straddlers[p->straddler].depth;
	} else {
		out->op_id = p->op_id;
		out->depth = p->depth;
	}
	merge_leave(m, &out->record, out->depth);
	return 1;
}

/* Return: 1: emitted; 0: the front has no point to emit; -ENOMEM. */
static int merge_emit(struct ct_merge *m, struct ct_stream_cursor *cursor, struct ct_point *out)
{
	struct ct_mark_point *p = &cursor->front;
	const char *why;

	*out = (struct ct_point){ .ts = p->ts, .begin = p->ts, .stream = cursor->stream };
	if (cursor != m->pending) {
		struct ct_packet_view view = cursor->view;

		if (p->kind == CT_MARK_B && p->straddler != CT_NONE)
			ct_stream_packet(cursor->stream,
					 cursor->stream->straddlers[p->straddler].packet, &view);
		/* Whole when it was indexed: if not now, the file changed. */
		if (!ct_record_parse(&view, p->offset, &m->trace->reg, &out->record, &why))
			return 0;
	}
	switch (p->kind) {
	case CT_MARK_B:
		return merge_emit_begin(m, cursor, out);
	case CT_MARK_E:
		return merge_emit_end(m, cursor, out);
	}
	out->phase = 'I';
	out->depth = merge_depth_now(m, &out->record);
	if (out->record.class->call)
		out->op_id = ++m->ops;
	return 1;
}

int ct_merge_next(struct ct_merge *m, struct ct_point *out)
{
	while (m->heap_count) {
		struct ct_stream_cursor *cursor = m->heap[0];
		int rc;

		if (cursor->waiting) {
			rc = ct_stream_cursor_load(cursor);
			if (!rc)
				merge_advance(m);
		} else {
			rc = merge_emit(m, cursor, out);
			ct_stream_cursor_step(cursor);
			merge_advance(m);
		}
		if (rc)
			return rc;
	}
	return 0;
}
