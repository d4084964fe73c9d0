// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report nvtx_sum: ranges of NVTX and of cudatrace's own header by their text.  Must never
 * invent the end of a range.
 *
 * It gets all ranges, because --name is compared with their texts and not with what a record is called.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/cuda/distribution.h"
#include "analysis/cuda/groups.h"
#include "analysis/engine.h"

enum { STYLE = CT_DIST_COLUMNS, RANGE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	CT_DIST_OF_TIME("Instances", "count"),
	[STYLE] = { "Style", "style", CT_CELL_TEXT, 9 },
	[RANGE] = { "Range", "range", CT_CELL_TEXT, 0 },
};

struct nvtx_sum {
	struct ct_filter_state filter;
	struct ct_text_groups groups;
	uint64_t no_end;	/* left out */
};

static bool nvtx_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_range_push;
}

static int nvtx_begin(struct ct_analysis *a)
{
	struct ct_report_filter filter = *a->filter;
	struct nvtx_sum *s = a->state;

	filter.name = NULL;	/* that is compared with the texts, in the end */
	return ct_filter_begin(&s->filter, &filter, a->names, &a->trace->reg);
}

static int nvtx_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct nvtx_sum *s = a->state;
	const char *text;
	uint16_t len;
	int group;

	if (span->kind != CT_SPAN_RANGE)
		return 0;
	s->no_end += !span->pop;
	if (!span->pop ||
	    !ct_filter_pass(&s->filter, span->class, span->track->pid, span->track->tid, span->begin, span->record))
		return 0;
	text = ct_record_text(span->record, &len);
	group = ct_groups_text(&s->groups, text ? text : "", len);
	return group < 0 ? group : ct_histogram_add(&s->groups.list[group].values, span->duration);
}

/* Only those whose text --name says. */
static unsigned int nvtx_choose(struct ct_text_group **list, unsigned int count, const char *name)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++)
		if (!name || !fnmatch(name, list[i]->text, 0))
			list[kept++] = list[i];
	return kept;
}

static void nvtx_notes(const struct ct_totals *totals, const struct nvtx_sum *s, struct ct_table *t)
{
	if (ct_groups_full(&s->groups))
		ct_table_note(t, "Ranges beyond %u different texts are one row, (other).", CT_GROUPS_MAX);
	if (s->no_end)
		ct_table_note(t, "%llu ranges of the trace have no end and are left out.",
			      (unsigned long long)s->no_end);
	if (totals->pops)
		ct_table_note(t, "%llu ends of the trace have no begin and are left out.",
			      (unsigned long long)totals->pops);
	if (totals->ranges_deep)
		ct_table_note(t, "%llu ranges more than %u deep are left out, or more than %u at a time.",
			      (unsigned long long)totals->ranges_deep, CT_RANGES_DEPTH, CT_RANGES_OPEN);
}

static int nvtx_end(struct ct_analysis *a)
{
	struct nvtx_sum *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "nvtx_sum",
		"NVTX ranges: a range's time has that of the ranges inside it", columns, COLUMNS);
	unsigned int count;
	struct ct_text_group **list = ct_groups_sorted(&s->groups, &count);
	uint64_t total = 0;

	if (!list)
		return -ENOMEM;
	count = nvtx_choose(list, count, a->filter->name);
	for (unsigned int i = 0; i < count; i++)
		total += list[i]->values.total;
	for (unsigned int i = 0; i < count; i++) {
		struct ct_cell *row = ct_table_row(t);

		ct_distribution_row(row, &list[i]->values, total);
		row[STYLE] = ct_const("PushPop");
		row[RANGE] = ct_const(list[i]->text);
	}
	free(list);
	nvtx_notes(a->totals, s, t);
	return 0;
}

static void nvtx_free(struct ct_analysis *a)
{
	struct nvtx_sum *s = a->state;

	ct_groups_free(&s->groups);
	ct_filter_end(&s->filter);
}

const struct ct_analyser ct_report_nvtx_sum = {
	.name = "nvtx_sum",
	.summary = "ranges of NVTX and of cudatrace's own header, by their text",
	.single = true,
	.unfiltered = true,
	.spans = CT_SPANS_BY_END,
	.wants = nvtx_wants,
	.state_size = sizeof(struct nvtx_sum),
	.begin = nvtx_begin,
	.span = nvtx_span,
	.end = nvtx_end,
	.free = nvtx_free,
};
