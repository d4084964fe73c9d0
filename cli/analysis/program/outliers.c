// SPDX-License-Identifier: LGPL-2.1-or-later
/* See outliers.h.  Memory is bounded by functions, kernels and kept outliers. */
#include "analysis/program/outliers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/median.h"
#include "view/term.h"

#define OUTLIERS_RARE	5.0	/* % of the steady state: less is not told */

/* ------------------------------------------------------------- statistics --- */

static uint64_t outliers_duration(const struct ct_iteration *i)
{
	return i->end > i->begin ? i->end - i->begin : 0;
}

/* Five times the median of the distances from the median, or a fifth of it if that is more. */
static int outliers_limit(struct ct_iteration_stats *s, uint32_t n)
{
	uint64_t *away = malloc(n * sizeof(*away));
	double most;

	if (!away)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		away[i] = fabs(s->sorted[i] - s->median);
	most = 5 * ct_median(away, n);
	s->limit = s->median + (most > s->median / 5 ? most : s->median / 5);
	free(away);
	return 0;
}

int ct_iteration_stats(struct ct_iteration_stats *s, const struct ct_process_phases *p, bool warmup)
{
	uint32_t before = ct_phases_warmup(p), n = warmup ? before : p->iterations_count - before;
	const struct ct_iteration *list = p->iterations + (warmup ? 0 : before);
	uint32_t rank = n - n / 20;	/* ceil(0.95 n) */
	double squares = 0;
	int rc = 0;

	*s = (struct ct_iteration_stats){ .count = n, .sorted = malloc((n + 1ul) * sizeof(*s->sorted)) };
	if (!s->sorted || !n)
		return s->sorted ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		s->sorted[i] = outliers_duration(&list[i]);
		s->mean += (double)s->sorted[i] / n;
	}
	for (uint32_t i = 0; i < n; i++)
		squares += (s->sorted[i] - s->mean) * (s->sorted[i] - s->mean);
	s->deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
	s->median = ct_median(s->sorted, n);	/* sorts them, too */
	s->min = s->sorted[0];
	s->max = s->sorted[n - 1];
	s->p95 = s->sorted[rank - 1];
	if (n >= CT_OUTLIERS_LEAST)
		rc = outliers_limit(s, n);
	while (s->limit && s->longer < n && s->sorted[n - 1 - s->longer] > s->limit)
		s->longer++;
	return rc;
}

const char *ct_iteration_coverage(const struct ct_trace *t, const struct ct_process_phases *p, char *buf)
{
	uint32_t n = p->iterations_count - ct_phases_warmup(p);
	uint64_t start = t->reg.start;
	char count[CT_TERM_TEXT], share[32] = "all";
	struct ct_coverage c;
	int used;

	ct_phases_coverage(p, &c);
	if (c.steady && c.covered < c.steady)
		snprintf(share, sizeof(share), "%.1f %%", 100.0 * c.covered / c.steady);
	used = snprintf(buf, 200, "%s iteration%s cover%s %s of the steady state", ct_term_count(count, n),
			n == 1 ? "" : "s", n == 1 ? "s" : "", share);
	if (c.to > c.from)
		snprintf(buf + used, 200 - used, "; the longest part without one is from %.3f ms to %.3f ms",
			 (c.from > start ? c.from - start : 0) / 1e6, (c.to > start ? c.to - start : 0) / 1e6);
	return buf;
}

const char *ct_iteration_rare(const struct ct_process_phases *p, const struct ct_iteration_stats *s, char *buf)
{
	const struct ct_stage_span *steady = ct_phases_steady(p);
	uint64_t wall = steady ? steady->end - steady->begin : 0, longer = 0, pauses = 0;
	char ns[CT_TERM_TEXT], each[CT_TERM_TEXT], n[CT_TERM_TEXT];
	double more = 0;	/* than the median */
	uint32_t count = 0;
	int used = 0;

	*buf = 0;
	for (uint32_t i = 0; i < s->longer; i++) {
		longer += s->sorted[s->count - 1 - i];
		more += s->sorted[s->count - 1 - i] - s->median;
	}
	for (uint32_t i = ct_phases_warmup(p) + 1; i < p->iterations_count; i++) {
		uint64_t pause = p->iterations[i].begin - p->iterations[i - 1].end;

		count += pause > 0;
		pauses += pause;
	}
	if (wall && 100.0 * more >= OUTLIERS_RARE * wall)
		used = snprintf(buf, 240, "%s iteration%s that take%s far longer than the median %s %s (%.1f %%) of the steady state", ct_term_count(n, s->longer),
				s->longer == 1 ? "" : "s", s->longer == 1 ? "s" : "", s->longer == 1 ? "has" : "have",
				ct_term_ns(ns, longer), 100.0 * longer / wall);
	if (wall && 100.0 * pauses >= OUTLIERS_RARE * wall)
		snprintf(buf + used, 240 - used, "%s%s pause%s between iterations take%s %s (%.1f %%) of %s, %s each in the mean", used ? "; " : "",
			 ct_term_count(n, count), count == 1 ? "" : "s", count == 1 ? "s" : "", ct_term_ns(ns, pauses),
			 100.0 * pauses / wall, used ? "it" : "the steady state", ct_term_ns(each, pauses / count));
	return buf;
}

/* The longest ones of the steady state, in the order of time. */
static int outliers_choose(struct ct_outliers_process *o, const struct ct_process_phases *p)
{
	uint32_t n = o->stats.count, ties = 0;
	uint64_t least;

	o->count = o->stats.longer < CT_OUTLIERS_MAX ? o->stats.longer : CT_OUTLIERS_MAX;
	o->beyond = o->stats.longer - o->count;
	if (!o->count)
		return 0;
	o->list = calloc(o->count, sizeof(*o->list));
	if (!o->list)
		return -ENOMEM;
	least = o->stats.sorted[n - o->count];
	for (uint32_t i = n - o->count; i < n; i++)
		ties += o->stats.sorted[i] == least;
	o->count = 0;
	for (uint32_t i = ct_phases_warmup(p); i < p->iterations_count; i++) {
		uint64_t duration = outliers_duration(&p->iterations[i]);

		if (duration < least || (duration == least && !ties))
			continue;
		ties -= duration == least;
		o->list[o->count++].iteration = i;
	}
	return 0;
}

/* ------------------------------------------------------------------- calls --- */

const struct ct_call_sum *ct_call_sum(const struct ct_call_set *set, const struct ct_class *class)
{
	return ct_keyed_get(set, class->id);
}

static int outliers_add(struct ct_call_set *set, const struct ct_trace_event *e)
{
	struct ct_call_sum *sum = ct_keyed_put(set, e->class->id);

	if (!sum)
		return -ENOMEM;
	sum->class = e->class;
	sum->count++;
	if (!e->timed || e->kind == CT_ON_INSTANT)
		return 0;
	sum->total += e->duration;
	if (e->duration > sum->longest) {
		sum->longest = e->duration;
		sum->longest_op = e->point->op_id;
	}
	return 0;
}

/* Is this the first launch of its kernel in the process? */
static int outliers_kernel(const struct ct_analysis *a, struct ct_outliers_process *o,
			   const struct ct_trace_event *e, bool *first)
{
	uint64_t kernel = ct_record_kernel(e->record, a->names->reg);

	*first = kernel && !ct_keyed_get(&o->kernels, kernel);
	return *first && !ct_keyed_put(&o->kernels, kernel) ? -ENOMEM : 0;
}

/* The time since the thread's call before; it belongs to the iteration in which it ends. */
static void outliers_gap(const struct ct_analysis *a, const struct ct_process_phases *p, struct ct_outliers_process *o,
			 struct ct_outlier *out, const struct ct_trace_event *e)
{
	uint64_t from = o->last_end, begin = out ? p->iterations[out->iteration].begin : 0;
	uint32_t kernel = o->inner_kernel;

	o->inner_kernel = 0;
	if (ct_class_is(e->class, CT_IS_QUERY))
		return;
	if (ct_class_is(e->class, CT_IS_KERNEL_LAUNCH) && ct_record_has(e->record, CT_KNOWN_KERNEL))
		kernel = ct_record_kernel(e->record, a->names->reg);
	o->last_end = e->end > o->last_end ? e->end : o->last_end;
	from = from > begin ? from : begin;
	if (!out || !from || e->begin <= from || e->begin - from <= out->gap)
		return;
	out->gap = e->begin - from;
	out->gap_next = e->class;
	out->gap_kernel = kernel;
}

static bool outliers_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_USER && class->call;
}

/* The outlier that lasts at @ts, or NULL. */
static struct ct_outlier *outliers_at(const struct ct_outliers_process *o, const struct ct_process_phases *p,
				      uint64_t ts)
{
	uint32_t low = 0, high = o->count;

	while (low < high) { /* the first that ends after ts */
		uint32_t middle = low + (high - low) / 2;

		if (p->iterations[o->list[middle].iteration].end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->count && p->iterations[o->list[low].iteration].begin <= ts ? &o->list[low] : NULL;
}

static int outliers_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_outliers *all = a->state;
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);
	struct ct_outliers_process *o;
	struct ct_outlier *out = NULL;
	bool first = false;
	int rc = 0;

	if (!p || !p->iterations_count)
		return 0;
	o = &all->processes[p - a->phases->processes];
	if (ct_class_is(e->class, CT_IS_KERNEL_LAUNCH) && ct_record_has(e->record, CT_KNOWN_KERNEL)) {
		rc = outliers_kernel(a, o, e, &first);
		if (e->track->tid == p->tid && e->track->depth)
			o->inner_kernel = ct_record_kernel(e->record, a->names->reg);
	}
	if (rc || (e->track->depth && !first) || (e->track->tid != p->tid && !first))
		return rc;
	out = outliers_at(o, p, e->begin);
	if (out && first && !out->kernels++)
		out->kernel = ct_record_kernel(e->record, a->names->reg);
	if (e->track->tid != p->tid || e->track->depth)
		return 0;
	outliers_gap(a, p, o, out, e);
	if (out)
		return outliers_add(&out->calls, e);
	/* Ends of the thread's outermost calls come in the order of their begins. */
	while (o->next_iteration < p->iterations_count &&
	       p->iterations[o->next_iteration].end <= e->begin)
		o->next_iteration++;
	if (o->next_iteration == p->iterations_count ||
	    p->iterations[o->next_iteration].begin > e->begin ||
	    (o->stats.limit &&
	     outliers_duration(&p->iterations[o->next_iteration]) > o->stats.limit))
		return 0;
	return outliers_add(&o->others, e);
}

/* -------------------------------------------------------------- begin, end --- */

static int outliers_begin(struct ct_analysis *a)
{
	struct ct_outliers *all = a->state;
	unsigned int count = a->phases->processes_count;
	int rc = 0;

	all->processes = calloc(count + 1ul, sizeof(*all->processes));
	if (!all->processes)
		return -ENOMEM;
	all->processes_count = count;
	for (unsigned int i = 0; i < count && !rc; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];
		struct ct_outliers_process *o = &all->processes[i];

		if (!p->iterations_count)
			continue;
		rc = ct_iteration_stats(&o->stats, p, false);
		if (!rc)
			rc = outliers_choose(o, p);
		o->others_count = o->stats.count - o->stats.longer;
		o->next_iteration = ct_phases_warmup(p);
	}
	return rc;
}

static void outliers_free(struct ct_analysis *a)
{
	struct ct_outliers *all = a->state;

	for (unsigned int i = 0; all->processes && i < all->processes_count; i++) {
		struct ct_outliers_process *o = &all->processes[i];

		for (unsigned int k = 0; k < o->count; k++)
			ct_keyed_free(&o->list[k].calls);
		ct_keyed_free(&o->others);
		ct_keyed_free(&o->kernels);
		free(o->list);
		free(o->stats.sorted);
	}
	free(all->processes);
}

const struct ct_analyser ct_outliers_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT,
	.wants = outliers_wants,
	.phases = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_outliers),
	.begin = outliers_begin,
	.event = outliers_event,
	.free = outliers_free,
};
