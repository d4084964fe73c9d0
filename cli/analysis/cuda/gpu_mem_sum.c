// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reports cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum: copies and memory sets by
 * their direction.  One collector counts for both.
 */
#include <stdlib.h>

#include "analysis/cuda/distribution.h"
#include "analysis/gpu/coverage.h"
#include "spans/work.h"

enum { OPERATION = CT_DIST_COLUMNS, COLUMNS };

static const struct ct_column time_columns[COLUMNS] = {
	CT_DIST_OF_TIME("Count", "count"),
	[OPERATION] = { "Operation", "operation", CT_CELL_TEXT, 0 },
};

enum { TOTAL, COUNT, AVG, MED, MIN, MAX, DEVIATION, SIZE_OPERATION, SIZE_COLUMNS };

static const struct ct_column size_columns[SIZE_COLUMNS] = {
	[TOTAL] = { "Total (MB)", "total", CT_CELL_MB, 0 },
	[COUNT] = { "Count", "count", CT_CELL_COUNT, 0 },
	[AVG] = { "Avg (MB)", "avg", CT_CELL_MB, 2 },
	[MED] = { "Med (MB)", "median", CT_CELL_MB, 3 },
	[MIN] = { "Min (MB)", "min", CT_CELL_MB, 4 },
	[MAX] = { "Max (MB)", "max", CT_CELL_MB, 1 },
	[DEVIATION] = { "StdDev (MB)", "stddev", CT_CELL_MB, 5 },
	[SIZE_OPERATION] = { "Operation", "operation", CT_CELL_TEXT, 0 },
};

struct mem_sum {
	struct ct_gpu_source source;
	struct ct_histogram times[CT_GPU_OPERATIONS], sizes[CT_GPU_OPERATIONS];
};

static bool mem_sum_wants(const struct ct_class *class)
{
	return ct_gpu_is_transfer(class) || ct_gpu_is_graph(class);
}

static int mem_sum_begin(struct ct_analysis *a)
{
	struct mem_sum *s = a->state;

	s->source.measured = ct_gpu_measured(a->trace, a->filter->layer);
	return 0;
}

static int mem_sum_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct mem_sum *s = a->state;
	unsigned int i;
	int rc;

	if (!ct_gpu_counts(&s->source, span) || !(span->flags & CT_SPAN_TIMED))
		return 0;
	i = ct_gpu_operation(span->record);
	rc = ct_histogram_add(&s->times[i], span->duration);
	return rc ? rc : ct_histogram_add(&s->sizes[i], ct_record_quick(span->record, CT_QUICK_SIZE));
}

static void mem_sum_free(struct ct_analysis *a)
{
	struct mem_sum *s = a->state;

	for (unsigned int i = 0; i < CT_GPU_OPERATIONS; i++) {
		ct_histogram_free(&s->times[i]);
		ct_histogram_free(&s->sizes[i]);
	}
}

static const struct ct_analyser mem_sum_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = mem_sum_wants,
	.state_size = sizeof(struct mem_sum),
	.begin = mem_sum_begin,
	.span = mem_sum_span,
	.free = mem_sum_free,
};

static const struct ct_analyser *const needs[] = { &mem_sum_analyser, &ct_gpu_coverage_analyser, NULL };

/* ------------------------------------------------------------ the reports --- */

/* The operations that happened, those with the largest total first.  Return: how many. */
static unsigned int mem_sum_order(const struct ct_histogram *all, unsigned int order[CT_GPU_OPERATIONS])
{
	unsigned int count = 0, at;

	for (unsigned int i = 0; i < CT_GPU_OPERATIONS; i++) {
		if (!all[i].count)
			continue;
		for (at = count++; at > 0 && all[order[at - 1]].total < all[i].total; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return count;
}

static int mem_time_sum_end(struct ct_analysis *a)
{
	struct mem_sum *s = ct_analysis_state(a, &mem_sum_analyser);
	struct ct_table *t = ct_analysis_table(a, "cuda_gpu_mem_time_sum", s->source.measured ?
		"GPU memory by time: on the GPU, from its records" :
		"GPU memory by time: of the calls on the host, without records of the GPU",
		time_columns, COLUMNS);
	unsigned int order[CT_GPU_OPERATIONS], count = mem_sum_order(s->times, order);
	uint64_t total = 0;

	for (unsigned int i = 0; i < count; i++)
		total += s->times[order[i]].total;
	for (unsigned int i = 0; i < count; i++) {
		struct ct_cell *row = ct_table_row(t);

		ct_distribution_row(row, &s->times[order[i]], total);
		row[OPERATION] = ct_const(ct_gpu_operation_name(order[i]));
	}
	ct_gpu_notes(&s->source, t, "copies");
	ct_gpu_coverage_notes(a, t, false);
	return 0;
}

static int mem_size_sum_end(struct ct_analysis *a)
{
	struct mem_sum *s = ct_analysis_state(a, &mem_sum_analyser);
	struct ct_table *t = ct_analysis_table(a, "cuda_gpu_mem_size_sum", s->source.measured ?
		"GPU memory by size: from the records of the GPU" :
		"GPU memory by size: from the calls, without records of the GPU",
		size_columns, SIZE_COLUMNS);
	unsigned int order[CT_GPU_OPERATIONS], count = mem_sum_order(s->sizes, order);

	for (unsigned int i = 0; i < count; i++) {
		struct ct_histogram *h = &s->sizes[order[i]];
		struct ct_cell *row = ct_table_row(t);

		row[TOTAL] = ct_double(h->total);
		row[COUNT] = ct_u64(h->count);
		row[AVG] = ct_double(h->mean);
		row[MED] = ct_double(ct_histogram_median(h));
		row[MIN] = ct_double(h->min);
		row[MAX] = ct_double(h->max);
		row[DEVIATION] = ct_double(ct_histogram_deviation(h));
		row[SIZE_OPERATION] = ct_const(ct_gpu_operation_name(order[i]));
	}
	ct_gpu_notes(&s->source, t, "copies");
	ct_gpu_coverage_notes(a, t, false);
	return 0;
}

const struct ct_analyser ct_report_cuda_gpu_mem_time_sum = {
	.name = "cuda_gpu_mem_time_sum",
	.summary = "copies and memory sets by direction: how long they took",
	.single = true,
	.needs = needs,
	.end = mem_time_sum_end,
};

const struct ct_analyser ct_report_cuda_gpu_mem_size_sum = {
	.name = "cuda_gpu_mem_size_sum",
	.summary = "copies and memory sets by direction: how many bytes",
	.single = true,
	.needs = needs,
	.end = mem_size_sum_end,
};
