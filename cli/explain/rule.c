// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rule.h. */
#include "explain/rule.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/gpu/idle_causes.h"
#include "analysis/stacks/hot.h"
#include "base/grow.h"

static char *explain_format(struct ct_explain *x, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0) {
		x->error = -ENOMEM;
		return NULL;
	}
	return text;
}

struct ct_finding *ct_explain_add(struct ct_explain *x, const struct ct_rule *rule,
				      enum ct_scope scope, enum ct_certainty certainty, uint64_t cost,
				      const char *what, ...)
{
	static struct ct_finding none;
	struct ct_finding *f;
	va_list args;

	if (!ct_room(x->list, x->count, x->capacity)) {
		x->error = -ENOMEM;
		none = (struct ct_finding){ 0 };
		return &none;
	}
	f = &x->list[x->count++];
	*f = (struct ct_finding){
		.rule = rule, .pid = x->process->pid, .scope = scope, .certainty = certainty, .cost = cost,
	};
	if (cost > x->wall[scope]) {
		f->cost = x->wall[scope];
		f->at_most = true;
	}
	f->share = x->wall[scope] ? 100.0 * f->cost / x->wall[scope] : 0;
	va_start(args, what);
	f->what = explain_format(x, what, args);
	va_end(args);
	return f;
}

void ct_explain_join(struct ct_explain *x, struct ct_finding *f, const char *other)
{
	for (unsigned int i = x->first; i < x->count; i++) {
		struct ct_finding *of = &x->list[i];

		if (of == f || of->scope != f->scope || strcmp(of->rule->name, other))
			continue;
		of->group = f->group = ++x->groups;
		(of->cost < f->cost ? of : f)->part = true;
		return;
	}
}

void ct_explain_advise(struct ct_explain *x, struct ct_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	free(f->advice);
	f->advice = explain_format(x, format, args);
	va_end(args);
}

void ct_explain_show(struct ct_finding *f, const struct ct_evidence *e)
{
	/* The longest may be the first one, too. */
	if (e->class && e->op_id && f->evidence_count && f->evidence[f->evidence_count - 1].op_id == e->op_id)
		return;
	if (e->class && f->evidence_count < CT_EVIDENCE_MAX)
		f->evidence[f->evidence_count++] = *e;
}

void ct_explain_unseen(struct ct_explain *x, const char *format, ...)
{
	char name[96], *text = NULL;
	va_list args;
	size_t used;

	if (!ct_room(x->unseen, x->unseen_count, x->unseen_room) || !(text = malloc(512))) {
		x->error = -ENOMEM;
		return;
	}
	used = snprintf(text, 512, "%s: ", ct_processes_name(x->analysis->processes, x->process->pid, name, sizeof(name)));
	va_start(args, format);
	vsnprintf(text + used, 512 - used, format, args);
	va_end(args);
	x->unseen[x->unseen_count++] = text;
}

const char *ct_explain_time(const struct ct_explain *x, enum ct_scope scope, uint64_t ns, char buf[64])
{
	char time[CT_TERM_TEXT];

	ct_term_ns(time, ns);
	if (ns > x->wall[scope])
		snprintf(buf, 64, "%s of all threads together", time);
	else if (ns * 2000.0 >= x->wall[scope] && ns)
		snprintf(buf, 64, "%s (%.1f %%)", time, 100.0 * ns / x->wall[scope]);
	else
		snprintf(buf, 64, "%s", time);
	return buf;
}

const char *ct_explain_rate(const struct ct_explain *x, uint64_t count, char buf[CT_TERM_TEXT])
{
	uint64_t tenths = (10.0 * count + x->iterations / 2) / x->iterations;
	size_t n;

	ct_term_count(buf, tenths / 10);
	n = strlen(buf);
	if (x->process->iterations_count && tenths % 10)
		snprintf(buf + n, CT_TERM_TEXT - n, ".%u", (unsigned int)(tenths % 10));
	return buf;
}

const char *ct_explain_rate_s(const struct ct_explain *x, uint64_t count)
{
	char text[CT_TERM_TEXT];

	return strcmp(ct_explain_rate(x, count, text), "1") ? "s" : "";
}

const char *ct_explain_per(const struct ct_explain *x)
{
	return x->process->iterations_count ? "an iteration" : "in all";
}

uint64_t ct_explain_account(const struct ct_explain *x, enum ct_scope scope, unsigned int account)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; x->account->launching && i < x->process->stages_count; i++) {
		enum ct_stage stage = x->process->stages[i].stage;

		if (ct_scope_of(x->process, x->process->stages[i].begin, NULL) == scope)
			ns += x->account->stages[stage].ns[account];
	}
	return ns;
}

const char *ct_explain_launching(const struct ct_explain *x, char buf[48])
{
	unsigned int threads = ct_account_turns(x->account);

	if (threads > 1)
		snprintf(buf, 48, "The %u launching threads are", threads);
	else
		snprintf(buf, 48, "The launching thread %u is", x->thread ? x->thread->tid : x->process->tid);
	return buf;
}

/* ---------------------------------------------------------------- processes --- */

void ct_explain_choose(struct ct_explain *x, unsigned int index)
{
	struct ct_accounting *acc = ct_explain_state(x, &ct_accounting_analyser);
	struct ct_idle *idle = ct_explain_state(x, &ct_idle_analyser);
	struct ct_fact_table *facts = ct_explain_state(x, &ct_facts_analyser);
	struct ct_gpu_busy *gpu = ct_explain_state(x, &ct_gpu_busy_analyser);
	const struct ct_polls_thread *polls;

	x->index = index;
	x->process = &x->phases->processes[index];
	x->facts = &facts->processes[index];
	x->account = &acc->processes[index];
	x->thread = x->account->launching;
	x->idle = &idle->processes[index];
	x->iterations = x->process->iterations_count - ct_phases_warmup(x->process);
	x->iterations = x->iterations ? x->iterations : 1;
	for (unsigned int i = 0; i < CT_SCOPE_COUNT; i++) {
		uint64_t begin, end;

		ct_scope_span(x->process, i, &begin, &end);
		x->wall[i] = end - begin;
		if (i == CT_SCOPE_STEADY)
			x->busy = ct_gpu_covers(ct_explain_state(x, &ct_gpu_coverage_analyser), x->process->pid, begin,
						end) ? &gpu->processes[index] : NULL;
	}
	x->idle_measured = x->idle->measured && x->busy;
	x->queued = ct_gpu_idle_queued(ct_explain_state(x, &ct_gpu_idle_analyser), x->process);
	x->elsewhere = ct_hot_elsewhere(ct_explain_state(x, &ct_stack_scopes_analyser), CT_STACK_PART(index, true), &x->waits_for) *
		       ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_APP);
	polls = x->thread && ct_account_turns(x->account) <= 1 ?
		ct_polls_of(&acc->polls, index, x->thread->tid) : NULL;
	x->polled = polls ? polls->app : 0;
	x->polling = polls ? polls->calls : 0;
	x->poll_waits = polls ? polls->waits : 0;
	if (x->process->asks && x->poll_waits < x->process->iterations_count)
		x->poll_waits = x->process->iterations_count;
	x->waiting = x->busy ? CT_STAGES_MAIN(x->busy->any.stages, .waiting) : 0;
}
