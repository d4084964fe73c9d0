// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns the records of a packet, which are in the order of their ends, into points
 * in the order of time.  Must never hold more than one packet of a stream.
 *
 * In a thread's stream the order of the records with their depths is the call
 * tree itself (an inner call's record precedes its caller's), so that points
 * of one ns are in the right order, too.  A CPU's stream mixes many threads: it
 * is sorted, by ct_mark_compare() at one ns.
 */
#include "trace/stream_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * At one ns, ends precede begins; a call that begins and ends in this ns is between.
 * Of two ends, the inner call's is first (it began later), and the kernel's precedes
 * the program's; of two begins, the reverse.
 */
static int cursor_rank(const struct ct_mark_point *p)
{
	if (p->kind == CT_MARK_I || p->other == p->ts)
		return 1;
	return p->kind == CT_MARK_E ? 0 : 2;
}

int ct_mark_compare(const struct ct_mark_point *a, const struct ct_mark_point *b)
{
	int ra = cursor_rank(a), rb = cursor_rank(b);

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (ra != rb)
		return ra - rb;
	if (ra == 1)
		return 0;
	if (a->user != b->user)
		return (ra == 0) == a->user ? 1 : -1;
	/* E: the later begin first.  B: the later end first. */
	if (a->other != b->other)
		return a->other > b->other ? -1 : 1;
	return 0;
}

/* Two points of one stream at one ns, the first a straddler's begin. */
static bool cursor_straddler_first(const struct ct_mark_point *straddler,
				   const struct ct_mark_point *p)
{
	if (straddler->ts != p->ts)
		return straddler->ts < p->ts;
	if (p->kind == CT_MARK_E)
		return false;
	if (p->level != straddler->level)
		return p->level > straddler->level;
	return ct_mark_compare(straddler, p) < 0;
}

int ct_stream_cursor_front(struct ct_stream_cursor *cursor)
{
	const struct ct_stream_file *s = cursor->stream;
	struct ct_mark_point *front = &cursor->front;
	bool straddler = false;

	cursor->waiting = false;
	if (s && cursor->next_straddler < s->straddlers_count) {
		uint32_t i = s->by_begin[cursor->next_straddler];

		*front = (struct ct_mark_point){
			.ts = s->straddlers[i].begin, .other = s->straddlers[i].end,
			.offset = s->straddlers[i].offset, .mate = CT_NONE, .straddler = i,
			.kind = CT_MARK_B, .level = s->straddlers[i].level,
			.user = s->kind == CT_STREAM_THREAD,
		};
		straddler = true;
	}
	if (cursor->next < cursor->count) {
		if (!straddler || !cursor_straddler_first(front, &cursor->points[cursor->next]))
			*front = cursor->points[cursor->next];
		return 1;
	}
	if (s && cursor->next_packet < s->packets_count) {
		uint64_t begin = s->packets[cursor->next_packet].ts_begin;

		if (!straddler || begin <= front->ts) {
			*front = (struct ct_mark_point){ .ts = begin };
			cursor->waiting = true;
		}
		return 1;
	}
	return straddler;
}

void ct_stream_cursor_step(struct ct_stream_cursor *cursor)
{
	if (cursor->front.kind == CT_MARK_B && cursor->front.straddler != CT_NONE)
		cursor->next_straddler++;
	else
		cursor->next++;
}

/* ------------------------------------------------------------- loading --- */

static int cursor_reserve(struct ct_stream_cursor *cursor, uint32_t capacity)
{
	struct ct_mark_point *more;

	if (capacity <= cursor->capacity)
		return 0;
	more = realloc(cursor->points, capacity * sizeof(*more));
	if (!more)
		return -ENOMEM;
	cursor->points = more;
	cursor->capacity = capacity;
	return 0;
}

/* Appends the points of all records, an E after its B, in the order of the file. */
static int cursor_read_points(struct ct_stream_cursor *cursor)
{
	struct ct_stream_file *s = cursor->stream;
	uint32_t packet = cursor->next_packet, straddler = s->packets[packet].first_straddler;
	uint32_t offset = CT_PACKET_HEAD, size;
	struct ct_record r;
	const char *why;

	ct_stream_packet(s, packet, &cursor->view);
	cursor->count = cursor->next = 0;
	for (; offset < cursor->view.content; offset += size) {
		struct ct_mark_point p = { .mate = CT_NONE, .straddler = CT_NONE };

		size = ct_record_parse(&cursor->view, offset, &cursor->trace->reg, &r, &why);
		if (!size)	/* whole when it was indexed: the file changed */
			break;
		if (cursor->count + 2 > cursor->capacity &&
		    cursor_reserve(cursor, 2 * cursor->capacity + 256))
			return -ENOMEM;
		p.offset = offset;
		p.level = r.depth;
		p.user = r.class->layer == CT_LAYER_USER;
		if (straddler < s->straddlers_count &&
		    s->straddlers[straddler].packet == packet &&
		    s->straddlers[straddler].offset == offset)
			p.straddler = straddler++;

		if (r.class->id == CT_CLASS_call_open || (r.flags & CT_F_INSTANT)) {
			p.kind = CT_MARK_I;
			p.ts = p.other = r.end;
			p.straddler = CT_NONE;
			cursor->points[cursor->count++] = p;
			continue;
		}
		if (r.flags & CT_F_BEGIN) {
			p.kind = CT_MARK_B;
			p.ts = r.end;
			p.other = ~0ull;
			p.entry = true;
			/* A straddler's begin has no mate either: this is none. */
			p.straddler = CT_NONE;
			cursor->points[cursor->count++] = p;
			continue;
		}
		if (p.straddler == CT_NONE && !(r.flags & CT_F_HAS_BEGIN)) {
			p.kind = CT_MARK_B;
			p.ts = ct_record_begin(&r);
			if (p.ts < cursor->view.ts_begin) /* the file changed */
				p.ts = cursor->view.ts_begin;
			p.other = r.end;
			p.mate = cursor->count + 1;
			cursor->points[cursor->count++] = p;
		}
		p.kind = CT_MARK_E;
		p.ts = r.end;
		p.other = ct_record_begin(&r);
		p.mate = CT_NONE;
		cursor->points[cursor->count++] = p;
	}
	return 0;
}

static int cursor_compare_sort(const void *a, const void *b)
{
	const struct ct_mark_point *x = a, *y = b;
	int order = ct_mark_compare(x, y);

	if (order)
		return order;
	/* Calls of the same begin and end: the outer's record is the later one. */
	if (cursor_rank(x) == 2 && !x->entry)
		return x->offset > y->offset ? -1 : x->offset < y->offset;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return y->kind - x->kind;	/* B (2) before E (0) of one record */
}

/* The mates moved: find them again by the record that they share. */
static void cursor_pair_again(struct ct_mark_point *points, uint32_t count, uint32_t *where)
{
	for (uint32_t i = 0; i < count; i++)
		if (points[i].kind == CT_MARK_E)
			where[points[i].offset / 8] = i;
	for (uint32_t i = 0; i < count; i++)
		if (points[i].kind == CT_MARK_B && points[i].mate != CT_NONE)
			points[i].mate = where[points[i].offset / 8];
}

/* A run of points in time order: a call with all that is inside it. */
struct run {
	uint32_t head, tail;	/* through next[] */
	uint64_t begin;
	uint8_t  level;
};

/*
 * The points of a thread in the order of its call tree, by lists: a record puts
 * the runs before it that are deeper and not older between its B and its E.
 */
static void cursor_order_tree(const struct ct_mark_point *in, uint32_t count,
			      struct ct_mark_point *out, uint32_t *next, struct run *runs)
{
	uint32_t depth = 0, n = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct run run = { .head = i, .tail = i, .level = in[i].level };

		next[i] = CT_NONE;
		run.begin = in[i].kind == CT_MARK_E ? in[i].other : in[i].ts;
		if (in[i].kind == CT_MARK_B && in[i].mate != CT_NONE) {
			uint32_t first = depth;

			while (first && runs[first - 1].level > run.level &&
			       runs[first - 1].begin >= run.begin)
				first--;
			for (uint32_t k = first; k < depth; k++) {
				next[run.tail] = runs[k].head;
				run.tail = runs[k].tail;
			}
			depth = first;
			next[run.tail] = ++i; /* its E follows it */
			next[i] = CT_NONE;
			run.tail = i;
		}
		runs[depth++] = run;
	}
	for (uint32_t k = 0; k < depth; k++)
		for (uint32_t i = runs[k].head; i != CT_NONE; i = next[i])
			out[n++] = in[i];
}

static bool cursor_in_order(const struct ct_mark_point *points, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (points[i].ts < points[i - 1].ts)
			return false;
	return true;
}

static int cursor_order_thread(struct ct_stream_cursor *cursor)
{
	struct ct_mark_point *out = malloc((cursor->count + 1) * sizeof(*out));
	struct run *runs = malloc((cursor->count + 1) * sizeof(*runs));
	uint32_t *next = malloc((cursor->count + 1) * sizeof(*next));
	int rc = -ENOMEM;

	if (out && runs && next) {
		cursor_order_tree(cursor->points, cursor->count, out, next, runs);
		/* Depths that contradict the times: the times are right. */
		if (!cursor_in_order(out, cursor->count))
			qsort(out, cursor->count, sizeof(*out), cursor_compare_sort);
		memcpy(cursor->points, out, cursor->count * sizeof(*out));
		rc = 0;
	}
	free(out);
	free(runs);
	free(next);
	return rc;
}

int ct_stream_cursor_load(struct ct_stream_cursor *cursor)
{
	uint32_t *where;
	int rc;

	rc = cursor_read_points(cursor);
	if (rc)
		return rc;
	cursor->next_packet++;
	if (!cursor->count)
		return 0;
	if (cursor->stream->kind == CT_STREAM_THREAD) {
		rc = cursor_order_thread(cursor);
		if (rc)
			return rc;
	} else {
		qsort(cursor->points, cursor->count, sizeof(*cursor->points), cursor_compare_sort);
	}
	where = malloc((cursor->view.content / 8 + 1) * sizeof(*where));
	if (!where)
		return -ENOMEM;
	cursor_pair_again(cursor->points, cursor->count, where);
	free(where);
	return 0;
}
