// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report driver_sum: functions of the kernel driver.  Only the module records them. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/calls.h"

enum { TIME, TOTAL, SELF, CALLS, AVG, MED, P99, MAX, FAILED, TYPE, NAME, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[TIME] = { "Time (%)", "self", CT_CELL_PERCENT, 0 },
	[TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[SELF] = { "Self (ns)", "self time", CT_CELL_NS, 0 },
	[CALLS] = { "Num Calls", "calls", CT_CELL_COUNT, 0 },
	[AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 4 },
	[MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 3 },
	[P99] = { "P99 (ns)", "p99", CT_CELL_NS, 5 },
	[MAX] = { "Max (ns)", "max", CT_CELL_NS, 2 },
	[FAILED] = { "Failed", "failed", CT_CELL_COUNT, 1 },
	[TYPE] = { "Type", "type", CT_CELL_TEXT, 1 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
};

static int driver_sum_compare(const void *a, const void *b)
{
	const struct ct_op_stat *x = *(struct ct_op_stat *const *)a;
	const struct ct_op_stat *y = *(struct ct_op_stat *const *)b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->class->id - y->class->id;
}

static void driver_sum_row(struct ct_table *t, const struct ct_calls *calls, struct ct_op_stat *op,
			   uint64_t total)
{
	struct ct_cell *row = ct_table_row(t);
	struct ct_histogram *h = &op->durations;

	row[CALLS] = ct_u64(op->count);
	row[FAILED] = ct_u64(op->failed);
	row[TYPE] = ct_const(ct_category_word[op->class->category]);
	row[NAME] = ct_const(ct_calls_name(calls, op));
	if (!h->count)
		return;
	row[TIME] = ct_double(total ? 100.0 * op->self / total : 0);
	row[TOTAL] = ct_u64(h->total);
	row[SELF] = ct_u64(op->self);
	row[AVG] = ct_double(h->mean);
	row[MED] = ct_double(ct_histogram_median(h));
	row[P99] = ct_u64(ct_histogram_value(h, 990));
	row[MAX] = ct_u64(h->max);
}

static int driver_sum_end(struct ct_analysis *a)
{
	struct ct_calls *calls = ct_analysis_state(a, &ct_calls_analyser);
	struct ct_op_stat **list = calloc(calls->ops_count + 1, sizeof(*list));
	struct ct_table *t = ct_analysis_table(a, "driver_sum",
		"Functions of the kernel driver; shares are of the time in the functions themselves",
		columns, COLUMNS);
	unsigned int count = 0;
	uint64_t total = 0;

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < calls->ops_count; i++)
		if (calls->ops[i].class->layer == CT_LAYER_KERNEL && calls->ops[i].class->call) {
			list[count++] = &calls->ops[i];
			total += calls->ops[i].self;
		}
	qsort(list, count, sizeof(*list), driver_sum_compare);
	for (unsigned int i = 0; i < count; i++)
		driver_sum_row(t, calls, list[i], total);
	if (!a->trace->has_kernel)
		ct_table_note(t, "The kernel module did not record: record it with the module loaded.");
	free(list);
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_calls_analyser, NULL };

const struct ct_analyser ct_report_driver_sum = {
	.name = "driver_sum",
	.summary = "functions of the kernel driver: time, self time, percentiles, failures",
	.single = true,
	.needs = needs,
	.end = driver_sum_end,
};
