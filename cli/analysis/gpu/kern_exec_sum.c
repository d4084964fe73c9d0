// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report cuda_kern_exec_sum: for each kernel the time of its launch call, the time until it
 * began and the time that it ran.  Names and columns are nsys's.  From records of the GPU alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "spans/work.h"
#include "analysis/gpu/coverage.h"
#include "group/histogram.h"
#include "trace/gpu/gpu_causes.h"

#define GROUPS_MAX	16384u

/* Total, call (API), until it began (queue), run (kernel). */
enum { T, A, Q, K, TIMES };
enum { F_AVG, F_MED, F_MIN, F_MAX, F_DEVIATION, FIGURES };
enum { PID, TID, DEVICE, COUNT, QCOUNT, FIRST, API = FIRST + TIMES * FIGURES, NAME, COLUMNS };

#define TIME(id, letter, head, avg, med, most)							\
	[FIRST + id * FIGURES + F_AVG] = { letter "Avg (ns)", head " avg", CT_CELL_NS_MEAN, avg },	\
	[FIRST + id * FIGURES + F_MED] = { letter "Med (ns)", head " median", CT_CELL_NS_MEAN, med },	\
	[FIRST + id * FIGURES + F_MIN] = { letter "Min (ns)", head " min", CT_CELL_NS, 9 },		\
	[FIRST + id * FIGURES + F_MAX] = { letter "Max (ns)", head " max", CT_CELL_NS, most },		\
	[FIRST + id * FIGURES + F_DEVIATION] = { letter "StdDev (ns)", head " stddev", CT_CELL_NS_MEAN, 10 }

static const struct ct_column columns[COLUMNS] = {
	[PID] = { "PID", "pid", CT_CELL_ID, 7 },
	[TID] = { "TID", "tid", CT_CELL_ID, 2 },	/* rows of one kernel differ in it */
	[DEVICE] = { "DevId", "GPU", CT_CELL_ID, 6 },
	[COUNT] = { "Count", "runs", CT_CELL_COUNT, 0 },
	[QCOUNT] = { "QCount", "queued", CT_CELL_COUNT, 8 },
	TIME(T, "T", "all", 0, 4, 8),	/* by which they are sorted */
	TIME(A, "A", "call", 5, 3, 8),
	TIME(Q, "Q", "wait", 4, 0, 3),
	TIME(K, "K", "run", 4, 0, 3),
	[API] = { "API Name", "call", CT_CELL_TEXT, 6 },
	[NAME] = { "Kernel Name", "kernel", CT_CELL_KERNEL, 0 },
};

struct exec_group {
	uint32_t pid, tid, kernel;
	uint16_t gpu;
	const struct ct_class *call;
	uint64_t count;
	struct ct_histogram times[TIMES];
	uint32_t next;			/* of the same hash, index + 1 */
};

struct exec_hash {
	uint64_t hash;
	uint32_t first;			/* its first group, index + 1 */
};

struct kern_exec {
	struct exec_group *list;
	unsigned int count, capacity;
	CT_KEYED(struct exec_hash) by_hash;
	uint64_t left_out;
};

static bool exec_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU && ct_gpu_is_kernel(class);
}

static int exec_group(struct kern_exec *s, const struct exec_group *like, struct exec_group **group)
{
	uint64_t key = ct_mix(ct_mix((uint64_t)like->pid << 32 | like->tid, like->kernel),
				   (uint64_t)like->gpu << 16 | like->call->id);
	struct exec_hash *same = ct_keyed_get(&s->by_hash, key);

	*group = NULL;
	for (uint32_t i = same ? same->first : 0; i; i = s->list[i - 1].next) {
		struct exec_group *g = &s->list[i - 1];

		if (g->pid == like->pid && g->tid == like->tid && g->kernel == like->kernel && g->gpu == like->gpu &&
		    g->call == like->call) {
			*group = g;
			return 0;
		}
	}
	if (s->count == GROUPS_MAX)
		return 0;
	if (!ct_room(s->list, s->count, s->capacity))
		return -ENOMEM;
	same = ct_keyed_put(&s->by_hash, key);
	if (!same)
		return -ENOMEM;
	*group = &s->list[s->count];
	**group = *like;
	(*group)->next = same->first;
	same->first = ++s->count;
	return 0;
}

static int exec_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_cause *cause = e->point->cause;
	struct kern_exec *s = a->state;
	struct exec_group *g;
	uint64_t queued;
	int rc;

	/* What does not know its call, or how long that took, has no latency. */
	if (!cause || !cause->end)
		return 0;
	rc = exec_group(s, &(struct exec_group){
		.pid = cause->pid, .tid = cause->tid, .gpu = ct_record_known(e->record, CT_KNOWN_GPU),
		.kernel = ct_record_kernel(e->record, a->names->reg), .call = cause->class }, &g);
	if (rc || !g) {
		s->left_out += !rc;
		return rc;
	}
	g->count++;
	queued = e->begin > cause->end ? e->begin - cause->end : 0;
	rc = ct_histogram_add(&g->times[T], e->end > cause->begin ? e->end - cause->begin : 0);
	rc = rc ? rc : ct_histogram_add(&g->times[A], cause->end - cause->begin);
	if (queued && !rc)
		rc = ct_histogram_add(&g->times[Q], queued);
	return rc ? rc : ct_histogram_add(&g->times[K], e->duration);
}

static int exec_order(const void *a, const void *b)
{
	const struct exec_group *x = a, *y = b;

	if (x->times[T].total != y->times[T].total)
		return x->times[T].total > y->times[T].total ? -1 : 1;
	return x->count != y->count ? x->count > y->count ? -1 : 1 : x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static void exec_figures(struct ct_cell *row, struct ct_histogram *h)
{
	if (!h->count)
		return;
	row[F_AVG] = ct_double(h->mean);
	row[F_MED] = ct_double(ct_histogram_median(h));
	row[F_MIN] = ct_u64(h->min);
	row[F_MAX] = ct_u64(h->max);
	row[F_DEVIATION] = ct_double(ct_histogram_deviation(h));
}

static int exec_end(struct ct_analysis *a)
{
	struct kern_exec *s = a->state;
	bool early = false;
	struct ct_table *t = ct_analysis_table(a, "cuda_kern_exec_sum",
		"Kernels: launch call, wait from its end until they began, run", columns, COLUMNS);

	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), exec_order);
	for (unsigned int i = 0; i < s->count; i++) {
		struct exec_group *g = &s->list[i];
		struct ct_cell *row = ct_table_row(t);
		const char *name = ct_names_string(a->names, g->kernel);

		row[PID] = ct_u64(g->pid);
		row[TID] = ct_u64(g->tid);
		row[DEVICE] = ct_u64(g->gpu);
		row[COUNT] = ct_u64(g->count);
		row[QCOUNT] = ct_u64(g->times[Q].count);
		early |= g->times[Q].count < g->count;
		for (unsigned int k = 0; k < TIMES; k++)
			exec_figures(&row[FIRST + k * FIGURES], &g->times[k]);
		row[API] = ct_const(g->call->name);
		row[NAME] = ct_const(name && *name ? name : "(unknown)");
	}
	if (!a->trace->has_gpu)
		ct_table_note(t, "There are no records of the GPU: record --gpu makes them.");
	if (early)
		ct_table_note(t, "A kernel that began before its call returned has no wait (-).");
	if (s->left_out)
		ct_table_note(t, "%llu kernels of further names and threads are left out.",
			      (unsigned long long)s->left_out);
	ct_gpu_coverage_notes(a, t, true);
	return 0;
}

static void exec_free(struct ct_analysis *a)
{
	struct kern_exec *s = a->state;

	for (unsigned int i = 0; i < s->count; i++)
		for (unsigned int k = 0; k < TIMES; k++)
			ct_histogram_free(&s->list[i].times[k]);
	free(s->list);
	ct_keyed_free(&s->by_hash);
}

static const struct ct_analyser *const needs[] = { &ct_gpu_coverage_analyser, NULL };

const struct ct_analyser ct_report_cuda_kern_exec_sum = {
	.name = "cuda_kern_exec_sum",
	.steady = true,
	.summary = "kernels by launch: the call, the wait until they began, the run (record --gpu)",
	.single = true,
	.on = CT_ON_END,
	.wants = exec_wants,
	.needs = needs,
	.state_size = sizeof(struct kern_exec),
	.event = exec_event,
	.end = exec_end,
	.free = exec_free,
};
