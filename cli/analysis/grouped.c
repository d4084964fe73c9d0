// SPDX-License-Identifier: LGPL-2.1-or-later
/* See grouped.h.  What is said below the table of what it does not show. */
#include "analysis/grouped.h"

#include "analysis/gpu/coverage.h"
#include "group/rows.h"

int ct_grouped_begin(struct ct_analysis *a)
{
	struct ct_grouping *g = a->state;

	g->keys.names = a->names;
	g->keys.phases = a->phases;
	g->keys.processes = a->processes;
	g->source.measured = ct_gpu_measured(a->trace, a->filter->layer);
	ct_group_begin(g, a->analyser->arg);
	return 0;
}

int ct_grouped_span(struct ct_analysis *a, const struct ct_span *span)
{
	return ct_group_span(a->state, span);
}

static void grouped_ranges(const struct ct_analysis *a, const struct ct_grouping *g, struct ct_table *t)
{
	if (g->no_end)
		ct_table_note(t, "%llu ranges of the trace have no end and are left out.", (unsigned long long)g->no_end);
	if (a->totals->pops)
		ct_table_note(t, "%llu ends of the trace have no begin and are left out.",
			      (unsigned long long)a->totals->pops);
	if (a->totals->ranges_deep)
		ct_table_note(t, "%llu ranges more than %u deep are left out, or more than %u at a time.",
			      (unsigned long long)a->totals->ranges_deep, CT_RANGES_DEPTH, CT_RANGES_OPEN);
}

/* Lines of the program are those of all processes that ran it. */
static void grouped_processes(const struct ct_analysis *a, const struct ct_group_spec *spec, struct ct_table *t)
{
	bool lines = false, process = a->filter->pid || a->totals->processes < 2;

	for (unsigned int i = 0; i < spec->keys; i++) {
		lines |= spec->by[i] == CT_BY_LINE || spec->by[i] == CT_BY_STACK;
		process |= spec->by[i] == CT_BY_PROCESS || spec->by[i] == CT_BY_THREAD;
	}
	if (lines && !process)
		ct_table_note(t, "Of all %u processes together: 'process' as a further key tells them apart, --pid takes one.",
			      a->totals->processes);
}

static void grouped_notes(struct ct_analysis *a, const struct ct_grouping *g, struct ct_table *t)
{
	const struct ct_group_spec *spec = g->spec;
	bool untimed = false;

	for (unsigned int i = 0; i < g->count; i++)
		untimed |= !g->list[i].values.count;
	if (untimed && spec->of == CT_OF_CALLS &&
	    (spec->measure == CT_MEASURE_DURATION || spec->measure == CT_MEASURE_SELF))
		ct_table_note(t, "Getters of a few ns are counted, not timed; record --time-queries times them.");
	if (spec->of == CT_OF_RANGES)
		grouped_ranges(a, g, t);
	grouped_processes(a, spec, t);
	if (spec->of == CT_OF_DRIVER && !a->trace->has_kernel)
		ct_table_note(t, "The kernel module did not record: record it with the module loaded.");
	if (g->no_cause)
		ct_table_note(t, "%llu records of the GPU name no call that is known, and are left out.",
			      (unsigned long long)g->no_cause);
	if (!ct_group_covers(spec))
		return;
	ct_gpu_notes(&g->source, t, spec->of == CT_OF_COPIES ? "copies" : "kernels");
	ct_gpu_coverage_notes(a, t, spec->of == CT_OF_WORK || spec->measure == CT_MEASURE_GPU);
}

int ct_grouped_end(struct ct_analysis *a)
{
	struct ct_grouping *g = a->state;
	const struct ct_column *columns;
	struct ct_table *t;
	unsigned int count;
	char title[192];
	int rc;

	columns = ct_group_columns(g, &count);
	ct_group_title(g, title, sizeof(title));
	t = ct_analysis_table(a, a->analyser->name, title, columns, count);
	rc = ct_group_rows(g, t);
	if (!rc)
		grouped_notes(a, g, t);
	return rc;
}

void ct_grouped_free(struct ct_analysis *a)
{
	ct_group_free(a->state);
}

const struct ct_analyser *const ct_grouped_needs_gpu[] = { &ct_gpu_coverage_analyser, NULL };

/* What comes again and again; memory is allocated, and the driver called, mostly before. */
#define GROUPED_STEADY	(1u << CT_OF_CALLS | 1u << CT_OF_LAUNCHES | 1u << CT_OF_WAITS | 1u << CT_OF_KERNELS | \
			 1u << CT_OF_COPIES | 1u << CT_OF_WORK)

struct ct_analyser ct_grouped_by(const struct ct_group_spec *spec)
{
	return (struct ct_analyser){
		CT_GROUPED(spec, ct_group_what(spec)),
		.name = "by",
		.phases = ct_group_phases(spec),
		.steady = !ct_group_phases(spec) && (1u << spec->of & GROUPED_STEADY),
		.needs = ct_group_covers(spec) ? ct_grouped_needs_gpu : NULL,
	};
}
