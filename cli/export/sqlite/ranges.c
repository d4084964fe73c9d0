// SPDX-License-Identifier: LGPL-2.1-or-later
/* See ranges.h.  Must never invent the end of a range. */
#include "export/sqlite/ranges.h"

#include <errno.h>
#include <stdlib.h>

#define RANGES_DEPTH	4096u	/* open ranges of a thread; those inside get no end, as in nvtx_sum */

struct ct_ranges_thread {
	int64_t *ids;
	uint32_t depth, room;
	uint64_t deeper;	/* open ranges beyond RANGES_DEPTH */
};

int ct_ranges_begin(struct ct_ranges *s, struct ct_db *db)
{
	*s = (struct ct_ranges){ 0 };
	return ct_insert_begin(&s->insert, db, "CUDATRACE_RANGES", 3, true);
}

static struct ct_ranges_thread *ranges_thread(struct ct_ranges *s, uint32_t tid)
{
	struct ct_hash_slot *slot = ct_hash_put(&s->by_tid, tid);

	if (!slot)
		return NULL;
	if (slot->a)
		return &s->threads[slot->a - 1];
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct ct_ranges_thread *more = reallocarray(s->threads, room, sizeof(*more));

		if (!more)
			return NULL;
		s->threads = more;
		s->room = room;
	}
	s->threads[s->count] = (struct ct_ranges_thread){ 0 };
	slot->a = ++s->count;
	return &s->threads[s->count - 1];
}

static int ranges_push(struct ct_ranges_thread *t, int64_t id)
{
	if (t->depth == RANGES_DEPTH) {
		t->deeper++;
		return 0;
	}
	if (t->depth == t->room) {
		uint32_t room = t->room ? 2 * t->room : 16;
		int64_t *more = reallocarray(t->ids, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->ids = more;
		t->room = room;
	}
	t->ids[t->depth++] = id;
	return 0;
}

int ct_ranges_record(struct ct_ranges *s, const struct ct_row *row, int64_t id, int64_t ts)
{
	struct ct_ranges_thread *t;
	struct ct_value *v;

	if (row->class->id != CT_CLASS_range_push && row->class->id != CT_CLASS_range_pop)
		return 0;
	t = ranges_thread(s, row->tid);
	if (!t)
		return -ENOMEM;
	if (row->class->id == CT_CLASS_range_push)
		return ranges_push(t, id);
	if (t->deeper) {
		t->deeper--;
		return 0;
	}
	if (!t->depth)
		return 0;
	v = ct_insert_row(&s->insert);
	ct_value_int(&v[0], t->ids[--t->depth]);
	ct_value_int(&v[1], id);
	ct_value_int(&v[2], ts);
	return s->insert.error;
}

int ct_ranges_end(struct ct_ranges *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->threads[i].ids);
	free(s->threads);
	ct_hash_free(&s->by_tid);
	return ct_insert_end(&s->insert);
}
