// SPDX-License-Identifier: LGPL-2.1-or-later
/* See made_before.h.  Must never trust a number of a record: anybody may have written it. */
#include "ranks/made_before.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/median.h"
#include "base/sum.h"

#define ALONE		UINT32_MAX
#define COMMUNICATORS_MOST 512u	/* of more none is joined: 128 ranks of one host have as many */
#define ROUNDS_MOST	8u	/* each may make others clear */
#define LOOKS		64u	/* calls whose nearest one of another rank is looked for */
#define SHIFTS_NEAR	2	/* shifts beside those are tried, too */
#define SHIFTS_MOST	(LOOKS * (2 * SHIFTS_NEAR + 1))
#define COMPARED	256u	/* calls that are compared for a shift */
#define NEARER		3	/* times, that the next one must be farther */
#define MATCHES_MOST	(1u << 15)	/* a job of some hundred ranks with groups needs fewer */
#define ALIKE		0.9	/* of them must be the same: the last ones may be what a job died of */
#define APART_MOST	3000000.0	/* ns between the ends of one collective's kernels: processes may take turns on a GPU */
#define MET_SLACK	50000u		/* ns: so far clocks of two GPUs may be apart */
#define APART_SOME	0.25	/* of the pairs must be as near, where the kernels met: those of a busy machine may end late */

/* Calls of a rank that another one must have, too: its collectives, or what it sends to, or receives from, one other. */
struct row {
	uint32_t communicator;	/* index, as it was recorded */
	int32_t  peer;		/* -1: collectives */
	bool     receives;
	uint32_t first, count;	/* in .order */
	int64_t  ahead;		/* what is added to its numbers */
};

struct made_before {
	struct ct_collectives *c;
	struct row *rows;	/* by communicator, collectives first */
	uint32_t rows_count;
	uint32_t *order;	/* parts, by row and then as they were called */
	uint32_t *joined;	/* by communicator: the one whose it is; ALONE */
	uint32_t *first_row;	/* by communicator */
	uint32_t matches;	/* that are still looked for */
	uint32_t list[COMMUNICATORS_MOST], count;	/* the communicators */
};

/* How two ranks' calls lie to each other. */
struct match {
	bool     found;
	int64_t  shift;		/* call i of the first is call i + shift of the second */
	double   apart;		/* ns, median */
};

static const struct ct_part *part_at(const struct made_before *m, const struct row *r, uint64_t i)
{
	return &m->c->parts[m->order[r->first + i]];
}

/* Kernels of a collective end together; of its calls only the beginnings tell something. */
static uint64_t part_moment(const struct ct_part *p)
{
	return p->gpu_end ? p->gpu_end : p->begin;
}

static uint64_t part_apart(const struct ct_part *x, const struct ct_part *y)
{
	uint64_t a = x->gpu_end && y->gpu_end ? x->gpu_end : x->begin, b = x->gpu_end && y->gpu_end ? y->gpu_end : y->begin;

	return a > b ? a - b : b - a;
}

/* An operation to whose result all ranks give something: on none is it over before it has begun on all. */
static bool part_meets(const struct ct_part *p)
{
	static const char *const names[] = { "AllReduce", "AllGather", "ReduceScatter", "AlltoAll" };

	for (unsigned int i = 0; p->gpu_end && i < 4; i++)
		if (!strcmp(ct_part_name(p), names[i]))
			return true;
	return false;
}

/* Were both on their GPUs at one moment, as far as clocks say? */
static bool parts_met(const struct ct_part *x, const struct ct_part *y, uint64_t unsure)
{
	return x->gpu_begin <= ct_sum(y->gpu_end, unsure) && y->gpu_begin <= ct_sum(x->gpu_end, unsure);
}

static uint64_t row_nearest(const struct made_before *m, const struct row *r, uint64_t moment)
{
	uint64_t low = 0, high = r->count - 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (part_moment(part_at(m, r, middle)) < moment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && moment - part_moment(part_at(m, r, low - 1)) < part_moment(part_at(m, r, low)) - moment)
		low--;
	return low;
}

static int compare_shifts(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Those by which calls come to lie near each other. */
static unsigned int row_shifts(const struct made_before *m, const struct row *x, const struct row *y, int64_t *shifts)
{
	uint64_t step = x->count > LOOKS ? x->count / LOOKS : 1;
	unsigned int count = 0, kept = 0;

	for (uint64_t i = 0; i < x->count && count + 2 * SHIFTS_NEAR < SHIFTS_MOST; i += step) {
		int64_t shift = (int64_t)row_nearest(m, y, part_moment(part_at(m, x, i))) - (int64_t)i;

		for (int near = -SHIFTS_NEAR; near <= SHIFTS_NEAR; near++)
			shifts[count++] = shift + near;
	}
	qsort(shifts, count, sizeof(*shifts), compare_shifts);
	for (unsigned int i = 0; i < count; i++)
		if (!i || shifts[i] != shifts[kept - 1])
			shifts[kept++] = shifts[i];
	return kept;
}

/* Some calls at the edges may have no kernel. */
static bool row_measured(const struct made_before *m, const struct row *x, const struct row *y)
{
	return part_at(m, x, x->count / 2)->gpu_end && part_at(m, y, y->count / 2)->gpu_end;
}

static void row_try(const struct made_before *m, const struct row *x, const struct row *y, int64_t shift, struct match *best)
{
	int64_t from = shift < 0 ? -shift : 0, to = (int64_t)y->count - shift;
	uint64_t unsure = ct_collectives_unsure(m->c, part_at(m, x, 0)->pid, part_at(m, y, 0)->pid);
	uint64_t apart[COMPARED], common, step, compared = 0, alike = 0, meet = 0, met = 0, near = 0;
	double median, most = APART_MOST + (double)unsure;

	to = to > (int64_t)x->count ? (int64_t)x->count : to;
	if (to <= from)
		return;
	common = (uint64_t)(to - from);
	/* What lies at the edges only may be alike by chance. */
	if (2 * common < (x->count < y->count ? x->count : y->count))
		return;
	step = (common + COMPARED - 1) / COMPARED;
	for (int64_t i = from; i < to; i += (int64_t)step) {
		const struct ct_part *a = part_at(m, x, (uint64_t)i), *b = part_at(m, y, (uint64_t)(i + shift));

		alike += ct_part_same_call(a, b);
		if (part_meets(a) && part_meets(b)) {
			meet++;
			met += parts_met(a, b, ct_sum(unsure, MET_SLACK));
		}
		near += part_apart(a, b) <= most;
		apart[compared++] = part_apart(a, b);
	}
	/* What ends as near by chance, as of another group that works in step, did not meet each time. */
	if (alike < ALIKE * compared || met < ALIKE * meet)
		return;
	median = ct_median(apart, compared);
	if ((best->found && best->apart <= median) ||
	    (row_measured(m, x, y) && median > most && (2 * meet < compared || near < APART_SOME * compared)))
		return;
	*best = (struct match){ .found = true, .shift = shift, .apart = median };
}

static struct match row_match(const struct made_before *m, const struct row *x, const struct row *y)
{
	int64_t shifts[SHIFTS_MOST];
	struct match best = { 0 };
	unsigned int count;

	if (!x->count || !y->count)
		return best;
	count = row_shifts(m, x, y, shifts);
	for (unsigned int i = 0; i < count; i++)
		row_try(m, x, y, shifts[i], &best);
	return best;
}

/* ---------------------------------------------------------------------- rows --- */

static bool part_receives(const struct ct_part *p)
{
	return ct_class_is(p->class, CT_IS_RECEIVE);
}

static int32_t part_peer(const struct ct_part *p)
{
	return ct_part_is_pair(p) ? p->root : -1;
}

static int compare_parts(const void *a, const void *b, void *arg)
{
	const struct ct_part *parts = arg, *x = &parts[*(const uint32_t *)a], *y = &parts[*(const uint32_t *)b];

	if (x->communicator != y->communicator)
		return x->communicator < y->communicator ? -1 : 1;
	if (part_peer(x) != part_peer(y))
		return part_peer(x) < part_peer(y) ? -1 : 1;
	if (part_receives(x) != part_receives(y))
		return part_receives(x) ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int rows_make(struct made_before *m)
{
	const struct ct_collectives *c = m->c;
	uint32_t count = 0;

	m->order = malloc((c->parts_count + 1) * sizeof(*m->order));
	m->rows = calloc(c->parts_count + 1, sizeof(*m->rows));
	m->joined = malloc((c->communicators_count + 1ul) * sizeof(*m->joined));
	m->first_row = malloc((c->communicators_count + 1ul) * sizeof(*m->first_row));
	if (!m->order || !m->rows || !m->joined || !m->first_row)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->communicators_count; i++)
		m->joined[i] = m->first_row[i] = ALONE;
	for (size_t i = 0; i < c->parts_count; i++)
		if (c->communicators[c->parts[i].communicator].made_before)
			m->order[count++] = i;
	qsort_r(m->order, count, sizeof(*m->order), compare_parts, c->parts);
	for (uint32_t i = 0; i < count; i++) {
		const struct ct_part *p = &c->parts[m->order[i]];
		struct row *r = m->rows_count ? &m->rows[m->rows_count - 1] : NULL;

		if (!r || r->communicator != p->communicator || r->peer != part_peer(p) || r->receives != part_receives(p)) {
			if (!r || r->communicator != p->communicator)
				m->first_row[p->communicator] = m->rows_count;
			r = &m->rows[m->rows_count++];
			*r = (struct row){ .communicator = p->communicator, .peer = part_peer(p), .receives = part_receives(p), .first = i };
		}
		r->count++;
	}
	return 0;
}

/* NULL: that communicator has no such row. */
static struct row *rows_find(struct made_before *m, uint32_t communicator, int32_t peer, bool receives)
{
	for (uint32_t i = m->first_row[communicator]; i < m->rows_count && m->rows[i].communicator == communicator; i++)
		if (m->rows[i].peer == peer && m->rows[i].receives == receives)
			return &m->rows[i];
	return NULL;
}

/* ------------------------------------------------------------- communicators --- */

static const struct ct_member *own(const struct made_before *m, uint32_t communicator)
{
	return &m->c->communicators[communicator].members[0];
}

/*
 * Could these two be one communicator, by the calls that both must have made?  Where it only sends and receives, by those
 * between the two.
 */
static struct match communicators_match(struct made_before *m, uint32_t x, uint32_t y, bool *measured)
{
	int32_t ranks[2] = { (int32_t)own(m, x)->rank, (int32_t)own(m, y)->rank };
	struct row *a = rows_find(m, x, -1, false), *b = rows_find(m, y, -1, false);

	for (unsigned int i = 0; i < 2 && (!a || !b); i++) {
		a = rows_find(m, x, ranks[1], i);
		b = rows_find(m, y, ranks[0], !i);
	}
	if (!a || !b || !m->matches)
		return (struct match){ .found = false };
	m->matches--;
	*measured = row_measured(m, a, b);
	return row_match(m, a, b);
}

/* Is it none of a communicator yet, and may it be a rank of that one? */
static bool communicators_may(const struct made_before *m, uint32_t x, uint32_t y)
{
	const struct ct_comm *a = &m->c->communicators[x], *b = &m->c->communicators[y];

	return b->made_before && m->joined[y] == ALONE && a->ranks == b->ranks;
}

/* A GPU of the communicator's calls; -1: none is known. */
static int communicators_gpu(struct made_before *m, uint32_t communicator)
{
	const struct row *r = &m->rows[m->first_row[communicator]];
	const struct ct_part *p = part_at(m, r, r->count / 2);

	return p->gpu_end ? p->gpu : -1;
}

/* Can these two be ranks of one?  No two are on one GPU, and of hosts whose clocks are only guessed times say nothing. */
static bool communicators_apart(struct made_before *m, uint32_t x, uint32_t y)
{
	uint32_t pids[2] = { own(m, x)->pid, own(m, y)->pid };

	if (pids[0] == pids[1] && (communicators_gpu(m, x) < 0 || communicators_gpu(m, x) == communicators_gpu(m, y)))
		return false;
	return ct_collectives_unsure(m->c, pids[0], pids[1]) != UINT64_MAX;
}

/* Are there just as many as one communicator has?  Else by calls alone each could be of another one. */
static bool communicators_one(const struct made_before *m, uint32_t x)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->count; i++)
		count += m->c->communicators[m->list[i]].ranks == m->c->communicators[x].ranks;
	return count == m->c->communicators[x].ranks;
}

static bool communicators_have(const struct made_before *m, uint32_t x, uint32_t rank)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->joined[m->list[i]] == x && own(m, m->list[i])->rank == rank)
			return true;
	return false;
}

/*
 * Of those that could be this rank beside @of the one whose kernels end nearest; @also: may be it, although it is in use.
 * ALONE: there is none, or it is not clear.
 */
static uint32_t communicators_find(struct made_before *m, uint32_t of, uint32_t rank, uint32_t also)
{
	double nearest = 0, next = 0;
	bool guessed = false;
	uint32_t found = ALONE, count = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		uint32_t y = m->list[i];
		struct match match;
		bool measured = false;

		if ((y != also && !communicators_may(m, of, y)) || own(m, y)->rank != rank || !communicators_apart(m, of, y))
			continue;
		match = communicators_match(m, of, y, &measured);
		if (!match.found)
			continue;
		guessed |= !measured;
		if (!count++ || match.apart < nearest) {
			next = count > 1 ? nearest : 0;
			nearest = match.apart;
			found = y;
		} else if (count == 2 || match.apart < next) {
			next = match.apart;
		}
	}
	if (guessed && !communicators_one(m, of))
		return ALONE;
	return count > 1 && (guessed || next < NEARER * nearest) ? ALONE : found;
}

/*
 * Who else is of @x, if that is clear from both sides: of groups that work in step others may seem as near.  Where they only
 * send and receive, not all have something in common with @x: each that belongs to it looks for more.
 */
static bool communicators_join(struct made_before *m, uint32_t x)
{
	bool any = false;

	m->joined[x] = x;
	for (uint32_t i = 0; i < m->count; i++)
		for (uint32_t k = 0; m->joined[m->list[i]] == x && k < m->count; k++) {
			uint32_t of = m->list[i], y = m->list[k], found;
			bool asked = false;

			if (!m->matches)
				return any;
			if (!communicators_may(m, x, y))
				continue;
			/* The same rank was looked for with an earlier one. */
			for (uint32_t l = 0; l < k && !asked; l++)
				asked = communicators_may(m, x, m->list[l]) && own(m, m->list[l])->rank == own(m, y)->rank;
			if (asked || communicators_have(m, x, own(m, y)->rank))
				continue;
			found = communicators_find(m, of, own(m, y)->rank, ALONE);
			if (found == ALONE || communicators_find(m, found, own(m, of)->rank, of) != of)
				continue;
			m->joined[found] = x;
			any = true;
		}
	return any;
}

static bool communicators_alone(const struct made_before *m, uint32_t x)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->list[i] != x && m->joined[m->list[i]] == x)
			return false;
	return true;
}

/* ------------------------------------------------------------------- numbers --- */

static void numbers_put(struct made_before *m, const struct row *r, int64_t base, int64_t from)
{
	for (uint32_t i = 0; i < r->count; i++) {
		struct ct_part *p = &m->c->parts[m->order[r->first + i]];
		int64_t number = i + 1 + r->ahead + base;

		p->number = (uint32_t)number;
		p->apart = number < from;
	}
}

/*
 * Two or more rows of the same calls: the numbers of each go on from those of one that is known.  What has nothing in common with
 * any comes behind all, and is of nobody else.  Their order may change.
 */
static void numbers_agree(struct made_before *m, struct row **rows, uint32_t count)
{
	int64_t least = 0, most = 0, behind = rows[0]->count;
	uint32_t known = 1;

	rows[0]->ahead = 0;
	for (uint32_t i = 1; i < count; i++) {
		struct match match = { .found = false };
		struct row *row = rows[i];

		for (uint32_t k = 0; k < known && !match.found && m->matches; k++) {
			m->matches--;
			match = row_match(m, rows[k], row);
			row->ahead = rows[k]->ahead - match.shift;
		}
		if (!match.found)
			continue;
		least = row->ahead < least ? row->ahead : least;
		most = row->ahead > most ? row->ahead : most;
		behind = row->ahead + row->count > behind ? row->ahead + row->count : behind;
		rows[i] = rows[known];
		rows[known++] = row;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i >= known) {
			rows[i]->ahead = behind;
			behind += rows[i]->count;
		}
		numbers_put(m, rows[i], -least, i < known ? most - least + 1 : INT64_MAX);
	}
}

static int communicators_number(struct made_before *m, uint32_t x)
{
	struct row **rows = malloc((m->count + 1ul) * sizeof(*rows));
	uint32_t count = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->count; i++) {
		struct row *r = m->joined[m->list[i]] == x ? rows_find(m, m->list[i], -1, false) : NULL;

		if (r)
			rows[count++] = r;
	}
	if (count > 1)
		numbers_agree(m, rows, count);
	free(rows);
	/* What one sends another. */
	for (uint32_t i = 0; i < m->count; i++)
		for (uint32_t k = 0; m->joined[m->list[i]] == x && k < m->count; k++) {
			uint32_t y = m->list[i], z = m->list[k];
			struct row *sends = m->joined[z] == x ? rows_find(m, y, (int32_t)own(m, z)->rank, false) : NULL;
			struct row *receives = sends ? rows_find(m, z, (int32_t)own(m, y)->rank, true) : NULL;

			if (receives)
				numbers_agree(m, (struct row *[]){ sends, receives }, 2);
		}
	return 0;
}

/* All parts and members are of @x from here on. */
static int communicators_unite(struct made_before *m, uint32_t x)
{
	struct ct_collectives *c = m->c;

	for (uint32_t i = 0; i < m->count; i++) {
		uint32_t y = m->list[i];
		struct ct_comm *into = &c->communicators[x], *from = &c->communicators[y];

		if (y == x || m->joined[y] != x)
			continue;
		if (!ct_room(into->members, into->members_count, into->members_capacity))
			return -ENOMEM;
		into->members[into->members_count++] = from->members[0];
		into->calls += from->calls;
		from->members_count = from->ranks = from->calls = 0;
		from->made_before = false;
	}
	return 0;
}

int ct_made_before_join(struct ct_collectives *c)
{
	struct made_before m = { .c = c, .matches = MATCHES_MOST };
	bool more;
	int rc;

	for (uint32_t i = 0; i < c->communicators_count; i++)
		if (c->communicators[i].made_before) {
			if (m.count == COMMUNICATORS_MOST)
				return 0;
			m.list[m.count++] = i;
		}
	if (m.count < 2)
		return 0;
	rc = rows_make(&m);
	/* Who has been found is no candidate any more: so others may have become clear. */
	more = !rc;
	for (unsigned int round = 0; more && round < ROUNDS_MOST; round++) {
		more = false;
		for (uint32_t i = 0; i < m.count; i++) {
			uint32_t x = m.list[i];

			if (m.joined[x] != ALONE && m.joined[x] != x)
				continue;
			more |= communicators_join(&m, x);
			if (communicators_alone(&m, x))
				m.joined[x] = ALONE;
		}
	}
	for (uint32_t i = 0; i < m.count && !rc; i++)
		if (m.joined[m.list[i]] == m.list[i]) {
			rc = communicators_number(&m, m.list[i]);
			rc = rc ? rc : communicators_unite(&m, m.list[i]);
		}
	for (size_t i = 0; i < c->parts_count && !rc; i++)
		if (m.joined[c->parts[i].communicator] != ALONE)
			c->parts[i].communicator = m.joined[c->parts[i].communicator];
	free(m.order);
	free(m.rows);
	free(m.joined);
	free(m.first_row);
	return rc;
}
