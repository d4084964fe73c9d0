// SPDX-License-Identifier: LGPL-2.1-or-later
/* See outliers.h.  Memory is bounded by functions, kernels and kept outliers. */
#include "analysis/program/outliers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/median.h"

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

int ct_iteration_stats(struct ct_iteration_stats *s, const struct ct_process_phases *p)
{
	uint32_t n = p->iterations_count, rank = n - n / 20;	/* ceil(0.95 n) */
	double squares = 0;

	s->sorted = malloc(n * sizeof(*s->sorted));
	if (!s->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		s->sorted[i] = outliers_duration(&p->iterations[i]);
		s->mean += (double)s->sorted[i] / n;
	}
	for (uint32_t i = 0; i < n; i++)
		squares += (s->sorted[i] - s->mean) * (s->sorted[i] - s->mean);
	s->deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
	s->median = ct_median(s->sorted, n);	/* sorts them, too */
	s->min = s->sorted[0];
	s->max = s->sorted[n - 1];
	s->p95 = s->sorted[rank - 1];
	return n >= CT_OUTLIERS_LEAST ? outliers_limit(s, n) : 0;
}

/* The longest ones, in the order of time. */
static int outliers_choose(struct ct_outliers_process *o, const struct ct_process_phases *p)
{
	uint32_t n = p->iterations_count, all = 0, ties = 0;
	uint64_t least;

	if (!o->stats.limit)
		return 0;
	while (all < n && o->stats.sorted[n - 1 - all] > o->stats.limit)
		all++;
	o->count = all < CT_OUTLIERS_MAX ? all : CT_OUTLIERS_MAX;
	o->beyond = all - o->count;
	if (!o->count)
		return 0;
	o->list = calloc(o->count, sizeof(*o->list));
	if (!o->list)
		return -ENOMEM;
	least = o->stats.sorted[n - o->count];
	for (uint32_t i = n - o->count; i < n; i++)
		ties += o->stats.sorted[i] == least;
	o->count = 0;
	for (uint32_t i = 0; i < n; i++) {
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

static bool outliers_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_USER && class->call;
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
	if (ct_class_is(e->class, CT_IS_KERNEL_LAUNCH) && ct_record_has(e->record, CT_QUICK_KERNEL))
		rc = outliers_kernel(a, o, e, &first);
	if (rc || (e->track->depth && !first) || (e->track->tid != p->tid && !first))
		return rc;
	/* Ends of the thread's outermost calls come in the order of their begins. */
	for (unsigned int i = 0; i < o->count && !out; i++) {
		const struct ct_iteration *it = &p->iterations[o->list[i].iteration];

		if (e->begin >= it->begin && e->begin < it->end)
			out = &o->list[i];
	}
	if (out && first && !out->kernels++)
		out->kernel = ct_record_kernel(e->record, a->names->reg);
	if (e->track->tid != p->tid || e->track->depth)
		return 0;
	if (out)
		return outliers_add(&out->calls, e);
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
		rc = ct_iteration_stats(&o->stats, p);
		if (!rc)
			rc = outliers_choose(o, p);
		o->others_count = p->iterations_count - o->count - o->beyond;
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
