// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report cuda_gpu_kern_sum: kernels by name.  Must never guess the kernels of a graph. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/cuda/distribution.h"
#include "analysis/cuda/groups.h"
#include "analysis/gpu/coverage.h"
#include "spans/work.h"

enum { NAME = CT_DIST_COLUMNS, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	CT_DIST_OF_TIME("Instances", "launches"),
	[NAME] = { "Name", "kernel", CT_CELL_KERNEL, 0 },
};

struct kern_sum {
	struct ct_gpu_source source;
	struct ct_text_groups kernels;
};

static bool kern_sum_wants(const struct ct_class *class)
{
	return ct_gpu_is_kernel(class) || ct_gpu_is_graph(class);
}

static int kern_sum_begin(struct ct_analysis *a)
{
	struct kern_sum *s = a->state;

	s->source.measured = ct_gpu_measured(a->trace, a->filter->layer);
	return 0;
}

static int kern_sum_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct kern_sum *s = a->state;
	int i;

	if (!ct_gpu_counts(&s->source, span) || !(span->flags & CT_SPAN_TIMED))
		return 0;
	i = ct_groups_string(&s->kernels, a->names, ct_record_quick(span->record, CT_QUICK_KERNEL));
	return i < 0 ? i : ct_histogram_add(&s->kernels.list[i].values, span->duration);
}

static int kern_sum_end(struct ct_analysis *a)
{
	struct kern_sum *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "cuda_gpu_kern_sum", s->source.measured ?
		"GPU kernels: times on the GPU, from its records" :
		"GPU kernels: times of the launch calls on the host, without records of the GPU",
		columns, COLUMNS);
	uint64_t total = 0;
	unsigned int count;
	struct ct_text_group **list = ct_groups_sorted(&s->kernels, &count);

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		total += list[i]->values.total;
	for (unsigned int i = 0; i < count; i++) {
		struct ct_cell *row = ct_table_row(t);

		ct_distribution_row(row, &list[i]->values, total);
		row[NAME] = ct_const(list[i]->text);
	}
	if (ct_groups_full(&s->kernels))
		ct_table_note(t, "Kernels beyond %u different names are one row, (other).", CT_GROUPS_MAX);
	ct_gpu_notes(&s->source, t, "kernels");
	ct_gpu_coverage_notes(a, t, false);
	free(list);
	return 0;
}

static void kern_sum_free(struct ct_analysis *a)
{
	struct kern_sum *s = a->state;

	ct_groups_free(&s->kernels);
}

static const struct ct_analyser *const needs[] = { &ct_gpu_coverage_analyser, NULL };

const struct ct_analyser ct_report_cuda_gpu_kern_sum = {
	.name = "cuda_gpu_kern_sum",
	.summary = "kernels by name: launches and times, from the GPU's records or else the calls",
	.single = true,
	.spans = CT_SPANS_BY_END,
	.wants = kern_sum_wants,
	.needs = needs,
	.state_size = sizeof(struct kern_sum),
	.begin = kern_sum_begin,
	.span = kern_sum_span,
	.end = kern_sum_end,
	.free = kern_sum_free,
};
