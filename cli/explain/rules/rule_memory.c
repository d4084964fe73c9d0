// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on memory: allocations in the steady state, and device memory that only grows. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/memory/memory.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

/* Calls that did not fail, as ct_rule_calls(). */
static uint64_t memory_rate(const struct ct_explain *x, const struct ct_fact *fact)
{
	return ct_explain_countable(x, fact->count - fact->failed, fact->in_iterations - fact->failed_in_iterations);
}

void ct_rule_allocations(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	uint64_t allocs = 0, frees = 0, allocs_rate = 0, frees_rate = 0, ns = facts->memory.total, iterations = 0;
	const struct ct_fact *most = NULL;
	struct ct_finding *f;
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT];

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];

		/* Those that failed are the business of the rule on errors. */
		if (!ct_class_is(fact->class, CT_IS_ALLOC | CT_IS_FREE) || fact->failed == fact->count)
			continue;
		if (ct_class_is(fact->class, CT_IS_ALLOC)) {
			allocs += fact->count - fact->failed;
			allocs_rate += memory_rate(x, fact);
		} else {
			frees += fact->count - fact->failed;
			frees_rate += memory_rate(x, fact);
		}
		if (fact->iterations > iterations)
			iterations = fact->iterations;
		if (!most || fact->total > most->total)
			most = fact;
	}
	if (!most || allocs + frees < 4 || iterations * 2 < x->iterations ||
	    ct_rule_share(x, CT_SCOPE_STEADY, ns) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, ns,
			   "%s allocation%s and %s free%s %s take %s, mostly in %s.",
			   ct_explain_rate(x, allocs_rate, a), ct_explain_rate_s(x, allocs_rate),
			   ct_explain_rate(x, frees_rate, b), ct_explain_rate_s(x, frees_rate), ct_explain_per(x),
			   ct_explain_time(x, CT_SCOPE_STEADY, ns, time), most->class->name);
	ct_explain_advise(x, f, "Allocate before the loop and use the memory again, or use a pool "
			  "(cuMemAllocAsync, a caching allocator): a free also waits for the GPU.");
	ct_explain_show(f, &most->longest);
	ct_explain_show(f, &most->first);
}

/* ------------------------------------------------------------------ growth --- */

#define GROWTH_PARTS	8	/* of the steady state, at whose ends memory is compared */
#define GROWTH_LEAST	(1ull << 20)
/* What leaks grows as much in the last three parts as in those before.  If it is less than a fifth, it is rather a cache that fills. */
#define GROWTH_LAST	3
#define GROWTH_SLOWS	5

struct growth {
	uint64_t bytes;			/* of device memory, now */
	uint64_t at[GROWTH_PARTS + 1];	/* when each part began, and at the end */
	unsigned int parts;		/* of which that is known */
	uint64_t next;			/* ns: when the next one begins; 0: not looked up */
	uint64_t allocs, frees;		/* in the steady state */
	int64_t  in_iterations;		/* bytes by which it grew in them */
	struct ct_evidence largest;
	uint64_t largest_bytes;
	bool unknown;			/* it held more than is kept */
};

static bool growth_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_MEMORY);
}

static int growth_begin(struct ct_analysis *a)
{
	*(struct growth **)a->state = ct_rule_per_process(a, sizeof(struct growth));
	return *(struct growth **)a->state ? 0 : -ENOMEM;
}

/* Where part @i of the steady state begins: by its iterations, as far as there are so many, since they may have pauses between them. */
static uint64_t growth_part(const struct ct_process_phases *p, unsigned int i)
{
	uint32_t warmup = ct_phases_warmup(p), iterations = p->iterations_count - warmup;
	uint64_t begin, end;

	ct_scope_span(p, CT_SCOPE_STEADY, &begin, &end);
	if (i == 0 || i == GROWTH_PARTS)
		return i ? end : begin;
	if (iterations >= GROWTH_PARTS)
		return p->iterations[warmup + (uint64_t)iterations * i / GROWTH_PARTS].begin;
	return begin + (end - begin) / GROWTH_PARTS * i;
}

/* Notes the memory at the begin of parts that begin until @now. */
static void growth_note(struct growth *g, const struct ct_process_phases *p, uint64_t now)
{
	while (g->parts <= GROWTH_PARTS) {
		if (!g->next)
			g->next = growth_part(p, g->parts);
		if (g->next > now)
			return;
		g->at[g->parts++] = g->bytes;
		g->next = 0;
	}
}

static int growth_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	const struct ct_memory_process *held = ct_memory_now(m, e->track->pid);
	uint64_t before;
	int64_t iteration;
	struct growth *g;

	if (!p || !held)
		return 0;
	g = &(*(struct growth **)a->state)[p - a->phases->processes];
	growth_note(g, p, e->begin);
	before = g->bytes;
	g->bytes = held->sums[CT_MEMORY_GPU].held;
	g->unknown |= held->left_out;
	if (ct_scope_of(p, e->begin, &iteration) != CT_SCOPE_STEADY)
		return 0;
	g->in_iterations += iteration >= 0 ? (int64_t)(g->bytes - before) : 0;
	g->allocs += m->change.allocations;
	g->frees += m->change.frees;
	if (m->change.allocations && m->change.bytes >= g->largest_bytes) {
		g->largest_bytes = m->change.bytes;
		ct_evidence_set(&g->largest, e);
	}
	return 0;
}

static int growth_end(struct ct_analysis *a)
{
	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		growth_note(&(*(struct growth **)a->state)[i], &a->phases->processes[i], UINT64_MAX);
	return 0;
}

static void growth_free(struct ct_analysis *a)
{
	free(*(struct growth **)a->state);
}

static const struct ct_analyser *const growth_needs[] = { &ct_memory_analyser, NULL };

const struct ct_analyser ct_growth_analyser = {
	.needs = growth_needs,
	.on = CT_ON_END | CT_ON_INSTANT,
	.wants = growth_wants,
	.phases = true,
	.state_size = sizeof(struct growth *),
	.begin = growth_begin,
	.event = growth_event,
	.end = growth_end,
	.free = growth_free,
};

void ct_rule_growth(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct growth *g = &(*(struct growth **)ct_explain_state(x, &ct_growth_analyser))[x->index];
	char grown[CT_TERM_TEXT], from[CT_TERM_TEXT], to[CT_TERM_TEXT], each[CT_TERM_TEXT], n[CT_TERM_TEXT],
	     m[CT_TERM_TEXT];
	uint64_t first = g->at[1], last = g->at[GROWTH_PARTS], begin = g->at[0] < first ? g->at[0] : first;
	char rate[CT_TERM_TEXT + 48] = "";
	unsigned int steps = 0;
	bool slows = (last - g->at[GROWTH_PARTS - GROWTH_LAST]) * GROWTH_SLOWS < last - first;
	struct ct_finding *f;

	/* The first part may still fill caches. */
	for (unsigned int i = 2; i <= GROWTH_PARTS; i++)
		steps += g->at[i] > g->at[i - 1];
	if (g->unknown)
		ct_explain_unseen(x, "it held more blocks of device memory at a time than are kept; whether that grows is not known.");
	if (g->unknown || last < first || last - first < GROWTH_LEAST || steps < GROWTH_PARTS - 2 ||
	    100.0 * (last - first) / (first ? first : 1) < rule->threshold)
		return;
	if (x->process->iterations_count && g->in_iterations * 2 < (int64_t)(last - begin))
		snprintf(rate, sizeof(rate), ", most of it not in iterations");
	else if (x->process->iterations_count)
		snprintf(rate, sizeof(rate), ", %s an iteration", ct_term_bytes(each, g->in_iterations / x->iterations));
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, slows ? CT_POSSIBLE : CT_LIKELY, 0,
			   "Device memory grows by %s during the %s, from %s to %s%s: %s allocation%s, "
			   "%s free%s%s.", ct_term_bytes(grown, last - begin), ct_explain_main(x), ct_term_bytes(from, begin),
			   ct_term_bytes(to, last), rate, ct_term_count(n, g->allocs), ct_explain_s(g->allocs),
			   ct_term_count(m, g->frees), ct_explain_s(g->frees),
			   slows ? "; it grows ever more slowly, as a cache does that fills" : "");
	ct_explain_advise(x, f, "Free what an iteration no longer needs; 'cudatrace report memory' lists what was never "
			  "freed, by function and size.");
	ct_explain_show(f, &g->largest);
}
