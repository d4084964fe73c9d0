// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Iterations that the program itself says: ranges and marks.  Frameworks push thousands of
 * ranges of their own, from many threads: must take only such whose repetitions contain most
 * launches, about as many each.
 */
#include "phases/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/median.h"
#include "phases/reread.h"

#define RANGES_TIMES	3u	/* a text must come */
#define RANGES_COVER	0.7	/* of the launches between the first and the last */
#define RANGES_EVEN	0.7	/* of them have about as many launches as the median */
#define RANGES_DEPTH	64u	/* deeper ranges are not looked at */

/* A range, or the time from a mark to the next of its text. */
struct ranges_one {
	uint64_t begin, end;
	uint32_t text, depth;
};

typedef int (*ranges_fn)(void *arg, const struct ranges_one *one);

/* Turns pushes and pops into ranges. */
struct ranges_stack {
	struct ranges_one open[RANGES_DEPTH];
	uint64_t depth;
	enum ct_phase_record_kind kind;
	uint32_t only;		/* of this text; 0: all that have one */
	ranges_fn fn;
	void *arg;
};

static int ranges_next(void *arg, const struct ct_phase_record *h)
{
	struct ranges_stack *s = arg;

	if (s->kind == CT_PHASE_MARK) {
		struct ranges_one one = { h->at, h->at, h->sig, 0 };

		if (h->kind != CT_PHASE_MARK || !h->sig || (s->only && h->sig != s->only))
			return 0;
		return s->fn(s->arg, &one);
	}
	if (h->kind == CT_PHASE_PUSH) {
		if (s->depth < RANGES_DEPTH)
			s->open[s->depth] = (struct ranges_one){ h->at, 0, h->sig, s->depth };
		s->depth++;
	} else if (h->kind == CT_PHASE_POP && s->depth) {
		struct ranges_one *one;

		if (--s->depth >= RANGES_DEPTH)
			return 0;
		one = &s->open[s->depth];
		if (!one->text || (s->only && one->text != s->only))
			return 0;
		for (uint64_t i = 0; i < s->depth; i++)	/* inside one of its text */
			if (s->open[i].text == one->text)
				return 0;
		one->end = h->at;
		return s->fn(s->arg, one);
	}
	return 0;
}

struct ranges_list {
	struct ranges_one *one;
	uint32_t count, capacity;
	uint64_t until;		/* later ones are not wanted */
};

static int ranges_keep(void *arg, const struct ranges_one *one)
{
	struct ranges_list *l = arg;

	if (one->end >= l->until)
		return 0;
	if (!ct_room(l->one, l->count, l->capacity))
		return -ENOMEM;
	l->one[l->count++] = *one;
	return 0;
}

static int ranges_order(const void *a, const void *b)
{
	const struct ranges_one *x = a, *y = b;

	if (x->text != y->text)
		return x->text < y->text ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Do the ranges @one of a text contain most launches, about as many each? */
static int ranges_judge(struct ct_repeat *r, const struct ct_phase_work *w,
			const struct ranges_one *one, uint32_t count)
{
	uint64_t *launches, median, inside = 0, between;
	uint32_t even = 0;

	launches = calloc(count * 2ul, sizeof(*launches));
	if (!launches)
		return -ENOMEM;
	r->count = count;
	r->text = one->text;
	r->depth = one->depth;
	for (uint32_t i = 0; i < count; i++) {
		launches[i] = ct_work_launches(w, one[i].begin, one[i].end);
		launches[count + i] = launches[i];
		inside += launches[i];
		r->depth = one[i].depth < r->depth ? one[i].depth : r->depth;
	}
	between = ct_work_launches(w, one->begin, one[count - 1].end);
	median = ct_median(launches, count);
	for (uint32_t i = 0; i < count; i++)
		even += launches[count + i] * 10 >= median * 8 &&
			launches[count + i] * 10 <= median * 12;
	r->launches = inside;
	r->found = median && inside >= RANGES_COVER * between && even >= RANGES_EVEN * count;
	free(launches);
	return 0;
}

/* Ranges of more launches; of about as many the outer ones, then those of the main thread. */
static bool ranges_better(const struct ct_repeat *a, const struct ct_repeat *b)
{
	if (!b->found || a->launches > b->launches * 1.4)
		return true;
	if (a->launches < b->launches * 0.7)
		return false;
	if (a->slice == b->slice && a->depth != b->depth)
		return a->depth < b->depth;
	return a->launches > b->launches;
}

static int ranges_of_thread(struct ct_repeat *best, const struct ct_phase_work *w,
			    const struct ct_thread_events *slice, enum ct_phase_record_kind kind)
{
	struct ranges_list list = { .until = w->kept_until };
	struct ranges_stack stack = { .kind = kind, .fn = ranges_keep, .arg = &list };
	int rc = 0;

	for (uint32_t i = 0; i < slice->count && !rc; i++)
		rc = ranges_next(&stack, &slice->list[i]);
	if (list.count)
		qsort(list.one, list.count, sizeof(*list.one), ranges_order);
	for (uint32_t i = 0, next; i < list.count && !rc; i = next) {
		struct ct_repeat r = { .kind = kind, .slice = slice };
		uint32_t count;

		for (next = i + 1; next < list.count && list.one[next].text == list.one[i].text; )
			next++;
		count = next - i;
		if (count < RANGES_TIMES)
			continue;
		if (kind == CT_PHASE_MARK)
			for (uint32_t k = i; k < next; k++)
				list.one[k].end = k + 1 < next ? list.one[k + 1].begin :
						  list.one[k].begin;
		/* What follows the last mark is no whole iteration for certain. */
		rc = ranges_judge(&r, w, &list.one[i], count - (kind == CT_PHASE_MARK));
		if (!rc && r.found && ranges_better(&r, best))
			*best = r;
	}
	free(list.one);
	return rc;
}

int ct_repeat_find(struct ct_repeat *r, const struct ct_phase_work *w)
{
	struct ct_repeat marks = { 0 };
	int rc = 0;

	*r = (struct ct_repeat){ 0 };
	for (unsigned int i = 0; i < w->slices_count && !rc; i++) {
		rc = ranges_of_thread(r, w, &w->slices[i], CT_PHASE_PUSH);
		if (!rc)
			rc = ranges_of_thread(&marks, w, &w->slices[i], CT_PHASE_MARK);
	}
	if (marks.found && (!r->found || marks.launches > r->launches * 1.4))
		*r = marks;
	return rc;
}

struct ranges_cut {
	struct ct_process_phases *process;
	uint64_t mark;
	bool marked;
};

static int ranges_add(void *arg, const struct ranges_one *one)
{
	struct ranges_cut *c = arg;

	return ct_iteration_add(c->process, one->begin, one->end, 0);
}

static int ranges_add_mark(void *arg, const struct ranges_one *one)
{
	struct ranges_cut *c = arg;
	int rc = 0;

	if (c->marked && one->begin > c->mark)
		rc = ct_iteration_add(c->process, c->mark, one->begin, 0);
	c->mark = one->begin;
	c->marked = true;
	return rc;
}

static int ranges_work_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The ends of what the process waits for and fetches, sorted. */
static uint64_t *ranges_work_ends(const struct ct_phase_work *w, uint32_t *count)
{
	uint64_t *ends;
	uint32_t n = 0;

	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++)
			n += w->slices[s].list[i].kind >= CT_PHASE_COPY &&
			     w->slices[s].list[i].kind <= CT_PHASE_GRAPH;
	*count = 0;
	ends = calloc(n + 1ul, sizeof(*ends));
	for (unsigned int s = 0; ends && s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++)
			if (w->slices[s].list[i].kind >= CT_PHASE_COPY &&
			    w->slices[s].list[i].kind <= CT_PHASE_GRAPH)
				ends[(*count)++] = ct_phase_record_end(&w->slices[s].list[i]);
	if (ends)
		qsort(ends, *count, sizeof(*ends), ranges_work_order);
	return ends;
}

/*
 * A range lasts until the next one, if the pauses between them are short or the work of a
 * range goes on there (its result is fetched); otherwise until its pop.
 */
static int ranges_join(struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;
	uint32_t n = p->iterations_count, busy = 0, ends_count, k = 0;
	uint64_t *pauses = calloc(n + 1ul, sizeof(*pauses)), *ends, length, pause, last;
	int rc;

	ends = ranges_work_ends(w, &ends_count);
	rc = pauses && ends ? ct_iterations_median(p, false, &length) : -ENOMEM;
	if (rc || n < 2)
		goto out;
	for (uint32_t i = 0; i + 1 < n; i++) {
		const struct ct_iteration *it = &p->iterations[i];

		pauses[i] = it[1].begin > it->end ? it[1].begin - it->end : 0;
		while (k < ends_count && ends[k] <= it->end)
			k++;
		busy += k < ends_count && ends[k] < it[1].begin;
	}
	pause = ct_median(pauses, n - 1);
	if (pause * 10 > length && busy * 2 < n)
		goto out;
	for (uint32_t i = 0; i + 1 < n; i++) {
		struct ct_iteration *it = &p->iterations[i];

		if (it[1].begin > it->end && it[1].begin - it->end <= CT_PAUSE * (length + pause))
			it->end = it[1].begin;
	}
	/* The last one: with what is fetched within the usual pause. */
	last = p->iterations[n - 1].end;
	for (; k < ends_count && ends[k] <= p->iterations[n - 1].end + pause; k++)
		last = ends[k] > last ? ends[k] : last;
	p->iterations[n - 1].end = last;
out:
	free(pauses);
	free(ends);
	return rc;
}

int ct_repeat_cut(const struct ct_repeat *r, struct ct_phase_work *w)
{
	struct ranges_cut cut = { .process = w->process };
	struct ranges_stack stack = {
		.kind = r->kind, .only = r->text, .arg = &cut,
		.fn = r->kind == CT_PHASE_MARK ? ranges_add_mark : ranges_add,
	};
	uint64_t median;
	int rc;

	rc = ct_phase_records_walk(w->records, r->slice->thread, w->from, w->to, ranges_next,
				&stack);
	if (rc || !w->process->iterations_count)
		return rc;
	if (r->kind == CT_PHASE_PUSH)
		return ranges_join(w);
	/* From the last mark on: as much as one iteration lasts, at most to the last work. */
	rc = ct_iterations_median(w->process, false, &median);
	if (!rc && w->last_end > cut.mark && w->last_end - cut.mark <= 2 * median)
		rc = ct_iteration_add(w->process, cut.mark, w->last_end, 0);
	return rc;
}
