// SPDX-License-Identifier: LGPL-2.1-or-later
/* See diff_clocks.h. */
#include "explain/diff/diff_clocks.h"

#include "analysis/gpu/gpu_metrics.h"

#define LOOKS_LEAST	5	/* at a GPU that works: fewer say nothing of a time */
#define CHANGED		2.0	/* %: less is how clocks move by themselves */

enum { GPU, CLOCK_A, CLOCK_B, CHANGE, LIMIT_A, LIMIT_B, POWER_A, POWER_B, HEAT_A, HEAT_B, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[GPU] = { "GPU", "GPU", CT_CELL_ID, 0 },
	[CLOCK_A] = { "SM Clock A (MHz)", "MHz A", CT_CELL_COUNT, 0 },
	[CLOCK_B] = { "SM Clock B (MHz)", "MHz B", CT_CELL_COUNT, 0 },
	[CHANGE] = { "Change (%)", "%", CT_CELL_PERCENT, 0 },
	[LIMIT_A] = { "Limited A", "limited A", CT_CELL_TEXT, 0 },
	[LIMIT_B] = { "Limited B", "limited B", CT_CELL_TEXT, 0 },
	[POWER_A] = { "Power A (W)", "W A", CT_CELL_NUMBER, 2 },
	[POWER_B] = { "Power B (W)", "W B", CT_CELL_NUMBER, 2 },
	[HEAT_A] = { "Temperature A (C)", "C A", CT_CELL_COUNT, 1 },
	[HEAT_B] = { "Temperature B (C)", "C B", CT_CELL_COUNT, 1 },
};

/* Of the process's main stage, or where there are too few looks in it of all. */
static struct ct_gpu_figures *clocks_figures(struct ct_gpu_metrics_device *d, int process)
{
	struct ct_gpu_figures *f = process >= 0 ? &d->processes[process] : &d->all;

	if (f->working < LOOKS_LEAST)
		f = &d->all;
	return f->working >= LOOKS_LEAST && f->clock.count ? f : NULL;
}

static struct ct_gpu_metrics_device *clocks_find(struct ct_gpu_metrics_state *s, uint64_t gpu)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].gpu == gpu && s->list[i].used)
			return &s->list[i];
	return NULL;
}

static struct ct_cell clocks_limit(struct ct_table *t, const struct ct_gpu_figures *f)
{
	enum ct_clock_limit which;
	uint64_t at = ct_gpu_metrics_limit(f, &which);

	if (!at)
		return ct_const("by nothing");
	return ct_format(t, "by %s %.0f %%", ct_clock_limit_words[which], 100.0 * at / f->working);
}

static void clocks_row(struct ct_table *t, uint64_t gpu, struct ct_gpu_figures *const f[2])
{
	struct ct_cell *row = ct_table_row(t);
	double clock[2];

	row[GPU] = ct_u64(gpu);
	for (unsigned int s = 0; s < 2; s++) {
		clock[s] = ct_histogram_median(&f[s]->clock);
		row[CLOCK_A + s] = ct_u64((uint64_t)(clock[s] + 0.5));
		row[LIMIT_A + s] = clocks_limit(t, f[s]);
		if (f[s]->power.count)
			row[POWER_A + s] = ct_double(ct_metric_mean(&f[s]->power) / 1000);
		if (f[s]->temperature.count)
			row[HEAT_A + s] = ct_u64(f[s]->temperature.max);
	}
	row[CHANGE] = ct_double(100 * (clock[1] - clock[0]) / clock[0]);
	if (clock[1] > clock[0] * (1 + CHANGED / 100) || clock[1] < clock[0] * (1 - CHANGED / 100))
		ct_table_note(t, "GPU %llu runs at %s clocks in B: kernels that compute take up to %.0f %% %s for it.", (unsigned long long)gpu,
			      clock[1] < clock[0] ? "lower" : "higher", clock[1] < clock[0] ? 100 * (clock[0] / clock[1] - 1) :
			      100 * (1 - clock[0] / clock[1]), clock[1] < clock[0] ? "longer" : "less");
}

unsigned int ct_diff_clocks(struct ct_table *t, const struct ct_analysis *const metrics[2], const int process[2])
{
	struct ct_gpu_metrics_state *a = metrics[0]->state, *b = metrics[1]->state;
	unsigned int rows = 0;

	ct_table_begin(t, "diff_clocks", "GPUs while they worked: clocks and what limited them", columns, COLUMNS);
	for (size_t i = 0; i < a->count; i++) {
		struct ct_gpu_metrics_device *x = &a->list[i], *y = clocks_find(b, x->gpu);
		struct ct_gpu_figures *f[2] = {
			x->used ? clocks_figures(x, process[0]) : NULL, y ? clocks_figures(y, process[1]) : NULL,
		};

		if (!f[0] || !f[1])
			continue;
		clocks_row(t, x->gpu, f);
		rows++;
	}
	return rows;
}
