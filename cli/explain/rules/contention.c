// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules on threads and processes that get in each other's way.  Only a difference that the
 * records show counts: calls that overlap another thread's against those that don't,
 * iterations beside another process's against those alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/histogram.h"
#include "explain/rules/common.h"
#include "view/term.h"

#define OPEN_MAX	256	/* threads inside a launch at one moment */

struct contention {
	struct ct_histogram alone, overlapped;	/* ns of launch calls in the steady state */
	struct ct_evidence longest;
};

struct open_call {
	unsigned int track;
	int process;
	bool overlapped;
};

struct collection {
	struct contention *processes;
	struct open_call open[OPEN_MAX];
	unsigned int count;
};

static bool contention_wants(const struct ct_class *class)
{
	return ct_is_launch(class);
}

static int contention_begin(struct ct_analysis *a)
{
	struct collection *c = a->state;

	c->processes = ct_rule_per_process(a, sizeof(*c->processes));
	return c->processes ? 0 : -ENOMEM;
}

static int contention_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct collection *c = a->state;
	struct contention *k;
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration);
	bool overlapped = false, known = false;

	if (index < 0)
		return 0;
	if (e->kind == CT_ON_BEGIN) {
		for (unsigned int i = 0; i < c->count; i++)
			if (c->open[i].process == index) {
				c->open[i].overlapped = true;
				overlapped = true;
			}
		if (c->count < OPEN_MAX)
			c->open[c->count++] = (struct open_call){ e->track->index, index, overlapped };
		return 0;
	}
	for (unsigned int i = 0; i < c->count && !known; i++)
		if (c->open[i].track == e->track->index) {
			known = true;
			overlapped = c->open[i].overlapped;
			c->open[i] = c->open[--c->count];
		}
	if (!known || e->kind != CT_ON_END || !e->timed || scope != CT_SCOPE_STEADY)
		return 0;
	k = &c->processes[index];
	if (overlapped && e->duration >= k->longest.ns)
		ct_evidence_set(&k->longest, e);
	return ct_histogram_add(overlapped ? &k->overlapped : &k->alone, e->duration);
}

static void contention_free(struct ct_analysis *a)
{
	struct collection *c = a->state;

	for (unsigned int i = 0; c->processes && i < a->phases->processes_count; i++) {
		ct_histogram_free(&c->processes[i].alone);
		ct_histogram_free(&c->processes[i].overlapped);
	}
	free(c->processes);
}

const struct ct_analyser ct_contention_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_UNRETURNED,
	.wants = contention_wants,
	.phases = true,
	.state_size = sizeof(struct collection),
	.begin = contention_begin,
	.event = contention_event,
	.free = contention_free,
};

/* Threads of one process. */
void ct_rule_contention(struct ct_explain *x, const struct ct_rule *rule)
{
	struct collection *c = ct_explain_state(x, &ct_contention_analyser);
	struct contention *k = &c->processes[x->index];
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT], n[CT_TERM_TEXT];
	struct ct_finding_row *f;
	uint64_t usual, cost;

	if (k->alone.count < 50 || k->overlapped.count < 50)
		return;
	usual = ct_histogram_value(&k->alone, 500);
	if (ct_histogram_value(&k->overlapped, 500) * 4 < usual * 5)
		return;
	cost = k->overlapped.total - (k->overlapped.total < usual * k->overlapped.count ?
				      k->overlapped.total : usual * k->overlapped.count);
	if (ct_rule_share(x, CT_SCOPE_STEADY, cost) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, cost,
			   "Threads of the process contend for libcuda: %s launches while another thread launches "
			   "take %s (median), alone %s; together %s of all threads.",
			   ct_term_count(n, k->overlapped.count),
			   ct_term_ns(a, ct_histogram_value(&k->overlapped, 500)), ct_term_ns(b, usual),
			   ct_explain_time(x, CT_SCOPE_STEADY, cost, time));
	ct_explain_advise(x, f, "Launch from one thread, or launch less often (CUDA graphs): launches of a context take "
			  "a lock.");
	ct_explain_show(f, &k->longest);
}

/* ---------------------------------------------------------------- processes --- */

/* How much of [begin, end) other processes were in their steady states. */
static uint64_t contention_beside(const struct ct_explain *x, uint64_t begin, uint64_t end, unsigned int *others)
{
	uint64_t most = 0;

	*others = 0;
	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
		uint64_t from, to;

		if (i == x->index)
			continue;
		ct_scope_span(&x->phases->processes[i], CT_SCOPE_STEADY, &from, &to);
		from = from > begin ? from : begin;
		to = to < end ? to : end;
		if (from >= to)
			continue;
		++*others;
		if (to - from > most)
			most = to - from;
	}
	return most;
}

void ct_rule_shared_gpu(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_process_phases *p = x->process;
	struct ct_histogram alone = { 0 }, beside = { 0 };
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT];
	uint64_t begin, end, together, cost = 0, usual;
	struct ct_finding_row *f;
	unsigned int others, now;

	ct_scope_span(p, CT_SCOPE_STEADY, &begin, &end);
	together = contention_beside(x, begin, end, &others);
	if (!others || ct_rule_share(x, CT_SCOPE_STEADY, together) < rule->threshold)
		return;
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		const struct ct_iteration *it = &p->iterations[i];
		uint64_t ns = it->end - it->begin, common;

		common = contention_beside(x, it->begin, it->end, &now);
		if ((!now || common == ns) && ct_histogram_add(now ? &beside : &alone, ns))
			x->error = -ENOMEM;
	}
	usual = ct_histogram_value(&alone, 500);
	if (alone.count >= 5 && beside.count >= 5 && beside.total > usual * beside.count &&
	    ct_histogram_value(&beside, 500) * 10 > usual * 11) {
		cost = beside.total - usual * beside.count;
		f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, cost,
				   "Iterations take %s (median) while %u other process%s use%s the GPU, alone %s: %s.",
				   ct_term_ns(a, ct_histogram_value(&beside, 500)), others, others == 1 ? "" : "es",
				   others == 1 ? "s" : "", ct_term_ns(b, usual),
				   ct_explain_time(x, CT_SCOPE_STEADY, cost, time));
	} else {
		f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_POSSIBLE, 0,
				   "%u other process%s use%s the GPU during %s of the steady state; what that costs the "
				   "records do not show%s.", others, others == 1 ? "" : "es", others == 1 ? "s" : "",
				   ct_explain_time(x, CT_SCOPE_STEADY, together, time),
				   alone.count < 5 ? ": the process is hardly ever alone" : "");
	}
	ct_explain_advise(x, f, "Compare with a run alone (cudatrace diff). Processes take turns on a GPU unless MPS lets them "
			  "run at once; one process that serves both, or MPS, avoids the turns.");
	ct_histogram_free(&alone);
	ct_histogram_free(&beside);
}
