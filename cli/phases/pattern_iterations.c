// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cutting what a thread did into iterations by a pattern.  Sees each launch and wait in the order
 * of time, and keeps those from one anchor to the next, CUT_SEGMENT at most: so threads of any
 * length can be cut.  What is not like the template is a break, never an iteration; but a step with
 * a wait more or less than usual is one.
 */
#include "phases/pattern_iterations.h"

#include <errno.h>
#include <stdlib.h>

#include "phases/reread.h"

#define CUT_RING	16384u	/* waits and launches before the first boundary */
#define CUT_SEGMENT	65536u	/* from one anchor to the next; of more the begin has the boundary */
#define CUT_NEAR	5u	/* a boundary is usually as many launches behind the anchor; or a fifth more or less */

struct cut_wait {
	uint64_t end;
	uint64_t launches;	/* so many before it */
};

struct cut {
	const struct ct_pattern *pattern;
	struct ct_process_phases *process;
	uint32_t usual;			/* launches of an iteration */
	/* Where we are. */
	uint64_t before;		/* the token before */
	/* What was done since an anchor; without one what came before the first of them. */
	struct ct_phase_record *segment;
	uint32_t segment_count;
	bool     anchored;
	/* The part since the last boundary. */
	bool     open;
	uint64_t begin, first;		/* first: the begin of the first thing in it */
	uint32_t launches, alike;
	uint32_t strange;		/* graphs that the template lacks, weighed */
	uint32_t usual_alike;		/* .alike when .launches was .usual */
	uint64_t usual_end, last_end;
	uint32_t part;			/* its number, for .of_part */
	uint32_t *count, *of_part;	/* by part of the template */
	/* Until the first boundary. */
	bool     looking;
	uint64_t first_boundary, total, start;
	uint64_t second;		/* the end of the first iteration, where no anchor is in it; or 0 */
	struct cut_wait *waits;		/* the last ones, a ring */
	uint64_t *launched, waits_count;
};

static int cut_close(struct cut *c, uint64_t boundary)
{
	uint64_t all = (uint64_t)c->launches + c->strange, most = all > c->usual ? all : c->usual;
	struct ct_process_phases *p = c->process;
	bool alike = c->alike >= CT_PATTERN_ALIKE * most;
	bool broken = false;
	uint64_t pause, end = boundary;

	if (!c->pattern->at_wait) {
		end = c->launches >= c->usual ? c->usual_end : c->last_end;
		/* An iteration, and then something else. */
		broken = !alike && c->launches > c->usual && c->usual_alike >= 0.8 * c->usual;
		alike |= broken;
	}
	if (!alike || end <= c->begin) {
		if (p->iterations_count)
			p->iterations[p->iterations_count - 1].launches |= 1;
		return 0;
	}
	/* A pause in front of the work; without waits the one behind it. */
	if (!c->pattern->at_wait)
		pause = boundary > end ? (boundary - end) / 1000 : 0;
	else
		pause = c->first > c->begin && c->first != UINT64_MAX ?
			(c->first - c->begin) / 1000 : 0;
	if (pause >= 1u << 31)
		pause = (1u << 31) - 1;
	return ct_iteration_add(p, c->begin, end, pause << 1 | broken);
}

static int cut_boundary(struct cut *c, uint64_t at)
{
	int rc = 0;

	if (c->looking) {
		c->first_boundary = at;
		return 1;
	}
	if (c->open)
		rc = cut_close(c, at);
	c->open = true;
	c->begin = at;
	c->first = UINT64_MAX;
	c->launches = c->alike = c->strange = c->usual_alike = 0;
	c->part++;
	return rc;
}

static void cut_count(struct cut *c, const struct ct_phase_record *h)
{
	uint32_t low = 0, high = c->pattern->parts_count, coarse = ct_phase_record_coarse(h->sig);

	if (c->looking)
		c->launched[c->total++ % CUT_RING] = h->at;
	if (h->at < c->start)
		return;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (c->pattern->parts[middle].coarse < coarse)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < c->pattern->parts_count && c->pattern->parts[low].coarse == coarse) {
		if (c->of_part[low] != c->part) {
			c->of_part[low] = c->part;
			c->count[low] = 0;
		}
		c->alike += c->count[low]++ < c->pattern->parts[low].count;
	} else {
		c->strange += ct_launch_weight(h) - 1;
	}
	c->launches++;
	c->last_end = ct_phase_record_end(h);
	if (c->launches == c->usual) {
		c->usual_end = c->last_end;
		c->usual_alike = c->alike;
	}
}

/* Takes the next launch, wait or copy.  @boundary: an iteration begins with it, or behind a wait. */
static int cut_step(struct cut *c, const struct ct_phase_record *h, bool boundary)
{
	int rc = 0;

	if (c->pattern->at_wait && h->at >= c->start && h->at < c->first)
		c->first = h->at;
	if (ct_phase_record_launch(h)) {
		if (boundary)
			rc = cut_boundary(c, h->at);
		if (!rc)
			cut_count(c, h);
	} else if (ct_phase_record_wait(h)) {
		if (c->looking)
			c->waits[c->waits_count++ % CUT_RING] = (struct cut_wait){
				.end = ct_phase_record_end(h), .launches = c->total,
			};
		if (boundary || (c->second && ct_phase_record_end(h) == c->second && !c->looking))
			rc = cut_boundary(c, ct_phase_record_end(h));
	}
	return rc;
}

static uint32_t cut_away(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Too few launches in a segment, or since the boundary before, for a repetition: the anchor came twice in
 * one, as in the first token of an answer.  Then only what is as in the template is a boundary.
 */
static bool cut_short(const struct cut *c, uint32_t launches)
{
	uint64_t before = (uint64_t)c->launches + (launches < c->pattern->offset ? launches : c->pattern->offset);

	return launches < CT_PATTERN_ALIKE * c->usual || before < CT_PATTERN_ALIKE * c->usual;
}

/*
 * The boundary of a segment where repetitions begin behind a wait; the segment's count: it has none.
 * Waits that the template lacks, or one that is not there, don't move it: then it is the wait of the
 * boundary's kind that has about as many launches before it, or without one the launch itself.
 * @last: no anchor follows, so the repetition may not be whole
 */
static uint32_t cut_at_wait(const struct cut *c, bool last)
{
	const struct ct_pattern *p = c->pattern;
	uint64_t kind = ct_token_key(&p->boundary, CT_TOKEN_COARSE, 0);
	uint32_t none = c->segment_count, by_number = none, by_kind = none, by_launches = none;
	uint32_t waits = 0, launches = 0, near = p->offset / CUT_NEAR + 1;

	for (uint32_t i = 0; i < c->segment_count; i++) {
		const struct ct_phase_record *h = &c->segment[i];

		if (ct_phase_record_launch(h)) {
			if (launches++ <= p->offset)
				by_launches = i;
			continue;
		}
		if (!ct_phase_record_wait(h))
			continue;
		if (++waits == p->ordinal)
			by_number = i;
		if (ct_token_key(h, CT_TOKEN_COARSE, 0) == kind && cut_away(launches, p->offset) <= near) {
			near = cut_away(launches, p->offset);
			by_kind = i;
		}
	}
	if (waits == p->waits || cut_short(c, launches) || (last && by_kind == none))
		return by_number;
	return by_kind < none ? by_kind : by_launches;
}

/* The same where repetitions begin with a launch; in one that is shorter with its last one. */
static uint32_t cut_at_launch(const struct cut *c, bool last)
{
	uint32_t launches = 0, latest = c->segment_count;

	for (uint32_t i = 0; i < c->segment_count; i++) {
		if (!ct_phase_record_launch(&c->segment[i]))
			continue;
		latest = i;
		if (launches++ == c->pattern->ordinal)
			return i;
	}
	return last || cut_short(c, launches) ? c->segment_count : latest;
}

/* The segment ends; @last: no anchor follows. */
static int cut_segment(struct cut *c, bool last)
{
	uint32_t boundary = c->segment_count;
	int rc = 0;

	if (c->anchored)
		boundary = c->pattern->at_wait ? cut_at_wait(c, last) : cut_at_launch(c, last);
	for (uint32_t i = 0; i < c->segment_count && !rc; i++)
		rc = cut_step(c, &c->segment[i], i == boundary);
	c->segment_count = 0;
	return rc;
}

static int cut_next(void *arg, const struct ct_phase_record *h)
{
	struct cut *c = arg;
	bool anchor;
	int rc = 0;

	if (h->kind < CT_PHASE_COPY || h->kind > CT_PHASE_GRAPH)
		return 0;
	anchor = ct_phase_record_launch(h) && ct_token_key(h, c->pattern->level, c->before) == c->pattern->anchor;
	if (anchor || c->segment_count == CUT_SEGMENT) {
		rc = cut_segment(c, false);
		c->anchored = anchor;
	}
	if (ct_token_is(h))
		c->before = ct_token_key(h, CT_TOKEN_COARSE, 0);
	c->segment[c->segment_count++] = *h;
	return rc;
}

/* Goes over all that the thread did.  1: the first boundary came, and only that was wanted. */
static int cut_walk(struct cut *c, const struct ct_thread_events *slice, const struct ct_phase_work *w)
{
	int rc;

	c->before = 0;
	c->segment_count = 0;
	c->anchored = false;
	rc = ct_phase_records_walk(w->records, slice->thread, w->from, w->to, cut_next, c);
	return rc ? rc : cut_segment(c, true);
}

/*
 * Where the first iteration begins, which no boundary says: behind the wait that is as many
 * waits before the first boundary as an iteration has, or with the launch that is as many
 * launches before it.  Return: false: it was not seen whole.
 */
static bool cut_first(struct cut *c, const struct ct_thread_events *slice)
{
	uint64_t launches = c->total, back = c->pattern->waits + 1ull, more = back + c->pattern->waits;
	uint64_t at = 0;
	bool waited = false;

	if (c->pattern->at_wait && back <= CUT_RING) {
		if (c->waits_count >= back) {
			const struct cut_wait *w = &c->waits[(c->waits_count - back) % CUT_RING];

			at = w->end;
			launches -= w->launches;
			waited = true;
			/* In the one before that the anchor may be missing: it is known by the wait before it, which was another one. */
			if (launches == c->usual && c->waits_count >= more && more <= CUT_RING &&
			    w->launches - c->waits[(c->waits_count - more) % CUT_RING].launches == c->usual) {
				c->second = at;
				c->start = c->waits[(c->waits_count - more) % CUT_RING].end;
				return true;
			}
		} else {
			for (uint32_t i = 0; i < slice->count && !waited; i++)
				if (slice->list[i].kind >= CT_PHASE_COPY &&
				    slice->list[i].kind <= CT_PHASE_GRAPH) {
					at = slice->list[i].at;
					waited = true;
				}
		}
	}
	if (!waited || launches > 2ull * c->usual) {
		if (c->total < c->usual || !c->usual || c->usual > CUT_RING)
			return false;
		at = c->launched[(c->total - c->usual) % CUT_RING];
	}
	c->start = at;
	return at < c->first_boundary;
}

/* Pauses are breaks: what is much longer than an iteration is not a part of one. */
static int cut_breaks(struct cut *c)
{
	struct ct_process_phases *p = c->process;
	uint64_t median;
	int rc;

	if (!c->pattern->at_wait)	/* until now they end with their last launch */
		for (uint32_t i = 0; i + 1 < p->iterations_count; i++)
			if (!(p->iterations[i].launches & 1))
				p->iterations[i].end = p->iterations[i + 1].begin;
	rc = ct_iterations_median(p, false, &median);
	for (uint32_t i = 0; i < p->iterations_count && !rc; i++) {
		struct ct_iteration *it = &p->iterations[i];
		uint64_t pause = (it->launches >> 1) * 1000ull;

		if (pause <= CT_PAUSE * median || it->begin + pause >= it->end)
			continue;
		if (c->pattern->at_wait)
			it->begin += pause;
		else if (!(it->launches & 1))
			it->end -= pause;
	}
	return rc;
}

int ct_pattern_cut(const struct ct_pattern *p, const struct ct_thread_events *slice,
		   struct ct_phase_work *w)
{
	struct cut c = {
		.pattern = p, .process = w->process, .usual = p->kernels + p->graphs,
		.looking = true, .first = UINT64_MAX,
	};
	int rc = -ENOMEM;

	c.count = calloc(p->parts_count + 1, sizeof(*c.count));
	c.of_part = calloc(p->parts_count + 1, sizeof(*c.of_part));
	c.waits = calloc(CUT_RING, sizeof(*c.waits));
	c.launched = calloc(CUT_RING, sizeof(*c.launched));
	c.segment = malloc(CUT_SEGMENT * sizeof(*c.segment));
	if (!c.count || !c.of_part || !c.waits || !c.launched || !c.segment)
		goto out;
	rc = cut_walk(&c, slice, w);
	if (rc != 1)	/* no boundary, or no memory */
		goto out;
	c.looking = false;
	c.open = cut_first(&c, slice);
	if (!c.open)
		c.start = 0;
	c.begin = c.start;
	c.first = UINT64_MAX;
	c.launches = c.alike = c.strange = c.usual_alike = 0;
	c.part = 1;
	for (uint32_t i = 0; i < p->parts_count; i++)
		c.of_part[i] = 0;
	rc = cut_walk(&c, slice, w);
	if (!rc && c.open && !p->at_wait)
		rc = cut_close(&c, 0);
	if (!rc)
		rc = cut_breaks(&c);
out:
	free(c.count);
	free(c.of_part);
	free(c.waits);
	free(c.launched);
	free(c.segment);
	return rc;
}
