// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report nvtx_sum: ranges of NVTX and of cudatrace's own header by their text.  Must never
 * invent the end of a range.
 *
 * It gets all events, because a range may be pushed before the time that --from says.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/cuda/distribution.h"
#include "analysis/cuda/groups.h"
#include "analysis/engine.h"

#define DEPTH_MAX	4096	/* open ranges of a thread; those inside are left out */

enum { STYLE = CT_DIST_COLUMNS, RANGE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	CT_DIST_OF_TIME("Instances", "count"),
	[STYLE] = { "Style", "style", CT_CELL_TEXT, 9 },
	[RANGE] = { "Range", "range", CT_CELL_TEXT, 0 },
};

struct nvtx_range {
	uint64_t begin;		/* ns */
	uint32_t group;
};

/* The open ranges of a thread. */
struct nvtx_thread {
	struct nvtx_range *ranges;
	uint32_t depth, capacity;
	uint64_t deeper;	/* open ranges beyond DEPTH_MAX */
};

struct nvtx_sum {
	struct ct_filter_state filter;
	struct ct_text_groups groups;
	struct nvtx_thread *threads;	/* by the index of their track */
	unsigned int threads_count;
	uint64_t deep, no_begin, no_end;	/* left out */
};

static bool nvtx_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_range_push || class->id == CT_CLASS_range_pop;
}

static int nvtx_begin(struct ct_analysis *a)
{
	struct ct_report_filter filter = *a->filter;
	struct nvtx_sum *s = a->state;

	filter.name = NULL;	/* that is compared with the texts, in the end */
	return ct_filter_begin(&s->filter, &filter, a->names, &a->trace->reg);
}

static struct nvtx_thread *nvtx_thread(struct nvtx_sum *s, unsigned int index)
{
	if (index >= s->threads_count) {
		unsigned int count = index + index / 2 + 16;
		struct nvtx_thread *more = reallocarray(s->threads, count, sizeof(*more));

		if (!more)
			return NULL;
		for (unsigned int i = s->threads_count; i < count; i++)
			more[i] = (struct nvtx_thread){ 0 };
		s->threads = more;
		s->threads_count = count;
	}
	return &s->threads[index];
}

static int nvtx_push(struct nvtx_sum *s, struct nvtx_thread *thread, const struct ct_trace_event *e)
{
	uint16_t len;
	const char *text = ct_record_text(e->record, &len);
	int group;

	if (thread->depth == DEPTH_MAX) {
		thread->deeper++;
		s->deep++;
		return 0;
	}
	if (thread->depth == thread->capacity) {
		uint32_t capacity = thread->capacity ? 2 * thread->capacity : 16;
		struct nvtx_range *more = reallocarray(thread->ranges, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		thread->ranges = more;
		thread->capacity = capacity;
	}
	group = ct_groups_text(&s->groups, text ? text : "", len);
	if (group < 0)
		return group;
	thread->ranges[thread->depth++] = (struct nvtx_range){ .begin = e->begin, .group = group };
	return 0;
}

static int nvtx_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct nvtx_sum *s = a->state;
	struct nvtx_thread *thread = nvtx_thread(s, e->track->index);
	const struct nvtx_range *range;

	if (!thread)
		return -ENOMEM;
	if (e->class->id == CT_CLASS_range_push)
		return nvtx_push(s, thread, e);
	if (thread->deeper) {
		thread->deeper--;
		return 0;
	}
	if (!thread->depth) {
		s->no_begin++;
		return 0;
	}
	range = &thread->ranges[--thread->depth];
	if (!ct_filter_pass(&s->filter, e->class, e->track->pid, e->track->tid, range->begin, e->record))
		return 0;
	return ct_histogram_add(&s->groups.list[range->group].values,
				e->begin > range->begin ? e->begin - range->begin : 0);
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

static void nvtx_notes(struct nvtx_sum *s, struct ct_table *t)
{
	for (unsigned int i = 0; i < s->threads_count; i++)
		s->no_end += s->threads[i].depth;
	if (ct_groups_full(&s->groups))
		ct_table_note(t, "Ranges beyond %u different texts are one row, (other).", CT_GROUPS_MAX);
	if (s->no_end)
		ct_table_note(t, "%llu ranges of the trace have no end and are left out.",
			      (unsigned long long)s->no_end);
	if (s->no_begin)
		ct_table_note(t, "%llu ends of the trace have no begin and are left out.",
			      (unsigned long long)s->no_begin);
	if (s->deep)
		ct_table_note(t, "%llu ranges more than %u deep are left out.",
			      (unsigned long long)s->deep, DEPTH_MAX);
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
	nvtx_notes(s, t);
	return 0;
}

static void nvtx_free(struct ct_analysis *a)
{
	struct nvtx_sum *s = a->state;

	for (unsigned int i = 0; i < s->threads_count; i++)
		free(s->threads[i].ranges);
	free(s->threads);
	ct_groups_free(&s->groups);
	ct_filter_end(&s->filter);
}

const struct ct_analyser ct_report_nvtx_sum = {
	.name = "nvtx_sum",
	.summary = "ranges of NVTX and of cudatrace's own header, by their text",
	.single = true,
	.unfiltered = true,
	.on = CT_ON_INSTANT,
	.wants = nvtx_wants,
	.state_size = sizeof(struct nvtx_sum),
	.begin = nvtx_begin,
	.event = nvtx_event,
	.end = nvtx_end,
	.free = nvtx_free,
};
