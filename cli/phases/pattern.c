// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the pattern, see pattern.h.  Each anchor that cuts the tokens in another way is
 * tried, CANDIDATES of them at most; the shortest repetition that explains about as much as
 * the best one is taken.  A layer of a model explains neither the waits nor the kernels that
 * come once a token; a whole generation explains no more than its tokens do.  Must never
 * report a pattern that explains little.
 */
#include "phases/pattern.h"

#include <errno.h>
#include <stdlib.h>

#include "base/median.h"

#define PATTERN_CANDIDATES	64u
#define PATTERN_OCCURS		4u	/* fewer are no pattern */
#define PATTERN_DISTANCES	255u	/* looked at of an anchor */
#define PATTERN_EVEN		0.2	/* of its distances are about the median; random: 0.07 */
#define PATTERN_SCORE		0.8	/* what explains less is no pattern */
#define PATTERN_NEAR		0.85	/* of the best score: shorter ones are taken */
/* ... of one of a few such parts nearly all of it: the optimizer behind small batches is a part of the step, a run of steps is none. */
#define PATTERN_NEAR_PARTS	0.92
#define PATTERN_PARTS		12u
#define PATTERN_NEAR_NO_WAITS	0.97	/* a layer is told from a step by few launches alone */
#define PATTERN_COVERS		0.7	/* of the launches that the best one explains */
#define PATTERN_SAMPLES		64u	/* repetitions that the boundary is taken from */
#define PATTERN_ORDINALS	4096u
/*
 * Repetitions have their kernels in about the same order: half of their runs of so many launches are the same.  Long
 * pieces of a program that launches a few kernels at random have about as many of each.
 */
#define PATTERN_RUN		12u
#define PATTERN_ORDER		0.5
#define PATTERN_RUNS		4096u	/* looked at of a repetition */
#define PATTERN_PAIRS		32u	/* of repetitions that are compared */
/*
 * A kernel that is launched alone is an iteration only if fewer than one in PATTERN_WITHOUT of these launches are followed by a wait,
 * and the part PATTERN_REGULAR of them come after about the median time.
 */
#define PATTERN_WITHOUT		32u
#define PATTERN_REGULAR		0.8
#define PATTERN_EARLY		0.7
#define PATTERN_LATE		1.4

struct pattern_candidate {
	enum ct_token_level level;
	uint32_t name, occurs, distance;
	double rank;
	struct ct_token_score score;
};

static int pattern_by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Adds a candidate, unless one cuts the same way already or PATTERN_CANDIDATES are better. */
static void pattern_add(struct pattern_candidate *list, unsigned int *count,
			const struct pattern_candidate *new)
{
	unsigned int worst = 0;

	for (unsigned int i = 0; i < *count; i++) {
		if (list[i].occurs == new->occurs && list[i].distance == new->distance) {
			if (new->rank > list[i].rank * 1.02)
				list[i] = *new;
			return;
		}
		if (list[i].rank < list[worst].rank)
			worst = i;
	}
	if (*count < PATTERN_CANDIDATES)
		list[(*count)++] = *new;
	else if (list[worst].rank < new->rank)
		list[worst] = *new;
}

/* How evenly each name comes: its rank is about how many tokens lie in even segments. */
static int pattern_candidates(const struct ct_tokens *t, enum ct_token_level level,
			      struct pattern_candidate *list, unsigned int *count)
{
	const struct ct_token_names *n = &t->levels[level];
	uint32_t *begin = calloc(n->count + 2, sizeof(*begin));
	uint32_t *places = calloc(t->count + 1, sizeof(*places));
	uint32_t distance[PATTERN_DISTANCES];

	if (!begin || !places) {
		free(begin);
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n->count; i++)
		begin[i + 2] = begin[i + 1] + n->occurs[i];
	for (uint32_t i = 0; i < t->count; i++)
		places[begin[n->name[i] + 1]++] = i;
	for (uint32_t name = 0; name < n->count; name++) {
		const uint32_t *place = places + begin[name];
		struct pattern_candidate new = {
			.level = level, .name = name, .occurs = n->occurs[name],
		};
		uint32_t last = new.occurs - 1, samples, even = 0;

		if (new.occurs < PATTERN_OCCURS || t->wait[place[0]])
			continue;
		samples = last < PATTERN_DISTANCES ? last : PATTERN_DISTANCES;
		for (uint32_t i = 0; i < samples; i++) {
			uint32_t at = (uint64_t)i * last / samples;

			distance[i] = place[at + 1] - place[at];
		}
		qsort(distance, samples, sizeof(*distance), pattern_by_value);
		new.distance = distance[samples / 2];
		for (uint32_t i = 0; i < samples; i++)
			even += distance[i] >= new.distance * 0.9 &&
				distance[i] <= new.distance * 1.1;
		if (even < PATTERN_EVEN * samples)
			continue;
		new.rank = (double)even / samples * new.occurs * new.distance;
		pattern_add(list, count, &new);
	}
	free(begin);
	free(places);
	return 0;
}

static int pattern_by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The runs of launches in repetition @i of the last ct_tokens_score(), sorted; returns how many there are. */
static uint32_t pattern_runs(const struct ct_tokens *t, uint32_t i, uint64_t runs[PATTERN_RUNS])
{
	const struct ct_token_names *n = &t->levels[CT_TOKEN_COARSE];
	uint32_t names[PATTERN_RUN], launches = 0, count = 0;

	for (uint32_t k = t->cuts[i]; k < t->cuts[i + 1] && count < PATTERN_RUNS; k++) {
		uint64_t hash = 1;

		if (t->wait[k])
			continue;
		names[launches++ % PATTERN_RUN] = n->name[k];
		for (uint32_t l = 0; launches >= PATTERN_RUN && l < PATTERN_RUN; l++)
			hash = ct_mix(hash * 0xd6e8feb86659fd93ull, names[(launches + l) % PATTERN_RUN] + 1);
		if (launches >= PATTERN_RUN)
			runs[count++] = hash;
	}
	qsort(runs, count, sizeof(*runs), pattern_by_hash);
	return count;
}

/* The share of the runs of the shorter one that both have. */
static double pattern_same(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count)
{
	uint32_t least = a_count < b_count ? a_count : b_count, i = 0, k = 0, same = 0;

	while (i < a_count && k < b_count)
		if (a[i] == b[k]) {
			same++;
			i++;
			k++;
		} else if (a[i] < b[k]) {
			i++;
		} else {
			k++;
		}
	return least ? (double)same / least : 1;
}

/* Do repetitions of the last ct_tokens_score() have their launches in about the same order?  Short ones need not.  0 or -ENOMEM. */
static int pattern_ordered(const struct ct_tokens *t, const struct ct_token_score *s, bool *ordered)
{
	uint64_t *runs = calloc(2ul * PATTERN_RUNS, sizeof(*runs)), *others = runs + PATTERN_RUNS;
	uint32_t step = (s->last - s->first) / PATTERN_PAIRS + 1, pairs = 0, alike = 0;

	if (!runs)
		return -ENOMEM;
	for (uint32_t i = s->first; i < s->last; i += step) {
		uint32_t count, other;

		if (t->segments[i].launches < 2 * PATTERN_RUN || t->segments[i + 1].launches < 2 * PATTERN_RUN)
			continue;
		count = pattern_runs(t, i, runs);
		other = pattern_runs(t, i + 1, others);
		pairs++;
		alike += pattern_same(runs, count, others, other) >= PATTERN_ORDER;
	}
	free(runs);
	*ordered = 2 * alike >= pairs;
	return 0;
}

/*
 * Is a repetition one launch of a kernel, and nothing else?  The template is that of the last ct_tokens_score().
 * @waits: of all repetitions
 */
static bool pattern_lone(const struct ct_tokens *t, const struct ct_token_score *s, uint32_t *waits)
{
	const struct ct_token_names *n = &t->levels[CT_TOKEN_COARSE];
	uint32_t launches = 0, with = 0;

	for (uint32_t i = 0; i < n->count; i++) {
		if (n->usual[i] && (n->key[i] >> 32 > 1 || !ct_phase_record_coarse(n->key[i] << 12)))
			return false;	/* a wait, or a graph, which is many kernels */
		launches += n->usual[i];
	}
	for (uint32_t i = s->first; i <= s->last && launches == 1; i++) {
		for (uint32_t at = t->index[t->cuts[i]], end = t->index[t->cuts[i + 1]]; at < end; at++)
			if (t->list[at].kind == CT_PHASE_COPY || t->list[at].kind == CT_PHASE_SET) {
				with++;
				break;
			}
		*waits += t->segments[i].waits;
	}
	return launches == 1 && 2 * with < s->last - s->first + 1;
}

/*
 * Launches of one kernel all look alike, so that they say nothing of a loop: a server may launch it when there is work.  They are
 * steps only if they come as regularly as steps do, and no wait shows that several of them are one.  0 or -ENOMEM.
 */
static int pattern_regular(const struct ct_tokens *t, const struct ct_token_score *s, bool *regular)
{
	uint32_t count = s->last - s->first + 1, even = 0, waits = 0;
	uint64_t *periods;
	double median;

	*regular = true;
	if (!pattern_lone(t, s, &waits))
		return 0;
	*regular = waits * PATTERN_WITHOUT < count;
	if (!*regular)
		return 0;
	periods = calloc(count, sizeof(*periods));
	if (!periods)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		periods[i] = t->list[t->index[t->cuts[s->first + i + 1]]].at - t->list[t->index[t->cuts[s->first + i]]].at;
	median = ct_median(periods, count);
	for (uint32_t i = 0; i < count; i++)
		even += periods[i] >= median * PATTERN_EARLY && periods[i] <= median * PATTERN_LATE;
	free(periods);
	*regular = even >= PATTERN_REGULAR * count;
	return 0;
}

/* Does a repetition of a few of these explain clearly more? */
static bool pattern_is_part(const struct pattern_candidate *list, unsigned int count, const struct ct_token_score *s, uint64_t most)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct ct_token_score *other = &list[i].score;

		if (other->explained >= PATTERN_COVERS * most && other->period <= s->period * PATTERN_PARTS &&
		    s->score < PATTERN_NEAR_PARTS * other->score)
			return true;
	}
	return false;
}

static const struct pattern_candidate *pattern_choose(const struct pattern_candidate *list,
						      unsigned int count)
{
	const struct pattern_candidate *chosen = NULL;
	uint64_t most = 0;
	double best = 0;

	for (unsigned int i = 0; i < count; i++)
		if (list[i].score.score >= PATTERN_SCORE && list[i].score.explained > most)
			most = list[i].score.explained;
	for (unsigned int i = 0; i < count; i++)
		if (list[i].score.explained >= PATTERN_COVERS * most && list[i].score.score > best)
			best = list[i].score.score;
	for (unsigned int i = 0; i < count; i++) {
		const struct ct_token_score *s = &list[i].score;
		double near = s->waits ? PATTERN_NEAR : PATTERN_NEAR_NO_WAITS;

		if (s->score < PATTERN_SCORE || s->score < near * best ||
		    s->explained < PATTERN_COVERS * most || pattern_is_part(list, count, s, most))
			continue;
		if (!chosen || s->period < chosen->score.period * 0.99 ||
		    (s->period < chosen->score.period * 1.01 &&
		     s->score * s->explained > chosen->score.score * chosen->score.explained))
			chosen = &list[i];
	}
	return chosen;
}

static int pattern_part_order(const void *a, const void *b)
{
	const struct ct_pattern_part *x = a, *y = b;

	return x->coarse < y->coarse ? -1 : x->coarse > y->coarse;
}

static int pattern_parts(struct ct_pattern *p, const struct ct_tokens *t)
{
	const struct ct_token_names *n = &t->levels[CT_TOKEN_COARSE];

	p->parts = calloc(n->count + 1, sizeof(*p->parts));
	if (!p->parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n->count; i++) {
		if (!n->usual[i])
			continue;
		if (n->key[i] >> 32 > 1) {
			p->waits += n->usual[i];
			continue;
		}
		p->parts[p->parts_count++] = (struct ct_pattern_part){
			.coarse = n->key[i], .count = n->usual[i],
		};
		if (ct_phase_record_coarse(n->key[i] << 12))
			p->kernels += n->usual[i];
		else
			p->graphs += n->usual[i];
	}
	qsort(p->parts, p->parts_count, sizeof(*p->parts), pattern_part_order);
	return 0;
}

/* From the end of token @i to the next thing that the thread does; 0 after the last. */
static uint64_t pattern_gap_after(const struct ct_tokens *t, uint32_t i)
{
	uint32_t at = t->index[i], limit = i + 1 < t->count ? t->index[i + 1] : at;
	uint64_t end = ct_phase_record_end(&t->list[at]);

	while (at < limit) {
		at++;
		if (t->list[at].kind >= CT_PHASE_COPY && t->list[at].kind <= CT_PHASE_GRAPH)
			return t->list[at].at > end ? t->list[at].at - end : 0;
	}
	return 0;
}

/* Something was copied from the GPU right before this wait, or by it. */
static bool pattern_fetches(const struct ct_tokens *t, uint32_t i)
{
	uint32_t at = t->index[i], limit = i ? t->index[i - 1] : 0;

	for (; at > limit; at--) {
		const struct ct_phase_record *h = &t->list[at];

		if (h->kind == CT_PHASE_COPY)
			return (h->flags & CT_COPY_DIRECTION) == CT_DIR_D2H;
	}
	return false;
}

/*
 * Where repetitions begin: behind the wait in which the result is fetched, else the one with
 * the longest wait and pause; without waits before the launch with the longest pause.  The
 * repetitions are those of the last ct_tokens_score().
 */
static int pattern_boundary(struct ct_pattern *p, const struct ct_tokens *t,
			    const struct ct_token_score *s)
{
	uint32_t of_each = p->waits ? p->waits : p->kernels + p->graphs, samples = 0;
	uint32_t step = (s->last - s->first) / PATTERN_SAMPLES + 1;
	double best = -1;
	uint64_t *pause;
	uint8_t *fetch;

	of_each = of_each < PATTERN_ORDINALS ? of_each : PATTERN_ORDINALS;
	pause = calloc((size_t)of_each * PATTERN_SAMPLES, sizeof(*pause));
	fetch = calloc(of_each, sizeof(*fetch));
	if (!pause || !fetch) {
		free(pause);
		free(fetch);
		return -ENOMEM;
	}
	p->at_wait = p->waits > 0;
	for (uint32_t i = s->first; i <= s->last && samples < PATTERN_SAMPLES; i += step) {
		const struct ct_token_segment *g = &t->segments[i];
		uint32_t n = 0;

		if (p->at_wait ? g->waits != p->waits : g->launches != p->kernels + p->graphs)
			continue;
		for (uint32_t k = t->cuts[i]; k < t->cuts[i + 1] && n < of_each; k++) {
			const struct ct_phase_record *h = &t->list[t->index[k]];
			uint64_t *value = &pause[(size_t)n * PATTERN_SAMPLES + samples];

			if (t->wait[k] != p->at_wait)
				continue;
			if (p->at_wait)
				*value = pattern_gap_after(t, k) + ct_phase_record_end(h) - h->at;
			else if (k)
				*value = pattern_gap_after(t, k - 1);
			fetch[n++] += p->at_wait && pattern_fetches(t, k);
		}
		samples++;
	}
	for (uint32_t n = 0; n < of_each && samples; n++) {
		double value = ct_median(&pause[(size_t)n * PATTERN_SAMPLES], samples);

		if (fetch[n] * 2u > samples)
			value += 1e18;
		if (value > best) {
			best = value;
			p->ordinal = n + p->at_wait;
		}
	}
	if (!samples)
		p->ordinal = p->at_wait;
	free(pause);
	free(fetch);
	return 0;
}

/* The boundary's token in the first repetition that has it, and is like the others if one is. */
static void pattern_example(struct ct_pattern *p, const struct ct_tokens *t,
			    const struct ct_token_score *s)
{
	bool found = false;

	for (uint32_t i = s->first; i <= s->last; i++) {
		const struct ct_token_segment *g = &t->segments[i];
		bool like = g->waits == p->waits && g->launches == p->kernels + p->graphs;
		uint32_t n = 0, launches = 0;

		for (uint32_t k = t->cuts[i]; k < t->cuts[i + 1] && (like || !found); k++) {
			launches += !t->wait[k];
			if (t->wait[k] != p->at_wait)
				continue;
			if (n++ + p->at_wait != p->ordinal)
				continue;
			p->boundary = t->list[t->index[k]];
			p->offset = launches;
			found = true;
			if (like)
				return;
			break;
		}
	}
}

static int pattern_find(struct ct_pattern *p, const struct ct_thread_events *slice, uint32_t tokens)
{
	struct pattern_candidate list[PATTERN_CANDIDATES];
	const struct pattern_candidate *chosen = NULL;
	struct ct_token_score score;
	unsigned int count = 0;
	struct ct_tokens t;
	int rc;

	*p = (struct ct_pattern){ 0 };
	rc = ct_tokens_make(&t, slice, tokens);
	p->all = t.count < tokens;
	for (unsigned int i = 0; i < CT_TOKEN_LEVELS && !rc; i++) {
		const struct ct_token_names *n = &t.levels[i];

		rc = pattern_candidates(&t, i, list, &count);
		for (uint32_t k = 0; k < n->count && i == CT_TOKEN_FINE; k++)
			if (n->key[k] >> 32 == 1 && n->occurs[k] > p->most)
				p->most = n->occurs[k];
	}
	for (unsigned int i = 0; i < count && !rc; i++)
		ct_tokens_score(&t, list[i].level, list[i].name, &list[i].score);
	for (bool ordered = false; !rc && !ordered && (chosen = pattern_choose(list, count));) {
		ct_tokens_score(&t, chosen->level, chosen->name, &score);
		rc = pattern_regular(&t, &score, &ordered);
		if (!rc && ordered)
			rc = pattern_ordered(&t, &score, &ordered);
		list[chosen - list].score.score *= ordered;
	}
	if (!rc && chosen) {
		p->found = true;
		p->level = chosen->level;
		p->anchor = t.levels[chosen->level].key[chosen->name];
		p->score = chosen->score.score;
		p->explained = chosen->score.explained;
		p->from = t.list[t.index[t.cuts[score.first]]].at;
		p->to = t.list[t.index[t.cuts[score.last + 1]]].at;
		rc = pattern_parts(p, &t);
		if (!rc)
			rc = pattern_boundary(p, &t, &score);
		if (!rc)
			pattern_example(p, &t, &score);
	}
	ct_tokens_free(&t);
	return rc;
}

int ct_pattern_find(struct ct_pattern *p, const struct ct_thread_events *slice)
{
	int rc = pattern_find(p, slice, CT_PATTERN_FEW);
	uint64_t of_each = (uint64_t)p->kernels + p->graphs + p->waits;

	/* Few tokens do for short repetitions, which most are. */
	if (rc || p->all || (p->found && of_each * 8 <= CT_PATTERN_FEW))
		return rc;
	ct_pattern_free(p);
	return pattern_find(p, slice, CT_PATTERN_TOKENS);
}

void ct_pattern_free(struct ct_pattern *p)
{
	free(p->parts);
	*p = (struct ct_pattern){ 0 };
}
