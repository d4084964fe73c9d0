// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reports collectives_sum and collectives: the operations of the ranks of a job.  Memory: see
 * ranks/collectives.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/job_names.h"
#include "analysis/ranks/job_uncovered.h"
#include "decode/nccl.h"
#include "group/histogram.h"

/* ------------------------------------------------------------------- in sum --- */

enum { S_WAITING, S_MOVING, S_COUNT, S_OPERATION, S_SIZE, S_TYPE, S_RANKS, S_MEDIAN, S_BUS, S_ALG, S_SKEW, S_SKEW_95, S_LAST,
       S_LAST_COUNT, S_COMMUNICATOR, S_MEMBERS, S_MISSING, S_COLUMNS };

static const struct ct_column sum_columns[S_COLUMNS] = {
	[S_WAITING] = { "Waiting (ns)", "waiting", CT_CELL_NS, 0 },
	[S_MOVING] = { "Moving (ns)", "moving", CT_CELL_NS, 0 },
	[S_COUNT] = { "Count", "count", CT_CELL_COUNT, 0 },
	[S_OPERATION] = { "Operation", "operation", CT_CELL_TEXT, 0 },
	[S_SIZE] = { "Size (bytes)", "size", CT_CELL_BYTES, 0 },
	[S_TYPE] = { "Type", "type", CT_CELL_TEXT, 6 },
	[S_RANKS] = { "Ranks", "ranks", CT_CELL_COUNT, 5 },
	[S_MEDIAN] = { "Moving Med (ns)", "moving med", CT_CELL_NS_MEAN, 4 },
	[S_BUS] = { "Bus Bandwidth (GB/s)", "bus GB/s", CT_CELL_NUMBER, 0 },
	[S_ALG] = { "Algorithm Bandwidth (GB/s)", "alg GB/s", CT_CELL_NUMBER, 8 },
	[S_SKEW] = { "Skew Med (ns)", "skew med", CT_CELL_NS_MEAN, 3 },
	[S_SKEW_95] = { "Skew P95 (ns)", "p95", CT_CELL_NS, 7 },
	[S_LAST] = { "Last Rank", "last", CT_CELL_ID, 1 },
	[S_LAST_COUNT] = { "Last Rank Count", "times", CT_CELL_COUNT, 2 },
	[S_COMMUNICATOR] = { "Communicator", "communicator", CT_CELL_TEXT, 5 },
	[S_MEMBERS] = { "Its Ranks", "its ranks", CT_CELL_TEXT, 4 },
	[S_MISSING] = { "Not Complete", "not complete", CT_CELL_COUNT, 6 },
};

struct sum_last {
	uint64_t rank;
	uint64_t count;
};

struct sum {
	uint64_t key, size;		/* communicator and function; of its operations */
	const struct ct_operation *first;
	uint64_t count, measured, incomplete, waiting, moving;
	double bytes, bus_bytes, seconds;
	struct ct_histogram moves, skews;
	CT_KEYED(struct sum_last) lasts;
};

struct sums {
	CT_KEYED(struct sum) list;
};

static int sums_add(struct ct_analysis *a, struct sums *s, const struct ct_operation *o)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_part *last = &c->parts[o->last];
	uint64_t key = (uint64_t)o->communicator << 32 | (o->pair ? 0 : c->parts[o->first].class->id), moving = 0, most = 0;
	struct sum *sum = ct_keyed_put_pair(&s->list, key, ct_operation_size(c, o));
	struct sum_last *by;
	int rc = 0;

	if (!sum)
		return -ENOMEM;
	if (!sum->count++)
		sum->first = o;
	if (!o->complete) {
		sum->incomplete += o->hangs;
		return 0;
	}
	for (uint32_t i = 0; i < o->count; i++) {
		sum->waiting += c->parts[o->first + i].waiting;
		moving += c->parts[o->first + i].moving;
		most = c->parts[o->first + i].moving > most ? c->parts[o->first + i].moving : most;
	}
	sum->moving += moving;
	if (o->measured) {
		/* A sender may be done long before its receiver. */
		double ns = o->pair ? most : (double)moving / o->count;

		sum->measured++;
		sum->bytes += ct_operation_size(c, o);
		sum->bus_bytes += ct_operation_size(c, o) * ct_operation_bus(c, o);
		sum->seconds += ns / 1e9;
		rc = ct_histogram_add(&sum->moves, ns);
	}
	if (rc || o->expected < 2)
		return rc;
	by = ct_keyed_put(&sum->lasts, ct_job_rank_of(a, last));
	if (!by)
		return -ENOMEM;
	by->count++;
	return ct_histogram_add(&sum->skews, ct_part_arrived(last) - o->arrived);
}

static int sums_compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	uint64_t all[2] = { x->waiting + x->moving, y->waiting + y->moving };

	if (all[0] != all[1])
		return all[0] > all[1] ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void sums_row(struct ct_analysis *a, struct ct_table *t, struct sum *sum)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_part *p = &c->parts[sum->first->first];
	struct ct_cell *row = ct_table_row(t);
	const struct sum_last *most = NULL;
	char members[64];

	for (size_t i = 0; i < sum->lasts.count; i++)
		if (!most || sum->lasts.list[i].count > most->count)
			most = &sum->lasts.list[i];
	row[S_COUNT] = ct_u64(sum->count);
	row[S_OPERATION] = ct_const(sum->first->pair ? "Send/Recv" : ct_part_name(p));
	row[S_SIZE] = ct_u64(sum->size);
	row[S_TYPE] = ct_const(nccl_type_name(p->datatype));
	if (sum->first->expected)
		row[S_RANKS] = ct_u64(sum->first->expected);
	row[S_COMMUNICATOR] = ct_format(t, "%016llx", (unsigned long long)c->communicators[sum->first->communicator].id);
	row[S_MEMBERS] = ct_text(t, ct_job_members(a, sum->first->communicator, members, sizeof(members)));
	row[S_MISSING] = ct_u64(sum->incomplete);
	if (sum->measured) {
		row[S_WAITING] = ct_u64(sum->waiting);
		row[S_MOVING] = ct_u64(sum->moving);
		row[S_MEDIAN] = ct_double(ct_histogram_median(&sum->moves));
	}
	if (sum->seconds > 0) {
		row[S_BUS] = ct_double(sum->bus_bytes / sum->seconds / 1e9);
		row[S_ALG] = ct_double(sum->bytes / sum->seconds / 1e9);
	}
	if (!most)
		return;
	row[S_SKEW] = ct_double(ct_histogram_median(&sum->skews));
	row[S_SKEW_95] = ct_u64(ct_histogram_value(&sum->skews, 950));
	row[S_LAST] = ct_u64(most->rank);
	row[S_LAST_COUNT] = ct_u64(most->count);
}

/* What the figures are, and what is not known. */
static void collectives_notes(const struct ct_analysis *a, struct ct_table *t)
{
	const struct ct_collectives *c = a->collectives;
	char uncalled[1000];

	if (c->measured && c->parts_count)
		ct_table_note(t, "A kernel waits until the last rank's has begun, and moves data from then on; bandwidth is that of "
			      "moving, as nccl-tests define it.");
	else if (c->parts_count)
		ct_table_note(t, "When ranks called it; how long they waited is known with --gpu only.");
	if (*ct_job_unrecorded(a, uncalled, sizeof(uncalled)))
		ct_table_note(t, "%s Of collectives with the others only the calls are known.", uncalled);
	if (*ct_job_uncalled(a, uncalled, sizeof(uncalled)))
		ct_table_note(t, "%s They are not counted.", uncalled);
	if (c->left_out)
		ct_table_note(t, "There are more calls than %u: the rest is left out.", CT_PARTS_MAX);
}

static bool collectives_shown(const struct ct_analysis *a, const struct ct_operation *o)
{
	const struct ct_report_filter *f = a->filter;
	bool pid = !f->pid;

	for (uint32_t i = 0; i < o->count; i++)
		pid |= a->collectives->parts[o->first + i].pid == f->pid;
	return pid && (!f->from || o->arrived >= f->from) && (!f->to || o->arrived < f->to);
}

static int sums_end(struct ct_analysis *a)
{
	const struct ct_collectives *c = a->collectives;
	struct ct_table *t = ct_analysis_table(a, "collectives_sum",
		"Collectives by operation, size and communicator: sums over all ranks", sum_columns, S_COLUMNS);
	struct sums *s = a->state;
	int rc = 0;

	for (size_t i = 0; i < c->operations_count && !rc; i++)
		if (collectives_shown(a, &c->operations[i]))
			rc = sums_add(a, s, &c->operations[i]);
	ct_keyed_sort(&s->list, sums_compare);
	for (size_t i = 0; i < s->list.count && !rc; i++)
		sums_row(a, t, &s->list.list[i]);
	collectives_notes(a, t);
	return rc;
}

static void sums_free(struct ct_analysis *a)
{
	struct sums *s = a->state;

	for (size_t i = 0; i < s->list.count; i++) {
		ct_histogram_free(&s->list.list[i].moves);
		ct_histogram_free(&s->list.list[i].skews);
		ct_keyed_free(&s->list.list[i].lasts);
	}
	ct_keyed_free(&s->list);
}

const struct ct_analyser ct_report_collectives_sum = {
	.name = "collectives_sum",
	.summary = "NCCL operations by kind, size and communicator: waiting, moving, bandwidth, who came last",
	.single = true,
	.collectives = true,
	.summaries = true,
	.state_size = sizeof(struct sums),
	.end = sums_end,
	.free = sums_free,
};

/* ------------------------------------------------------------------- each one --- */

enum { START, OPERATION, NUMBER, SIZE, RANKS, SKEW, LAST, WAITING, MOVING, BUS, COMMUNICATOR, PEERS, STATE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },
	[OPERATION] = { "Operation", "operation", CT_CELL_TEXT, 0 },
	[NUMBER] = { "Number", "number", CT_CELL_ID, 0 },
	[SIZE] = { "Size (bytes)", "size", CT_CELL_BYTES, 0 },
	[RANKS] = { "Ranks", "ranks", CT_CELL_COUNT, 3 },
	[SKEW] = { "Skew (ns)", "skew", CT_CELL_NS, 0 },
	[LAST] = { "Last Rank", "last", CT_CELL_ID, 0 },
	[WAITING] = { "Waiting (ns)", "waiting", CT_CELL_NS, 0 },
	[MOVING] = { "Moving (ns)", "moving", CT_CELL_NS, 0 },
	[BUS] = { "Bus Bandwidth (GB/s)", "bus GB/s", CT_CELL_NUMBER, 1 },
	[COMMUNICATOR] = { "Communicator", "communicator", CT_CELL_TEXT, 4 },
	[PEERS] = { "Root or Peers", "root/peers", CT_CELL_TEXT, 2 },
	[STATE] = { "State", "state", CT_CELL_TEXT, 0 },
};

struct each {
	const struct ct_operation **list;
};

static int each_compare(const void *a, const void *b)
{
	const struct ct_operation *x = *(const struct ct_operation *const *)a;
	const struct ct_operation *y = *(const struct ct_operation *const *)b;

	if (x->arrived != y->arrived)
		return x->arrived < y->arrived ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* The root or peer, in the job where that is known. */
static int each_rank(const struct ct_analysis *a, const struct ct_part *p)
{
	int64_t rank = ct_job_rank_in(a, p->communicator, p->root);

	return rank < 0 ? p->root : (int)rank;
}

static void each_row(struct ct_analysis *a, struct ct_table *t, const struct ct_operation *o)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_part *p = &c->parts[o->first], *last = &c->parts[o->last];
	struct ct_cell *row = ct_table_row(t);
	uint64_t waiting = 0, moving = 0;
	char missing[96], text[400];

	for (uint32_t i = 0; i < o->count; i++) {
		waiting += c->parts[o->first + i].waiting;
		moving += c->parts[o->first + i].moving;
	}
	row[START] = ct_moment(a, o->arrived);
	row[OPERATION] = ct_const(o->pair ? "Send/Recv" : ct_part_name(p));
	row[NUMBER] = ct_u64(o->number);
	row[SIZE] = ct_u64(ct_operation_size(c, o));
	if (o->expected)
		row[RANKS] = ct_u64(o->expected);
	row[COMMUNICATOR] = ct_format(t, "%016llx", (unsigned long long)c->communicators[o->communicator].id);
	if (o->pair)
		row[PEERS] = ct_format(t, "%d to %d", ct_class_is(p->class, CT_IS_SEND) ? (int)ct_job_rank_of(a, p) : each_rank(a, p),
				       ct_class_is(p->class, CT_IS_SEND) ? each_rank(a, p) : (int)ct_job_rank_of(a, p));
	else if (p->root >= 0)
		row[PEERS] = ct_format(t, "%d", each_rank(a, p));
	if (o->complete && o->expected > 1) {
		row[SKEW] = ct_u64(ct_part_arrived(last) - o->arrived);
		row[LAST] = ct_u64(ct_job_rank_of(a, last));
	}
	if (o->measured) {
		row[WAITING] = ct_u64(waiting);
		row[MOVING] = ct_u64(moving / o->count);
		if (moving)
			row[BUS] = ct_double(ct_operation_size(c, o) * ct_operation_bus(c, o) * o->count / moving);
	}
	if (o->mismatched)
		row[STATE] = ct_format(t, "ranks differ: %s", ct_job_mismatch(a, o, text, sizeof(text)));
	else if (!o->complete && !o->hangs)
		row[STATE] = ct_const(o->apart ? "not all ranks were recorded then" : o->expected ? "other ranks are not in the trace" : "its ranks are not known");
	else if (!o->complete)
		row[STATE] = ct_format(t, "not called by rank %s", ct_job_missing(a, o, missing, sizeof(missing)));
}

static int each_end(struct ct_analysis *a)
{
	const struct ct_collectives *c = a->collectives;
	struct ct_table *t = ct_analysis_table(a, "collectives", "Each collective: waiting is the sum over its ranks, moving their mean",
					       columns, COLUMNS);
	struct each *s = a->state;

	s->list = calloc(c->operations_count + 1, sizeof(*s->list));
	if (!s->list)
		return -ENOMEM;
	for (size_t i = 0; i < c->operations_count; i++)
		s->list[i] = &c->operations[i];
	qsort(s->list, c->operations_count, sizeof(*s->list), each_compare);
	for (size_t i = 0; i < c->operations_count; i++)
		if (collectives_shown(a, s->list[i]))
			each_row(a, t, s->list[i]);
	collectives_notes(a, t);
	return 0;
}

static void each_free(struct ct_analysis *a)
{
	free(((struct each *)a->state)->list);
}

const struct ct_analyser ct_report_collectives = {
	.name = "collectives",
	.summary = "each NCCL operation: who came last, how long the others waited, bandwidth",
	.single = true,
	.collectives = true,
	.summaries = true,
	.state_size = sizeof(struct each),
	.end = each_end,
	.free = each_free,
};
