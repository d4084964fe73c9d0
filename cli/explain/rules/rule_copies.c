// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules on copies: from pageable memory, blocking, many small ones.  Host memory counts as
 * pageable where the process was recorded from its begin and no recorded call pinned it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define COPIES_SMALL	(64ull << 10)	/* bytes; pageable copies up to this size are staged at once */
#define COPIES_RANGES	4096		/* pinned ranges that are kept */

struct range {
	uint64_t begin, end;
};

struct kind {
	uint64_t count, in_iterations, bytes;
	struct ct_union held;		/* wall time in them, of any thread */
	struct ct_evidence longest;
};

struct copies {
	struct range *ranges;			/* pinned or managed */
	unsigned int ranges_count, capacity;
	bool unknown;				/* too many ranges */
	struct kind pageable, blocking, small;
	uint64_t small_blocking;		/* copies that are both */
};

struct collection {
	struct copies **processes;
};

static bool copies_pins(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_MEMORY) && class->known[CT_KNOWN_PTR] >= 0 &&
	       (ct_class_is(class, CT_IS_HOST) || strstr(class->name, "Managed"));
}

static bool copies_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_COPY) || copies_pins(class);
}

static int copies_begin(struct ct_analysis *a)
{
	struct collection *c = a->state;

	c->processes = ct_rule_per_process(a, sizeof(*c->processes));
	return c->processes ? 0 : -ENOMEM;
}

static int copies_pin(struct copies *c, const struct ct_trace_event *e)
{
	uint64_t ptr = ct_record_known(e->record, CT_KNOWN_PTR);
	uint64_t size = ct_record_known(e->record, CT_KNOWN_SIZE);

	if (e->class->operation == CT_OP_ALLOC || e->class->operation == CT_OP_MAP) {
		if (c->ranges_count == COPIES_RANGES) {
			c->unknown = true;
			return 0;
		}
		if (!ct_room(c->ranges, c->ranges_count, c->capacity))
			return -ENOMEM;
		c->ranges[c->ranges_count++] = (struct range){ ptr, ptr + size };
		return 0;
	}
	for (unsigned int i = 0; i < c->ranges_count; i++)
		if (c->ranges[i].begin == ptr) {
			c->ranges[i] = c->ranges[--c->ranges_count];
			break;
		}
	return 0;
}

static bool copies_pinned(const struct copies *c, uint64_t address)
{
	for (unsigned int i = 0; i < c->ranges_count; i++)
		if (address >= c->ranges[i].begin && address < c->ranges[i].end)
			return true;
	return false;
}

static void copies_add(struct kind *k, const struct ct_process_phases *p, const struct ct_trace_event *e, uint64_t size,
		       int64_t iteration)
{
	k->count++;
	k->in_iterations += iteration >= 0;
	k->bytes += size;
	ct_scope_union(p, CT_SCOPE_STEADY, e, &k->held);
	if (e->duration >= k->longest.ns)
		ct_evidence_set(&k->longest, e);
}

static int copies_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct collection *all = a->state;
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration);
	uint64_t size, direction;
	struct copies *c;

	if (index < 0 || e->failed || !e->record->fields)
		return 0;
	if (!all->processes[index])
		all->processes[index] = calloc(1, sizeof(struct copies));
	c = all->processes[index];
	if (!c)
		return -ENOMEM;
	if (copies_pins(e->class))
		return copies_pin(c, e);
	if (scope != CT_SCOPE_STEADY || !e->timed)
		return 0;
	size = ct_record_known(e->record, CT_KNOWN_SIZE);
	direction = ct_record_known(e->record, CT_KNOWN_DIRECTION);
	if (size <= COPIES_SMALL)
		copies_add(&c->small, &a->phases->processes[index], e, size, iteration);
	if (direction != CT_DIR_H2D && direction != CT_DIR_D2H)
		return 0;
	if (!copies_pinned(c, ct_record_known(e->record, direction == CT_DIR_H2D ? CT_KNOWN_SRC : CT_KNOWN_DST)) &&
	    size > COPIES_SMALL) {
		copies_add(&c->pageable, &a->phases->processes[index], e, size, iteration);
	} else if (!ct_record_known(e->record, CT_KNOWN_ASYNC)) {
		copies_add(&c->blocking, &a->phases->processes[index], e, size, iteration);
		c->small_blocking += size <= COPIES_SMALL;
	}
	return 0;
}

static void copies_free(struct ct_analysis *a)
{
	struct collection *c = a->state;

	for (unsigned int i = 0; c->processes && i < a->phases->processes_count; i++)
		if (c->processes[i]) {
			free(c->processes[i]->ranges);
			free(c->processes[i]);
		}
	free(c->processes);
}

const struct ct_analyser ct_copies_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT,
	.wants = copies_wants,
	.phases = true,
	.state_size = sizeof(struct collection),
	.begin = copies_begin,
	.event = copies_event,
	.free = copies_free,
};

/* ------------------------------------------------------------------- rules --- */

static const struct copies *copies_of(const struct ct_explain *x)
{
	const struct collection *c = ct_explain_state(x, &ct_copies_analyser);

	return c->processes[x->index];
}

/* Was the process recorded from its begin, so that all pinning was seen? */
static bool copies_complete(const struct ct_explain *x)
{
	return x->process->stages_count && x->process->stages[0].stage == CT_STAGE_STARTUP;
}

static uint64_t copies_rate(const struct ct_explain *x, const struct kind *k)
{
	return ct_explain_countable(x, k->count, k->in_iterations);
}

static bool copies_fires(const struct ct_explain *x, const struct ct_rule *rule, const struct kind *k)
{
	return k->count >= 4 && copies_rate(x, k) * 4 >= x->iterations &&
	       ct_rule_share(x, CT_SCOPE_STEADY, k->held.total) >= rule->threshold;
}

/* Of "1 copy", "2.5 copies". */
static const char *copies_ending(const struct ct_explain *x, const struct kind *k)
{
	return *ct_explain_rate_s(x, copies_rate(x, k)) ? "ies" : "y";
}

void ct_rule_pageable(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct copies *c = copies_of(x);
	char time[64], bytes[CT_TERM_TEXT], n[CT_TERM_TEXT];
	struct ct_finding *f;

	if (!c || !copies_complete(x) || !copies_fires(x, rule, &c->pageable))
		return;
	if (c->unknown) {
		ct_explain_unseen(x, "it pinned more than %s ranges of host memory; whether its copies are from pageable memory is "
				  "not known.", ct_term_count(n, COPIES_RANGES));
		return;
	}
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_LIKELY, c->pageable.held.total,
			   "The host is held for %s by %s cop%s %s (%s each) from or to pageable memory.",
			   ct_explain_time(x, CT_SCOPE_STEADY, c->pageable.held.total, time),
			   ct_explain_rate(x, copies_rate(x, &c->pageable), n), copies_ending(x, &c->pageable), ct_explain_per(x),
			   ct_term_bytes(bytes, c->pageable.bytes / c->pageable.count));
	ct_explain_advise(x, f, "Copy from pinned memory and without blocking (cuMemHostAlloc; "
			  "DataLoader(pin_memory=True) and .to(device, non_blocking=True)): the copy then runs "
			  "while kernels run.");
	ct_explain_show(f, &c->pageable.longest);
}

void ct_rule_blocking_copies(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct copies *c = copies_of(x);
	char time[64], bytes[CT_TERM_TEXT], n[CT_TERM_TEXT], rest[64], most[128] = "";
	uint64_t held, other;
	struct ct_finding *f;

	if (!c || !copies_fires(x, rule, &c->blocking))
		return;
	/* A copy that does not block takes as long: what is gained is what can be done meanwhile. */
	held = c->blocking.held.total;
	other = x->wall[CT_SCOPE_STEADY] > held ? x->wall[CT_SCOPE_STEADY] - held : 0;
	if (ct_rule_share(x, CT_SCOPE_STEADY, other) < rule->threshold)
		return;
	if (other < held)
		snprintf(most, sizeof(most), "; what else it does takes %s, and no more can be gained",
			 ct_explain_time(x, CT_SCOPE_STEADY, other, rest));
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, other < held ? CT_LIKELY : CT_SURE, other < held ? other : held,
			   "The host is held for %s by %s blocking cop%s %s (%s each)%s.",
			   ct_explain_time(x, CT_SCOPE_STEADY, c->blocking.held.total, time),
			   ct_explain_rate(x, copies_rate(x, &c->blocking), n), copies_ending(x, &c->blocking), ct_explain_per(x),
			   ct_term_bytes(bytes, c->blocking.bytes / c->blocking.count), most);
	f->at_most = other < held;
	ct_explain_advise(x, f, "Use the functions that end in Async with pinned memory and a stream of their own, and "
			  "synchronise once where the result is needed.");
	ct_explain_show(f, &c->blocking.longest);
}

void ct_rule_small_copies(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct copies *c = copies_of(x);
	char time[64], bytes[CT_TERM_TEXT], n[CT_TERM_TEXT];
	struct ct_finding *f;

	if (!c || copies_rate(x, &c->small) < 16 * x->iterations || !copies_fires(x, rule, &c->small))
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, c->small.held.total,
			   "%s small copies %s (%s each on average) take %s.",
			   ct_explain_rate(x, copies_rate(x, &c->small), n), ct_explain_per(x),
			   ct_term_bytes(bytes, c->small.bytes / c->small.count),
			   ct_explain_time(x, CT_SCOPE_STEADY, c->small.held.total, time));
	ct_explain_advise(x, f, "Gather the data in one buffer and copy it at once: a copy costs some microseconds "
			  "whatever its size.");
	ct_explain_show(f, &c->small.longest);
	/* The same copies, and the same time. */
	if (2 * c->small_blocking >= c->small.count)
		ct_explain_join(x, f, "blocking-copies");
}
