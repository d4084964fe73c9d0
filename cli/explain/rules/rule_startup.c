// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on the startup: the program's own time, libcuda and contexts, communicators of libnccl. */
#include <stdio.h>

#include "explain/rules/rule_common.h"
#include "view/term.h"

void ct_rule_startup_application(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_stage_span *s = &x->process->stages[0];
	struct ct_finding *f;
	char time[64], states[CT_RULE_STATES], parts[512];

	if (s->stage != CT_STAGE_STARTUP ||
	    ct_rule_share(x, CT_SCOPE_STARTUP, s->end - s->begin) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STARTUP, CT_SURE, s->end - s->begin,
			   "The program runs for %s before its first call to libcuda%s%s.",
			   ct_explain_time(x, CT_SCOPE_STARTUP, s->end - s->begin, time),
			   ct_rule_startup(x, parts), ct_rule_states(x, CT_SCOPE_STARTUP, states));
	ct_explain_advise(x, f, "This is the program's own time: imports, reading of files. %s", ct_rule_profile(x));
}

void ct_rule_startup_init(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STARTUP);
	uint64_t init = 0, context = 0;
	const struct ct_fact *most = NULL;
	struct ct_finding *f;
	char a[64], b[CT_TERM_TEXT], c[CT_TERM_TEXT], parts[128] = "";

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];
		bool is_context = ct_class_is(fact->class, CT_IS_CONTEXT);

		if (fact->class->layer != CT_LAYER_USER || !(is_context || fact->class->category == CT_CAT_INIT))
			continue;
		*(is_context ? &context : &init) += fact->total;
		if (!most || fact->total > most->total)
			most = fact;
	}
	if (!most || ct_rule_share(x, CT_SCOPE_STARTUP, init + context) < rule->threshold)
		return;
	if (init && context)
		snprintf(parts, sizeof(parts), ": %s for libcuda, %s for contexts", ct_term_ns(b, init),
			 ct_term_ns(c, context));
	f = ct_explain_add(x, rule, CT_SCOPE_STARTUP, CT_SURE, init + context,
			   "Initialisation of %s takes %s of the startup%s.", !context ? "libcuda" :
			   init ? "libcuda and of contexts" : "contexts",
			   ct_explain_time(x, CT_SCOPE_STARTUP, init + context, a), parts);
	ct_explain_advise(x, f, "Keep the driver loaded while no program runs (nvidia-persistenced), make one context, and let "
			  "one process serve many requests.");
	ct_explain_show(f, &most->longest);
}

/* Wall time of the startup in which communicators were made: in groups, and by themselves, too (phases/makings.c). */
static uint64_t startup_makings(const struct ct_explain *x)
{
	uint64_t from, to, ns = 0;

	ct_scope_span(x->process, CT_SCOPE_STARTUP, &from, &to);
	for (uint32_t i = 0; i < x->process->makings_count; i++) {
		const struct ct_making *m = &x->process->makings[i];
		uint64_t begin = m->begin > from ? m->begin : from, end = m->end < to ? m->end : to;

		ns += end > begin ? end - begin : 0;
	}
	return ns;
}

void ct_rule_startup_communicators(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STARTUP);
	const struct ct_fact *most = NULL;
	uint64_t count = 0, ns = startup_makings(x);
	struct ct_finding *f;
	char a[64], b[CT_TERM_TEXT];

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];
		bool makes = ct_class_is(fact->class, CT_IS_NEW_COMMUNICATOR);

		if (makes)
			count += fact->count;
		else if (!ct_class_is(fact->class, CT_IS_GROUP_END) || !ct_phases_makes(x->process, fact->longest.ts))
			continue;
		if (!most || fact->longest.ns > most->longest.ns)
			most = fact;
	}
	if (!count || ct_rule_share(x, CT_SCOPE_STARTUP, ns) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STARTUP, CT_SURE, ns,
			   "NCCL takes %s of the startup to make %s communicator%s, with the wait for the last rank to come.",
			   ct_explain_time(x, CT_SCOPE_STARTUP, ns, a), ct_term_count(b, count), ct_explain_s(count));
	ct_explain_advise(x, f, "Make them while weights are read, in another thread; make fewer groups of ranks, and split them from "
			  "one communicator (ncclCommSplit; in PyTorch init_process_group with device_id).");
	ct_explain_show(f, &most->longest);
}
