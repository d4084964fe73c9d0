// SPDX-License-Identifier: LGPL-2.1-or-later
/* See source.h.  Memory is bounded by the calls and ranges that are open at a moment. */
#include "export/html/source.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/gpu/causes.h"

#define SOURCE_PENDING	(1u << 17)	/* calls and ranges at a moment; further ones are left out */
#define SOURCE_ROWS	64u		/* of a GPU track */

/* The open ranges of a thread, and when each row of its GPU track is free. */
struct source_thread {
	struct ct_html_item **ranges;
	uint32_t depth, capacity;
	uint64_t deeper;		/* open ranges that are left out */
	uint64_t rows[SOURCE_ROWS];	/* ns */
};

static struct source_thread *source_thread(struct ct_html_source *s, const struct ct_track *track)
{
	struct ct_hash_slot *slot = ct_hash_put(&s->threads, track->index);

	if (slot && !slot->a)
		slot->a = (uintptr_t)calloc(1, sizeof(struct source_thread));
	return slot ? (struct source_thread *)(uintptr_t)slot->a : NULL;
}

/* Rows of a GPU track: what runs at the same time lies in different ones. */
static int source_gpu_row(struct ct_html_source *s, const struct ct_trace_event *e, uint64_t end, uint32_t *depth)
{
	struct source_thread *thread = source_thread(s, e->track);

	if (!thread)
		return -ENOMEM;
	*depth = 0;
	while (*depth < SOURCE_ROWS - 1 && thread->rows[*depth] > e->begin)
		++*depth;
	if (end > thread->rows[*depth])
		thread->rows[*depth] = end;
	return 0;
}

/* Open calls of the thread that lie in the same track of the report. */
static uint32_t source_depth(const struct ct_track *track, enum ct_html_layer layer)
{
	uint32_t depth = 0;

	if (layer == CT_HTML_INTERRUPT)
		return track->depth;
	for (uint32_t i = 0; i < track->depth; i++) {
		struct ct_record around = { .class = track->frames[i].class };

		depth += ct_html_layer_of(&around) == layer;
	}
	return depth;
}

/* All but flags and duration.  Return: 1; 0: it is left out; -ENOMEM. */
static int source_make(struct ct_html_source *s, const struct ct_analysis *a, const struct ct_trace_event *e,
		       struct ct_html_item *item)
{
	const struct ct_point *p = e->point;
	enum ct_html_layer layer = ct_html_layer_of(&p->record);
	const struct ct_track *track = e->track;
	int rc = 0, index = ct_html_track(s->tracks, &p->record, layer, s->make, &rc);

	if (index < 0) {
		s->tracks->left_out += !rc;
		return rc;
	}
	*item = (struct ct_html_item){
		.begin = ct_html_moment(a->trace, e->begin),
		.op = p->op_id, .track = index, .record = p->record,
		.parent = p->cause ? p->cause->op_id : track->depth ? track->frames[track->depth - 1].op_id : 0,
	};
	if (layer == CT_HTML_GPU) {
		rc = source_gpu_row(s, e, p->phase == 'I' ? e->begin : p->record.end, &item->depth);
		return rc ? rc : 1;
	}
	if (layer != CT_HTML_SWITCH && layer != CT_HTML_NVTX)
		item->depth = source_depth(track, layer);
	return 1;
}

/* What a record that is complete says. */
static void source_finish(struct ct_html_item *item, const struct ct_record *r)
{
	item->record = *r;
	item->flags &= ~CT_HTML_UNFINISHED;
	item->flags |= ct_record_failed(r) ? CT_HTML_FAILED : 0;
	item->flags |= r->flags & CT_F_ABANDONED ? CT_HTML_ABANDONED : 0;
}

static int source_emit(struct ct_html_source *s, const struct ct_html_item *item)
{
	return s->item(s->arg, item);
}

/* A copy that waits for its end.  NULL: no memory, or too many. */
static struct ct_html_item *source_keep(struct ct_html_source *s, const struct ct_html_item *item)
{
	struct ct_html_item *kept = s->pending < SOURCE_PENDING ? malloc(sizeof(*kept)) : NULL;

	if (!kept)
		return NULL;
	s->pending++;
	*kept = *item;
	/* What it points to is gone by then. */
	kept->record.fields = NULL;
	kept->record.text_len = 0;
	kept->flags |= CT_HTML_UNFINISHED;
	return kept;
}

static int source_begin_call(struct ct_html_source *s, const struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_html_item item, *kept;
	struct ct_hash_slot *slot;
	int rc = source_make(s, a, e, &item);

	if (rc <= 0)
		return rc;
	if (e->point->open) {
		item.record.fields = NULL;
		item.flags = CT_HTML_UNFINISHED;
		return source_emit(s, &item);
	}
	if (!e->point->entry) {
		item.duration = e->record->end - e->begin;
		source_finish(&item, e->record);
		return source_emit(s, &item);
	}
	kept = source_keep(s, &item);
	if (!kept)
		return s->pending < SOURCE_PENDING ? -ENOMEM : 0;
	slot = ct_hash_put(&s->open, item.op);
	if (!slot) {
		free(kept);
		return -ENOMEM;
	}
	slot->a = (uintptr_t)kept;
	return 0;
}

/* The end of a call that was not complete when it began. */
static int source_end_call(struct ct_html_source *s, const struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_hash_slot *slot;
	struct ct_html_item item;
	int rc = 1;

	if (!(e->record->flags & CT_F_HAS_BEGIN))
		return 0;
	slot = ct_hash_get(&s->open, e->point->op_id);
	if (slot) {
		item = *(struct ct_html_item *)(uintptr_t)slot->a;
		free((void *)(uintptr_t)slot->a);
		ct_hash_remove(&s->open, slot);
		s->pending--;
	} else {
		rc = source_make(s, a, e, &item);
		/* What is left out counted when it began, if that was seen. */
		s->tracks->left_out -= !rc && !e->point->begin_lost;
		item.flags = e->point->begin_lost ? CT_HTML_BEGIN_LOST : 0;
	}
	if (rc <= 0)
		return rc;
	/* The entry was recorded a little before the call's own begin. */
	item.begin = ct_html_moment(a->trace, e->begin);
	item.duration = e->end - e->begin;
	source_finish(&item, e->record);
	return source_emit(s, &item);
}

/* ---------------------------------------------------------------- ranges --- */

static int source_push(struct ct_html_source *s, struct source_thread *thread, const struct ct_html_item *item)
{
	struct ct_html_item *kept;

	if (thread->depth == thread->capacity) {
		uint32_t capacity = thread->capacity ? 2 * thread->capacity : 16;
		struct ct_html_item **more = reallocarray(thread->ranges, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		thread->ranges = more;
		thread->capacity = capacity;
	}
	kept = source_keep(s, item);
	if (!kept && s->pending < SOURCE_PENDING)
		return -ENOMEM;
	if (!kept) {
		thread->deeper++;
		s->tracks->left_out++;
		return 0;
	}
	/* The text is read again when the range ends: streams stay mapped. */
	kept->record.fields = item->record.fields;
	kept->record.text_len = item->record.text_len;
	kept->depth = thread->depth;
	thread->ranges[thread->depth++] = kept;
	return 0;
}

static int source_pop(struct ct_html_source *s, struct source_thread *thread, int64_t end, bool ended)
{
	struct ct_html_item *item = thread->ranges[--thread->depth];
	int rc;

	if (ended) {
		item->flags &= ~CT_HTML_UNFINISHED;
		item->duration = end > item->begin ? end - item->begin : 0;
	}
	item->op = 0;
	rc = source_emit(s, item);
	free(item);
	s->pending--;
	return rc;
}

static int source_instant(struct ct_html_source *s, const struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct source_thread *thread = NULL;
	struct ct_html_item item;
	int rc;

	if (e->class->id == CT_CLASS_range_push || e->class->id == CT_CLASS_range_pop) {
		thread = source_thread(s, e->track);
		if (!thread)
			return -ENOMEM;
	}
	if (e->class->id == CT_CLASS_range_pop) {
		if (thread->deeper)
			thread->deeper--;
		else if (thread->depth)
			return source_pop(s, thread, ct_html_moment(a->trace, e->begin), true);
		return 0;
	}
	rc = source_make(s, a, e, &item);
	if (rc <= 0)
		return rc;
	if (thread)
		return source_push(s, thread, &item);
	item.flags = CT_HTML_INSTANT;
	source_finish(&item, e->record);
	return source_emit(s, &item);
}

static int source_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_html_source *s = a->arg;

	switch (e->kind) {
	case CT_ON_BEGIN:
		return source_begin_call(s, a, e);
	case CT_ON_END:
		return source_end_call(s, a, e);
	}
	return source_instant(s, a, e);
}

static int source_end(struct ct_analysis *a)
{
	struct ct_html_source *s = a->arg;
	int rc = 0;

	for (size_t i = 0; i < s->open.size && !rc; i++)
		if (s->open.slots[i].used)
			rc = source_emit(s, (const struct ct_html_item *)(uintptr_t)s->open.slots[i].a);
	for (size_t i = 0; i < s->threads.size && !rc; i++) {
		struct source_thread *thread = (void *)(uintptr_t)s->threads.slots[i].a;

		while (s->threads.slots[i].used && thread && thread->depth && !rc)
			rc = source_pop(s, thread, 0, false);
	}
	return rc;
}

static bool source_wants(const struct ct_class *class)
{
	return class->category != CT_CAT_TRACER;
}

const struct ct_analyser ct_html_source_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.wants = source_wants,
	.unfiltered = true,
	.event = source_event,
	.end = source_end,
};

void ct_html_source_free(struct ct_html_source *s)
{
	for (size_t i = 0; i < s->open.size; i++)
		if (s->open.slots[i].used)
			free((void *)(uintptr_t)s->open.slots[i].a);
	for (size_t i = 0; i < s->threads.size; i++) {
		struct source_thread *thread = (void *)(uintptr_t)s->threads.slots[i].a;

		if (!s->threads.slots[i].used || !thread)
			continue;
		while (thread->depth)
			free(thread->ranges[--thread->depth]);
		free(thread->ranges);
		free(thread);
	}
	ct_hash_free(&s->open);
	ct_hash_free(&s->threads);
}
