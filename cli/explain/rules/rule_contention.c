// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules on threads and processes that get in each other's way.  Only a difference that the
 * records show counts: calls that overlap another thread's against those that don't,
 * iterations beside another process's against those alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "group/histogram.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

struct contention {
	struct ct_histogram alone, overlapped;	/* ns of launch calls in the steady state */
	struct ct_evidence longest;
	uint64_t devices;		/* bits: that it makes contexts on; 0: not known */
	uint64_t open, begins;		/* launches of its threads: now, and so far */
};

struct steady {
	uint64_t begin, end, devices;
	unsigned int process;
};

/* The launch that a thread is in. */
struct open_call {
	unsigned int depth;		/* it, and launches inside it; 0: there is none */
	int process;
	bool overlapped;		/* another one was open when it began */
	uint64_t begins;		/* of its process, with it */
};

struct collection {
	struct contention *processes;
	struct open_call *open;		/* by track */
	unsigned int room;
	/* Of the processes that have a steady state, by begin; made when they are asked for first. */
	struct steady *steady;
	unsigned int steady_count;
};

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
	struct open_call *call;
	bool overlapped;

	if (ct_class_is(e->class, CT_IS_CONTEXT)) {
		uint64_t device = e->kind != CT_ON_END || e->failed ? 64 : ct_record_known(e->record, CT_KNOWN_CUDA_DEVICE);

		if (index >= 0 && device < 64)
			c->processes[index].devices |= 1ull << device;
		return 0;
	}
	if (!ct_room_at(c->open, e->track->index, c->room))
		return -ENOMEM;
	call = &c->open[e->track->index];
	if (e->kind == CT_ON_BEGIN) {
		if (index < 0 || call->depth++)
			return 0;
		k = &c->processes[index];
		*call = (struct open_call){ 1, index, k->open++ > 0, ++k->begins };
		return 0;
	}
	if (!call->depth || --call->depth)
		return 0;
	k = &c->processes[call->process];
	k->open--;
	overlapped = call->overlapped || k->begins != call->begins;
	if (index != call->process || e->kind != CT_ON_END || !e->timed || scope != CT_SCOPE_STEADY)
		return 0;
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
	free(c->open);
	free(c->steady);
}

const struct ct_analyser ct_contention_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_UNRETURNED,
	.what = CT_IS_LAUNCH | CT_IS_CONTEXT,
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
	struct ct_finding *f;
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
			   "take %s (median), alone %s: in all %s.",
			   ct_term_count(n, k->overlapped.count),
			   ct_term_ns(a, ct_histogram_value(&k->overlapped, 500)), ct_term_ns(b, usual),
			   ct_explain_time(x, CT_SCOPE_STEADY, cost, time));
	ct_explain_advise(x, f, "Launch from one thread, or launch less often (CUDA graphs): launches of a context take "
			  "a lock.");
	ct_explain_show(f, &k->longest);
}

/* ---------------------------------------------------------------- processes --- */

static int contention_by_begin(const void *a, const void *b)
{
	const struct steady *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int contention_steady(const struct ct_explain *x, struct collection *c)
{
	if (c->steady)
		return 0;
	c->steady = calloc(x->phases->processes_count + 1, sizeof(*c->steady));
	if (!c->steady)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
		struct steady *s = &c->steady[c->steady_count];

		ct_scope_span(&x->phases->processes[i], CT_SCOPE_STEADY, &s->begin, &s->end);
		s->process = i;
		s->devices = c->processes[i].devices;
		c->steady_count += s->end > s->begin;
	}
	qsort(c->steady, c->steady_count, sizeof(*c->steady), contention_by_begin);
	return 0;
}

/*
 * The times in which other processes have their steady states, as far as they lie in [begin,
 * end), one after the other: spans that touch are one.  @others: how many processes these are.
 * Processes that are known to use other GPUs don't count.
 */
static unsigned int contention_spans(const struct ct_explain *x, const struct collection *c, uint64_t begin,
				     uint64_t end, struct steady *spans, unsigned int *others)
{
	uint64_t devices = c->processes[x->index].devices;
	unsigned int count = 0;

	*others = 0;
	for (unsigned int i = 0; i < c->steady_count && c->steady[i].begin < end; i++) {
		struct steady s = c->steady[i];

		if (s.process == x->index || s.end <= begin || (devices && s.devices && !(devices & s.devices)))
			continue;
		++*others;
		s.begin = s.begin > begin ? s.begin : begin;
		s.end = s.end < end ? s.end : end;
		if (!count || s.begin > spans[count - 1].end)
			spans[count++] = s;
		else if (s.end > spans[count - 1].end)
			spans[count - 1].end = s.end;
	}
	return count;
}

void ct_rule_shared_gpu(struct ct_explain *x, const struct ct_rule *rule)
{
	struct collection *c = ct_explain_state(x, &ct_contention_analyser);
	const struct ct_process_phases *p = x->process;
	struct ct_histogram alone = { 0 }, beside = { 0 };
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT];
	uint64_t begin, end, together = 0, cost = 0, usual;
	unsigned int others, count, at = 0;
	struct ct_finding *f;
	struct steady *spans;

	ct_scope_span(p, CT_SCOPE_STEADY, &begin, &end);
	spans = contention_steady(x, c) ? NULL : calloc(c->steady_count + 1, sizeof(*spans));
	if (!spans) {
		x->error = -ENOMEM;
		return;
	}
	count = contention_spans(x, c, begin, end, spans, &others);
	for (unsigned int i = 0; i < count; i++)
		together += spans[i].end - spans[i].begin;
	if (!others || ct_rule_share(x, CT_SCOPE_STEADY, together) < rule->threshold) {
		free(spans);
		return;
	}
	/* Iterations that are alone, or beside another process, for all of their time. */
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		const struct ct_iteration *it = &p->iterations[i];
		bool is_beside, is_alone;

		while (at < count && spans[at].end <= it->begin)
			at++;
		is_alone = at == count || spans[at].begin >= it->end;
		is_beside = !is_alone && spans[at].begin <= it->begin && spans[at].end >= it->end;
		if ((is_alone || is_beside) && ct_histogram_add(is_alone ? &alone : &beside, it->end - it->begin))
			x->error = -ENOMEM;
	}
	free(spans);
	usual = ct_histogram_value(&alone, 500);
	if (alone.count >= 5 && beside.count >= 5 && beside.total > usual * beside.count &&
	    ct_histogram_value(&beside, 500) * 10 > usual * 11) {
		cost = beside.total - usual * beside.count;
		f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, cost,
				   "Iterations take %s (median) while %u other process%s use%s the GPU, alone %s: in all %s.",
				   ct_term_ns(a, ct_histogram_value(&beside, 500)), others, others == 1 ? "" : "es",
				   others == 1 ? "s" : "", ct_term_ns(b, usual),
				   ct_explain_time(x, CT_SCOPE_STEADY, cost, time));
	} else {
		f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_POSSIBLE, 0,
				   "%u other process%s use%s a GPU during %s of the %s; what that costs the "
				   "records do not show%s.", others, others == 1 ? "" : "es", others == 1 ? "s" : "",
				   ct_explain_time(x, CT_SCOPE_STEADY, together, time), ct_explain_main(x),
				   !p->iterations_count ? ": no iterations were found" :
				   alone.count < 5 ? ": the process is hardly ever alone" : "");
	}
	ct_explain_advise(x, f, "Compare with a run alone (cudatrace diff). Processes take turns on a GPU unless MPS lets them "
			  "run at once; one process that serves both, or MPS, avoids the turns.");
	ct_histogram_free(&alone);
	ct_histogram_free(&beside);
}
