// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rule on synchronisations.  A wait is no loss by itself: the GPU works meanwhile.  What is
 * lost is the time after it, until the GPU has work again.
 */
#include "analysis/gpu/idle_causes.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define SYNC_TIMES	4		/* fewer are no habit */

/* By its records: the GPU of the process that was idle longest after synchronisations; NULL: none was. */
static const struct ct_gpu_idle_device *sync_measured(const struct ct_explain *x)
{
	const struct ct_gpu_idle *gpu = ct_explain_state(x, &ct_gpu_idle_analyser);
	const struct ct_gpu_idle_device *most = NULL;

	for (unsigned int i = 0; i < gpu->devices_count; i++) {
		const struct ct_gpu_idle_device *d = gpu->devices[i];

		if (d->process == (int)x->index && CT_STAGES_MAIN(d->after_sync) > (most ? CT_STAGES_MAIN(most->after_sync) : 0))
			most = d;
	}
	return most;
}

static uint64_t sync_measured_ns(const struct ct_explain *x)
{
	const struct ct_gpu_idle_device *d = sync_measured(x);

	return d ? CT_STAGES_MAIN(d->after_sync) : 0;
}

uint64_t ct_rule_after_syncs(const struct ct_explain *x)
{
	return x->busy ? sync_measured_ns(x) : x->idle->stages[CT_STAGE_STEADY] + x->idle->stages[CT_STAGE_EXECUTION];
}

/*
 * A program that waits for older work, while more is queued, leaves nothing to do only before its loop and after it.  Where it
 * is each iteration that does, it is every second of them at least, or every third synchronisation.
 */
static bool sync_leaves_nothing(const struct ct_explain *x, uint64_t syncs)
{
	uint64_t times = CT_STAGES_MAIN(x->idle->begun);

	if (times < SYNC_TIMES)
		return false;
	return x->process->iterations_count ? times * 2 >= x->iterations : times * 3 >= syncs;
}

/* ns of the time in which the GPU had nothing to do: in iterations, where there are some.  What lies between them is no habit. */
static uint64_t sync_in_iterations(const struct ct_explain *x)
{
	uint64_t ns = x->idle->stages[CT_STAGE_EXECUTION];

	for (uint32_t i = ct_phases_warmup(x->process); i < x->process->iterations_count; i++)
		ns += x->idle->iterations[i];
	return x->process->iterations_count ? ns : UINT64_MAX;
}

void ct_rule_sync(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	const struct ct_fact *most = NULL;
	const struct ct_gpu_idle_device *gpu = x->idle_measured ? sync_measured(x) : NULL;
	uint64_t syncs = 0, launches = 0, transfers = 0, each, rate = 0, in, idle, most_idle, other, wait, most_gain_ns, cost;
	struct ct_finding *f;
	bool unknown;
	char time[64], until[64], least[128] = "", n[CT_TERM_TEXT], waits[64], most_gain[128] = "";

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];

		launches += ct_class_is(fact->class, CT_IS_LAUNCH) ? fact->count : 0;
		transfers += ct_class_is(fact->class, CT_IS_TRANSFER) ? fact->count : 0;
		if (!ct_class_is(fact->class, CT_IS_WAIT))
			continue;
		syncs += fact->count;
		rate += ct_rule_calls(x, fact);
		if (!most || fact->count > most->count)
			most = fact;
	}
	in = sync_in_iterations(x);
	idle = CT_STAGES_MAIN(x->idle->stages) < in ? CT_STAGES_MAIN(x->idle->stages) : in;
	/* Until the next submission returned, its work may not have begun. */
	most_idle = idle + CT_STAGES_MAIN(x->idle->submitting_ns);
	/* What calls of other kinds took is their rules' business. */
	other = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_CALLS + CT_CAT_MEMORY) +
		ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_CALLS + CT_CAT_MODULE) +
		ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_CALLS + CT_CAT_TRANSFER) +
		ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_DRIVER);
	most_idle = most_idle > other ? most_idle - other : 0;
	idle = idle > other ? idle - other : 0;
	if (x->idle_measured)
		most_idle = sync_measured_ns(x) < in ? sync_measured_ns(x) : in;
	/* A host that never waits still does its own work: no more than it waits can be gained, nor more than the GPU has to do. */
	wait = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_WAIT);
	most_gain_ns = gpu && CT_STAGES_MAIN(gpu->overlap) < wait ? CT_STAGES_MAIN(gpu->overlap) : wait;
	most_gain_ns = most_idle < most_gain_ns ? most_idle : most_gain_ns;
	cost = ct_rule_beyond_waits(x, most_gain_ns);
	if (!x->idle_measured && !sync_leaves_nothing(x, syncs))
		return;
	/* Nor is it known that the GPU has nothing to do until the next submission returned. */
	if (!x->idle_measured && ct_rule_share(x, CT_SCOPE_STEADY, idle) < rule->threshold)
		return;
	/* What explains less than a third of it is not why. */
	if (cost < most_idle / 3)
		return;
	if (!most || rate * 10 < x->iterations * 9 || syncs < SYNC_TIMES ||
	    ct_rule_share(x, CT_SCOPE_STEADY, cost) < rule->threshold)
		return;
	if (!x->idle_measured && ct_rule_share(x, CT_SCOPE_STEADY, idle) >= 0.05)
		snprintf(least, sizeof(least), "at least %s from their end to the next submission, ", ct_explain_time(x, CT_SCOPE_STEADY, idle, time));
	if (cost < most_gain_ns)
		snprintf(most_gain, sizeof(most_gain), "; for all but %s the host would wait for something else instead",
			 ct_explain_time(x, CT_SCOPE_STEADY, cost, waits));
	else if (cost < most_idle && cost < wait)
		snprintf(most_gain, sizeof(most_gain), "; what the GPU has to do takes %s meanwhile, and no more can be gained",
			 ct_explain_time(x, CT_SCOPE_STEADY, cost, waits));
	else if (cost < most_idle)
		snprintf(most_gain, sizeof(most_gain), "; the host waits for %s, and can gain no more",
			 ct_explain_time(x, CT_SCOPE_STEADY, wait, waits));
	/* A host that waits for something else after them (a data loader, requests) would wait for it all the same. */
	unknown = !ct_rule_host_known(x) && 2 * ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_APP) >= most_idle;
	/* A program without launches copies and sets. */
	each = launches ? launches : transfers;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, unknown ? CT_POSSIBLE : x->idle_measured ? CT_SURE : CT_LIKELY, cost,
			   "%s synchronisation%s %s (one for %.0f %s), most by %s: without copies, allocations "
			   "and module loading, the GPU has nothing to do for %s%s%s%s.",
			   ct_explain_rate(x, rate, n), ct_explain_rate_s(x, rate), ct_explain_per(x),
			   (double)each / syncs, !launches ? "copies or sets" : (each + syncs / 2) / syncs == 1 ? "launch" : "launches",
			   most->class->name, least, ct_explain_time(x, CT_SCOPE_STEADY, most_idle, until),
			   x->idle_measured ? " after them (measured on the GPU)" : " until the next submission returned",
			   most_gain);
	/* Each wait also lasts until the thread is told that the GPU is done: that goes, too. */
	f->estimate = !x->idle_measured && cost == most_idle;
	f->at_most = !f->estimate;
	f->least = x->idle_measured || unknown ? 0 : idle < cost ? idle : cost;
	ct_explain_advise(x, f, "%sSynchronise less often: read results back once for several steps (.item(), .cpu() "
			  "and print of a tensor synchronise), let the GPU wait by events (cuStreamWaitEvent) "
			  "instead of the host.", unknown ? "This gains only where the host works after them, and does not wait for "
			  "data or requests (record --stacks says it). " : "");
	f->remedy = CT_REMEDY_SYNC;
	ct_explain_show(f, &most->longest);
}
