// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report gpu_metrics: a row a GPU, of the time in which programs did their work. */
#include "analysis/gpu/gpu_metrics.h"

#include "trace/registry.h"

enum { GPU, NAME, CUDA, LOOKS, BUSY, SM, OCCUPANCY, TENSOR, DRAM, CLOCK, CLOCK_MAX, POWER_LIMITED, HEAT_LIMITED, OTHERWISE_LIMITED,
       POWER, POWER_LIMIT, TEMPERATURE, MEMORY, PCIE_TX, PCIE_RX, NVLINK_TX, NVLINK_RX, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[GPU] = { "GPU", "GPU", CT_CELL_ID, 0 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 7 },
	[CUDA] = { "CUDA Device", "CUDA", CT_CELL_ID, 8 },
	[LOOKS] = { "Looks", "looks", CT_CELL_COUNT, 6 },
	[BUSY] = { "Busy (%)", "busy", CT_CELL_PERCENT, 0 },
	[SM] = { "SM Active (%)", "SM", CT_CELL_PERCENT, 0 },
	[OCCUPANCY] = { "SM Occupancy (%)", "occupancy", CT_CELL_PERCENT, 5 },
	[TENSOR] = { "Tensor Active (%)", "tensor", CT_CELL_PERCENT, 2 },
	[DRAM] = { "DRAM Active (%)", "DRAM", CT_CELL_PERCENT, 2 },
	[CLOCK] = { "SM Clock Med (MHz)", "MHz", CT_CELL_COUNT, 0 },
	[CLOCK_MAX] = { "SM Clock Max (MHz)", "of MHz", CT_CELL_COUNT, 3 },
	[POWER_LIMITED] = { "Limited by Power (%)", "by power", CT_CELL_PERCENT, 0 },
	[HEAT_LIMITED] = { "Limited by Temperature (%)", "by heat", CT_CELL_PERCENT, 1 },
	[OTHERWISE_LIMITED] = { "Limited Otherwise (%)", "otherwise", CT_CELL_PERCENT, 6 },
	[POWER] = { "Power Avg (W)", "W", CT_CELL_NUMBER, 0 },
	[POWER_LIMIT] = { "Power Limit (W)", "of W", CT_CELL_NUMBER, 3 },
	[TEMPERATURE] = { "Temperature Max (C)", "C max", CT_CELL_COUNT, 2 },
	[MEMORY] = { "Memory Max (bytes)", "memory", CT_CELL_BYTES, 0 },
	[PCIE_TX] = { "PCIe Sent (bytes/s)", "PCIe out/s", CT_CELL_BYTES, 4 },
	[PCIE_RX] = { "PCIe Received (bytes/s)", "PCIe in/s", CT_CELL_BYTES, 4 },
	[NVLINK_TX] = { "NVLink Sent (bytes/s)", "NVLink out/s", CT_CELL_BYTES, 5 },
	[NVLINK_RX] = { "NVLink Received (bytes/s)", "NVLink in/s", CT_CELL_BYTES, 5 },
};

/* Shares are in 1/10 %. */
static void report_share(struct ct_cell *cell, const struct ct_metric *m)
{
	if (m->count)
		*cell = ct_double(ct_metric_mean(m) / 10);
}

static void report_rate(struct ct_cell *cell, const struct ct_metric *m)
{
	if (m->count)
		*cell = ct_u64((uint64_t)(ct_metric_mean(m) * 1024 + 0.5));
}

static void report_limits(struct ct_cell *row, struct ct_gpu_figures *f)
{
	uint64_t others = 0;

	if (!f->working)
		return;
	for (unsigned int i = 0; i < CT_CLOCK_LIMIT_COUNT; i++)
		if (i != CT_CLOCK_LIMIT_POWER && i != CT_CLOCK_LIMIT_HEAT && f->limited[i] > others)
			others = f->limited[i];
	row[POWER_LIMITED] = ct_double(100.0 * f->limited[CT_CLOCK_LIMIT_POWER] / f->working);
	row[HEAT_LIMITED] = ct_double(100.0 * f->limited[CT_CLOCK_LIMIT_HEAT] / f->working);
	row[OTHERWISE_LIMITED] = ct_double(100.0 * others / f->working);
	if (f->clock.count)
		row[CLOCK] = ct_u64((uint64_t)(ct_histogram_median(&f->clock) + 0.5));
}

static void report_row(struct ct_table *t, const struct ct_gpu_metrics_device *d, struct ct_gpu_figures *f)
{
	struct ct_cell *row = ct_table_row(t);

	row[GPU] = ct_u64(d->gpu);
	row[NAME] = ct_text(t, d->name);
	if (d->device >= 0)
		row[CUDA] = ct_u64(d->device);
	row[LOOKS] = ct_u64(f->looks);
	report_share(&row[BUSY], &f->busy);
	report_share(&row[SM], &f->sm);
	report_share(&row[OCCUPANCY], &f->occupancy);
	report_share(&row[TENSOR], &f->tensor);
	report_share(&row[DRAM], &f->dram);
	report_limits(row, f);
	if (d->clock_max)
		row[CLOCK_MAX] = ct_u64(d->clock_max);
	if (f->power.count)
		row[POWER] = ct_double(ct_metric_mean(&f->power) / 1000);
	if (d->power_limit)
		row[POWER_LIMIT] = ct_double(d->power_limit / 1000.0);
	if (f->temperature.count)
		row[TEMPERATURE] = ct_u64(f->temperature.max);
	if (f->memory.count)
		row[MEMORY] = ct_u64(f->memory.max);
	report_rate(&row[PCIE_TX], &f->pcie_tx);
	report_rate(&row[PCIE_RX], &f->pcie_rx);
	report_rate(&row[NVLINK_TX], &f->nvlink_tx);
	report_rate(&row[NVLINK_RX], &f->nvlink_rx);
}

/* Of the process whose main stage has most looks, where only steady states count and there is one. */
static struct ct_gpu_figures *report_figures(const struct ct_analysis *a, const struct ct_gpu_metrics_state *s,
					     struct ct_gpu_metrics_device *d)
{
	struct ct_gpu_figures *best = &d->all;
	uint64_t most = 0;

	if (a->filter->from || a->filter->to)
		return best;
	for (unsigned int i = 0; i < s->processes_count; i++) {
		if (a->filter->pid ? a->phases->processes[i].pid != a->filter->pid : d->processes[i].looks <= most)
			continue;
		best = &d->processes[i];
		most = best->looks;
	}
	return best;
}

static int report_end(struct ct_analysis *a)
{
	struct ct_table *t = ct_analysis_table(a, "gpu_metrics", "The GPUs while programs did their work", columns, COLUMNS);
	struct ct_gpu_metrics_state *s = ct_analysis_state(a, &ct_gpu_metrics_analyser);
	const char *refused = ct_registry_info(&a->trace->reg, CT_METRICS_REFUSED_INFO);
	unsigned int others = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].used)
			report_row(t, &s->list[i], report_figures(a, s, &s->list[i]));
		others += !s->list[i].used;
	}
	if (others)
		ct_table_note(t, "%u other GPUs of the machine were used by no recorded program.", others);
	if (refused)
		ct_table_note(t, "NVML was not read: %s.", refused);
	else if (!s->count)
		ct_table_note(t, "Nothing was recorded of the GPUs themselves: record --gpu or --gpu-metrics.");
	else
		ct_table_note(t, "Limits of the clocks are in %% of the looks at which the GPU was not idle; memory is that of all "
			      "processes.");
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_gpu_metrics_analyser, NULL };

const struct ct_analyser ct_report_gpu_metrics = {
	.name = "gpu_metrics",
	.summary = "the GPUs themselves: clocks and what limits them, power, temperature, memory, use of their parts",
	.single = true,
	.phases = true,
	.needs = needs,
	.end = report_end,
};
