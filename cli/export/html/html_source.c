// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_source.h. */
#include "export/html/html_source.h"

#include <errno.h>

/* What runs at the same time on the GPU lies in different rows.  0 or -ENOMEM. */
static int source_gpu_row(struct ct_html_source *s, const struct ct_span *span, uint32_t *depth)
{
	struct ct_html_rows *rows = ct_keyed_put(&s->rows, span->track->index);

	if (!rows)
		return -ENOMEM;
	*depth = 0;
	while (*depth < CT_HTML_ROWS - 1 && rows->free[*depth] > span->begin)
		++*depth;
	if (span->end > rows->free[*depth])
		rows->free[*depth] = span->end;
	return 0;
}

/* Open calls of the thread that lie in the same track of the report. */
static uint32_t source_depth(const struct ct_track *track, enum ct_html_track_kind kind)
{
	uint32_t depth = 0;

	if (kind == CT_HTML_INTERRUPT)
		return track->depth;
	for (uint32_t i = 0; i < track->depth; i++)
		depth += ct_html_track_kind_of(track->frames[i].class, track) == kind;
	return depth;
}

static uint8_t source_flags(const struct ct_span *span)
{
	return (span->flags & CT_SPAN_FAILED ? CT_HTML_FAILED : 0) |
	       (span->flags & CT_SPAN_UNFINISHED ? CT_HTML_UNFINISHED : 0) |
	       (span->flags & CT_SPAN_ABANDONED ? CT_HTML_ABANDONED : 0) |
	       (span->flags & CT_SPAN_BEGIN_LOST ? CT_HTML_BEGIN_LOST : 0) |
	       (span->kind == CT_SPAN_INSTANT ? CT_HTML_INSTANT : 0);
}

static int source_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct ct_html_source *s = a->arg;
	enum ct_html_track_kind kind = ct_html_track_kind_of(span->class, span->track);
	struct ct_html_item item;
	int rc = 0, index;

	if (span->kind == CT_SPAN_INSTANT &&
	    (span->class->id == CT_CLASS_range_push || span->class->id == CT_CLASS_range_pop))
		return 0;
	index = ct_html_track(s->tracks, span->track, span->record, kind, s->make, &rc);
	if (index < 0) {
		s->tracks->left_out += !rc;
		return rc;
	}
	item = (struct ct_html_item){
		.begin = ct_html_moment(a->trace, span->begin), .duration = span->end - span->begin,
		.op_id = span->op_id, .parent = span->parent, .track = index, .flags = source_flags(span),
		.record = *span->record, .stack = span->stack,
	};
	if (kind == CT_HTML_GPU)
		rc = source_gpu_row(s, span, &item.depth);
	else if (span->kind == CT_SPAN_RANGE)
		item.depth = span->depth;
	else if (kind != CT_HTML_SWITCH && kind != CT_HTML_NVTX)
		item.depth = source_depth(span->track, kind);
	return rc ? rc : s->item(s->arg, &item);
}

static int source_end(struct ct_analysis *a)
{
	struct ct_html_source *s = a->arg;

	s->tracks->left_out += a->totals->ranges_deep;
	return 0;
}

static bool source_wants(const struct ct_class *class)
{
	return class->category != CT_CAT_TRACER;
}

const struct ct_analyser ct_html_source_analyser = {
	.spans = CT_SPANS_BY_BEGIN,
	.wants = source_wants,
	.unfiltered = true,
	.span = source_span,
	.end = source_end,
};

void ct_html_source_free(struct ct_html_source *s)
{
	ct_keyed_free(&s->rows);
}
