// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See live_iterations.h.  A pattern counts when it is found twice: again after as many tokens as there were, so that
 * what a program does at its start is not taken for its work.  Memory is bounded: LIVE_TOKENS of LIVE_THREADS,
 * which a recorder that is always on sees come and go.
 */
#include "live/live_iterations.h"

#include <stdlib.h>

#include "base/median.h"
#include "phases/pattern.h"

#define LIVE_THREADS	64u
#define LIVE_IDLE_NS	60000000000ull	/* a thread without a token for so long makes room for a new one */
#define LIVE_TOKENS	(64u << 10)
#define LIVE_FIRST	64u	/* tokens, before a pattern is looked for */
#define LIVE_MANY	(16u << 10)	/* so many say enough */
#define LIVE_TIMES	64u	/* iterations of which the median is taken */
#define LIVE_FEWEST	8u

struct live_thread {
	uint32_t pid, tid;
	struct ct_phase_thread of;
	struct ct_thread_events events;
	struct ct_phase_record *list;	/* tokens until the pattern is known */
	uint32_t count, next_try;
	struct ct_pattern pattern;
	struct ct_phase_poll poll;
	bool known;
	uint64_t key;			/* of the token before */
	uint64_t number, begin;
	uint64_t used;			/* ns: its last token */
	uint64_t times[LIVE_TIMES];
};

static void live_forget(struct live_thread *t)
{
	ct_pattern_free(&t->pattern);
	free(t->list);
}

/* For one more thread; NULL: all have had tokens lately. */
static struct live_thread *live_room(struct ct_live_iterations *w, uint64_t now)
{
	struct live_thread *oldest = w->threads;

	if (w->count < LIVE_THREADS)
		return &w->threads[w->count++];
	for (unsigned int i = 1; i < w->count; i++)
		if (w->threads[i].used < oldest->used)
			oldest = &w->threads[i];
	if (now < oldest->used || now - oldest->used < LIVE_IDLE_NS)
		return NULL;
	live_forget(oldest);
	return oldest;
}

/* @add: one that is not known yet, too */
static struct live_thread *live_thread(struct ct_live_iterations *w, const struct ct_record *r, bool add)
{
	struct live_thread *t;

	if (!w->threads)
		w->threads = calloc(LIVE_THREADS, sizeof(*w->threads));
	if (!w->threads)
		return NULL;
	for (unsigned int i = 0; i < w->count; i++)
		if (w->threads[i].pid == r->pid && w->threads[i].tid == r->tid)
			return &w->threads[i];
	t = add ? live_room(w, r->end) : NULL;
	if (!t)
		return NULL;
	*t = (struct live_thread){ .pid = r->pid, .tid = r->tid, .next_try = LIVE_FIRST };
	t->of = (struct ct_phase_thread){ .pid = r->pid, .tid = r->tid };
	return t;
}

static uint64_t live_median(const struct live_thread *t)
{
	uint64_t count = t->number - 1 < LIVE_TIMES ? t->number - 1 : LIVE_TIMES, sorted[LIVE_TIMES];

	if (t->number - 1 < LIVE_FEWEST)
		return 0;
	for (uint64_t i = 0; i < count; i++)
		sorted[i] = t->times[i];
	return (uint64_t)ct_median(sorted, count);
}

/* The next token, once the pattern is known. */
static void live_step(struct ct_live_iterations *w, struct live_thread *t, const struct ct_phase_record *h)
{
	uint64_t coarse = ct_token_key(h, CT_TOKEN_COARSE, 0);
	bool anchor = ct_token_key(h, t->pattern.level, t->key) == t->pattern.anchor;
	struct ct_live_iteration i = { .pid = t->pid, .tid = t->tid, .begin = w->start + h->at };

	t->key = coarse;
	if (!anchor)
		return;
	if (t->number) {
		i.before = i.begin > t->begin ? i.begin - t->begin : 0;
		i.median = live_median(t);
		t->times[(t->number - 1) % LIVE_TIMES] = i.before;
	}
	t->begin = i.begin;
	i.number = ++t->number;
	w->begun(w->arg, &i);
}

/*
 * Layers of a model come again, too, and in a few hundred tokens nothing else may.  So a pattern counts early only
 * if each time has a wait, as nearly each loop that is worth naming; else when there is a lot that it explains.
 */
static bool live_has_waits(const struct live_thread *t, const struct ct_pattern *p)
{
	uint64_t waits = 0, anchors = 0, before = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		waits += t->list[i].kind == CT_PHASE_WAIT || t->list[i].kind == CT_PHASE_COPY;
		anchors += ct_token_key(&t->list[i], p->level, before) == p->anchor;
		before = ct_token_key(&t->list[i], CT_TOKEN_COARSE, 0);
	}
	return waits * 4 >= anchors * 3;
}

/* True: the pattern is known now. */
static bool live_find(struct live_thread *t)
{
	struct ct_pattern found = { 0 };
	bool same;

	t->events = (struct ct_thread_events){ .thread = &t->of, .list = t->list, .count = t->count };
	for (uint32_t i = 0; i < t->count; i++)
		t->events.launches += ct_phase_record_launch(&t->list[i]);
	if (ct_pattern_find(&found, &t->events))
		return false;
	same = found.found && t->pattern.found && found.level == t->pattern.level && found.anchor == t->pattern.anchor;
	ct_pattern_free(&t->pattern);
	t->pattern = found;
	return same && (t->count >= LIVE_MANY || live_has_waits(t, &found));
}

static void live_known(struct ct_live_iterations *w, struct live_thread *t)
{
	t->known = true;
	for (uint32_t i = 0; i < t->count; i++)
		live_step(w, t, &t->list[i]);
	free(t->list);
	t->list = NULL;
}

static void live_collect(struct ct_live_iterations *w, struct live_thread *t, const struct ct_phase_record *h)
{
	if (!t->list)
		t->list = malloc(LIVE_TOKENS * sizeof(*t->list));
	if (!t->list)
		return;
	if (t->count == LIVE_TOKENS) {
		/* Nothing repeats so far: the older half goes. */
		t->count /= 2;
		for (uint32_t i = 0; i < t->count; i++)
			t->list[i] = t->list[i + LIVE_TOKENS / 2];
		t->next_try = LIVE_TOKENS;
	}
	t->list[t->count++] = *h;
	if (t->count < t->next_try)
		return;
	t->next_try *= 2;
	if (live_find(t))
		live_known(w, t);
}

void ct_live_iterations_add(struct ct_live_iterations *w, const struct ct_registry *reg, const struct ct_record *r)
{
	enum ct_phase_record_kind kind = ct_phase_record_kind(r->class);
	struct ct_phase_record h;
	struct live_thread *t;

	if (r->flags & (CT_F_BEGIN | CT_F_ABANDONED) ||
	    ((kind < CT_PHASE_SET || kind > CT_PHASE_GRAPH) && kind != CT_PHASE_POLL))
		return;
	w->start = reg->start;
	t = live_thread(w, r, kind == CT_PHASE_LAUNCH || kind == CT_PHASE_GRAPH || kind == CT_PHASE_WAIT);
	if (!t || !ct_phase_polled(&t->poll, reg, r, kind, &h) || !ct_token_is(&h))
		return;
	t->used = r->end;
	if (t->known)
		live_step(w, t, &h);
	else
		live_collect(w, t, &h);
}

void ct_live_iterations_end(struct ct_live_iterations *w)
{
	for (unsigned int i = 0; i < w->count; i++) {
		struct live_thread *t = &w->threads[i];

		if (t->known || !t->list)
			continue;
		live_find(t);
		if (t->pattern.found)
			live_known(w, t);
	}
}

void ct_live_iterations_free(struct ct_live_iterations *w)
{
	for (unsigned int i = 0; i < w->count; i++)
		live_forget(&w->threads[i]);
	free(w->threads);
	w->threads = NULL;
	w->count = 0;
}
