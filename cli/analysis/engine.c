// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See engine.h.  What all analysers need is done once: spans and self times below, names and the
 * filter here.  Must never keep something for each record.
 */
#include "analysis/engine.h"
#include "analysis/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/rank_summary.h"

typedef unsigned __int128 engine_mask;	/* a bit for each analyser */

#define ENGINE_BIT(i)	((engine_mask)1 << (i))
#define ENGINE_KNOWN	ENGINE_BIT(127)	/* of a class: its bits were computed */
#define ENGINE_PROCESS	ENGINE_BIT(126)	/* of a class: its records say something of their process */

/* Who gets an event. */
struct engine_call {
	int (*event)(struct ct_analysis *a, const struct ct_trace_event *e);
	struct ct_analysis *a;
};

struct ct_engine {
	const struct ct_trace *trace;
	const struct ct_engine_options *options;
	const struct ct_phases *phases;
	const struct ct_collectives *collectives;
	struct ct_phases own_phases;
	struct ct_collectives own_collectives;
	struct ct_processes processes;
	struct ct_names names;
	struct ct_filter_state filter;
	struct ct_spans spans;
	struct ct_analysis list[CT_ANALYSERS_MAX];
	struct engine_call calls[CT_ANALYSERS_MAX];	/* as .list */
	unsigned int count;
	engine_mask *wanted;		/* by class id: bits of the analysers that want it, and ENGINE_... */
	engine_mask on[CT_ON_UNRETURNED + 1];	/* bits, by kind of event */
	engine_mask by_end, by_begin;	/* bits of the analysers that get spans in this order */
	engine_mask unfiltered;		/* bits */
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
	bool gets;
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
		.phases = e->phases,
		.processes = &e->processes,
		.names = &e->names,
		.filter = &e->filter.filter,
		.collectives = e->collectives,
		.totals = &e->spans.totals,
		.arg = e->options->arg,
		.engine = e,
	};
	a->state = calloc(1, analyser->state_size + 1);
	if (!a->state)
		return -ENOMEM;
	e->calls[e->count] = (struct engine_call){ analyser->event, a };
	gets = (!analyser->gpu || e->trace->has_gpu) && (!analyser->stacks || ct_registry_info(&e->trace->reg, "stacks"));
	for (unsigned int kind = CT_ON_BEGIN; kind <= CT_ON_UNRETURNED; kind <<= 1)
		if (gets && analyser->event && (analyser->on & kind))
			e->on[kind] |= ENGINE_BIT(e->count);
	/* Without collectives nothing is to be said of ranks. */
	if (gets && analyser->spans & CT_SPANS_BY_END &&
	    (!analyser->collectives || ct_collectives_there(&e->trace->reg)))
		e->by_end |= ENGINE_BIT(e->count);
	if (gets && analyser->spans & CT_SPANS_BY_BEGIN)
		e->by_begin |= ENGINE_BIT(e->count);
	if (analyser->unfiltered)
		e->unfiltered |= ENGINE_BIT(e->count);
	e->count++;
	return 0;
}

/* The lowest bit of a mask that has one. */
static inline unsigned int engine_first(engine_mask mask)
{
	uint64_t low = (uint64_t)mask;

	return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(mask >> 64));
}

static void engine_learn(const struct ct_engine *e, const struct ct_class *class, engine_mask *wanted)
{
	*wanted = ENGINE_KNOWN | (ct_processes_wants(class) ? ENGINE_PROCESS : 0);
	for (unsigned int i = 0; i < e->count; i++) {
		const struct ct_analyser *a = e->list[i].analyser;

		if (ct_class_is_sampled(class) && !a->samples)
			continue;
		if ((a->event || a->span) && (!a->what || ct_class_is(class, a->what)) && (!a->wants || a->wants(class)))
			*wanted |= ENGINE_BIT(i);
	}
}

/* --------------------------------------------------------------- the pass --- */

/* Which analysers want records of the class, of those in @mask. */
static inline engine_mask engine_wanted(struct ct_engine *e, const struct ct_class *class, engine_mask mask)
{
	engine_mask *wanted = &e->wanted[class->id];

	if (!*wanted)
		engine_learn(e, class, wanted);
	return *wanted & mask;
}

static int engine_event(void *arg, const struct ct_trace_event *event)
{
	struct ct_engine *e = arg;
	engine_mask mask = engine_wanted(e, event->class, e->on[event->kind] | ENGINE_PROCESS);

	if (mask & ENGINE_PROCESS) {
		if (event->point && ct_processes_point(&e->processes, event->point))
			return -ENOMEM;
		mask &= ~ENGINE_PROCESS;
	}
	if (!e->filter.all && (mask & ~e->unfiltered) &&
	    !ct_filter_pass(&e->filter, event->class, event->track->pid,
			    event->point && event->point->cause ? event->point->cause->tid : event->track->tid,
			    event->begin, event->record))
		mask &= e->unfiltered;
	for (; mask; mask &= mask - 1) {
		const struct engine_call *call = &e->calls[engine_first(mask)];
		int rc = call->event(call->a, event);

		if (rc)
			return rc;
	}
	return 0;
}

static int engine_span(void *arg, const struct ct_span *span, unsigned int orders)
{
	struct ct_engine *e = arg;
	engine_mask mask = engine_wanted(e, span->class, (orders & CT_SPANS_BY_END ? e->by_end : 0) |
						      (orders & CT_SPANS_BY_BEGIN ? e->by_begin : 0));

	if (!e->filter.all && (mask & ~e->unfiltered) &&
	    !ct_filter_pass_span(&e->filter, span))
		mask &= e->unfiltered;
	for (; mask; mask &= mask - 1) {
		struct ct_analysis *a = &e->list[engine_first(mask)];
		int rc = a->analyser->span(a, span);

		if (rc)
			return rc;
	}
	return 0;
}

static unsigned int engine_wants(void *arg, const struct ct_class *class)
{
	struct ct_engine *e = arg;
	engine_mask on = ENGINE_PROCESS;

	for (unsigned int kind = CT_ON_BEGIN; kind <= CT_ON_UNRETURNED; kind <<= 1)
		on |= e->on[kind];
	return (engine_wanted(e, class, on) ? CT_WANTS_EVENTS : 0) |
	       (engine_wanted(e, class, e->by_end | e->by_begin) ? CT_WANTS_SPANS : 0);
}

static int engine_pass(struct ct_engine *e)
{
	e->spans.trace = e->trace;
	e->spans.event = engine_event;
	e->spans.span = engine_span;
	e->spans.wants = engine_wants;
	e->spans.orders = (e->by_end ? CT_SPANS_BY_END : 0) | (e->by_begin ? CT_SPANS_BY_BEGIN : 0);
	for (unsigned int i = 0; i < e->count; i++)
		e->spans.samples |= e->list[i].analyser->samples;
	e->spans.arg = e;
	return ct_spans_run(&e->spans);
}

/* There are no records: what they would have told is there. */
static int engine_summaries(struct ct_engine *e)
{
	const struct ct_summaries *all = e->trace->summaries;
	int rc = 0;

	e->spans.totals.first = e->trace->reg.start;
	e->spans.totals.last = e->trace->end;
	for (unsigned int i = 0; i < all->processes_count && !rc; i++) {
		const struct ct_summary_process *p = &all->processes[i];

		rc = ct_processes_tell(&e->processes, p->pid, p->name, p->rank, p->gpu);
	}
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

const struct ct_track *ct_analysis_track(const struct ct_analysis *a, uint64_t key)
{
	const struct ct_track_of *of = ct_keyed_get(&a->engine->spans.tracks, key);

	return of ? of->track : NULL;
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
	const struct ct_points_filter *only = e->trace->filter;
	bool phases = false, collectives = false;
	int rc = 0;

	e->wanted = calloc(CT_CLASS_MAX + 1, sizeof(*e->wanted));
	if (!e->wanted || ct_names_init(&e->names, &e->trace->reg) ||
	    ct_filter_begin(&e->filter, &e->options->filter, &e->names, &e->trace->reg) ||
	    ct_processes_ranks(&e->processes, &e->trace->reg))
		return -ENOMEM;
	for (unsigned int i = 0; i < count && !rc; i++)
		rc = i < CT_ANALYSERS_MAX ? engine_add(e, analysers[i]) : -E2BIG;
	for (unsigned int i = 0; i < e->count; i++)
		phases |= e->list[i].analyser->phases, collectives |= e->list[i].analyser->collectives;
	if (!rc && collectives && e->collectives == &e->own_collectives &&
	    (ct_collectives_there(&e->trace->reg) || ct_collectives_kernels(&e->trace->reg)))
		rc = ct_collectives_find(&e->own_collectives, e->trace);
	if (!rc && phases && e->phases == &e->own_phases) {
		rc = ct_phases_find(&e->own_phases, e->trace);
		if (!rc && only)
			ct_range_clip(&e->own_phases, &(struct ct_range){ only->from, only->to }, only->pid);
	}
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
		e->phases = options->phases ? options->phases : &e->own_phases;
		e->collectives = options->collectives ? options->collectives : &e->own_collectives;
		if (t->summaries) {
			e->phases = &t->summaries->phases;
			e->collectives = &t->summaries->collectives;
		}
		rc = engine_prepare(e, analysers, count);
		if (!rc)
			rc = engine_begin_all(e);
		if (!rc)
			rc = t->summaries ? engine_summaries(e) : engine_pass(e);
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

int ct_engine_one(const struct ct_trace *t, const struct ct_analyser *analyser, void *arg)
{
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 }, .arg = arg };
	struct ct_error err = { 0 };
	struct ct_engine *e = ct_engine_run(t, &analyser, 1, &options, &err);

	ct_engine_free(e);
	return e ? 0 : -err.code;
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
	free(e->wanted);
	ct_phases_free(&e->own_phases);
	ct_collectives_free(&e->own_collectives);
	ct_processes_free(&e->processes);
	ct_names_forget(&e->names);
	ct_filter_end(&e->filter);
	ct_spans_free(&e->spans);
	free(e);
}
