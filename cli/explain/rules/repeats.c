// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rule on sequences of launches between two synchronisations that repeat exactly: they could
 * be one CUDA graph.  Memory is bounded by the number of different sequences.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "explain/rules/common.h"
#include "view/term.h"

#define SEQUENCES	65536	/* of a process; more are not told apart */

struct sequence {
	uint64_t times, ns, between;	/* ns: in its launch calls; between them, in the application */
	uint32_t launches;
	struct ct_evidence first;	/* of one occurrence */
};

/* What a thread launches since its last synchronisation. */
struct current {
	uint64_t hash, ns, between, last_end;
	uint64_t looking;		/* ns in lookups since the last launch */
	uint32_t launches;
	bool breaks;			/* the next launch can't be in a graph with those before */
	bool broken;			/* something that no graph may hold, or the scope changed */
	struct ct_evidence first;
};

struct collection {
	struct ct_hash *sequences;	/* by process; a: struct sequence * */
	struct current *threads;	/* by track */
	unsigned int capacity;
};

/* Looks up a kernel, and may load it; that is no time of the application. */
static bool repeats_looks(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_CUDA) && class->category == CT_CAT_MODULE && class->op != CT_OP_LOAD;
}

/* Can't be in a graph: loads code, or allocates or frees out of the order of a stream. */
static bool repeats_breaks(const struct ct_class *class)
{
	return (ct_class_is(class, CT_IS_CUDA) && class->category == CT_CAT_MODULE && class->op == CT_OP_LOAD) ||
	       (ct_class_is(class, CT_IS_ALLOC | CT_IS_FREE) && class->quick[CT_QUICK_STREAM] < 0);
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

	c->sequences = ct_rule_per_process(a, sizeof(*c->sequences));
	return c->sequences ? 0 : -ENOMEM;
}

static struct current *repeats_thread(struct collection *c, unsigned int track)
{
	struct current *more;

	if (track >= c->capacity) {
		unsigned int capacity = track + track / 2 + 16;

		more = realloc(c->threads, capacity * sizeof(*more));
		if (!more)
			return NULL;
		for (unsigned int i = c->capacity; i < capacity; i++)
			more[i] = (struct current){ 0 };
		c->threads = more;
		c->capacity = capacity;
	}
	return &c->threads[track];
}

static int repeats_close(struct ct_hash *sequences, struct current *t)
{
	struct ct_hash_slot *slot;
	struct sequence *s;

	if (t->launches < 2 || t->broken)
		return 0;
	slot = ct_hash_get(sequences, t->hash);
	if (!slot && sequences->count >= SEQUENCES)
		return 0;
	if (!slot)
		slot = ct_hash_put(sequences, t->hash);
	if (!slot)
		return -ENOMEM;
	if (!slot->a) {
		slot->a = (uintptr_t)calloc(1, sizeof(*s));
		if (!slot->a)
			return -ENOMEM;
	}
	s = (struct sequence *)(uintptr_t)slot->a;
	s->times++;
	s->ns += t->ns;
	s->between += t->between;
	s->launches = t->launches;
	if (s->times == 1)
		s->first = t->first;
	return 0;
}

static uint64_t repeats_hash(uint64_t hash, const struct ct_record *r,
			     const struct ct_registry *reg)
{
	static const enum ct_quick parts[] = {
		CT_QUICK_GRID_X, CT_QUICK_GRID_Y, CT_QUICK_GRID_Z, CT_QUICK_BLOCK_X,
		CT_QUICK_BLOCK_Y, CT_QUICK_BLOCK_Z, CT_QUICK_SHARED, CT_QUICK_STREAM,
	};

	hash = (hash ^ ct_record_kernel(r, reg)) * 0x100000001b3ull;
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = (hash ^ ct_record_quick(r, parts[i])) * 0x100000001b3ull;
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
	t = repeats_thread(c, e->track->index);
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
	if (ct_class_is(e->class, CT_IS_COPY) && ct_record_quick(e->record, CT_QUICK_ASYNC))
		return 0;
	if (!ct_class_is(e->class, CT_IS_LAUNCH)) {
		if (scope == CT_SCOPE_STEADY)
			rc = repeats_close(&c->sequences[index], t);
		*t = (struct current){ .broken = scope != CT_SCOPE_STEADY };
		return rc;
	}
	if (t->breaks || e->category == CT_CAT_GRAPH || scope != CT_SCOPE_STEADY || !e->timed || e->failed)
		t->broken = true;
	if (!t->launches++) {
		t->hash = 0xcbf29ce484222325ull;
		ct_evidence_set(&t->first, e);
	} else if (e->begin > t->last_end && e->begin - t->last_end > t->looking) {
		t->between += e->begin - t->last_end - t->looking;
	}
	t->looking = 0;
	t->hash = repeats_hash(t->hash, e->record, a->names->reg);
	t->ns += e->duration;
	t->last_end = e->end;
	return 0;
}

static void repeats_free(struct ct_analysis *a)
{
	struct collection *c = a->state;

	for (unsigned int i = 0; c->sequences && i < a->phases->processes_count; i++) {
		struct ct_hash *h = &c->sequences[i];

		for (size_t n = 0; n < h->size; n++)
			if (h->slots[n].used)
				free((void *)(uintptr_t)h->slots[n].a);
		ct_hash_free(h);
	}
	free(c->sequences);
	free(c->threads);
}

const struct ct_analyser ct_repeats_analyser = {
	.on = CT_ON_END,
	.wants = repeats_wants,
	.phases = true,
	.state_size = sizeof(struct collection),
	.begin = repeats_begin,
	.event = repeats_event,
	.free = repeats_free,
};

/* A graph of any size costs about one launch: this many are left of each sequence. */
#define GRAPH_COST	1
#define WAITS		50	/* %: the GPU limits, not the host */

void ct_rule_graph(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct collection *c = ct_explain_state(x, &ct_repeats_analyser);
	const struct ct_hash *h = &c->sequences[x->index];
	uint64_t ns = 0, between = 0, times = 0, launches = 0, left = 0, saved;
	uint64_t wait = ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_WAIT);
	uint64_t busy = x->wall[CT_SCOPE_STEADY] - (wait < x->wall[CT_SCOPE_STEADY] ? wait : x->wall[CT_SCOPE_STEADY]);
	const struct sequence *most = NULL;
	unsigned int kinds = 0;
	struct ct_finding_row *f;
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT], n[CT_TERM_TEXT], m[CT_TERM_TEXT];

	for (size_t i = 0; i < h->size; i++) {
		const struct sequence *s = (void *)(uintptr_t)h->slots[i].a;

		if (!h->slots[i].used || !s || s->launches < 8 || s->times < 5)
			continue;
		kinds++;
		times += s->times;
		launches += s->times * s->launches;
		ns += s->ns;
		between += s->between;
		left += GRAPH_COST * s->ns / s->launches;
		if (!most || s->ns + s->between > most->ns + most->between)
			most = s;
	}
	saved = ns + between > left ? ns + between - left : 0;
	/* Where the host mostly waits, it would only wait longer. */
	if (!most || ct_rule_share(x, CT_SCOPE_STEADY, saved) < rule->threshold ||
	    ct_rule_share(x, CT_SCOPE_STEADY, wait) >= WAITS)
		return;
	if (saved > busy)
		saved = busy;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, saved,
			   "%u sequence%s of launches repeat%s exactly, %s times with %s launches in all (the largest "
			   "has %u): %s in the calls, %s between them. As %s would save at most %s.",
			   kinds, kinds == 1 ? "" : "s", kinds == 1 ? "s" : "", ct_term_count(m, times),
			   ct_term_count(n, launches), most->launches, ct_term_ns(a, ns), ct_term_ns(b, between),
			   kinds == 1 ? "a CUDA graph it" : "CUDA graphs they",
			   ct_explain_time(x, CT_SCOPE_STEADY, saved, time));
	f->at_most = true;
	ct_explain_advise(x, f, "Capture the sequence once and replay it (cuStreamBeginCapture, torch.cuda.graph). It helps "
			  "only as far as the host is the limit.");
	ct_explain_show(f, &most->first);
}
