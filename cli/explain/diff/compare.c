// SPDX-License-Identifier: LGPL-2.1-or-later
/* See compare.h.  Must never call a difference certain that the traces' own spread explains. */
#include "explain/diff/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"

#define ITERATIONS_LEAST	3	/* fewer say nothing about the spread */

/* ---------------------------------------------------------------- matching --- */

static int compare_by_name(const void *a, const void *b)
{
	return strcmp(((const struct ct_diff_row *)a)->name, ((const struct ct_diff_row *)b)->name);
}

static int compare_by_effect(const void *a, const void *b)
{
	const struct ct_diff_row *x = a, *y = b;

	if (fabs(x->effect) != fabs(y->effect))
		return fabs(x->effect) > fabs(y->effect) ? -1 : 1;
	if (x->value[1].ns != y->value[1].ns)
		return x->value[1].ns > y->value[1].ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct ct_diff_value compare_value(const struct ct_diff_pair *pair, unsigned int side,
					  const struct ct_per_item *item)
{
	uint32_t n = pair->side[side].per->iterations;

	/* Of both runs all threads count, whether one of them has iterations or not. */
	if (!pair->iterations)
		return (struct ct_diff_value){
			.count = item->run.count, .ns = item->run.ns, .wall = item->run.ns, .there = true,
		};
	return (struct ct_diff_value){
		.count = (double)item->steady.count / n,
		.ns = (double)item->steady.ns / n,
		.wall = ct_per_mean(item, n),
		.error = ct_per_error(item, n),
		.there = item->steady.count > 0 || item->steady.ns > 0,
	};
}

static void compare_merge(struct ct_diff_value *into, const struct ct_diff_value *from)
{
	into->count += from->count;
	into->ns += from->ns;
	into->wall += from->wall;
	into->error = hypot(into->error, from->error);
	into->there |= from->there;
	into->elsewhere |= from->elsewhere;
}

/* Do the iterations launch graphs, of whose kernels nothing is recorded? */
static bool compare_graphs(const struct ct_diff_side *side)
{
	for (uint32_t i = 0; i < side->per->items.count; i++) {
		const struct ct_per_item *item = &side->per->items.list[i];

		if (item->kind == CT_PER_FUNCTION && item->steady.count && !strncmp(item->name, "cuGraphLaunch", 13))
			return true;
	}
	return false;
}

int ct_diff_match(const struct ct_diff_pair *pair, const enum ct_per_kind kind[2],
		  struct ct_diff_rows *rows)
{
	bool graphs[2] = { compare_graphs(&pair->side[0]), compare_graphs(&pair->side[1]) };
	uint32_t count = 0, kept = 0, there = 0;

	rows->count = 0;
	rows->list = calloc((size_t)pair->side[0].per->items.count + pair->side[1].per->items.count + 1,
			    sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	for (unsigned int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < pair->side[s].per->items.count; i++) {
			const struct ct_per_item *item = &pair->side[s].per->items.list[i];
			struct ct_diff_value value = compare_value(pair, s, item);

			/* One that was only captured never ran by itself. */
			bool captured = graphs[s] && item->kind == CT_PER_KERNEL && kind[s] == CT_PER_GPU;

			if (captured)
				value = (struct ct_diff_value){ 0 };
			else if (item->kind != kind[s])
				continue;
			value.elsewhere = captured || (!value.there && graphs[s] && item->run.count &&
						       (kind[s] == CT_PER_KERNEL || kind[s] == CT_PER_GPU));
			if (!value.there && !value.elsewhere)
				continue;
			rows->list[count].name = item->name;
			rows->list[count++].value[s] = value;
		}
	qsort(rows->list, count, sizeof(*rows->list), compare_by_name);
	/* One name may stand for several versions of a function, in each trace. */
	for (uint32_t i = 0; i < count; i++) {
		struct ct_diff_row *row = &rows->list[i];

		if (!kept || strcmp(rows->list[kept - 1].name, row->name)) {
			rows->list[kept++] = *row;
			continue;
		}
		compare_merge(&rows->list[kept - 1].value[0], &row->value[0]);
		compare_merge(&rows->list[kept - 1].value[1], &row->value[1]);
	}
	for (uint32_t i = 0; i < kept; i++)
		if (rows->list[i].value[0].there || rows->list[i].value[1].there)
			rows->list[there++] = rows->list[i];
	kept = there;
	for (uint32_t i = 0; i < kept; i++)
		rows->list[i].effect = rows->list[i].value[1].wall - rows->list[i].value[0].wall;
	qsort(rows->list, kept, sizeof(*rows->list), compare_by_effect);
	rows->count = kept;
	return 0;
}

/* ------------------------------------------------------------------- noise --- */

double ct_diff_noise(const struct ct_diff_pair *pair, double error_a, double error_b)
{
	if (!pair->iterations || pair->side[0].per->iterations < ITERATIONS_LEAST ||
	    pair->side[1].per->iterations < ITERATIONS_LEAST)
		return 0;
	return 2 * hypot(error_a, error_b);
}

const char *ct_diff_verdict(const struct ct_diff_pair *pair, const struct ct_diff_row *row)
{
	double noise = ct_diff_noise(pair, row->value[0].error, row->value[1].error);

	if (!row->value[0].there)
		return row->value[0].elsewhere ? "in graph" : "new";
	if (!row->value[1].there)
		return row->value[1].elsewhere ? "in graph" : "gone";
	/* Less than a tenth of a ns is the rounding of means. */
	if (fabs(row->effect) < 0.1)
		return "same";
	if (fabs(row->effect) <= noise)
		return "noise";
	return row->effect > 0 ? "slower" : "faster";
}

/* -------------------------------------------------------------- iterations --- */

int ct_diff_iteration(const struct ct_diff_side *side, double *median, double *error)
{
	uint32_t n = side->per->iterations;
	double *list = calloc(n + 1, sizeof(*list)), deviation;

	*median = *error = 0;
	if (!list)
		return -ENOMEM;
	if (n) {
		for (uint32_t i = 0; i < n; i++)
			list[i] = side->per->list[i].end - side->per->list[i].begin;
		*median = ct_median_double(list, n);
		for (uint32_t i = 0; i < n; i++)
			list[i] = fabs(list[i] - *median);
		/* Of a normal distribution, the standard error of the median. */
		deviation = 1.4826 * ct_median_double(list, n);
		*error = 1.2533 * deviation / sqrt(n);
	}
	free(list);
	return 0;
}

void ct_diff_mean(const struct ct_diff_side *side, double *mean, double *error)
{
	const struct ct_iteration *list = side->per->list;
	uint32_t n = side->per->iterations;
	double squares = 0, distance;

	*mean = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = i + 1 < n ? list[i + 1].begin : list[i].end;

		distance = end - list[i].begin - *mean;
		*mean += distance / (i + 1);
		squares += distance * (end - list[i].begin - *mean);
	}
	*error = n > 1 ? sqrt(squares / (n - 1) / n) : 0;
}

void ct_diff_application(const struct ct_diff_side *side, struct ct_diff_value *value)
{
	uint32_t n = side->per->iterations;
	double mean = 0, squares = 0, distance;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t duration = side->per->list[i].end - side->per->list[i].begin;
		uint64_t calls = side->per->calls[i];
		double outside = duration > calls ? duration - calls : 0;

		distance = outside - mean;
		mean += distance / (i + 1);
		squares += distance * (outside - mean);
	}
	*value = (struct ct_diff_value){
		.ns = mean,
		.wall = mean,
		.error = n > 1 ? sqrt(squares / (n - 1) / n) : 0,
		.there = n > 0,
	};
}

/* ------------------------------------------------------------------ stages --- */

bool ct_diff_stage(const struct ct_diff_side *side, enum ct_stage stage, uint64_t *ns)
{
	const struct ct_process_phases *p = side->per->process;
	bool there = false;

	*ns = 0;
	for (unsigned int i = 0; p && i < p->stages_count; i++)
		if (p->stages[i].stage == stage) {
			*ns += p->stages[i].end - p->stages[i].begin;
			there = true;
		}
	return there;
}

uint64_t ct_diff_execution(const struct ct_diff_side *side, bool *stage)
{
	static const enum ct_stage executing[] = {
		CT_STAGE_WARMUP, CT_STAGE_STEADY, CT_STAGE_EXECUTION,
	};
	uint64_t all = 0, ns;

	*stage = false;
	for (unsigned int i = 0; i < sizeof(executing) / sizeof(*executing); i++) {
		*stage |= ct_diff_stage(side, executing[i], &ns);
		all += ns;
	}
	if (*stage)
		return all;
	return side->per->last - side->per->first;
}

bool ct_diff_has(const struct ct_diff_side *side, enum ct_per_kind kind)
{
	for (uint32_t i = 0; i < side->per->items.count; i++)
		if (side->per->items.list[i].kind == kind)
			return true;
	return false;
}
