// SPDX-License-Identifier: LGPL-2.1-or-later
/* A rule on launching threads that are off the CPU, outside synchronisations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/threads/launching.h"
#include "spans/processes.h"
#include "base/keyed.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define OTHERS	4096	/* threads that ran instead; more are not told apart */

struct thread {
	uint64_t tid;
	uint64_t sum;
};

struct threads {
	CT_KEYED(struct thread);
	uint64_t left_out;		/* of threads beyond OTHERS */
};

struct off_cpu {
	uint64_t times, preempted;	/* of the launching thread, in the steady state */
	uint64_t runnable;		/* ns: it could have run */
	struct ct_evidence longest;
	struct threads others;		/* ns that the thread was off when this one ran instead */
	struct threads wakers;		/* times */
};

static bool off_cpu_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_SWITCH);
}

static int off_cpu_begin(struct ct_analysis *a)
{
	*(struct off_cpu **)a->state = ct_rule_per_process(a, sizeof(struct off_cpu));
	return *(struct off_cpu **)a->state ? 0 : -ENOMEM;
}

static int off_cpu_add(struct threads *threads, uint32_t tid, uint64_t add)
{
	struct thread *t = ct_keyed_get(threads, tid);

	if (!t && threads->count >= OTHERS) {
		threads->left_out += add;
		return 0;
	}
	t = t ? t : ct_keyed_put(threads, tid);
	if (!t)
		return -ENOMEM;
	t->sum += add;
	return 0;
}

/*
 * It is the process that is off the CPU.  Of several threads that launch one is often off while it
 * waits for another: that one then made records meanwhile.
 */
static bool off_cpu_counts(struct ct_analysis *a, const struct ct_trace_event *e, int process)
{
	const struct ct_launching *l = ct_analysis_state(a, &ct_launching_analyser);
	const struct ct_launching_process *several = ct_launching_several(l, e->track);

	if (!several)
		return e->track->tid == a->phases->processes[process].tid;
	for (unsigned int i = 0; i < several->count; i++)
		if (several->threads[i].track != e->track && several->doing[i].last > e->begin)
			return false;
	return true;
}

static int off_cpu_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_k_switch fields = { 0 };
	struct off_cpu *o;
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration);

	if (index < 0 || scope != CT_SCOPE_STEADY || e->track->nested[CT_CAT_SYNC] ||
	    !e->record->fields || e->class->size < sizeof(fields) || !off_cpu_counts(a, e, index))
		return 0;
	memcpy(&fields, e->record->fields, sizeof(fields));
	o = &(*(struct off_cpu **)a->state)[index];
	o->times++;
	o->preempted += !fields.state;
	o->runnable += fields.runnable_ns;
	if (e->duration >= o->longest.ns)
		ct_evidence_set(&o->longest, e);
	if (off_cpu_add(&o->others, fields.other, e->duration))
		return -ENOMEM;
	return fields.waker ? off_cpu_add(&o->wakers, fields.waker, 1) : 0;
}

static void off_cpu_free(struct ct_analysis *a)
{
	struct off_cpu *all = *(struct off_cpu **)a->state;

	for (unsigned int i = 0; all && i < a->phases->processes_count; i++) {
		ct_keyed_free(&all[i].others);
		ct_keyed_free(&all[i].wakers);
	}
	free(all);
}

static const struct ct_analyser *const needs[] = { &ct_launching_analyser, NULL };

const struct ct_analyser ct_off_cpu_analyser = {
	.on = CT_ON_END,
	.wants = off_cpu_wants,
	.phases = true,
	.needs = needs,
	.state_size = sizeof(struct off_cpu *),
	.begin = off_cpu_begin,
	.event = off_cpu_event,
	.free = off_cpu_free,
};

/* A thread by its process's name, as far as that is known. */
static const char *off_cpu_who(const struct ct_explain *x, uint32_t tid, char name[64])
{
	if (ct_processes_word(x->analysis->processes, tid))
		return ct_processes_name(x->analysis->processes, tid, name, 64);
	snprintf(name, 64, "thread %u", tid);
	return name;
}

static const struct thread *off_cpu_most(const struct threads *threads)
{
	const struct thread *most = NULL;

	for (size_t i = 0; i < threads->count; i++)
		if (!most || threads->list[i].sum > most->sum)
			most = &threads->list[i];
	return most;
}

void ct_rule_off_cpu(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct off_cpu *o = &(*(struct off_cpu **)ct_explain_state(x, &ct_off_cpu_analyser))[x->index];
	const struct thread *other = off_cpu_most(&o->others), *waker = off_cpu_most(&o->wakers);
	char time[64], runnable[CT_TERM_TEXT], times[CT_TERM_TEXT], preempted[64] = "", could[64] = "", who[96] = "",
	     woke[96] = "", name[64], launching[48];
	/* As the verdict has it: a moment in which another launching thread works is not one off the CPU. */
	uint64_t ns = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_OFF_CPU);
	struct ct_finding *f;

	if (o->others.left_out)
		ct_explain_unseen(x, "more than %s threads ran while it was off the CPU; of %s it is not known which one did.",
				  ct_term_count(times, OTHERS), ct_term_ns(time, o->others.left_out));
	if (o->wakers.left_out)
		ct_explain_unseen(x, "more than %s threads woke it; of %s times it is not known which one did.", ct_term_count(runnable, OTHERS),
				  ct_term_count(times, o->wakers.left_out));
	if (!o->times || ct_rule_share(x, CT_SCOPE_STEADY, ns) < rule->threshold)
		return;
	if (o->preempted)
		snprintf(preempted, sizeof(preempted), " (preempted %s time%s)",
			 ct_term_count(runnable, o->preempted), ct_explain_s(o->preempted));
	if (o->runnable)
		snprintf(could, sizeof(could), "; it could have run for %s of that", ct_term_ns(runnable, o->runnable < ns ? o->runnable : ns));
	/* tid 0 is the idle task: the CPU had nothing else to do. */
	if (other && other->tid)
		snprintf(who, sizeof(who), "; %s ran there most of that time", off_cpu_who(x, other->tid, name));
	else if (other)
		snprintf(who, sizeof(who), "; the CPU was idle meanwhile");
	if (waker)
		snprintf(woke, sizeof(woke), "; %s woke it most often", off_cpu_who(x, waker->tid, name));
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, ns,
			   "%s off the CPU for %s outside synchronisations, %s time%s%s%s%s%s.",
			   ct_explain_launching(x, launching), ct_explain_time(x, CT_SCOPE_STEADY, ns, time),
			   ct_term_count(times, o->times), ct_explain_s(o->times), preempted, could, who, woke);
	ct_explain_advise(x, f, o->preempted * 2 > o->times ?
			  "Give the launching thread a CPU of its own (taskset, fewer worker threads)." :
			  "The thread waits for something of the program: a lock, a queue, a file. Let another thread "
			  "prepare the data ahead (more workers, prefetching).");
	ct_explain_show(f, &o->longest);
}
