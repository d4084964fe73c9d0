// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rule on sequences of launches between two synchronisations that repeat exactly: they could
 * be one CUDA graph.  Memory is bounded by the number of different sequences.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/keyed.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define SEQUENCES	65536	/* of a process; more are not told apart */

/*
 * What a sequence takes as a graph, beside the GPU's work.  On an H100, in graphs of 30 to 202 kernels, one that
 * depends on the kernel before begins 1 us after its end; kernels of few blocks follow at once.  To
 * launch the graph and to wait for it takes so long without the GPU's work.
 */
#define GRAPH_GAP	1000u		/* ns */
#define GRAPH_NARROW	8u		/* blocks */
#define GRAPH_LAUNCH	15000u		/* ns */
#define GRAPH_KERNEL	500u		/* ns: no kernel of an H100 or H200 works for less */

struct sequence {
	uint64_t hash;			/* of what it launches */
	uint64_t times, ns, between;	/* ns: in its launch calls; between them, in the application */
	uint64_t all;			/* ns: from its first launch to the end of the wait behind it */
	uint64_t quickest;		/* ns, of these the one that took least */
	uint64_t wide;			/* kernels of many blocks, of all times */
	uint32_t launches;
	struct ct_evidence first;	/* of one occurrence */
};

/* What a thread, or a process whose threads launch in turn, launches since its last synchronisation. */
struct current {
	uint64_t hash, ns, between, begin, last_end;
	uint64_t looking;		/* ns in lookups since the last launch */
	uint32_t launches, wide;
	bool breaks;			/* the next launch can't be in a graph with those before */
	bool broken;			/* something that no graph may hold, or the scope changed */
	struct ct_evidence first;
};

struct sequences {
	CT_KEYED(struct sequence);
	uint64_t left_out;		/* sequences that came when there was no room for one more kind */
};

struct collection {
	struct sequences *sequences;	/* by process */
	struct current *threads;	/* by track */
	unsigned int capacity;
	struct current *processes;	/* where several threads launch */
	const struct ct_launching *launching;
};

/* Looks up a kernel, and may load it; that is no time of the application. */
static bool repeats_looks(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_CODE) && !ct_class_is(class, CT_IS_LOAD);
}

/* Can't be in a graph: loads code, or allocates or frees out of the order of a stream. */
static bool repeats_breaks(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_LOAD) ||
	       (ct_class_is(class, CT_IS_ALLOC | CT_IS_FREE) && class->known[CT_KNOWN_STREAM] < 0);
}

static bool repeats_wants(const struct ct_class *class)
{
	/* A wait for the GPU ends a sequence; a copy that blocks waits, too. */
	return ct_class_is(class, CT_IS_LAUNCH | CT_IS_WAIT | CT_IS_COPY) || repeats_breaks(class) ||
	       repeats_looks(class);
}

static int repeats_begin(struct ct_analysis *a)
{
	struct collection *c = a->state;

	c->launching = ct_analysis_state(a, &ct_launching_analyser);
	c->sequences = ct_rule_per_process(a, sizeof(*c->sequences));
	c->processes = ct_rule_per_process(a, sizeof(*c->processes));
	return c->sequences && c->processes ? 0 : -ENOMEM;
}

static struct current *repeats_thread(struct collection *c, unsigned int track)
{
	return ct_room_at(c->threads, track, c->capacity) ? &c->threads[track] : NULL;
}

/* @e: the wait behind it */
static int repeats_close(struct sequences *sequences, struct current *t, const struct ct_trace_event *e)
{
	struct sequence *s;
	uint64_t all;

	if (t->launches < 2 || t->broken)
		return 0;
	if (sequences->count >= SEQUENCES && !ct_keyed_get(sequences, t->hash)) {
		sequences->left_out++;
		return 0;
	}
	s = ct_keyed_put(sequences, t->hash);
	if (!s)
		return -ENOMEM;
	s->times++;
	s->ns += t->ns;
	s->between += t->between;
	all = e->end > t->begin ? e->end - t->begin : 0;
	s->all += all;
	s->quickest = s->times == 1 || all < s->quickest ? all : s->quickest;
	s->wide += t->wide;
	s->launches = t->launches;
	if (s->times == 1)
		s->first = t->first;
	return 0;
}

static uint64_t repeats_hash(uint64_t hash, const struct ct_record *r,
			     const struct ct_registry *reg)
{
	static const enum ct_known parts[] = {
		CT_KNOWN_GRID_X, CT_KNOWN_GRID_Y, CT_KNOWN_GRID_Z, CT_KNOWN_BLOCK_X,
		CT_KNOWN_BLOCK_Y, CT_KNOWN_BLOCK_Z, CT_KNOWN_SHARED, CT_KNOWN_STREAM,
	};

	hash = (hash ^ ct_record_kernel(r, reg)) * 0x100000001b3ull;
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = (hash ^ ct_record_known(r, parts[i])) * 0x100000001b3ull;
	return hash ^ hash >> 29;
}

static int repeats_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct collection *c = a->state;
	struct current *t;
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration), rc = 0;

	/* A call inside another one counts there. */
	if (index < 0 || e->track->nested[CT_CAT_KERNEL] || e->track->nested[CT_CAT_GRAPH] ||
	    e->track->nested[CT_CAT_SYNC] || e->track->nested[CT_CAT_TRANSFER])
		return 0;
	/* A graph of a training step holds the launches of the backward thread, too. */
	t = ct_launching_several(c->launching, e->track) ? &c->processes[index] :
	    repeats_thread(c, e->track->index);
	if (!t)
		return -ENOMEM;
	if (repeats_breaks(e->class)) {
		t->breaks = t->launches > 0;
		return 0;
	}
	if (repeats_looks(e->class)) {
		if (e->timed && !e->track->nested[CT_CAT_MODULE])
			t->looking += e->duration;
		return 0;
	}
	if (ct_class_is(e->class, CT_IS_COPY) && ct_record_known(e->record, CT_KNOWN_ASYNC))
		return 0;
	if (!ct_class_is(e->class, CT_IS_LAUNCH)) {
		if (scope == CT_SCOPE_STEADY)
			rc = repeats_close(&c->sequences[index], t, e);
		*t = (struct current){ .broken = scope != CT_SCOPE_STEADY };
		return rc;
	}
	if (t->breaks || e->category == CT_CAT_GRAPH || scope != CT_SCOPE_STEADY || !e->timed || e->failed)
		t->broken = true;
	if (!t->launches++) {
		t->hash = 0xcbf29ce484222325ull;
		t->begin = e->begin;
		ct_evidence_set(&t->first, e);
	} else if (e->begin > t->last_end && e->begin - t->last_end > t->looking) {
		t->between += e->begin - t->last_end - t->looking;
	}
	t->looking = 0;
	t->hash = repeats_hash(t->hash, e->record, a->names->reg);
	t->wide += ct_record_known(e->record, CT_KNOWN_GRID_X) * ct_record_known(e->record, CT_KNOWN_GRID_Y) *
		   ct_record_known(e->record, CT_KNOWN_GRID_Z) > GRAPH_NARROW;
	t->ns += e->duration;
	t->last_end = e->end;
	return 0;
}

static void repeats_free(struct ct_analysis *a)
{
	struct collection *c = a->state;

	for (unsigned int i = 0; c->sequences && i < a->phases->processes_count; i++)
		ct_keyed_free(&c->sequences[i]);
	free(c->sequences);
	free(c->processes);
	free(c->threads);
}

static const struct ct_analyser *const needs[] = { &ct_launching_analyser, NULL };

const struct ct_analyser ct_repeats_analyser = {
	.on = CT_ON_END,
	.wants = repeats_wants,
	.phases = true,
	.needs = needs,
	.state_size = sizeof(struct collection),
	.begin = repeats_begin,
	.event = repeats_event,
	.free = repeats_free,
};

#define WAITS		50		/* %: the GPU limits, not the host */
#define GRAPH_LAUNCHES	8u		/* a sequence of fewer is not worth a graph */
#define GRAPH_TIMES	5u

struct repeats_sum {
	uint64_t times, launches, ns, between, all, wide;
	uint64_t least;			/* ns that are gained if each is as quick as the quickest like it */
	const struct sequence *most;
	unsigned int kinds;
};

static struct repeats_sum repeats_sum(const struct sequences *sequences)
{
	struct repeats_sum sum = { 0 };

	for (size_t i = 0; i < sequences->count; i++) {
		const struct sequence *s = &sequences->list[i];

		if (s->launches < GRAPH_LAUNCHES || s->times < GRAPH_TIMES)
			continue;
		sum.kinds++;
		sum.times += s->times;
		sum.launches += s->times * s->launches;
		sum.ns += s->ns;
		sum.between += s->between;
		sum.all += s->all;
		sum.least += s->all - s->times * s->quickest;
		sum.wide += s->wide;
		if (!sum.most || s->ns + s->between > sum.most->ns + sum.most->between)
			sum.most = s;
	}
	return sum;
}

static uint64_t repeats_idle(const struct ct_explain *x)
{
	uint64_t busy = ct_explain_gpu_ns(x) + x->waiting, wall = x->wall[CT_SCOPE_STEADY];

	return busy < wall ? wall - busy : 0;
}

/* The GPU's own time for the sequences, ns: their share of all launches; 0: not known. */
static uint64_t repeats_gpu(const struct ct_explain *x, const struct repeats_sum *sum)
{
	const struct ct_stage_account *steady = &x->account->stages[CT_STAGE_STEADY];
	const struct ct_stage_account *execution = &x->account->stages[CT_STAGE_EXECUTION];
	uint64_t launches = steady->launches + execution->launches, busy;

	if (!x->busy || !launches)
		return 0;
	/* A graph does not make other ranks come sooner. */
	busy = ct_explain_gpu_ns(x) + x->waiting;
	return sum->launches < launches ? (double)busy * sum->launches / launches : busy;
}

void ct_rule_graph(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct collection *c = ct_explain_state(x, &ct_repeats_analyser);
	struct repeats_sum sum = repeats_sum(&c->sequences[x->index]);
	uint64_t left_out = c->sequences[x->index].left_out;
	uint64_t gpu = repeats_gpu(x, &sum), left, saved, work, gaps = GRAPH_GAP * sum.wide;
	uint64_t wait = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_WAIT);
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT], d[CT_TERM_TEXT], n[CT_TERM_TEXT], m[CT_TERM_TEXT], gain[400];
	char passing[80] = "", least[64];
	struct ct_finding *f;

	if (left_out)
		ct_explain_unseen(x, "it launched more than %s different sequences between its waits; of %s further ones it is "
				  "not known whether they repeat.", ct_term_count(m, SEQUENCES), ct_term_count(n, left_out));
	if (!sum.most)
		return;
	if (gpu) {
		left = gpu + gaps + GRAPH_LAUNCH * sum.times;
		saved = sum.all > left ? sum.all - left : 0;
		/* Several threads launch at the same time: no more than the GPU is idle. */
		if (saved > repeats_idle(x))
			saved = repeats_idle(x);
	} else {
		/* What the host waited the GPU worked, too: it does not get shorter.  Nor are kernels shorter than they can be. */
		left = sum.ns / sum.launches * sum.times;
		saved = sum.ns + sum.between > left ? sum.ns + sum.between - left : 0;
		work = left + GRAPH_KERNEL * sum.launches + gaps;
		if (saved > (sum.all > work ? sum.all - work : 0))
			saved = sum.all > work ? sum.all - work : 0;
		/* Where the host mostly waits, it would only wait longer. */
		if (ct_rule_share(x, CT_SCOPE_STEADY, wait) >= WAITS)
			return;
		if (saved > x->wall[CT_SCOPE_STEADY] - (wait < x->wall[CT_SCOPE_STEADY] ? wait : x->wall[CT_SCOPE_STEADY]))
			saved = x->wall[CT_SCOPE_STEADY] - wait;
	}
	saved = ct_rule_beyond_waits(x, saved);
	if (ct_rule_share(x, CT_SCOPE_STEADY, saved) < rule->threshold)
		return;
	if (gaps)
		snprintf(passing, sizeof(passing), " and passes from kernel to kernel for %s", ct_term_ns(d, gaps));
	if (gpu)
		snprintf(gain, sizeof(gain), "With their waits they take %s; as %s about %s, of which the GPU works %s%s: it "
			 "would save about %s.", ct_term_ns(a, sum.all), sum.kinds == 1 ? "a CUDA graph" : "CUDA graphs",
			 ct_term_ns(b, left), ct_term_ns(n, gpu), passing,
			 ct_explain_time(x, CT_SCOPE_STEADY, saved, time));
	else
		snprintf(gain, sizeof(gain), "%s in the calls, %s between them. As %s would save at least %s, if each time is as "
			 "quick as the quickest was, and at most %s. How long the GPU works was not recorded.",
			 ct_term_ns(a, sum.ns), ct_term_ns(b, sum.between),
			 sum.kinds == 1 ? "a CUDA graph it" : "CUDA graphs they",
			 ct_explain_time(x, CT_SCOPE_STEADY, sum.least < saved ? sum.least : saved, least),
			 ct_explain_time(x, CT_SCOPE_STEADY, saved, time));
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, saved,
			   "%u sequence%s of launches repeat%s exactly, %s times with %s launches in all (the largest "
			   "has %u)%s %s", sum.kinds, sum.kinds == 1 ? "" : "s", sum.kinds == 1 ? "s" : "",
			   ct_term_count(m, sum.times), ct_term_count(n, sum.launches), sum.most->launches,
			   gpu ? "." : ":", gain);
	f->estimate = gpu > 0;
	f->at_most = !gpu;
	f->least = gpu ? 0 : sum.least < saved ? sum.least : saved;
	ct_explain_advise(x, f, "Capture the sequence once and replay it (cuStreamBeginCapture, torch.cuda.graph)%s",
			  gpu ? "." : ". It helps as far as the host is the limit: record --gpu says how far.");
	ct_explain_show(f, &sum.most->first);
}
