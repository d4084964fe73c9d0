// SPDX-License-Identifier: LGPL-2.1-or-later
/* See costs.h. */
#include "analysis/stacks/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/memory/memory.h"
#include "analysis/threads/driving.h"
#include "base/grow.h"

#define COSTS_HELD	(1u << 20)	/* blocks of memory that are kept; with more it is not known what lines hold */
#define COSTS_GAP	1000000000u	/* ns: for more than that a sample does not stand */

/* Between calls: what counts for a line once it is known what the other threads did. */
struct costs_sample {
	uint64_t at;			/* ns; 0: there is none */
	uint64_t part;
	uint32_t node;
	uint32_t since;			/* ns since the one before it: for so long it stands */
	bool     gil;			/* it waited for Python's lock, which was held by: */
	uint32_t holder, tid;
	uint8_t  does;			/* enum ct_sample_state, of the holder */
	struct ct_stack_cost cost;
};

struct costs_process {
	uint64_t pid;
	uint64_t last;			/* ns: the end of the last call of its threads that give the GPU work */
};

struct costs_track {
	uint64_t last;			/* ns: the end of its last call */
	uint64_t sampled;		/* ns: its last sample */
	uint64_t pending;		/* ns of the application before calls that have no stack */
	bool launches, stacked;		/* it gave work; it had a stack */
	bool named;			/* it had a sample with a stack */
	uint64_t waited;		/* ns that it only waited for another thread, which no time between calls was made less by */
	const struct ct_track *track;
	struct costs_sample sample;	/* the last one */
	/* Those since its last call, once it is known what the other threads did. */
	ct_stack_sums since;
};

/* Of a part: how its time of the application is divided. */
struct costs_part {
	uint64_t part, app;
	uint64_t samples;		/* CT_COST_WAITED, too */
};

struct costs_block {
	uint64_t address, pid, part, bytes;
	uint32_t node;
};

bool ct_stacks_sampled(const struct ct_trace *t)
{
	return ct_registry_info(&t->reg, "samples") != NULL;
}

bool ct_stacks_recorded(const struct ct_trace *t)
{
	return ct_registry_info(&t->reg, "stacks") != NULL;
}

void ct_stack_cost_add(struct ct_stack_cost *to, const struct ct_stack_cost *c)
{
	for (unsigned int i = 0; i < CT_COSTS; i++)
		to->of[i] += c->of[i];
}

unsigned int ct_cost_find(const char *word)
{
	static const struct {
		const char *word;
		unsigned int which;
	} words[] = {
		{ "wall", CT_COST_BIT(CT_COST_APP) | CT_COST_BIT(CT_COST_TIME) }, { "app", CT_COST_BIT(CT_COST_APP) },
		{ "cuda", CT_COST_BIT(CT_COST_TIME) }, { "calls", CT_COST_BIT(CT_COST_CALLS) },
		{ "launches", CT_COST_BIT(CT_COST_LAUNCHES) }, { "gpu", CT_COST_BIT(CT_COST_GPU) },
		{ "bytes", CT_COST_BIT(CT_COST_BYTES) }, { "wait", CT_COST_BIT(CT_COST_WAIT) },
		{ "copy", CT_COST_BIT(CT_COST_COPY) }, { "memory", CT_COST_BIT(CT_COST_MEMORY) },
		{ "load", CT_COST_BIT(CT_COST_LOAD) }, { "init", CT_COST_BIT(CT_COST_INIT) },
		{ "held", CT_COST_BIT(CT_COST_HELD) }, { "most", CT_COST_BIT(CT_COST_MOST) },
		{ "startup", CT_COST_BIT(CT_COST_BEFORE) },
		{ "samples", CT_COST_BIT(CT_COST_SAMPLES) }, { "idle", CT_COST_BIT(CT_COST_IDLE) },
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].word, word))
			return words[i].which;
	return 0;
}

uint64_t ct_stack_cost_sum(const struct ct_stack_cost *c, unsigned int which)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < CT_COSTS; i++)
		value += which & CT_COST_BIT(i) ? c->of[i] : 0;
	return value;
}

static bool costs_nothing(const struct ct_stack_cost *c)
{
	for (unsigned int i = 0; i < CT_COSTS; i++)
		if (c->of[i])
			return false;
	return true;
}

static bool costs_wants(const struct ct_class *class)
{
	return ct_class_is_sample(class) ||
	       ct_class_is(class, CT_IS_API | CT_IS_GPU_KERNEL | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH);
}

/* Where a span counts; CT_STACK_NO_PART: nowhere. */
static uint64_t costs_part(const struct ct_analysis *a, const struct ct_span *span)
{
	if (a->analyser == &ct_stack_processes_analyser)
		return span->pid;
	return a->analyser->phases ? ct_stack_part(a, span->pid, span->begin) : 0;
}

static int costs_put(ct_stack_sums *sums, uint32_t node, uint64_t part, const struct ct_stack_cost *cost, uint64_t from,
		     uint64_t to)
{
	struct ct_stack_sum *sum = ct_keyed_put_pair(sums, node, part);

	if (!sum)
		return -ENOMEM;
	ct_stack_cost_add(&sum->cost, cost);
	if (to && (!sum->to || from < sum->from))
		sum->from = from;
	sum->to = to > sum->to ? to : sum->to;
	return 0;
}

/* The memory that a call took or gave back: by the scope of the call that took it. */
static int costs_memory(struct ct_stack_costs *s, const struct ct_span *span, uint64_t part)
{
	uint64_t address = span->record->fields ? ct_record_allocation(span->record) : 0;
	struct costs_block *block;

	if (!address || span->flags & CT_SPAN_FAILED || ct_class_is(span->class, CT_IS_HOST))
		return 0;
	block = ct_keyed_get_pair(&s->held, address, span->pid);
	if (ct_class_is(span->class, CT_IS_FREE)) {
		if (block)
			ct_keyed_remove_pair(&s->held, block);
		return 0;
	}
	if (!block && s->held.count < COSTS_HELD)
		block = ct_keyed_put_pair(&s->held, address, span->pid);
	else if (!block)
		s->held_too_many = true;
	if (!block)
		return s->held_too_many ? 0 : -ENOMEM;
	block->bytes = ct_record_known(span->record, CT_KNOWN_SIZE);
	block->node = span->stack;
	block->part = part;
	return 0;
}

/* Times of what is not inside another call. */
static void costs_times(const struct ct_span *span, struct ct_stack_cost *cost)
{
	cost->of[CT_COST_TIME] = span->duration;
	if (ct_class_is(span->class, CT_IS_WAIT))
		cost->of[CT_COST_WAIT] = span->duration;
	if (ct_class_is(span->class, CT_IS_TRANSFER))
		cost->of[CT_COST_COPY] = span->duration;
	if (ct_class_is(span->class, CT_IS_ALLOC | CT_IS_FREE))
		cost->of[CT_COST_MEMORY] = span->duration;
	if (ct_class_is(span->class, CT_IS_CODE))
		cost->of[CT_COST_LOAD] = span->duration;
	if (span->class->category == CT_CAT_INIT || span->class->category == CT_CAT_CONTEXT)
		cost->of[CT_COST_INIT] = span->duration;
}

static struct costs_track *costs_track(struct ct_stack_costs *s, unsigned int index)
{
	return ct_room_at(s->tracks, index, s->tracks_count) ? &s->tracks[index] : NULL;
}

static int costs_count(struct ct_stack_costs *s, const struct costs_sample *sample)
{
	if (sample->part == CT_STACK_NO_PART || costs_nothing(&sample->cost))
		return 0;
	return costs_put(&s->sums, sample->node, sample->part, &sample->cost, sample->at, sample->at);
}

/* Who holds Python's lock. */
static int costs_holder(struct ct_stack_costs *s, const struct costs_sample *sample)
{
	struct ct_holder *h;

	if (!sample->gil || sample->part == CT_STACK_NO_PART)
		return 0;
	h = ct_keyed_put_pair(&s->holders, sample->holder, sample->part << 32 | sample->tid);
	if (!h)
		return -ENOMEM;
	h->samples++;
	h->states[sample->does]++;
	return 0;
}

/* What the other threads did at the last sample of a thread is known. */
static int costs_decide(const struct ct_analysis *a, struct costs_track *track)
{
	const struct ct_driving *driving = ct_analysis_state(a, &ct_driving_analyser);
	struct costs_sample *sample = &track->sample;
	uint64_t at = sample->at;
	uint32_t instead;

	sample->at = 0;
	if (!at || sample->part == CT_STACK_NO_PART)
		return 0;
	if (!ct_driving_waited(driving, track->track, at, &instead)) {
		if (costs_holder(a->state, sample))
			return -ENOMEM;
		return costs_put(&track->since, sample->node, sample->part, &sample->cost, at, at);
	}
	track->waited += sample->since;
	sample->cost = (struct ct_stack_cost){
		.of[CT_COST_WAITED] = sample->cost.of[CT_COST_DIVIDES],
		.of[CT_COST_APP] = sample->cost.of[CT_COST_APP], .of[CT_COST_DIVIDED] = sample->cost.of[CT_COST_DIVIDED],
	};
	return costs_put(&track->since, 0, sample->part, &sample->cost, at, at);
}

/*
 * The thread makes another call: until then it did what its samples say.  For how long, the call says; where none follows (@last),
 * the samples do.
 */
static int costs_since(struct ct_stack_costs *s, struct costs_track *track, bool last)
{
	int rc = 0;

	for (size_t i = 0; i < track->since.count && !rc; i++) {
		struct ct_stack_sum *sum = &track->since.list[i];

		if (!last)
			sum->cost.of[CT_COST_APP] = sum->cost.of[CT_COST_DIVIDED] = 0;
		rc = costs_put(&s->sums, sum->node, sum->part, &sum->cost, sum->from, sum->to);
	}
	ct_keyed_free(&track->since);
	return rc;
}

/*
 * The last samples of a thread.  That which made the last call of its process goes on with what the process does; the others only
 * wait for it to end.
 */
static int costs_last(const struct ct_analysis *a, struct costs_track *track)
{
	struct ct_stack_costs *s = a->state;
	const struct costs_process *p;
	int rc = costs_decide(a, track);

	p = rc || !track->since.count ? NULL : ct_keyed_get(&s->called, track->track->pid);
	return p && p->last <= track->last ? costs_since(s, track, true) : rc;
}

/* Between calls, or before the first one of the process. */
static int costs_sample(struct ct_analysis *a, const struct ct_span *span, uint64_t part)
{
	struct ct_stack_costs *s = a->state;
	struct costs_track *track = costs_track(s, span->track->index);
	uint64_t state = ct_record_known(span->record, CT_KNOWN_STATE), since;
	struct costs_sample sample = {
		.at = span->begin, .part = part, .node = ct_sample_counts(span->record, span->stack), .gil = state == CT_SAMPLE_GIL,
		.holder = ct_record_known(span->record, CT_KNOWN_HOLDER), .tid = ct_record_known(span->record, CT_KNOWN_HOLDER_TID),
	};
	struct ct_stack_cost *cost = &sample.cost;
	bool before = !ct_keyed_get(&s->called, span->pid);
	uint64_t from;
	int rc;

	if (!track)
		return -ENOMEM;
	track->track = span->track;
	rc = costs_decide(a, track);
	since = track->sampled ? span->begin - track->sampled : 0;
	sample.since = since < COSTS_GAP ? since : COSTS_GAP;
	track->sampled = span->begin;
	/* What was before somebody attached is no startup of the program. */
	if (rc || ct_track_call(span->track) || (!before && !track->launches) || (before && s->attached))
		return rc;
	if (before)
		cost->of[CT_COST_BEFORE] = sample.since;
	else
		cost->of[CT_COST_SAMPLES] = 1;
	track->named |= span->stack != 0;
	cost->of[CT_COST_DIVIDES] = cost->of[CT_COST_SAMPLES] && track->named;
	if (state < CT_SAMPLE_STATES)
		cost->of[CT_COST_STATE + state] = 1;
	cost->of[CT_COST_HOLDS] = sample.gil && sample.holder;
	state = ct_record_known(span->record, CT_KNOWN_HOLDER_STATE);
	sample.does = state < CT_SAMPLE_STATES ? state : CT_SAMPLE_UNKNOWN;
	if (before)
		return costs_holder(s, &sample) ? -ENOMEM : costs_count(s, &sample);
	/* Since its last sample, or since its last call, if that came later. */
	from = track->last > span->begin - since ? track->last : span->begin - since;
	if (span->begin > from && span->begin - from < COSTS_GAP)
		cost->of[CT_COST_APP] = span->begin - from;
	cost->of[CT_COST_DIVIDED] = track->named ? cost->of[CT_COST_APP] : 0;
	track->sample = sample;
	return 0;
}

/*
 * What counts of the time since the last call of a thread.  Samples without a stack, as of a thread without Python code, divide
 * nothing: here they say for how much of it the thread only waited for another one.  Many calls may lie between two samples, so
 * what a sample says may be taken off later than where it was.
 */
static uint64_t costs_between(struct costs_track *track, uint64_t ns)
{
	uint64_t off = track->named ? 0 : track->waited < ns ? track->waited : ns;

	track->waited -= off;
	return ns - off;
}

static int costs_call(struct ct_analysis *a, const struct ct_span *span, struct ct_stack_cost *cost, uint64_t part)
{
	struct ct_stack_costs *s = a->state;
	struct costs_track *track = costs_track(s, span->track->index);

	struct costs_process *p = ct_keyed_put(&s->called, span->pid);
	int rc;

	if (!track || !p)
		return -ENOMEM;
	rc = costs_since(s, track, false);
	if (rc)
		return rc;
	cost->of[CT_COST_CALLS] = 1;
	cost->of[CT_COST_LAUNCHES] = ct_class_is(span->class, CT_IS_LAUNCH);
	if (ct_class_is(span->class, CT_IS_TRANSFER) && span->record->fields)
		cost->of[CT_COST_BYTES] = ct_record_known(span->record, CT_KNOWN_SIZE);
	/* What is inside a call is in its time already. */
	if (!span->depth && span->flags & CT_SPAN_TIMED) {
		costs_times(span, cost);
		if (track->launches && span->begin > track->last)
			track->pending += costs_between(track, span->begin - track->last);
		track->stacked |= span->stack != 0;
		/* What comes before a call without a stack (a getter) counts for the next one that has one. */
		if (span->stack || !track->stacked) {
			cost->of[CT_COST_APP] = track->pending;
			cost->of[CT_COST_DIVIDED] = track->named ? track->pending : 0;
			track->pending = 0;
		}
		track->launches |= ct_class_is(span->class, CT_IS_WORK);
		track->last = span->end;
		if (track->launches && track->last > p->last)
			p->last = track->last;
	}
	return a->analyser->phases && ct_class_is(span->class, CT_IS_ALLOC | CT_IS_FREE) ? costs_memory(s, span, part) : 0;
}

static int costs_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct ct_stack_costs *s = a->state;
	struct ct_stack_cost cost = { 0 };
	uint64_t part = costs_part(a, span);
	int rc = 0;

	if (span->kind == CT_SPAN_GPU)
		cost.of[CT_COST_GPU] = span->duration;
	else if (span->api && span->kind == CT_SPAN_CALL)
		rc = costs_call(a, span, &cost, part);
	else if (ct_class_is_sample(span->class))
		return costs_sample(a, span, part);
	else
		return 0;
	return rc || part == CT_STACK_NO_PART || costs_nothing(&cost) ? rc : costs_put(&s->sums, span->stack, part, &cost,
											span->begin, span->begin + span->duration);
}

/* Of stacks that are the same the first one has all. */
static int costs_unite(struct ct_analysis *a)
{
	struct ct_stack_costs *s = a->state;
	size_t count = s->sums.count;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		struct ct_stack_sum sum = s->sums.list[i];
		uint32_t same = ct_stack_same(&s->tree, &a->trace->reg, sum.node, &rc);

		if (rc || same == sum.node)
			continue;
		s->sums.list[i].cost = (struct ct_stack_cost){ 0 };
		rc = costs_put(&s->sums, same, sum.part, &sum.cost, sum.from, sum.to);
	}
	for (size_t i = s->sums.count; i-- && !rc;)
		if (costs_nothing(&s->sums.list[i].cost))
			ct_keyed_remove_pair(&s->sums, &s->sums.list[i]);
	return rc;
}

/* Divides the time of the application by the samples in it. */
static int costs_divide(struct ct_stack_costs *s)
{
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct ct_stack_sum *sum = &s->sums.list[i];
		struct costs_part *part = ct_keyed_put(&s->parts, sum->part);

		if (!part)
			return -ENOMEM;
		part->app += sum->cost.of[CT_COST_DIVIDED];
		part->samples += sum->cost.of[CT_COST_DIVIDES] + sum->cost.of[CT_COST_WAITED];
	}
	for (size_t i = 0; i < s->sums.count; i++) {
		struct ct_stack_sum *sum = &s->sums.list[i];
		const struct costs_part *part = ct_keyed_get(&s->parts, sum->part);

		if (part && part->samples >= CT_COSTS_SAMPLES)
			sum->cost.of[CT_COST_APP] += (double)part->app * sum->cost.of[CT_COST_DIVIDES] / part->samples -
						     sum->cost.of[CT_COST_DIVIDED];
	}
	return 0;
}

static int costs_idle(struct ct_analysis *a)
{
	const struct ct_stack_idle *idle = ct_analysis_state(a, &ct_stack_idle_analyser);
	const ct_stack_idle_sums *sums = a->analyser->phases ? &idle->parts : &idle->processes;
	bool one = a->analyser == &ct_stack_costs_analyser;
	int rc = 0;

	for (size_t i = 0; i < sums->count && !rc; i++) {
		const struct ct_stack_idle_sum *sum = &sums->list[i];
		struct ct_stack_cost cost = { .of[CT_COST_IDLE] = sum->ns };

		if (sum->ns && sum->whose != CT_STACK_NO_PART)
			rc = costs_put(&((struct ct_stack_costs *)a->state)->sums, sum->node, one ? 0 : sum->whose, &cost, 0, 0);
	}
	return rc;
}

static int costs_process(struct ct_analysis *a, const struct ct_memory_process *p)
{
	uint64_t part = a->analyser == &ct_stack_processes_analyser ? p->pid : 0;
	int rc = 0;

	for (size_t i = 0; i < p->stacks.count && !rc; i++) {
		const struct ct_memory_stack *s = &p->stacks.list[i];
		struct ct_stack_cost cost = { .of[CT_COST_HELD] = s->held, .of[CT_COST_MOST] = s->most };

		if (s->held || s->most)
			rc = costs_put(a->state, s->stack, part, &cost, 0, 0);
	}
	return rc;
}

static int costs_held(struct ct_analysis *a)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	int rc = 0;

	for (unsigned int i = 0; m && i < m->processes_count && !rc; i++)
		rc = costs_process(a, m->processes[i]);
	return rc;
}

static int costs_end(struct ct_analysis *a)
{
	struct ct_stack_costs *s = a->state;
	int rc = 0;

	for (unsigned int i = 0; i < s->tracks_count && !rc; i++)
		rc = costs_last(a, &s->tracks[i]);
	for (size_t i = 0; i < s->held.count && !s->held_too_many && !rc; i++) {
		struct ct_stack_cost cost = { .of[CT_COST_HELD] = s->held.list[i].bytes };

		if (s->held.list[i].part != CT_STACK_NO_PART)
			rc = costs_put(&s->sums, s->held.list[i].node, s->held.list[i].part, &cost, 0, 0);
	}
	if (!rc)
		rc = costs_divide(s);
	if (!rc)
		rc = costs_idle(a);
	if (!rc && !a->analyser->phases)
		rc = costs_held(a);
	return rc ? rc : costs_unite(a);
}

static void costs_free(struct ct_analysis *a)
{
	struct ct_stack_costs *s = a->state;

	for (unsigned int i = 0; i < s->tracks_count; i++)
		ct_keyed_free(&s->tracks[i].since);
	ct_keyed_free(&s->sums);
	ct_keyed_free(&s->holders);
	ct_keyed_free(&s->held);
	ct_keyed_free(&s->called);
	ct_keyed_free(&s->parts);
	ct_stack_tree_free(&s->tree);
	free(s->tracks);
}

static const struct ct_analyser *const costs_needs[] = { &ct_stack_idle_analyser, &ct_driving_analyser, &ct_memory_analyser, NULL };

static int costs_begin(struct ct_analysis *a)
{
	struct ct_stack_costs *s = a->state;

	s->attached = ct_registry_info(&a->trace->reg, CT_ATTACHED_INFO);
	return 0;
}

const struct ct_analyser ct_stack_costs_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = costs_wants,
	.samples = true,
	.needs = costs_needs,
	.state_size = sizeof(struct ct_stack_costs),
	.begin = costs_begin,
	.span = costs_span,
	.end = costs_end,
	.free = costs_free,
};

const struct ct_analyser ct_stack_processes_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = costs_wants,
	.samples = true,
	.needs = costs_needs,
	.state_size = sizeof(struct ct_stack_costs),
	.begin = costs_begin,
	.span = costs_span,
	.end = costs_end,
	.free = costs_free,
};

const struct ct_analyser ct_stack_scopes_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = costs_wants,
	.stacks = true,
	.samples = true,
	.phases = true,
	.needs = costs_needs,
	.state_size = sizeof(struct ct_stack_costs),
	.begin = costs_begin,
	.span = costs_span,
	.end = costs_end,
	.free = costs_free,
};
