// SPDX-License-Identifier: LGPL-2.1-or-later
/* See grouped.h.  What is said below the table of what it does not show. */
#include "analysis/grouped.h"

#include "analysis/gpu/coverage.h"
#include "group/rows.h"

static bool grouped_has(const struct ct_group_spec *spec, enum ct_group_by x, enum ct_group_by y)
{
	for (unsigned int i = 0; i < spec->keys; i++)
		if (spec->by[i] == x || spec->by[i] == y)
			return true;
	return false;
}

static bool grouped_several(const struct ct_trace *t)
{
	uint32_t pid = 0;

	for (unsigned int i = 0; i < t->streams_count; i++) {
		if (t->streams[i].kind != CT_STREAM_THREAD || !t->streams[i].records)
			continue;
		if (pid && t->streams[i].pid != pid)
			return true;
		pid = t->streams[i].pid;
	}
	return false;
}

/* Several processes may run the same line of a program: whose it is, is a key of its own. */
static void grouped_whose(const struct ct_analysis *a, struct ct_grouping *g)
{
	const struct ct_group_spec *spec = g->spec;

	if (!grouped_has(spec, CT_BY_LINE, CT_BY_STACK) || grouped_has(spec, CT_BY_PROCESS, CT_BY_THREAD) || a->filter->pid ||
	    spec->keys == CT_GROUP_KEYS || !grouped_several(a->trace))
		return;
	g->whose = *spec;
	g->whose.by[g->whose.keys++] = CT_BY_PROCESS;
	g->spec = &g->whose;
}

int ct_grouped_begin(struct ct_analysis *a)
{
	struct ct_grouping *g = a->state;

	g->keys.names = a->names;
	g->keys.phases = a->phases;
	g->keys.processes = a->processes;
	g->source.measured = ct_gpu_measured(a->trace, a->filter->layer);
	ct_group_begin(g, a->analyser->arg);
	grouped_whose(a, g);
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

/* Where there was no room for the key. */
static void grouped_processes(const struct ct_analysis *a, const struct ct_group_spec *spec, struct ct_table *t)
{
	if (grouped_has(spec, CT_BY_LINE, CT_BY_STACK) && !grouped_has(spec, CT_BY_PROCESS, CT_BY_THREAD) &&
	    !a->filter->pid && a->totals->processes > 1)
		ct_table_note(t, "Of all %u processes together: --pid takes one.", a->totals->processes);
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
