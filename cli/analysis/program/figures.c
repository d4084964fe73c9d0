// SPDX-License-Identifier: LGPL-2.1-or-later
/* The summary as a table of figures, for csv, tsv and json. */
#include <stdlib.h>

#include "analysis/threads/accounting.h"
#include "analysis/calls.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/gpu/coverage.h"
#include "analysis/program/outliers.h"
#include "analysis/program/figures.h"
#include "analysis/verdict.h"

enum { METRIC, VALUE, UNIT, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[METRIC] = { "Metric", "metric", CT_CELL_TEXT, 0 },
	[VALUE] = { "Value", "value", CT_CELL_ID, 0 },
	[UNIT] = { "Unit", "unit", CT_CELL_TEXT, 0 },
};

static void figures_row(struct ct_table *t, struct ct_cell metric, uint64_t value, const char *unit)
{
	struct ct_cell *row = ct_table_row(t);

	row[METRIC] = metric;
	row[VALUE] = ct_u64(value);
	row[UNIT] = ct_const(unit);
}

uint64_t ct_summary_duration(const struct ct_analysis *a)
{
	uint64_t first = a->totals->first;

	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		if (a->phases->processes[i].stages_count && a->phases->processes[i].begin < first)
			first = a->phases->processes[i].begin;
	/* What the recorder wrote itself stays, and is older than what was kept (record --keep). */
	if (ct_registry_info(&a->trace->reg, CT_KEEP_INFO) && first < a->trace->reg.start)
		first = a->trace->reg.start;
	return a->totals->points ? a->totals->last - first : 0;
}

static void figures_totals(const struct ct_analysis *a, struct ct_table *t, const struct ct_calls *s)
{
	const struct { const char *metric; uint64_t value; const char *unit; } rows[] = {
		{ "simulated", a->trace->simulated, "" },
		{ "records", a->trace->records, "records" },
		{ "duration", ct_summary_duration(a), "ns" },
		{ "processes", a->totals->processes, "processes" },
		{ "threads", a->totals->threads, "threads" },
		{ "API calls", s->api_calls, "calls" },
		{ "API calls failed", s->api_failed, "calls" },
		{ "API calls of libcudart", s->runtime_calls, "calls" },
		{ "kernel launches", s->launches, "calls" },
		{ "kernel launches failed", s->launches_failed, "calls" },
		{ "graph launches", s->graph_launches, "calls" },
		{ "graph launches failed", s->graph_launches_failed, "calls" },
		{ "memory allocations", s->allocs, "calls" },
		{ "memory allocations failed", s->allocs_failed, "calls" },
		{ "memory allocated", s->alloc_bytes, "bytes" },
		{ "memory frees", s->frees, "calls" },
		{ "transfers", s->copies, "calls" },
		{ "transferred", s->copy_bytes, "bytes" },
		{ "memory sets", s->sets, "calls" },
		{ "memory set", s->set_bytes, "bytes" },
		{ "ioctl calls", s->ioctl.count, "calls" },
		{ "ioctl calls failed", s->ioctl.failed, "calls" },
		{ "ioctl time", s->ioctl.total, "ns" },
		{ "scheduler calls", s->scheduler_calls, "calls" },
		{ "off the CPU", s->switches, "times" },
		{ "off the CPU time", s->off_cpu, "ns" },
		{ "never returned", s->open, "calls" },
		{ "lost records", a->trace->lost, "records" },
		{ "lost packets", a->trace->packets_lost, "packets" },
		{ "damaged packets", a->trace->packets_bad, "packets" },
		{ "self time", s->self, "ns" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		figures_row(t, ct_const(rows[i].metric), rows[i].value, rows[i].unit);
	for (unsigned int i = 0; i < CT_CAT_COUNT; i++) {
		const char *word = i == CT_CAT_OTHER ? "other" : ct_category_word[i];

		if (!s->categories[i].count)
			continue;
		figures_row(t, ct_format(t, "%s calls", word), s->categories[i].count, "calls");
		figures_row(t, ct_format(t, "%s self time", word), s->categories[i].self, "ns");
	}
}

static int figures_process(struct ct_analysis *a, struct ct_table *t, unsigned int index)
{
	const struct ct_process_phases *p = &a->phases->processes[index];
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_gpu_busy *gpu = ct_analysis_state(a, &ct_gpu_busy_analyser);
	const struct ct_gpu_coverage *coverage = ct_analysis_state(a, &ct_gpu_coverage_analyser);
	const struct ct_process_account *account = &acc->processes[index];
	struct ct_iteration_stats s;
	struct ct_coverage c;
	int rc;

	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *span = &p->stages[i];
		const char *word = ct_stage_word[span->stage];
		bool known;

		figures_row(t, ct_format(t, "stage %s of %u", word, p->pid), span->end - span->begin, "ns");
		known = ct_gpu_covers_some(coverage, p->pid, span->begin, span->end);
		if (known || !idle->processes[index].measured)
			figures_row(t, ct_format(t, "stage %s of %u device idle", word, p->pid),
				    idle->processes[index].stages[span->stage], "ns");
		if (known && gpu->processes[index].iterations)
			figures_row(t, ct_format(t, "stage %s of %u GPU busy", word, p->pid),
				    gpu->processes[index].any.stages[span->stage].busy, "ns");
		for (unsigned int k = 0; account->launching && k < CT_ACCOUNT_COUNT; k++)
			if (account->stages[span->stage].ns[k])
				figures_row(t, ct_format(t, "stage %s of %u %s", word, p->pid,
							 ct_account_word(k)),
					    account->stages[span->stage].ns[k], "ns");
	}
	rc = ct_iteration_stats(&s, p, false);
	if (rc)
		return rc;
	/* Of the steady state, as the stages have it. */
	figures_row(t, ct_format(t, "iterations of %u", p->pid), s.count, "iterations");
	if (p->iterations_count) {
		ct_phases_coverage(p, &c);
		figures_row(t, ct_format(t, "iterations of %u cover", p->pid), c.covered, "ns");
		figures_row(t, ct_format(t, "iterations of %u much longer", p->pid), s.longer, "iterations");
		figures_row(t, ct_format(t, "iteration of %u median", p->pid), s.median, "ns");
		figures_row(t, ct_format(t, "iteration of %u p95", p->pid), s.p95, "ns");
		figures_row(t, ct_format(t, "iteration of %u max", p->pid), s.max, "ns");
		figures_row(t, ct_format(t, "warm-up iterations of %u", p->pid), ct_phases_warmup(p), "iterations");
	}
	free(s.sorted);
	return rc;
}

int ct_summary_table(struct ct_analysis *a)
{
	struct ct_table *t = ct_analysis_table(a, "summary", "Summary", columns, COLUMNS);
	int rc = 0;

	figures_totals(a, t, ct_analysis_state(a, &ct_calls_analyser));
	for (unsigned int i = 0; i < a->phases->processes_count && !rc; i++)
		if (a->phases->processes[i].stages_count &&
		    (!a->filter->pid || a->phases->processes[i].pid == a->filter->pid))
			rc = figures_process(a, t, i);
	return rc;
}
