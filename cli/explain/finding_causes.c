// SPDX-License-Identifier: LGPL-2.1-or-later
/* See finding_causes.h. */
#include "explain/finding_causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "explain/rules.h"

/* ns of the steady state in which the GPU had nothing to do; without its records: the host did not wait. */
static uint64_t causes_host(const struct ct_explain *x)
{
	uint64_t wall = x->wall[CT_SCOPE_STEADY], not;

	if (x->busy)
		not = ct_explain_gpu_ns(x) + x->queued + x->waiting;
	else
		not = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_WAIT) + x->polled;
	return not < wall ? wall - not : 0;
}

static struct ct_finding *causes_find(struct ct_explain *x, unsigned int first, const char *rule)
{
	for (unsigned int i = first; i < x->count; i++)
		if (!strcmp(x->list[i].rule->name, rule) && x->list[i].scope == CT_SCOPE_STEADY)
			return &x->list[i];
	return NULL;
}

/* Parts of one finding do not tell the same advice twice. */
static void causes_advice(struct ct_explain *x, unsigned int first)
{
	struct ct_finding *idle = causes_find(x, first, "gpu-idle"), *host = causes_find(x, first, "host-bound");
	bool graph = causes_find(x, first, "cuda-graph") != NULL, twice = false;

	for (unsigned int i = first; idle && i < x->count; i++)
		twice |= &x->list[i] != idle && x->list[i].scope == CT_SCOPE_STEADY && x->list[i].remedy == idle->remedy &&
			 idle->remedy != CT_REMEDY_OWN;
	if (idle && (host || graph || twice)) {
		free(idle->advice);
		idle->advice = NULL;
	}
}

static const struct ct_rule *causes_rule(enum ct_cause_of cause)
{
	for (unsigned int i = 0; i < ct_rules_count; i++)
		if (ct_rules[i].cause == cause && !ct_rules[i].judge)
			return &ct_rules[i];
	return NULL;
}

/* The findings on a host that is late become parts of one. */
static void causes_gather(struct ct_explain *x, unsigned int first)
{
	const struct ct_rule *rule = causes_rule(CT_CAUSE_HOST);
	unsigned int parts = 0, last = x->count;
	uint64_t late = causes_host(x), idle = CT_STAGES_MAIN(x->idle->stages);
	const char *unknown = ct_gpu_asked(x->trace) ? "is not known: the GPU's records of that time are missing"
						     : "was not recorded (record --gpu)";
	struct ct_finding *head;
	char time[64], least[64];

	for (unsigned int i = first; i < last; i++)
		parts += x->list[i].rule->cause == CT_CAUSE_HOST && x->list[i].scope == CT_SCOPE_STEADY;
	if (parts < 2 || !rule)
		return;
	causes_advice(x, first);
	ct_explain_time(x, CT_SCOPE_STEADY, late, time);
	if (x->busy)
		head = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, late, "The GPU waits for the host: it has nothing to "
				      "do for %s of the %s (measured on the GPU).", time, ct_explain_main(x));
	else if (idle * 100 >= x->wall[CT_SCOPE_STEADY])
		head = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, late, "The host has work of its own for %s of the "
				      "%s, in which it does not wait for the GPU. For %s of that the GPU has nothing to do; "
				      "whether it works in the rest %s.", time, ct_explain_main(x),
				      ct_explain_time(x, CT_SCOPE_STEADY, idle, least), unknown);
	else
		head = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, late, "The host has work of its own for %s of the "
				      "%s, in which it does not wait for the GPU. There is no estimate: whether the GPU works "
				      "meanwhile %s.", time, ct_explain_main(x), unknown);
	head->at_most = true;
	head->least = x->busy ? 0 : idle;
	head->group = ++x->groups;
	for (unsigned int i = first; i < last; i++)
		if (x->list[i].rule->cause == CT_CAUSE_HOST && x->list[i].scope == CT_SCOPE_STEADY) {
			x->list[i].group = x->groups;
			x->list[i].part = true;
		}
}

static int causes_order(const void *a, const void *b)
{
	const struct ct_finding *x = *(struct ct_finding *const *)a, *y = *(struct ct_finding *const *)b;

	/* What is measured in calls first: it is no one else's time. */
	if (!x->rule->cause != !y->rule->cause)
		return x->rule->cause ? 1 : -1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* No moment is gained twice: the findings of a scope share its wall time. */
static void causes_share(struct ct_explain *x, unsigned int first, enum ct_scope scope)
{
	struct ct_finding **list = calloc(x->count - first + 1ul, sizeof(*list));
	uint64_t left = x->wall[scope];
	unsigned int count = 0;

	if (!list) {
		x->error = -ENOMEM;
		return;
	}
	for (unsigned int i = first; i < x->count; i++)
		if (x->list[i].scope == scope && !x->list[i].part)
			list[count++] = &x->list[i];
	qsort(list, count, sizeof(*list), causes_order);
	for (unsigned int i = 0; i < count; i++) {
		list[i]->gain = list[i]->gain < left ? list[i]->gain : left;
		left -= list[i]->gain;
		list[i]->least = list[i]->least < list[i]->gain ? list[i]->least : list[i]->gain;
		list[i]->order = list[i]->gain;
	}
	free(list);
	for (unsigned int i = first; i < x->count; i++) {
		struct ct_finding *f = &x->list[i], *head = f;

		if (f->scope != scope || !f->part)
			continue;
		for (unsigned int k = first; k < x->count; k++)
			if (x->list[k].group == f->group && !x->list[k].part)
				head = &x->list[k];
		/* Parts count the same time: together they gain no more than their finding. */
		f->at_most = !f->estimate;
		f->gain = f->gain < head->gain ? f->gain : head->gain;
		f->least = f->least < f->gain ? f->least : f->gain;
		f->order = head->gain;
	}
}

void ct_explain_causes(struct ct_explain *x, unsigned int first)
{
	causes_gather(x, first);
	for (unsigned int i = first; i < x->count; i++)
		x->list[i].gain = x->list[i].cost;
	for (unsigned int i = 0; i < CT_SCOPE_COUNT; i++)
		causes_share(x, first, i);
}
