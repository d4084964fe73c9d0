// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report cuda_api_sum: calls of libcuda and libcudart by function. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/calls.h"
#include "analysis/cuda/distribution.h"

enum { NAME = CT_DIST_COLUMNS, P95, P99, FAILED, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	CT_DIST_OF_TIME("Num Calls", "calls"),
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
	[P95] = { "P95 (ns)", "p95", CT_CELL_NS, 6 },
	[P99] = { "P99 (ns)", "p99", CT_CELL_NS, 5 },
	[FAILED] = { "Failed", "failed", CT_CELL_COUNT, 1 },
};

static bool api_sum_is_api(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API);
}

static int api_sum_compare(const void *a, const void *b)
{
	const struct ct_op_stat *x = *(struct ct_op_stat *const *)a;
	const struct ct_op_stat *y = *(struct ct_op_stat *const *)b;

	if (x->durations.total != y->durations.total)
		return x->durations.total > y->durations.total ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->class->id - y->class->id;
}

static void api_sum_row(struct ct_table *t, const struct ct_calls *calls, struct ct_op_stat *op,
			uint64_t total)
{
	struct ct_cell *row = ct_table_row(t);
	struct ct_histogram *h = &op->durations;

	ct_distribution_row(row, h, total);
	row[CT_DIST_COUNT] = ct_u64(op->count); /* also those that have no time */
	row[NAME] = ct_const(ct_calls_name(calls, op));
	row[FAILED] = ct_u64(op->failed);
	if (!h->count)
		return;
	row[P95] = ct_u64(ct_histogram_value(h, 950));
	row[P99] = ct_u64(ct_histogram_value(h, 990));
}

static int api_sum_end(struct ct_analysis *a)
{
	struct ct_calls *calls = ct_analysis_state(a, &ct_calls_analyser);
	struct ct_op_stat **list = calloc(calls->ops_count + 1, sizeof(*list));
	struct ct_table *t = ct_analysis_table(a, "cuda_api_sum", "CUDA API calls", columns, COLUMNS);
	unsigned int count = 0;
	uint64_t total = 0, untimed = 0;

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < calls->ops_count; i++)
		if (api_sum_is_api(calls->ops[i].class)) {
			list[count++] = &calls->ops[i];
			total += calls->ops[i].durations.total;
			untimed += !calls->ops[i].durations.count;
		}
	qsort(list, count, sizeof(*list), api_sum_compare);
	for (unsigned int i = 0; i < count; i++)
		api_sum_row(t, calls, list[i], total);
	if (untimed)
		ct_table_note(t, "Getters of a few ns are counted, not timed; record --time-queries times them.");
	free(list);
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_calls_analyser, NULL };

const struct ct_analyser ct_report_cuda_api_sum = {
	.name = "cuda_api_sum",
	.summary = "calls of libcuda (and libcudart) by function: time, count, percentiles, failures",
	.single = true,
	.needs = needs,
	.end = api_sum_end,
};
