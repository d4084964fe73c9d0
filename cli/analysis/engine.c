// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See engine.h.  What all analysers need is done here once: the open calls of each thread,
 * self times, names, the filter.  Must never keep something for each record.
 */
#include "analysis/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tracks.h"

#define ENGINE_KNOWN	(1ull << 63)	/* of a class's .wanted: it was computed */

#define ENGINE_DEPTH	255		/* a record's depth does not say more */

/* What all events of a class share. */
struct engine_class {
	uint64_t wanted;		/* bits of the analysers that want it, and ENGINE_KNOWN */
	uint8_t category;
	bool kernel, api, ioctl;
	bool no_frame;			/* nothing is inside it: off the CPU, or on the GPU */
};

struct ct_engine {
	const struct ct_trace *trace;
	const struct ct_engine_options *options;
	struct ct_phases own_phases;
	struct ct_processes processes;
	struct ct_names names;
	struct ct_filter_state filter;
	struct ct_tracks tracks;
	struct ct_totals totals;
	struct ct_analysis list[CT_ANALYSERS_MAX];
	unsigned int count;
	struct engine_class *classes;	/* by id */
	uint64_t on[CT_ON_UNRETURNED + 1];	/* by kind */
	uint64_t unfiltered;		/* bits */
};

/* -------------------------------------------------------------- the list --- */

void ct_analysers_add(struct ct_analysers *analysers, const struct ct_analyser *one)
{
	for (unsigned int i = 0; i < analysers->count && i < CT_ANALYSERS_MAX; i++)
		if (analysers->list[i] == one)
			return;
	if (analysers->count < CT_ANALYSERS_MAX)
		analysers->list[analysers->count] = one;
	analysers->count++;
}

static struct ct_analysis *engine_find(const struct ct_engine *e, const struct ct_analyser *of)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (e->list[i].analyser == of)
			return (struct ct_analysis *)&e->list[i];
	return NULL;
}

/* Adds an analyser behind those that it needs. */
static int engine_add(struct ct_engine *e, const struct ct_analyser *analyser)
{
	struct ct_analysis *a;

	int rc = 0;

	if (engine_find(e, analyser))
		return 0;
	for (unsigned int i = 0; analyser->needs && analyser->needs[i] && !rc; i++)
		rc = engine_add(e, analyser->needs[i]);
	if (rc)
		return rc;
	if (e->count == CT_ANALYSERS_MAX)
		return -E2BIG;
	a = &e->list[e->count];
	*a = (struct ct_analysis){
		.analyser = analyser,
		.trace = e->trace,
		.phases = e->options->phases ? e->options->phases : &e->own_phases,
		.processes = &e->processes,
		.names = &e->names,
		.filter = &e->filter.filter,
		.totals = &e->totals,
		.arg = e->options->arg,
		.engine = e,
	};
	a->state = calloc(1, analyser->state_size + 1);
	if (!a->state)
		return -ENOMEM;
	for (unsigned int kind = CT_ON_BEGIN; kind <= CT_ON_UNRETURNED; kind <<= 1)
		if (analyser->event && (analyser->on & kind))
			e->on[kind] |= 1ull << e->count;
	if (analyser->unfiltered)
		e->unfiltered |= 1ull << e->count;
	e->count++;
	return 0;
}

/*
 * The program's ioctl calls are in the category syscall.  Where the module saw nothing they
 * are all that is known of the driver: then they are its ioctls.
 */
static void engine_learn(const struct ct_engine *e, const struct ct_class *class,
			 struct engine_class *c)
{
	*c = (struct engine_class){
		.wanted = ENGINE_KNOWN,
		.category = class->id == CT_CLASS_ioctl && !e->trace->has_kernel ? CT_CAT_IOCTL :
										   class->category,
		.kernel = class->layer != CT_LAYER_USER,
		.api = ct_class_is(class, CT_IS_API),
		.ioctl = ct_class_is(class, CT_IS_IOCTL),
		.no_frame = class->category == CT_CAT_SWITCH || class->layer == CT_LAYER_GPU,
	};
	for (unsigned int i = 0; i < e->count; i++) {
		const struct ct_analyser *a = e->list[i].analyser;

		if (a->event && (!a->wants || a->wants(class)))
			c->wanted |= 1ull << i;
	}
}

static inline const struct engine_class *engine_class(struct ct_engine *e, const struct ct_class *class)
{
	struct engine_class *c = &e->classes[class->id];

	if (!c->wanted)
		engine_learn(e, class, c);
	return c;
}

/* --------------------------------------------------------------- the pass --- */

static int engine_emit(struct ct_engine *e, const struct engine_class *c,
		       const struct ct_trace_event *event)
{
	uint64_t mask = c->wanted & e->on[event->kind];

	if (!e->filter.all && (mask & ~e->unfiltered) &&
	    !ct_filter_pass(&e->filter, event->class, event->track->pid, event->track->tid,
			    event->begin, event->record))
		mask &= e->unfiltered;
	for (; mask; mask &= mask - 1) {
		struct ct_analysis *a = &e->list[__builtin_ctzll(mask)];
		int rc = a->analyser->event(a, event);

		if (rc)
			return rc;
	}
	return 0;
}

/* The innermost open call of a track did not return.  What was inside it is accounted there. */
static int engine_unreturned(struct ct_engine *e, struct ct_track *track)
{
	struct ct_frame *frame = ct_track_pop(track);
	const struct engine_class *c = engine_class(e, frame->class);
	struct ct_trace_event event = {
		.kind = CT_ON_UNRETURNED, .class = frame->class, .category = c->category,
		.kernel = c->kernel, .api = c->api, .track = track, .begin = frame->begin,
		.end = frame->begin,
	};

	return engine_emit(e, c, &event);
}

static int engine_begin_call(struct ct_engine *e, const struct engine_class *c,
			     const struct ct_trace_event *event)
{
	const struct ct_point *p = event->point;
	int rc = 0;

	/* A call of the program says how many are around it: the ends of others were lost. */
	while (!rc && !c->kernel && p->depth < ENGINE_DEPTH && event->track->depth > p->depth)
		rc = engine_unreturned(e, event->track);
	if (!rc)
		rc = engine_emit(e, c, event);
	/*
	 * A thread off the CPU stands inside whatever it was doing, whose time that is.  The GPU
	 * does many things at once, none of them inside another one.
	 */
	if (rc || c->no_frame)
		return rc;
	return ct_track_push(event->track, &(struct ct_frame){
		.op_id = p->op_id, .begin = p->ts, .class = event->class,
		.category = c->category, .ioctl = c->ioctl && p->record.fields,
	});
}

static int engine_end_call(struct ct_engine *e, const struct engine_class *c, struct ct_trace_event *event)
{
	const struct ct_point *p = event->point;
	struct ct_track *track = event->track;
	uint64_t inner = 0;
	uint32_t at;
	int rc;

	event->duration = event->self = p->ts - p->begin;
	event->timed = !(p->record.flags & CT_F_ABANDONED);
	if (c->no_frame)
		return engine_emit(e, c, event);
	for (at = track->depth; at > 0; at--)
		if (track->frames[at - 1].op_id == p->op_id)
			break;
	/* Its begin was lost: then nothing is known to be inside it. */
	if (at) {
		while (track->depth > at) { /* their ends were lost */
			rc = engine_unreturned(e, track);
			if (rc)
				return rc;
		}
		inner = ct_track_pop(track)->inner;
	}
	/* When an abandoned call was left is not known, only when that was noticed. */
	if (track->depth)
		track->frames[track->depth - 1].inner += event->timed ? event->duration : inner;
	event->self = inner < event->duration ? event->duration - inner : 0;
	return engine_emit(e, c, event);
}

static int engine_point(struct ct_engine *e, const struct ct_point *p)
{
	const struct ct_class *class = p->record.class;
	const struct engine_class *c = engine_class(e, class);
	struct ct_track *track = ct_tracks_of(&e->tracks, &p->record);
	/* Each field is set once: this is done for each point of a trace. */
	struct ct_trace_event event;

	if (!track)
		return -ENOMEM;
	if (!e->totals.points++ || p->ts < e->totals.first)
		e->totals.first = p->ts;
	if (p->ts > e->totals.last)
		e->totals.last = p->ts;
	if (class->id == CT_CLASS_process && ct_processes_point(&e->processes, p))
		return -ENOMEM;
	event.kind = p->phase == 'B' ? CT_ON_BEGIN : p->phase == 'E' ? CT_ON_END : CT_ON_INSTANT;
	event.point = p;
	event.record = &p->record;
	event.class = class;
	event.category = c->category;
	event.kernel = c->kernel;
	event.api = c->api;
	event.failed = event.kind != CT_ON_BEGIN && ct_record_failed(&p->record);
	event.timed = false;
	event.begin = p->begin;
	event.end = p->ts;
	event.duration = event.self = 0;
	event.track = track;
	if (event.kind == CT_ON_BEGIN)
		return engine_begin_call(e, c, &event);
	if (event.kind == CT_ON_END)
		return engine_end_call(e, c, &event);
	return engine_emit(e, c, &event);
}

static int engine_pass(struct ct_engine *e)
{
	struct ct_merge *m = ct_merge_new(e->trace);
	struct ct_point point;
	int rc = m ? 0 : -ENOMEM;

	while (!rc && (rc = ct_merge_next(m, &point)) > 0)
		rc = engine_point(e, &point);
	for (size_t i = 0; i < e->tracks.count && !rc; i++)
		while (e->tracks.list[i].track->depth && !rc)
			rc = engine_unreturned(e, e->tracks.list[i].track);
	e->totals.processes = e->tracks.pids.count;
	e->totals.threads = e->tracks.threads;
	ct_merge_free(m);
	return rc;
}

/* ------------------------------------------------------------ the results --- */

struct ct_table *ct_analysis_table(struct ct_analysis *a, const char *name, const char *title,
				   const struct ct_column *columns, unsigned int count)
{
	/* One more is a defect of the analyser: its last table is then made anew. */
	if (a->tables_count == CT_TABLES_MAX)
		ct_table_free(&a->tables[--a->tables_count]);
	ct_table_begin(&a->tables[a->tables_count], name, title, columns, count);
	return &a->tables[a->tables_count++];
}

void *ct_analysis_state(const struct ct_analysis *a, const struct ct_analyser *of)
{
	struct ct_analysis *found = engine_find(a->engine, of);

	return found ? found->state : NULL;
}

static int engine_begin_all(struct ct_engine *e)
{
	int rc = 0;

	for (unsigned int i = 0; i < e->count && !rc; i++) {
		struct ct_analysis *a = &e->list[i];

		if (a->analyser->begin)
			rc = a->analyser->begin(a);
		if (!rc && a->analyser->streams && a->tables_count && e->options->stream)
			rc = e->options->stream(e->options->stream_arg, &a->tables[0]);
	}
	return rc;
}

static int engine_end_all(struct ct_engine *e)
{
	int rc = 0;

	for (unsigned int i = 0; i < e->count && !rc; i++) {
		struct ct_analysis *a = &e->list[i];

		if (a->analyser->end)
			rc = a->analyser->end(a);
		for (unsigned int k = 0; k < a->tables_count && !rc; k++)
			rc = ct_table_end(&a->tables[k]);
	}
	return rc;
}

static int engine_prepare(struct ct_engine *e, const struct ct_analyser *const *analysers,
			  unsigned int count)
{
	bool phases = false;
	int rc = 0;

	e->classes = calloc(CT_CLASS_MAX + 1, sizeof(*e->classes));
	if (!e->classes || ct_names_init(&e->names, &e->trace->reg) ||
	    ct_filter_begin(&e->filter, &e->options->filter, &e->names, &e->trace->reg))
		return -ENOMEM;
	for (unsigned int i = 0; i < count && !rc; i++)
		rc = i < CT_ANALYSERS_MAX ? engine_add(e, analysers[i]) : -E2BIG;
	for (unsigned int i = 0; i < e->count; i++)
		phases |= e->list[i].analyser->phases;
	if (!rc && phases && !e->options->phases)
		rc = ct_phases_find(&e->own_phases, e->trace);
	return rc;
}

struct ct_engine *ct_engine_run(const struct ct_trace *t, const struct ct_analyser *const *analysers,
				unsigned int count, const struct ct_engine_options *options,
				struct ct_error *err)
{
	struct ct_engine *e = calloc(1, sizeof(*e));
	int rc = -ENOMEM;

	if (e) {
		e->trace = t;
		e->options = options;
		rc = engine_prepare(e, analysers, count);
		if (!rc)
			rc = engine_begin_all(e);
		if (!rc)
			rc = engine_pass(e);
		if (!rc)
			rc = engine_end_all(e);
	}
	if (!rc)
		return e;
	ct_engine_free(e);
	if (rc == -E2BIG)
		ct_fail(err, E2BIG, "a pass has %u analysers at most; ask for fewer reports at once", CT_ANALYSERS_MAX);
	else
		ct_fail(err, -rc, "%s", strerror(-rc));
	return NULL;
}

const struct ct_analysis *ct_engine_result(const struct ct_engine *e, const struct ct_analyser *analyser)
{
	return engine_find(e, analyser);
}

void ct_engine_free(struct ct_engine *e)
{
	if (!e)
		return;
	for (unsigned int i = 0; i < e->count; i++) {
		struct ct_analysis *a = &e->list[i];

		if (a->analyser->free)
			a->analyser->free(a);
		for (unsigned int k = 0; k < a->tables_count; k++)
			ct_table_free(&a->tables[k]);
		free(a->state);
	}
	free(e->classes);
	ct_phases_free(&e->own_phases);
	ct_processes_free(&e->processes);
	ct_names_forget(&e->names);
	ct_filter_end(&e->filter);
	ct_tracks_free(&e->tracks);
	free(e);
}
