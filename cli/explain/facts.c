// SPDX-License-Identifier: LGPL-2.1-or-later
/* See facts.h.  Memory is bounded by the number of functions of each process. */
#include "explain/facts.h"

#include <errno.h>
#include <stdlib.h>


enum ct_scope ct_scope_of(const struct ct_process_phases *p, uint64_t ts, int64_t *iteration)
{
	if (iteration)
		*iteration = -1;
	switch (ct_phases_stage(p, ts)) {
	case CT_STAGE_STEADY:
		if (iteration)
			*iteration = ct_phases_iteration(p, ts);
		return CT_SCOPE_STEADY;
	case CT_STAGE_EXECUTION:
		return CT_SCOPE_STEADY;
	case CT_STAGE_TEARDOWN: case CT_STAGE_COUNT:
		return CT_SCOPE_COUNT;
	default:
		return CT_SCOPE_STARTUP;
	}
}

void ct_scope_span(const struct ct_process_phases *p, enum ct_scope scope, uint64_t *begin, uint64_t *end)
{
	*begin = *end = 0;
	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *s = &p->stages[i];
		bool steady = ct_stage_is_main(s->stage);

		if (s->stage == CT_STAGE_TEARDOWN || steady != (scope == CT_SCOPE_STEADY))
			continue;
		if (!*end)
			*begin = s->begin;
		*end = s->end;
	}
}

void ct_scope_union(const struct ct_process_phases *p, enum ct_scope scope, const struct ct_trace_event *e, struct ct_union *u)
{
	uint64_t begin, end;

	ct_scope_span(p, scope, &begin, &end);
	ct_union_add(u, e->begin, e->end < end ? e->end : end);
}

void ct_evidence_set(struct ct_evidence *e, const struct ct_trace_event *event)
{
	*e = (struct ct_evidence){
		.op_id = event->point ? event->point->op_id : 0,
		.ts = event->begin,
		.ns = event->timed ? event->duration : 0,
		.tid = event->track->tid,
		.class = event->class,
	};
}

static struct ct_fact *facts_of(struct ct_scope_facts *s, const struct ct_class *class)
{
	struct ct_fact *fact = ct_keyed_put(s, class->id);

	if (fact && !fact->class) {
		fact->class = class;
		fact->last_iteration = -1;
	}
	return fact;
}

#define FACTS_DEINITIALIZED	4	/* CUDA_ERROR_DEINITIALIZED: libcuda has ended, which programs meet as they end */

static void facts_last_error(struct ct_last_error *last, const struct ct_trace_event *e)
{
	if (!ct_class_is(e->class, CT_IS_WORK | CT_IS_WAIT | CT_IS_ALLOC | CT_IS_LOAD | CT_IS_CONTEXT))
		return;
	if (!e->failed) {
		/* It went on.  Who waits for what was launched before, or frees, may end. */
		if (ct_class_is(e->class, CT_IS_WORK | CT_IS_ALLOC))
			*last = (struct ct_last_error){ 0 };
		return;
	}
	if (last->failure.class || e->record->result == FACTS_DEINITIALIZED)
		return;
	ct_evidence_set(&last->failure, e);
	last->code = e->record->result;
	last->size = ct_class_is(e->class, CT_IS_ALLOC) ? ct_record_known(e->record, CT_KNOWN_SIZE) : 0;
}

static int facts_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);
	struct ct_fact_table *facts = a->state;
	struct ct_fact *fact;
	enum ct_scope scope;
	int64_t iteration;

	if (!p || !e->class->call || !e->track->tid)
		return 0;
	facts_last_error(&facts->processes[p - a->phases->processes].last_error, e);
	scope = ct_scope_of(p, e->begin, &iteration);
	if (scope == CT_SCOPE_COUNT)
		return 0;
	fact = facts_of(&facts->processes[p - a->phases->processes].scopes[scope], e->class);
	if (!fact)
		return -ENOMEM;
	if (!fact->count++)
		ct_evidence_set(&fact->first, e);
	fact->in_iterations += iteration >= 0;
	if (iteration >= 0 && iteration != fact->last_iteration) {
		fact->last_iteration = iteration;
		fact->iterations++;
	}
	fact->failed_in_iterations += e->failed && iteration >= 0;
	if (e->failed && !fact->failed++) {
		ct_evidence_set(&fact->failure, e);
		fact->code = e->record->result;
	}
	if (!e->timed)
		return 0;
	if (ct_class_is(e->class, CT_IS_ALLOC | CT_IS_FREE) && !e->failed)
		ct_scope_union(p, scope, e, &facts->processes[p - a->phases->processes].scopes[scope].memory);
	if (ct_class_is(e->class, CT_IS_CODE))
		ct_scope_union(p, scope, e, &facts->processes[p - a->phases->processes].scopes[scope].modules);
	fact->timed++;
	fact->failed_ns += e->failed ? e->duration : 0;
	if (!e->track->nested[e->category])
		fact->total += e->duration;
	fact->self += e->self;
	if (e->duration >= fact->longest.ns)
		ct_evidence_set(&fact->longest, e);
	return 0;
}

static int facts_begin(struct ct_analysis *a)
{
	struct ct_fact_table *facts = a->state;

	facts->processes = calloc(a->phases->processes_count + 1, sizeof(*facts->processes));
	facts->processes_count = a->phases->processes_count;
	return facts->processes ? 0 : -ENOMEM;
}

static void facts_free(struct ct_analysis *a)
{
	struct ct_fact_table *facts = a->state;

	for (unsigned int i = 0; facts->processes && i < facts->processes_count; i++)
		for (unsigned int k = 0; k < CT_SCOPE_COUNT; k++)
			ct_keyed_free(&facts->processes[i].scopes[k]);
	free(facts->processes);
}

const struct ct_analyser ct_facts_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.state_size = sizeof(struct ct_fact_table),
	.begin = facts_begin,
	.event = facts_event,
	.free = facts_free,
};
