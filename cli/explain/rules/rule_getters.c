// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rule on getters that are called very often.  By default they are counted and not timed; the
 * cost of one is then bounded by the time between two that follow each other at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "group/histogram.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

struct getters {
	struct ct_histogram distances;	/* ns between two getters of a thread with nothing between */
};

struct collection {
	struct getters *processes;
	/* Of the track that was seen last: the getter before, and which call it was. */
	unsigned int track;
	uint64_t last;
	uint64_t last_op;
};

static bool getters_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_QUERY);
}

static int getters_begin(struct ct_analysis *a)
{
	struct collection *c = a->state;

	c->processes = ct_rule_per_process(a, sizeof(*c->processes));
	return c->processes ? 0 : -ENOMEM;
}

static int getters_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct collection *c = a->state;
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration), rc = 0;

	if (index < 0 || scope != CT_SCOPE_STEADY)
		return 0;
	/* op_ids count calls in the order of time: the next one means that nothing was between. */
	if (c->last && c->track == e->track->index && e->point->op_id == c->last_op + 1)
		rc = ct_histogram_add(&c->processes[index].distances, e->end - c->last);
	c->track = e->track->index;
	c->last = e->end;
	c->last_op = e->point->op_id;
	return rc;
}

static void getters_free(struct ct_analysis *a)
{
	struct collection *c = a->state;

	for (unsigned int i = 0; c->processes && i < a->phases->processes_count; i++)
		ct_histogram_free(&c->processes[i].distances);
	free(c->processes);
}

const struct ct_analyser ct_getters_analyser = {
	.on = CT_ON_INSTANT,
	.wants = getters_wants,
	.phases = true,
	.state_size = sizeof(struct collection),
	.begin = getters_begin,
	.event = getters_event,
	.free = getters_free,
};

void ct_rule_getters(struct ct_explain *x, const struct ct_rule *rule)
{
	struct collection *c = ct_explain_state(x, &ct_getters_analyser);
	struct ct_histogram *h = &c->processes[x->index].distances;
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	uint64_t count = 0, rate = 0, timed = 0, ns = 0, calls = 0, cost;
	const struct ct_fact *most = NULL;
	struct ct_finding *f;
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT], n[CT_TERM_TEXT];

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];

		if (!ct_class_is(fact->class, CT_IS_API))
			continue;
		calls += fact->count;
		if (!getters_wants(fact->class))
			continue;
		count += fact->count;
		rate += ct_rule_calls(x, fact);
		timed += fact->timed;
		ns += fact->total;
		if (!most || fact->count > most->count)
			most = fact;
	}
	if (!most || count < 1000 || count * 2 < calls || (!timed && h->count < 100))
		return;
	cost = timed ? (double)ns / timed * count : (double)ct_histogram_value(h, 100) * count;
	if (ct_rule_share(x, CT_SCOPE_STEADY, cost) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, timed ? CT_SURE : CT_POSSIBLE, cost,
			   "%s of %s calls only ask libcuda for a value (%s %s), mostly %s: %s%s.",
			   ct_term_count(a, count), ct_term_count(b, calls), ct_explain_rate(x, rate, n),
			   ct_explain_per(x), most->class->name, timed ? "" : "about ",
			   ct_explain_time(x, CT_SCOPE_STEADY, cost, time));
	f->at_most = !timed;
	ct_explain_advise(x, f, "%s", timed ?
			  "Ask once and keep the answer; in PyTorch they come from device guards around each "
			  "operation: fewer, larger operations or a CUDA graph avoid them." :
			  "They are not timed: the estimate is the time between two that follow each other at once "
			  "(record --time-queries measures them). In PyTorch they come from device guards around each "
			  "operation: fewer, larger operations or a CUDA graph avoid them.");
	ct_explain_show(f, &most->first);
}
