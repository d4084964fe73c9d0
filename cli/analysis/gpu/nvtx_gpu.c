// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reports nvtx_kern_sum and nvtx_gpu_proj_sum: what the GPU did for the ranges of the program.
 * Work belongs to each range that is open on its thread when the call that asks for it begins.
 * The projection of a range is from the begin of its first work to the end of its last.
 *
 * Must never keep a range once its work is over: memory is bounded by what is open or on its way.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "analysis/gpu/coverage.h"
#include "base/grow.h"
#include "group/histogram.h"
#include "group/texts.h"
#include "trace/gpu/gpu_causes.h"

#define CALLS_MAX	(1u << 18)	/* whose work is on its way; those beyond count as without work */
#define DEPTH_MAX	1024u		/* open ranges of a thread */
#define NO_RANGE	UINT32_MAX

/* A range that is open, or whose work is not over. */
struct nvtx_range {
	uint32_t parent;		/* index, NO_RANGE: none */
	uint32_t waits;			/* for it: it is open, calls whose work is on its way, ranges inside */
	uint32_t children, level;	/* ranges directly inside; how many are around it */
	int text;
	uint32_t pid, tid;
	bool counts;			/* it passes --from, --pid ... */
	uint64_t begin, end;		/* ns */
	uint64_t proj_begin, proj_end, ops;
	uint32_t next_free;
};

struct nvtx_call {
	uint64_t op_id;
	uint32_t range;
};

/* The open ranges of a thread. */
struct nvtx_thread {
	uint64_t key;
	uint32_t *ranges, depth, room;
	uint64_t deeper;
};

struct nvtx_proj {
	uint64_t text;
	struct ct_histogram proj;
	uint64_t range_ns, ops, levels, children;
};

/* By range, thread and kernel. */
struct nvtx_kernel {
	uint64_t hash;
	int range, kernel;
	uint32_t pid, tid;
	uint64_t last_range, instances;	/* a number for each range, to count them */
	struct ct_histogram times;
};

struct nvtx {
	struct nvtx_range *ranges;
	uint32_t count, room, free;
	uint64_t *numbers;		/* of ranges, by index: from 1 */
	uint64_t made;
	struct ct_texts texts;
	CT_KEYED(struct nvtx_thread) threads;
	CT_KEYED(struct nvtx_call) calls;
	CT_KEYED(struct nvtx_proj) projs;
	CT_KEYED(struct nvtx_kernel) kernels;
	uint64_t no_cause;		/* work whose call is not known */
};

/* ---------------------------------------------------------------- ranges --- */

static uint32_t nvtx_new(struct nvtx *n)
{
	uint32_t i = n->free;

	if (i != NO_RANGE && n->count) {
		n->free = n->ranges[i].next_free;
	} else {
		if (n->count == n->room) {
			uint32_t room = n->room ? 2 * n->room : 64;
			struct nvtx_range *more = realloc(n->ranges, room * sizeof(*more));
			uint64_t *numbers;

			if (!more)
				return NO_RANGE;
			n->ranges = more;
			numbers = realloc(n->numbers, room * sizeof(*numbers));
			if (!numbers)
				return NO_RANGE;
			n->numbers = numbers;
			n->room = room;
		}
		i = n->count++;
	}
	n->ranges[i] = (struct nvtx_range){ .parent = NO_RANGE };
	n->numbers[i] = ++n->made;
	return i;
}

/* One thing less that the range waits for; the last one ends it. */
static int nvtx_done(struct nvtx *n, uint32_t index)
{
	while (index != NO_RANGE) {
		struct nvtx_range *r = &n->ranges[index];
		uint32_t parent = r->parent;
		struct nvtx_proj *p;

		if (--r->waits)
			return 0;
		if (r->ops && r->counts) {
			p = ct_keyed_put(&n->projs, r->text);
			if (!p || ct_histogram_add(&p->proj, r->proj_end - r->proj_begin))
				return -ENOMEM;
			p->range_ns += r->end - r->begin;
			p->ops += r->ops;
			p->levels += r->level;
			p->children += r->children;
		}
		r->next_free = n->free;
		n->free = index;
		index = parent;
	}
	return 0;
}

static bool nvtx_counts(const struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_report_filter *f = a->filter;

	return e->begin >= f->from && (!f->to || e->begin < f->to) && (!f->pid || e->track->pid == f->pid) &&
	       (!f->tid || e->track->tid == f->tid);
}

static int nvtx_push(struct ct_analysis *a, struct nvtx_thread *t, const struct ct_trace_event *e)
{
	struct nvtx *n = a->state;
	struct nvtx_range *r;
	uint32_t index;
	const char *text;
	uint16_t len;

	if (t->deeper || t->depth == DEPTH_MAX) {
		t->deeper++;
		return 0;
	}
	if (!ct_room(t->ranges, t->depth, t->room))
		return -ENOMEM;
	index = nvtx_new(n);
	if (index == NO_RANGE)
		return -ENOMEM;
	r = &n->ranges[index];
	text = ct_record_text(e->record, &len);
	r->text = ct_texts_put(&n->texts, text ? text : "", len);
	if (r->text < 0)
		return r->text;
	r->pid = e->track->pid;
	r->tid = e->track->tid;
	r->begin = e->begin;
	r->waits = 1;
	r->level = t->depth;
	r->counts = nvtx_counts(a, e);
	if (t->depth) {
		r->parent = t->ranges[t->depth - 1];
		n->ranges[r->parent].waits++;
		n->ranges[r->parent].children++;
	}
	t->ranges[t->depth++] = index;
	return 0;
}

static int nvtx_pop(struct nvtx *n, struct nvtx_thread *t, uint64_t ts)
{
	if (t->deeper) {
		t->deeper--;
		return 0;
	}
	if (!t->depth)
		return 0;
	n->ranges[t->ranges[--t->depth]].end = ts;
	return nvtx_done(n, t->ranges[t->depth]);
}

/* ------------------------------------------------------------------ work --- */

/* A call asks for work: its ranges wait for that. */
static int nvtx_call(struct nvtx *n, const struct ct_trace_event *e)
{
	struct nvtx_thread *t = ct_keyed_get(&n->threads, e->track->key);
	struct nvtx_call *call;

	if (!t || !t->depth || n->calls.count >= CALLS_MAX)
		return 0;
	call = ct_keyed_put(&n->calls, e->point->op_id);
	if (!call)
		return -ENOMEM;
	call->range = t->ranges[t->depth - 1];
	n->ranges[call->range].waits++;
	return 0;
}

static int nvtx_kernel(struct ct_analysis *a, const struct ct_trace_event *e, uint32_t index)
{
	struct nvtx *n = a->state;
	const struct nvtx_range *r = &n->ranges[index];
	const char *glob = a->filter->name;
	struct nvtx_kernel *k;
	int kernel = ct_texts_string(&n->texts, a->names, ct_record_known(e->record, CT_KNOWN_KERNEL));

	if (kernel < 0)
		return kernel;
	if (!r->counts || (glob && fnmatch(glob, n->texts.list[kernel].text, 0) &&
			   fnmatch(glob, n->texts.list[r->text].text, 0)))
		return 0;
	k = ct_keyed_put(&n->kernels, ct_mix(ct_mix(ct_mix(r->text, kernel), r->tid), r->pid));
	if (!k)
		return -ENOMEM;
	k->range = r->text;
	k->kernel = kernel;
	k->pid = r->pid;
	k->tid = r->tid;
	k->instances += k->last_range != n->numbers[index];
	k->last_range = n->numbers[index];
	return ct_histogram_add(&k->times, e->duration);
}

/* The GPU's work is over. */
static int nvtx_work(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct nvtx *n = a->state;
	struct nvtx_call *call = e->point->cause ? ct_keyed_get(&n->calls, e->point->cause->op_id) : NULL;
	uint32_t index, first;
	int rc = 0;

	n->no_cause += !e->point->cause;
	if (!call)
		return 0;
	first = call->range;
	for (index = first; index != NO_RANGE && !rc; index = n->ranges[index].parent) {
		struct nvtx_range *r = &n->ranges[index];

		if (!r->ops || e->begin < r->proj_begin)
			r->proj_begin = e->begin;
		if (!r->ops || e->end > r->proj_end)
			r->proj_end = e->end;
		r->ops++;
		if (ct_class_is(e->class, CT_IS_GPU_KERNEL) && e->class->known[CT_KNOWN_KERNEL] >= 0)
			rc = nvtx_kernel(a, e, index);
	}
	/* Of a graph's kernels more may come: those are known to be over at the end. */
	if (rc || e->point->cause->class->category == CT_CAT_GRAPH || ct_class_is(e->point->cause->class, CT_IS_GRAPH_LAUNCH))
		return rc;
	ct_keyed_remove(&n->calls, call);
	return nvtx_done(n, first);
}

static int nvtx_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct nvtx *n = a->state;
	struct nvtx_thread *t;

	if (e->class->layer == CT_LAYER_GPU)
		return e->kind == CT_ON_END && e->class->call ? nvtx_work(a, e) : 0;
	if (e->kind == CT_ON_BEGIN)
		return ct_class_is(e->class, CT_IS_WORK) ? nvtx_call(n, e) : 0;
	if (e->class->id != CT_CLASS_range_push && e->class->id != CT_CLASS_range_pop)
		return 0;
	t = ct_keyed_put(&n->threads, e->track->key);
	if (!t)
		return -ENOMEM;
	return e->class->id == CT_CLASS_range_push ? nvtx_push(a, t, e) : nvtx_pop(n, t, e->begin);
}

static int nvtx_begin(struct ct_analysis *a)
{
	((struct nvtx *)a->state)->free = NO_RANGE;
	return 0;
}

/* What is still waited for does not come. */
static int nvtx_end(struct ct_analysis *a)
{
	struct nvtx *n = a->state;
	int rc = 0;

	for (size_t i = 0; i < n->calls.count && !rc; i++)
		rc = nvtx_done(n, n->calls.list[i].range);
	for (size_t i = 0; i < n->threads.count && !rc; i++)
		while (n->threads.list[i].depth && !rc)
			rc = nvtx_pop(n, &n->threads.list[i], a->totals->last);
	return rc;
}

static void nvtx_free(struct ct_analysis *a)
{
	struct nvtx *n = a->state;

	for (size_t i = 0; i < n->threads.count; i++)
		free(n->threads.list[i].ranges);
	for (size_t i = 0; i < n->projs.count; i++)
		ct_histogram_free(&n->projs.list[i].proj);
	for (size_t i = 0; i < n->kernels.count; i++)
		ct_histogram_free(&n->kernels.list[i].times);
	ct_keyed_free(&n->threads);
	ct_keyed_free(&n->calls);
	ct_keyed_free(&n->projs);
	ct_keyed_free(&n->kernels);
	ct_texts_free(&n->texts);
	free(n->ranges);
	free(n->numbers);
}

static const struct ct_analyser nvtx_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.state_size = sizeof(struct nvtx),
	.begin = nvtx_begin,
	.event = nvtx_event,
	.end = nvtx_end,
	.free = nvtx_free,
};

static const struct ct_analyser *const needs[] = { &nvtx_analyser, &ct_gpu_coverage_analyser, NULL };

static void nvtx_notes(struct ct_analysis *a, struct ct_table *t)
{
	const struct nvtx *n = ct_analysis_state(a, &nvtx_analyser);

	if (!a->trace->has_gpu)
		ct_table_note(t, "The trace has no records of the GPU: record it with --gpu.");
	if (n->no_cause)
		ct_table_note(t, "%llu records of the GPU name no call that is known, and are left out.",
			      (unsigned long long)n->no_cause);
	ct_gpu_coverage_notes(a, t, true);
}

/* ----------------------------------------------------------- nvtx_kern_sum --- */

enum { K_RANGE, K_STYLE, K_PID, K_TID, K_RANGES, K_KERNELS, K_TOTAL, K_AVG, K_MED, K_MIN, K_MAX, K_STDDEV, K_NAME,
       K_COLUMNS };

static const struct ct_column kern_columns[K_COLUMNS] = {
	[K_RANGE] = { "NVTX Range", "range", CT_CELL_TEXT, 0 },
	[K_STYLE] = { "Style", "style", CT_CELL_TEXT, 9 },
	[K_PID] = { "PID", "pid", CT_CELL_ID, 5 },
	[K_TID] = { "TID", "tid", CT_CELL_ID, 5 },
	[K_RANGES] = { "NVTX Inst", "ranges", CT_CELL_COUNT, 1 },
	[K_KERNELS] = { "Kern Inst", "kernels", CT_CELL_COUNT, 0 },
	[K_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[K_AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 2 },
	[K_MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 3 },
	[K_MIN] = { "Min (ns)", "min", CT_CELL_NS, 6 },
	[K_MAX] = { "Max (ns)", "max", CT_CELL_NS, 4 },
	[K_STDDEV] = { "StdDev (ns)", "stddev", CT_CELL_NS_MEAN, 8 },
	[K_NAME] = { "Kernel Name", "kernel", CT_CELL_KERNEL, 0 },
};

static int nvtx_kern_end(struct ct_analysis *a)
{
	struct nvtx *n = ct_analysis_state(a, &nvtx_analyser);
	struct ct_table *t = ct_analysis_table(a, a->analyser->name, "Kernels by NVTX range: times on the GPU; a range has the kernels of "
					       "those inside it", kern_columns, K_COLUMNS);

	for (size_t i = 0; i < n->kernels.count; i++) {
		struct nvtx_kernel *k = &n->kernels.list[i];
		struct ct_cell *row = ct_table_row(t);

		row[K_RANGE] = ct_const(n->texts.list[k->range].text);
		row[K_STYLE] = ct_const("PushPop");
		row[K_PID] = ct_u64(k->pid);
		row[K_TID] = ct_u64(k->tid);
		row[K_RANGES] = ct_u64(k->instances);
		row[K_KERNELS] = ct_u64(k->times.count);
		row[K_TOTAL] = ct_u64(k->times.total);
		row[K_AVG] = ct_double(k->times.mean);
		row[K_MED] = ct_double(ct_histogram_median(&k->times));
		row[K_MIN] = ct_u64(k->times.min);
		row[K_MAX] = ct_u64(k->times.max);
		row[K_STDDEV] = ct_double(ct_histogram_deviation(&k->times));
		row[K_NAME] = ct_const(n->texts.list[k->kernel].text);
	}
	nvtx_notes(a, t);
	return ct_table_end(t) ? : ct_table_sort(t, K_TOTAL, true);
}

const struct ct_analyser ct_report_nvtx_kern_sum = {
	.name = "nvtx_kern_sum",
	.summary = "kernels by the NVTX range that launched them, from records of the GPU",
	.needs = needs,
	.end = nvtx_kern_end,
	.single = true,
};

/* ------------------------------------------------------- nvtx_gpu_proj_sum --- */

enum { P_RANGE, P_STYLE, P_PROJ, P_TIME, P_COUNT, P_AVG, P_MED, P_MIN, P_MAX, P_STDDEV, P_OPS, P_AVG_OPS, P_LEVEL,
       P_CHILDREN, P_COLUMNS };

static const struct ct_column proj_columns[P_COLUMNS] = {
	[P_RANGE] = { "Range", "range", CT_CELL_TEXT, 0 },
	[P_STYLE] = { "Style", "style", CT_CELL_TEXT, 9 },
	[P_PROJ] = { "Total Proj Time (ns)", "on the GPU", CT_CELL_NS, 0 },
	[P_TIME] = { "Total Range Time (ns)", "on the host", CT_CELL_NS, 0 },
	[P_COUNT] = { "Range Instances", "ranges", CT_CELL_COUNT, 0 },
	[P_AVG] = { "Proj Avg (ns)", "avg", CT_CELL_NS_MEAN, 2 },
	[P_MED] = { "Proj Med (ns)", "median", CT_CELL_NS_MEAN, 1 },
	[P_MIN] = { "Proj Min (ns)", "min", CT_CELL_NS, 6 },
	[P_MAX] = { "Proj Max (ns)", "max", CT_CELL_NS, 3 },
	[P_STDDEV] = { "Proj StdDev (ns)", "stddev", CT_CELL_NS_MEAN, 8 },
	[P_OPS] = { "Total GPU Ops", "GPU ops", CT_CELL_COUNT, 1 },
	[P_AVG_OPS] = { "Avg GPU Ops", "a range", CT_CELL_NUMBER, 5 },
	[P_LEVEL] = { "Avg Range Lvl", "level", CT_CELL_NUMBER, 7 },
	[P_CHILDREN] = { "Avg Num Child", "children", CT_CELL_NUMBER, 7 },
};

static int nvtx_proj_end(struct ct_analysis *a)
{
	struct nvtx *n = ct_analysis_state(a, &nvtx_analyser);
	struct ct_table *t = ct_analysis_table(a, a->analyser->name, "NVTX ranges on the GPU: from the begin of a range's first work to "
					       "the end of its last", proj_columns, P_COLUMNS);

	for (size_t i = 0; i < n->projs.count; i++) {
		struct nvtx_proj *p = &n->projs.list[i];
		const char *text = n->texts.list[p->text].text;
		double count = p->proj.count;
		struct ct_cell *row;

		if (a->filter->name && fnmatch(a->filter->name, text, 0))
			continue;
		row = ct_table_row(t);
		row[P_RANGE] = ct_const(text);
		row[P_STYLE] = ct_const("PushPop");
		row[P_PROJ] = ct_u64(p->proj.total);
		row[P_TIME] = ct_u64(p->range_ns);
		row[P_COUNT] = ct_u64(p->proj.count);
		row[P_AVG] = ct_double(p->proj.mean);
		row[P_MED] = ct_double(ct_histogram_median(&p->proj));
		row[P_MIN] = ct_u64(p->proj.min);
		row[P_MAX] = ct_u64(p->proj.max);
		row[P_STDDEV] = ct_double(ct_histogram_deviation(&p->proj));
		row[P_OPS] = ct_u64(p->ops);
		row[P_AVG_OPS] = ct_double(p->ops / count);
		row[P_LEVEL] = ct_double(p->levels / count);
		row[P_CHILDREN] = ct_double(p->children / count);
	}
	nvtx_notes(a, t);
	return ct_table_end(t) ? : ct_table_sort(t, P_PROJ, true);
}

const struct ct_analyser ct_report_nvtx_gpu_proj_sum = {
	.name = "nvtx_gpu_proj_sum",
	.summary = "NVTX ranges projected on the GPU: from the first to the last work of each",
	.needs = needs,
	.end = nvtx_proj_end,
	.single = true,
};
