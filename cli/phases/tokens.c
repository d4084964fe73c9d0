// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See tokens.h.  Scoring goes over the tokens three times and needs no memory of its own:
 * must stay linear, because dozens of anchors are tried.
 */
#include "phases/tokens.h"

#include <errno.h>
#include <stdlib.h>

/* A launch that differs from the template only in its grid explains so much of itself. */
#define TOKENS_GRID_DIFFERS	0.85
/* Fewer waits than one in so many segments do not belong to the pattern and do not count. */
#define TOKENS_RARE_WAITS	128
/* What lies in a break (an evaluation between two epochs) counts so much against the pattern. */
#define TOKENS_BREAK		0.5

uint64_t ct_token_key(const struct ct_phase_record *h, enum ct_token_level level, uint64_t before)
{
	uint64_t key;

	if (h->kind == CT_PHASE_COPY)
		key = 3ull << 32 | (h->flags & CT_COPY_DIRECTION);
	else if (h->kind == CT_PHASE_WAIT)
		key = 2ull << 32 | h->sig;
	else if (level == CT_TOKEN_FINE)
		key = 1ull << 32 | h->sig;
	else
		key = 1ull << 32 | ct_phase_record_coarse(h->sig);
	return level == CT_TOKEN_PAIR ? ct_mix(before + 1, key) : key;
}

static int tokens_name(struct ct_tokens *t, enum ct_token_level level)
{
	struct ct_token_names *n = &t->levels[level];
	CT_KEYED(uint64_t) names = { 0 };
	uint64_t before = 0, *known;
	size_t room = t->count + 1;

	n->name = calloc(room, sizeof(*n->name));
	n->key = calloc(room, sizeof(*n->key));
	n->occurs = calloc(room * 7, sizeof(*n->occurs));
	if (!n->name || !n->key || !n->occurs)
		return -ENOMEM;
	n->in_segment = n->occurs + room;
	n->segment = n->in_segment + room;
	n->usual = n->segment + room;
	n->votes = n->usual + room;
	n->segments = n->votes + room;
	n->hits = n->segments + room;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct ct_phase_record *h = &t->list[t->index[i]];
		uint64_t key = ct_token_key(h, level, before);

		before = ct_token_key(h, CT_TOKEN_COARSE, 0);
		known = ct_keyed_put(&names, key);
		if (!known) {
			ct_keyed_free(&names);
			return -ENOMEM;
		}
		n->name[i] = known - names.list;
		n->key[n->name[i]] = key;
		n->occurs[n->name[i]]++;
	}
	n->count = names.count;
	ct_keyed_free(&names);
	return 0;
}

/* Is it a token?  Launches into a stream that is captured are none: the launches of the graph are.  @open: captures, 0 at first */
static bool tokens_takes(const struct ct_phase_record *h, uint32_t *open)
{
	*open += h->kind == CT_PHASE_CAPTURE;
	*open -= h->kind == CT_PHASE_CAPTURED && *open;
	return ct_token_is(h) && !(*open && ct_phase_record_launch(h));
}

int ct_tokens_make(struct ct_tokens *t, const struct ct_thread_events *slice, uint32_t max)
{
	uint32_t all = 0, skip, n = 0, open = 0;
	int rc = 0;

	*t = (struct ct_tokens){ .list = slice->list };
	for (uint32_t i = 0; i < slice->count; i++)
		all += tokens_takes(&slice->list[i], &open);
	open = 0;
	t->count = all < max ? all : max;
	/* Of more the middle: the beginning and the end are rarely the steady state. */
	skip = (all - t->count) / 2;
	t->index = calloc(t->count + 1, sizeof(*t->index));
	t->wait = calloc(t->count + 1, sizeof(*t->wait));
	t->touched = calloc(t->count + 1, sizeof(*t->touched));
	t->cuts = calloc(t->count + 1, sizeof(*t->cuts));
	t->segments = calloc(t->count + 1, sizeof(*t->segments));
	if (!t->index || !t->wait || !t->touched || !t->cuts || !t->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < slice->count && n < t->count; i++) {
		if (!tokens_takes(&slice->list[i], &open))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		t->wait[n] = ct_phase_record_wait(&slice->list[i]);
		t->index[n++] = i;
	}
	for (unsigned int i = 0; i < CT_TOKEN_LEVELS && !rc; i++)
		rc = tokens_name(t, i);
	return rc;
}

void ct_tokens_free(struct ct_tokens *t)
{
	for (unsigned int i = 0; i < CT_TOKEN_LEVELS; i++) {
		free(t->levels[i].name);
		free(t->levels[i].key);
		free(t->levels[i].occurs);
	}
	free(t->index);
	free(t->wait);
	free(t->touched);
	free(t->cuts);
	free(t->segments);
	*t = (struct ct_tokens){ 0 };
}

/* Counts the names of segment @s; returns how many different ones are in .touched. */
static uint32_t tokens_count_segment(struct ct_tokens *t, struct ct_token_names *n, uint32_t s)
{
	uint32_t touched = 0;

	for (uint32_t i = t->cuts[s]; i < t->cuts[s + 1]; i++) {
		uint32_t name = n->name[i];

		if (n->segment[name] != s) {
			n->segment[name] = s;
			n->in_segment[name] = 0;
			t->touched[touched++] = name;
		}
		n->in_segment[name]++;
	}
	return touched;
}

/*
 * The template: how often each name usually occurs in a segment.  The value that has most
 * votes is found by pairing off different ones, and kept if more segments have it than have
 * none.
 */
static void tokens_template(struct ct_tokens *t, struct ct_token_names *n)
{
	uint32_t segments = t->cuts_count - 1, touched;

	for (uint32_t i = 0; i < n->count; i++) {
		n->segment[i] = UINT32_MAX;
		n->usual[i] = n->votes[i] = n->segments[i] = n->hits[i] = 0;
	}
	for (uint32_t s = 0; s < segments; s++) {
		touched = tokens_count_segment(t, n, s);
		for (uint32_t i = 0; i < touched; i++) {
			uint32_t name = t->touched[i];

			n->segments[name]++;
			if (!n->votes[name])
				n->usual[name] = n->in_segment[name];
			if (n->usual[name] == n->in_segment[name])
				n->votes[name]++;
			else
				n->votes[name]--;
		}
	}
	for (uint32_t i = 0; i < n->count; i++)
		n->segment[i] = UINT32_MAX;
	for (uint32_t s = 0; s < segments; s++) {
		touched = tokens_count_segment(t, n, s);
		for (uint32_t i = 0; i < touched; i++)
			n->hits[t->touched[i]] +=
				n->usual[t->touched[i]] == n->in_segment[t->touched[i]];
	}
	for (uint32_t i = 0; i < n->count; i++) {
		if (n->hits[i] <= segments - n->segments[i])
			n->usual[i] = 0;
		n->segment[i] = UINT32_MAX;
	}
}

static void tokens_compare(struct ct_tokens *t)
{
	struct ct_token_names *fine = &t->levels[CT_TOKEN_FINE];
	struct ct_token_names *coarse = &t->levels[CT_TOKEN_COARSE];

	for (uint32_t s = 0; s + 1 < t->cuts_count; s++) {
		struct ct_token_segment *segment = &t->segments[s];

		*segment = (struct ct_token_segment){ 0 };
		tokens_count_segment(t, fine, s);
		tokens_count_segment(t, coarse, s);
		for (uint32_t i = t->cuts[s]; i < t->cuts[s + 1]; i++) {
			uint32_t *f = &fine->in_segment[fine->name[i]];
			uint32_t *c = &coarse->in_segment[coarse->name[i]];
			bool exact = *f <= fine->usual[fine->name[i]];
			bool alike = *c <= coarse->usual[coarse->name[i]];

			/* Counted down: so min(count, usual) of them pass. */
			--*f;
			--*c;
			segment->launches += !t->wait[i];
			segment->waits += t->wait[i];
			segment->exact += !t->wait[i] && exact;
			segment->alike += !t->wait[i] && alike;
			segment->waited += t->wait[i] && alike;
		}
		if (segment->alike < segment->exact)
			segment->alike = segment->exact;
	}
}

static bool tokens_alike(const struct ct_token_segment *g, uint32_t usual)
{
	return g->alike >= CT_PATTERN_ALIKE * (g->launches > usual ? g->launches : usual);
}

void ct_tokens_score(struct ct_tokens *t, enum ct_token_level level, uint32_t name,
		     struct ct_token_score *s)
{
	const struct ct_token_names *coarse = &t->levels[CT_TOKEN_COARSE];
	double launches = 0, exact = 0, alike = 0, waits = 0, waited = 0, of_waits = 1;
	uint32_t last, ok = 0, n, usual = 0;

	*s = (struct ct_token_score){ 0 };
	t->cuts_count = 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->levels[level].name[i] == name)
			t->cuts[t->cuts_count++] = i;
	if (t->cuts_count < 4)
		return;
	tokens_template(t, &t->levels[CT_TOKEN_FINE]);
	tokens_template(t, &t->levels[CT_TOKEN_COARSE]);
	tokens_compare(t);
	for (uint32_t i = 0; i < coarse->count; i++) {
		bool wait = coarse->key[i] >> 32 > 1;

		usual += wait ? 0 : coarse->usual[i];
		s->waits |= wait && coarse->usual[i];
	}
	last = t->cuts_count - 1;
	for (uint32_t i = 0; i < t->cuts_count - 1; i++) {
		if (!tokens_alike(&t->segments[i], usual))
			continue;
		ok++;
		s->first = last == t->cuts_count - 1 ? i : s->first;
		last = i;
	}
	s->last = last;
	if (ok < 3)
		return;
	n = last - s->first + 1;
	for (uint32_t i = s->first; i <= last; i++) {
		const struct ct_token_segment *g = &t->segments[i];
		double weight = tokens_alike(g, usual) ? 1 : TOKENS_BREAK;

		/* What the template has and the segment lacks counts against it too. */
		launches += weight * (g->launches > usual ? g->launches : usual);
		exact += weight * g->exact;
		alike += weight * g->alike;
		waits += weight * g->waits;
		waited += weight * g->waited;
		for (uint32_t k = t->cuts[i]; k < t->cuts[i + 1]; k++)
			s->explained += t->wait[k] ? 0 : ct_launch_weight(&t->list[t->index[k]]);
	}
	if (waits > n / TOKENS_RARE_WAITS + 1)
		of_waits = waited / waits;
	s->score = (exact + TOKENS_GRID_DIFFERS * (alike - exact)) / launches;
	if (of_waits < s->score)
		s->score = of_waits;
	if (ok < n / 2)
		s->score = 0;
	s->explained = s->explained * s->score;
	s->period = (double)(t->cuts[last + 1] - t->cuts[s->first]) / n;
}
