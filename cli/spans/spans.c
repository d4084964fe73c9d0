// SPDX-License-Identifier: LGPL-2.1-or-later
/* See spans.h.  Must never keep something for each record. */
#include "spans/spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define SPANS_DEPTH	255		/* a record's depth does not say more */

/* What all records of a class share. */
struct ct_spans_class {
	bool known;
	uint8_t category;
	bool kernel, api, ioctl;
	bool no_frame;			/* nothing is inside it: off the CPU, or on the GPU */
	bool events, spans;		/* which are handed out */
};

/*
 * The program's ioctl calls are in the category syscall.  Where the module saw nothing they
 * are all that is known of the driver: then they are its ioctls.
 */
static void spans_learn(const struct ct_spans *s, const struct ct_class *class, struct ct_spans_class *c)
{
	unsigned int wants = s->wants(s->arg, class);

	*c = (struct ct_spans_class){
		.known = true,
		.category = class->id == CT_CLASS_ioctl && !s->trace->has_kernel ? CT_CAT_IOCTL :
										   class->category,
		.kernel = class->layer != CT_LAYER_USER,
		.api = ct_class_is(class, CT_IS_API),
		.ioctl = ct_class_is(class, CT_IS_IOCTL),
		.no_frame = ct_class_is(class, CT_IS_SWITCH) || class->layer == CT_LAYER_GPU,
		.events = wants & CT_WANTS_EVENTS,
		.spans = wants & CT_WANTS_SPANS,
	};
}

static inline const struct ct_spans_class *spans_class(struct ct_spans *s, const struct ct_class *class)
{
	struct ct_spans_class *c = &s->classes[class->id];

	if (!c->known)
		spans_learn(s, class, c);
	return c;
}

static inline int spans_event(struct ct_spans *s, const struct ct_spans_class *c, const struct ct_trace_event *event)
{
	return c->events ? s->event(s->arg, event) : 0;
}

/* ----------------------------------------------------------------- spans --- */

static struct ct_span spans_make(const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	const struct ct_track *track = e->track;

	return (struct ct_span){
		.kind = e->class->layer == CT_LAYER_GPU ? CT_SPAN_GPU :
			e->kind == CT_ON_INSTANT ? CT_SPAN_INSTANT :
			ct_class_is(e->class, CT_IS_SWITCH) ? CT_SPAN_SWITCH : CT_SPAN_CALL,
		.flags = (track->nested[e->category] ? CT_SPAN_NESTED : 0) |
			 (track->ioctls[e->kernel] ? CT_SPAN_INNER_IOCTL : 0),
		.class = e->class, .record = e->record, .track = track, .cause = p->cause,
		.pid = p->record.pid, .tid = p->record.tid, .depth = p->depth, .op_id = p->op_id,
		.parent = p->cause ? p->cause->op_id : track->depth ? track->frames[track->depth - 1].op_id : 0,
		.stack = p->cause ? p->cause->stack : p->stack, .begin = e->begin, .end = e->end,
		.category = e->category, .kernel = e->kernel, .api = e->api,
	};
}

static unsigned int spans_returned(const struct ct_record *r)
{
	return (ct_record_failed(r) ? CT_SPAN_FAILED : 0) |
	       (r->flags & CT_F_ABANDONED ? CT_SPAN_ABANDONED : CT_SPAN_TIMED);
}

static inline int spans_give(struct ct_spans *s, const struct ct_span *span, unsigned int orders)
{
	return s->orders & orders ? s->span(s->arg, span, s->orders & orders) : 0;
}

static int spans_begin(struct ct_spans *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	struct ct_open_call *open;
	struct ct_span span;

	if (!p->open && !p->entry && !(s->orders & CT_SPANS_BY_BEGIN))
		return 0;
	span = spans_make(e);
	if (p->open) {
		span.flags |= CT_SPAN_UNFINISHED;
		return spans_give(s, &span, CT_SPANS_BY_END | CT_SPANS_BY_BEGIN);
	}
	if (!p->entry) {
		span.end = p->record.end;
		span.duration = span.end - span.begin;
		span.flags |= spans_returned(&p->record);
		return spans_give(s, &span, CT_SPANS_BY_BEGIN);
	}
	open = ct_keyed_put(&s->open, p->op_id);
	if (!open)
		return -ENOMEM;
	*open = (struct ct_open_call){
		.op_id = span.op_id, .begin = span.begin, .parent = span.parent, .fields = p->record.fields,
		.pid = span.pid, .tid = span.tid, .depth = span.depth, .stack = span.stack, .track = e->track->index,
		.cpu = p->record.cpu, .class = span.class->id, .text_len = p->record.text_len,
		.source = p->record.source ? p->record.source - s->trace->sources + 1 : 0,
		.flags = p->record.flags, .inside = span.flags,
	};	return 0;
}

/* The record at the entry of a call. */
static struct ct_record spans_entry(const struct ct_spans *s, const struct ct_open_call *open)
{
	return (struct ct_record){
		.class = ct_registry_class(&s->trace->reg, open->class), .fields = open->fields, .pid = open->pid,
		.tid = open->tid, .cpu = open->cpu, .flags = open->flags, .text_len = open->text_len,
		.end = open->begin, .source = open->source ? &s->trace->sources[open->source - 1] : NULL,
	};
}

static int spans_end(struct ct_spans *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	bool entry = p->record.flags & CT_F_HAS_BEGIN;
	struct ct_open_call *open;
	struct ct_record at_entry;
	struct ct_span span;

	if (!entry && !(s->orders & CT_SPANS_BY_END))
		return 0;
	open = entry ? ct_keyed_get(&s->open, p->op_id) : NULL;
	span = spans_make(e);
	span.flags |= (e->failed ? CT_SPAN_FAILED : 0) | (e->timed ? CT_SPAN_TIMED : CT_SPAN_ABANDONED) |
		      (p->begin_lost ? CT_SPAN_BEGIN_LOST : 0) | (entry ? CT_SPAN_AT_ENTRY : 0);
	span.duration = e->duration;
	span.self = e->self;
	if (open) {
		/* What was around it when it began. */
		span.parent = open->parent;
		at_entry = spans_entry(s, open);
		span.entry = &at_entry;
		ct_keyed_remove(&s->open, open);
	}
	return spans_give(s, &span, entry ? CT_SPANS_BY_END | CT_SPANS_BY_BEGIN : CT_SPANS_BY_END);
}

static int spans_open_compare(const void *a, const void *b)
{
	const struct ct_open_call *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

/* Calls whose end is not in the trace. */
static int spans_leave_calls(struct ct_spans *s)
{
	int rc = 0;

	ct_keyed_sort(&s->open, spans_open_compare);
	for (size_t i = 0; i < s->open.count && !rc; i++) {
		const struct ct_open_call *open = &s->open.list[i];
		struct ct_record entry = spans_entry(s, open), record = entry;
		const struct ct_spans_class *c = spans_class(s, entry.class);
		struct ct_span span = {
			.kind = !c->no_frame ? CT_SPAN_CALL :
				entry.class->layer == CT_LAYER_GPU ? CT_SPAN_GPU : CT_SPAN_SWITCH,
			.flags = CT_SPAN_UNFINISHED | CT_SPAN_AT_ENTRY | open->inside, .class = entry.class,
			.record = &record, .entry = &entry, .track = s->tracks.list[open->track].track, .pid = open->pid,
			.tid = open->tid, .depth = open->depth, .op_id = open->op_id, .parent = open->parent,
			.stack = open->stack, .begin = open->begin, .end = open->begin, .left = open->left,
			.category = c->category, .kernel = c->kernel, .api = c->api,
		};

		/* What it says of a result is not known. */
		record.fields = NULL;
		record.text_len = 0;
		rc = spans_give(s, &span, CT_SPANS_BY_END | CT_SPANS_BY_BEGIN);
	}
	return rc;
}

/* ---------------------------------------------------------------- ranges --- */

static int spans_push(struct ct_spans *s, struct ct_track *track, const struct ct_span *push)
{
	const struct ct_record *r = push->record;

	if (track->ranges_deeper || track->ranges_depth == CT_RANGES_DEPTH || s->ranges == CT_RANGES_OPEN) {
		track->ranges_deeper++;
		s->totals.ranges_deep++;
		return 0;
	}
	if (!ct_room(track->ranges, track->ranges_depth, track->ranges_room))
		return -ENOMEM;
	track->ranges[track->ranges_depth++] = (struct ct_open_range){
		.begin = push->begin, .number = push->number, .parent = push->parent, .fields = r->fields,
		.class = push->class, .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .text_len = r->text_len,
		.flags = r->flags,
	};
	s->ranges++;
	return 0;
}

/* The innermost range ends at @end with the instant @number; 0: it has no end in the trace. */
static int spans_pop(struct ct_spans *s, struct ct_track *track, uint64_t end, uint64_t number)
{
	const struct ct_open_range *range = &track->ranges[--track->ranges_depth];
	struct ct_record record = {
		.class = range->class, .fields = range->fields, .pid = range->pid, .tid = range->tid,
		.cpu = range->cpu, .flags = range->flags, .text_len = range->text_len, .end = range->begin,
	};
	struct ct_span span = {
		.kind = CT_SPAN_RANGE, .flags = number ? CT_SPAN_TIMED : CT_SPAN_UNFINISHED,
		.class = range->class, .record = &record, .track = track, .pid = range->pid, .tid = range->tid,
		.depth = track->ranges_depth, .number = range->number, .pop = number, .parent = range->parent,
		.begin = range->begin, .end = number && end > range->begin ? end : range->begin,
		.category = range->class->category,
	};

	span.duration = span.self = span.end - span.begin;
	s->ranges--;
	if (!spans_class(s, range->class)->spans)
		return 0;
	return spans_give(s, &span, CT_SPANS_BY_END | CT_SPANS_BY_BEGIN);
}

static int spans_instant(struct ct_spans *s, const struct ct_spans_class *c, const struct ct_trace_event *e)
{
	bool range = e->class->id == CT_CLASS_range_push || e->class->id == CT_CLASS_range_pop;
	struct ct_track *track = e->track;
	bool sample = ct_class_is_sampled(e->class);
	struct ct_span span;
	int rc;

	/* Ranges are followed also for those who ask in which one a call is. */
	if (!c->spans && !range) {
		s->instants += !e->point->op_id && !sample;
		return 0;
	}
	span = spans_make(e);
	span.flags |= e->failed ? CT_SPAN_FAILED : 0;
	/* Records have the same numbers in a pass that leaves samples out. */
	span.number = span.op_id || sample ? 0 : ++s->instants;
	rc = c->spans ? spans_give(s, &span, CT_SPANS_BY_END | CT_SPANS_BY_BEGIN) : 0;
	if (!rc && e->class->id == CT_CLASS_range_push)
		return spans_push(s, track, &span);
	if (rc || e->class->id != CT_CLASS_range_pop)
		return rc;
	if (track->ranges_deeper)
		track->ranges_deeper--;
	else if (track->ranges_depth)
		return spans_pop(s, track, span.end, span.number);
	else
		s->totals.pops++;
	return 0;
}

/* ------------------------------------------------------------------ pass --- */

/*
 * The innermost open call of a track did not return.  What was inside it is accounted there.  @left: ns,
 * when its thread was outside it, 0: never.
 */
static int spans_unreturned(struct ct_spans *s, struct ct_track *track, uint64_t left)
{
	struct ct_frame *frame = ct_track_pop(track);
	struct ct_open_call *open = left ? ct_keyed_get(&s->open, frame->op_id) : NULL;
	const struct ct_spans_class *c = spans_class(s, frame->class);
	struct ct_trace_event event = {
		.kind = CT_ON_UNRETURNED, .class = frame->class, .category = c->category,
		.kernel = c->kernel, .api = c->api, .track = track, .begin = frame->begin,
		.end = left ? left : frame->begin, .left = left,
	};

	if (open)
		open->left = left;
	return spans_event(s, c, &event);
}

static int spans_begin_call(struct ct_spans *s, const struct ct_spans_class *c, const struct ct_trace_event *event)
{
	const struct ct_point *p = event->point;
	int rc = 0;

	/* A call of the program says how many are around it: the ends of others were lost. */
	while (!rc && !c->kernel && p->depth < SPANS_DEPTH && event->track->depth > p->depth)
		rc = spans_unreturned(s, event->track, p->ts);
	if (!rc)
		rc = spans_event(s, c, event);
	if (!rc && c->spans)
		rc = spans_begin(s, event);
	/*
	 * A thread off the CPU stands inside whatever it was doing, whose time that is.  The GPU
	 * does many things at once, none of them inside another one.
	 */
	if (rc || c->no_frame)
		return rc;
	return ct_track_push(event->track, &(struct ct_frame){
		.op_id = p->op_id, .begin = p->ts, .class = event->class, .stack = p->stack,
		.category = c->category, .ioctl = c->ioctl && p->record.fields,
	});
}

/* Takes the call from its track's frames, and works out its self time. */
static int spans_leave(struct ct_spans *s, struct ct_trace_event *event)
{
	struct ct_track *track = event->track;
	uint64_t inner = 0;
	uint32_t at;
	int rc;

	for (at = track->depth; at > 0; at--)
		if (track->frames[at - 1].op_id == event->point->op_id)
			break;
	/* Its begin was lost: then nothing is known to be inside it. */
	if (at) {
		while (track->depth > at) { /* their ends were lost */
			rc = spans_unreturned(s, track, event->point->ts);
			if (rc)
				return rc;
		}
		inner = ct_track_pop(track)->inner;
	}
	/* When an abandoned call was left is not known, only when that was noticed. */
	if (track->depth)
		track->frames[track->depth - 1].inner += event->timed ? event->duration : inner;
	event->self = inner < event->duration ? event->duration - inner : 0;
	return 0;
}

static int spans_end_call(struct ct_spans *s, const struct ct_spans_class *c, struct ct_trace_event *event)
{
	const struct ct_point *p = event->point;
	int rc;

	event->duration = event->self = p->ts - p->begin;
	event->timed = !(p->record.flags & CT_F_ABANDONED);
	rc = c->no_frame ? 0 : spans_leave(s, event);
	if (!rc)
		rc = spans_event(s, c, event);
	return rc || !c->spans ? rc : spans_end(s, event);
}

static int spans_point(struct ct_spans *s, const struct ct_point *p)
{
	const struct ct_class *class = p->record.class;
	const struct ct_spans_class *c = spans_class(s, class);
	struct ct_track *track = ct_tracks_of(&s->tracks, &p->record);
	/* Each field is set once: this is done for each point of a trace. */
	struct ct_trace_event event;
	int rc;

	if (!track)
		return -ENOMEM;
	if (!ct_class_is_sampled(class)) {
		if (!s->totals.points++ || p->ts < s->totals.first)
			s->totals.first = p->ts;
		if (p->ts > s->totals.last)
			s->totals.last = p->ts;
	}
	event.kind = p->phase == 'B' ? CT_ON_BEGIN : p->phase == 'E' ? CT_ON_END : CT_ON_INSTANT;
	event.point = p;
	event.record = &p->record;
	event.class = class;
	event.category = c->category;
	event.kernel = c->kernel;
	event.api = c->api;
	event.failed = event.kind != CT_ON_BEGIN && ct_record_failed(&p->record);
	event.timed = event.left = false;
	event.begin = p->begin;
	event.end = p->ts;
	event.duration = event.self = 0;
	event.track = track;
	if (event.kind == CT_ON_BEGIN)
		return spans_begin_call(s, c, &event);
	if (event.kind == CT_ON_END)
		return spans_end_call(s, c, &event);
	rc = spans_event(s, c, &event);
	return rc || !s->orders ? rc : spans_instant(s, c, &event);
}

/* What has no end in the trace. */
static int spans_finish(struct ct_spans *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->tracks.count && !rc; i++)
		while (s->tracks.list[i].track->depth && !rc)
			rc = spans_unreturned(s, s->tracks.list[i].track, 0);
	if (!rc)
		rc = spans_leave_calls(s);
	for (size_t i = 0; i < s->tracks.count && !rc; i++)
		while (s->tracks.list[i].track->ranges_depth && !rc)
			rc = spans_pop(s, s->tracks.list[i].track, 0, 0);
	return rc;
}

int ct_spans_run(struct ct_spans *s)
{
	struct ct_merge *m = ct_merge_new(s->trace);
	struct ct_point point;
	int rc;

	s->classes = calloc(CT_CLASS_MAX + 1, sizeof(*s->classes));
	rc = m && s->classes ? 0 : -ENOMEM;
	if (!rc && s->samples)
		ct_merge_samples(m);
	while (!rc && (rc = ct_merge_next(m, &point)) > 0)
		rc = spans_point(s, &point);
	if (!rc)
		rc = spans_finish(s);
	s->totals.processes = s->tracks.pids.count;
	s->totals.threads = s->tracks.threads;
	ct_merge_free(m);
	return rc;
}

void ct_spans_free(struct ct_spans *s)
{
	free(s->classes);
	ct_keyed_free(&s->open);
	ct_tracks_free(&s->tracks);
	s->classes = NULL;
}
