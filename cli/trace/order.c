// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See order.h.  Records are in the order of their ends, so the points are made from the
 * last record to the first: a call's B comes as soon as a record is not inside the call.
 * A packet may hold anything: must never take more than some steps a record, but for
 * the sort that is left then.
 */
#include "trace/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS		16	/* a point, until sorting is cheaper */
#define LEVELS		256	/* a record's depth is a byte */

/*
 * At one ns, ends precede begins; a call that begins and ends in this ns is between.
 * Of two ends, the inner call's is first (it began later), and the kernel's precedes
 * the program's; of two begins, the reverse.
 */
static int order_rank(const struct ct_tie *p)
{
	if (p->kind == CT_TIE_I || p->other == p->ts)
		return 1;
	return p->kind == CT_TIE_E ? 0 : 2;
}

int ct_tie_compare(const struct ct_tie *a, const struct ct_tie *b)
{
	int ra = order_rank(a), rb = order_rank(b);

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

void ct_point_tie(const struct ct_points *p, uint32_t point, struct ct_tie *tie)
{
	const struct ct_packet_record *r = &p->records[point >> 1];

	tie->level = r->level;
	tie->user = r->user;
	tie->ts = point & 1 ? r->begin : r->end;
	if (r->points == CT_POINTS_INSTANT) {
		tie->kind = CT_TIE_I;
		tie->other = r->end;
	} else if (point & 1) {
		tie->kind = CT_TIE_B;
		tie->other = r->points == CT_POINTS_BEGIN ? ~0ull : r->end;
	} else {
		tie->kind = CT_TIE_E;
		tie->other = r->begin;
	}
}

int ct_points_grow(struct ct_points *p)
{
	uint32_t capacity = 2 * p->capacity + 256;
	struct ct_packet_record *records;
	uint32_t *order;

	records = realloc(p->records, capacity * sizeof(*records));
	if (!records)
		return -ENOMEM;
	p->records = records;
	order = realloc(p->order, 2 * capacity * sizeof(*order));
	if (!order)
		return -ENOMEM;
	p->order = order;
	p->capacity = capacity;
	return 0;
}

void ct_points_free(struct ct_points *p)
{
	free(p->records);
	free(p->order);
	*p = (struct ct_points){ 0 };
}

static int order_compare(const void *a, const void *b, void *arg)
{
	const struct ct_points *p = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	struct ct_tie mx, my;
	int order;

	ct_point_tie(p, x, &mx);
	ct_point_tie(p, y, &my);
	order = ct_tie_compare(&mx, &my);
	if (order)
		return order;
	/* Calls of the same begin and end: the outer's record is the later one. */
	if (order_rank(&mx) == 2 && p->records[x >> 1].points != CT_POINTS_BEGIN)
		return x >> 1 > y >> 1 ? -1 : x >> 1 < y >> 1;
	if (x >> 1 != y >> 1)
		return x >> 1 < y >> 1 ? -1 : 1;
	return my.kind - mx.kind;	/* B (2) before E (0) of one record */
}

/* Sorts what is almost in order. */
static void order_mend(struct ct_points *p)
{
	uint64_t steps = (uint64_t)STEPS * (p->end - p->first);
	uint64_t last = 0;

	for (uint32_t i = p->first; i < p->end; i++) {
		uint32_t point = p->order[i], k = i;
		uint64_t ts = ct_point_ts(p, i);

		if (ts > last) {
			last = ts;
			continue;
		}
		while (k > p->first && order_compare(&point, &p->order[k - 1], p) < 0) {
			p->order[k] = p->order[k - 1];
			k--;
			if (!steps--) {
				p->order[k] = point;
				qsort_r(p->order + p->first, p->end - p->first, sizeof(*p->order),
					order_compare, p);
				return;
			}
		}
		p->order[k] = point;
		if (k == i)
			last = ts;
	}
}

/* What is in p->order by now is no order: all points, one after the other, and sorted. */
static void order_sort(struct ct_points *p)
{
	p->first = p->end = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		uint8_t points = p->records[i].points;

		if (points == CT_POINTS_PAIR || points == CT_POINTS_BEGIN)
			p->order[p->end++] = i << 1 | 1;
		if (points != CT_POINTS_BEGIN)
			p->order[p->end++] = i << 1;
	}
	if (p->end)
		qsort_r(p->order, p->end, sizeof(*p->order), order_compare, p);
}

int ct_points_order_tree(struct ct_points *p)
{
	const struct ct_packet_record *records = p->records;
	uint32_t around[LEVELS], depth = 0, at = 2 * p->count;
	uint64_t last = ~0ull;
	bool sorted = true;

	/* The calls around a record are ever deeper: no more than there are levels. */
	p->end = at;
	for (uint32_t i = p->count; i-- > 0;) {
		const struct ct_packet_record *r = &records[i];

		while (depth) {
			const struct ct_packet_record *outer = &records[around[depth - 1]];

			if (r->level > outer->level && r->begin >= outer->begin)
				break;
			p->order[--at] = around[--depth] << 1 | 1;
			sorted &= outer->begin <= last;
			last = outer->begin;
		}
		sorted &= r->end <= last;
		last = r->end;
		if (r->points == CT_POINTS_PAIR)
			around[depth++] = i;
		p->order[--at] = i << 1 | (r->points == CT_POINTS_BEGIN);
	}
	while (depth) {
		p->order[--at] = around[--depth] << 1 | 1;
		sorted &= records[around[depth]].begin <= last;
		last = records[around[depth]].begin;
	}
	p->first = at;
	/* Depths that contradict the times: the times are right. */
	if (!sorted)
		order_sort(p);
	return 0;
}

int ct_points_order_time(struct ct_points *p)
{
	const struct ct_packet_record *records = p->records;
	uint64_t steps = (uint64_t)STEPS * p->count;
	uint32_t *around = malloc((p->count + 1) * sizeof(*around));
	uint32_t depth = 0, at = 2 * p->count;

	if (!around)
		return -ENOMEM;
	p->end = at;
	/* The calls that have not begun yet are in @around, the next one last. */
	for (uint32_t i = p->count; i-- > 0;) {
		const struct ct_packet_record *r = &records[i];
		uint32_t k;

		while (depth && records[around[depth - 1]].begin >= r->end)
			p->order[--at] = around[--depth] << 1 | 1;
		p->order[--at] = i << 1 | (r->points == CT_POINTS_BEGIN);
		if (r->points != CT_POINTS_PAIR)
			continue;
		for (k = depth++; k && records[around[k - 1]].begin > r->begin && steps; k--) {
			around[k] = around[k - 1];
			steps--;
		}
		around[k] = i;
		if (!steps)
			break;
	}
	if (steps) {
		while (depth)
			p->order[--at] = around[--depth] << 1 | 1;
		p->first = at;
		order_mend(p);
	} else {
		order_sort(p);
	}
	free(around);
	return 0;
}
