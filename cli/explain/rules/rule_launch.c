// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on launching: is it the host that limits the steady state, and which part of it? */
#include "analysis/cuda/stream_calls.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

/* @rate: set to those that are divided among the iterations */
static uint64_t launch_count(const struct ct_explain *x, struct ct_evidence *longest, uint64_t *rate)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	uint64_t count = 0;

	*rate = 0;
	*longest = (struct ct_evidence){ 0 };
	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *f = &facts->list[i];

		if (!ct_class_is(f->class, CT_IS_LAUNCH))
			continue;
		count += f->count;
		*rate += ct_rule_calls(x, f);
		if (f->longest.ns > longest->ns)
			*longest = f->longest;
	}
	return count;
}

bool ct_rule_launches_graphs(const struct ct_explain *x)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	uint64_t all = 0, graphs = 0;

	for (unsigned int i = 0; i < facts->count; i++) {
		if (!ct_class_is(facts->list[i].class, CT_IS_LAUNCH))
			continue;
		all += facts->list[i].count;
		graphs += ct_class_is(facts->list[i].class, CT_IS_GRAPH_LAUNCH) ? facts->list[i].count : 0;
	}
	return graphs && graphs * 2 >= all;
}

/* As ct_rule_calls(); and who asks until the GPU is done waits, too. */
static uint64_t launch_syncs(const struct ct_explain *x)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	uint64_t count = x->poll_waits;

	for (unsigned int i = 0; i < facts->count; i++)
		if (ct_class_is(facts->list[i].class, CT_IS_WAIT) || ct_call_waits(facts->list[i].class))
			count += ct_rule_calls(x, &facts->list[i]);
	return count;
}

/* Its records say that the GPU always had work: it did it, or paused although more was queued. */
static bool launch_gpu_busy(const struct ct_explain *x)
{
	return x->busy && ct_rule_share(x, CT_SCOPE_STEADY, ct_explain_gpu_ns(x) + x->queued + x->waiting) >= 90;
}

#define LAUNCH_SLOWEST	5000000ull	/* ns: what a launch takes with what is between it and the next; more is no launching */
#define LAUNCH_LEAST	5.0	/* % of the steady state, or its iterations: what launches cost at least */

/*
 * ns that fewer launches do not shorten: from a synchronisation that left the GPU nothing to do until the next launch the host
 * fetches data, or its requests come; and where samples say that it waits for something else.  In iterations, where there are some.
 */
static uint64_t launch_paused(const struct ct_explain *x, const struct ct_account_covered *in)
{
	uint64_t app = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_APP), paused = 0, elsewhere = x->elsewhere;

	if (!in->covered || x->busy)
		paused = ct_rule_after_syncs(x);
	for (uint32_t i = ct_phases_warmup(x->process); in->covered && !x->busy && i < x->process->iterations_count; i++)
		paused += x->idle->iterations[i];
	if (in->covered) {
		paused = paused < in->app ? paused : in->app;
		elsewhere = app ? (double)elsewhere * in->app / app : 0;
	}
	return paused > elsewhere ? paused : elsewhere;
}

/*
 * After a launch the GPU works while the host goes on.  If the host then hardly waits in its
 * synchronisations, the GPU was done before the host came: it is the host that limits.  Where
 * nothing synchronises, this can't be known without records of the GPU.
 */
void ct_rule_host_bound(struct ct_explain *x, const struct ct_rule *rule)
{
	uint64_t wait = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_WAIT), rate, launches;
	uint64_t wall = x->wall[CT_SCOPE_STEADY], host, cost;
	uint64_t syncs = launch_syncs(x);
	struct ct_account_covered in;
	struct ct_evidence longest;
	struct ct_finding *f;
	uint64_t paused = 0;
	char works[80] = "", time[64], each[CT_TERM_TEXT], n[CT_TERM_TEXT], pause[64], pauses[128] = "";

	launches = launch_count(x, &longest, &rate);
	/* In pauses between iterations nothing is launched, so that fewer launches do not shorten them. */
	ct_account_covered(x->account, x->process, &in);
	if (in.covered) {
		launches = rate;
		wait = in.wait;
	}
	/* What it asks between iterations is no wait of theirs, so this may be too much, and then nothing is found. */
	wait += x->polled + x->polling;
	wait = wait < (in.covered ? in.covered : wall) ? wait : in.covered ? in.covered : wall;
	cost = host = (in.covered ? in.covered : wall) - wait;
	paused = launch_paused(x, &in);
	paused = paused < host ? paused : host;
	if (!x->thread || rate < 10 * x->iterations || launch_gpu_busy(x) ||
	    (!x->busy && syncs * 2 < x->iterations) ||
	    wait * 100.0 >= rule->threshold * (host + wait) || host - paused > LAUNCH_SLOWEST * launches)
		return;
	if (x->busy) {
		/* A host that is never late saves no more than the time in which the GPU waits for it. */
		uint64_t working = ct_explain_gpu_ns(x) + x->queued + x->waiting, most = wall - (working < wall ? working : wall);

		cost = cost < most ? cost : most;
		snprintf(works, sizeof(works), "; the GPU works for %.1f %% of it (measured)",
			 ct_rule_share(x, CT_SCOPE_STEADY, ct_explain_gpu_ns(x)));
	}
	if (ct_rule_share(x, CT_SCOPE_STEADY, paused) >= rule->threshold)
		snprintf(pauses, sizeof(pauses), "; from a synchronisation until the GPU has work again it takes %s more",
			 ct_explain_time(x, CT_SCOPE_STEADY, paused, pause));
	else
		paused = 0;
	cost -= paused < cost ? paused : cost;
	if (100.0 * cost < LAUNCH_LEAST * (in.covered ? in.covered : wall))
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, x->idle_measured ? CT_SURE : CT_LIKELY, cost,
			   "The host limits: %s launches %s take it %s each with what is between them%s, and its "
			   "synchronisations %s%s%s.", ct_explain_rate(x, rate, n), ct_explain_per(x),
			   ct_term_ns(each, (host - paused) / launches), pauses, wait ? "wait only " : "do not wait",
			   wait ? ct_explain_time(x, CT_SCOPE_STEADY, wait, time) : "", works);
	f->at_most = true;
	if (ct_rule_launches_graphs(x))
		ct_explain_advise(x, f, "Launch less often: put more of the iteration, or several of them, into one graph, "
				  "or give each launch more work (a larger batch).");
	else
		ct_explain_advise(x, f, "Launch less often: fuse kernels (torch.compile), or give each launch more work (a "
				  "larger batch).");
	ct_explain_show(f, &longest);
}

/* Were context switches recorded?  Whoever records none of them sees no thread leave the CPU. */
static bool launch_switches(const struct ct_explain *x)
{
	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++)
		if (x->thread->stages[i].ns[CT_ACCOUNT_OFF_CPU])
			return true;
	return false;
}

/* The largest part of what the host does, where it is not in any call. */
void ct_rule_application(struct ct_explain *x, const struct ct_rule *rule)
{
	uint64_t app = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_APP);
	uint64_t off = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_OFF_CPU);
	uint64_t steady = app - x->account->stages[CT_STAGE_EXECUTION].ns[CT_ACCOUNT_APP];
	bool known = x->busy || (launch_syncs(x) && (launch_syncs(x) * 2 >= x->iterations || !x->process->iterations_count));
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	struct ct_account_covered in;
	struct ct_finding *f;
	uint64_t getters = 0;
	char time[64], who[48], states[CT_RULE_STATES], pause[64], pauses[96] = "";

	for (unsigned int i = 0; i < facts->count; i++)
		if (ct_class_is(facts->list[i].class, CT_IS_QUERY) && !facts->list[i].timed)
			getters += facts->list[i].count;
	/* While the GPU has work, it does not matter what the host does. */
	app -= x->polled < app ? x->polled : app;
	if (!x->thread || launch_gpu_busy(x) || ct_rule_share(x, CT_SCOPE_STEADY, app) < rule->threshold)
		return;
	ct_account_covered(x->account, x->process, &in);
	if (in.covered && steady - in.app > app / 2 && !x->polled)
		snprintf(pauses, sizeof(pauses), ", for %s of it between iterations",
			 ct_explain_time(x, CT_SCOPE_STEADY, steady - in.app, pause));
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, known ? CT_SURE : CT_POSSIBLE, app,
			   "%s in the application, between calls, for %s of the "
			   "%s%s%s%s%s.", ct_explain_launching(x, who), ct_explain_time(x, CT_SCOPE_STEADY, app, time), ct_explain_main(x), pauses,
			   *ct_rule_states(x, CT_SCOPE_STEADY, states) ? states : "",
			   getters >= 1000 ? "; calls that only ask libcuda for a value, which are not timed, are part of it" : "",
			   known ? "" : "; whether the GPU waits for it the records do not show, as it hardly ever synchronises (record --gpu)");
	f->at_most = !known;
	f->remedy = CT_REMEDY_APPLICATION;
	if (*states)
		ct_explain_advise(x, f, "%s", ct_rule_waits(x) ? ct_rule_waits(x) : ct_rule_profile(x));
	else if (launch_switches(x))
		ct_explain_advise(x, f, "%s%s", ct_rule_profile(x), off ? "" : " The thread was on a CPU all that time.");
	else
		ct_explain_advise(x, f, "%s Whether the thread ran or slept meanwhile is not recorded%s.", ct_rule_profile(x),
				  x->trace->has_kernel ? "" : " without the kernel module");
}
