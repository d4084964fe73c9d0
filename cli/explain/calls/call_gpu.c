// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See call_gpu.h.  Must never say that a synchronisation waited for work of a stream that it does
 * not wait for, where the streams are known.
 */
#include "explain/calls/call_gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/graphs.h"
#include "analysis/stacks/hot.h"
#include "explain/calls/call_detail.h"
#include "trace/gpu/gpu_causes.h"

#define GPU_KEPT	20u	/* records of a call: the first of a launch, the last of a synchronisation */

struct gpu_work {
	uint64_t begin, end, op_id;	/* op_id: of the call that caused it, 0: not known */
	uint64_t stream;		/* CUPTI's number */
	uint64_t node;			/* of a CUDA graph, 0: none */
	uint32_t gpu;
	const struct ct_class *class;
	char *detail;
};

struct gpu_target {
	struct gpu_work kept[GPU_KEPT];	/* of a synchronisation a ring */
	uint64_t count;
	bool waits;
};

struct gpu_state {
	struct gpu_target *targets;	/* as ct_call_found.targets */
	unsigned int count;
};

static bool gpu_is_wait(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API) && strstr(class->name, "Synchronize");
}

static int gpu_keep(struct ct_analysis *a, struct gpu_target *g, const struct ct_span *s)
{
	struct gpu_work *w = &g->kept[g->count % GPU_KEPT];
	char detail[CT_DETAIL_MAX];

	if (g->count++ >= GPU_KEPT && !g->waits)
		return 0;
	free(w->detail);
	*w = (struct gpu_work){
		.begin = s->begin, .end = s->end, .op_id = s->parent, .class = s->class,
		.stream = ct_record_gpu_stream(s->record), .gpu = ct_record_known(s->record, CT_KNOWN_GPU),
		.node = ct_record_has(s->record, CT_KNOWN_GRAPH_NODE) ? ct_record_known(s->record, CT_KNOWN_GRAPH_NODE) : 0,
		.detail = strdup(ct_call_detail(detail, a->names, s->record)),
	};
	return w->detail ? 0 : -ENOMEM;
}

/* Its own, or that of a call inside it. */
static bool gpu_is_of(const struct ct_call_target *t, const struct ct_cause *cause)
{
	return cause && cause->pid == t->pid && cause->tid == t->tid && cause->begin >= t->begin &&
	       (cause->op_id == t->op_id || (t->returned && cause->begin < t->end));
}

/* It ran while the call waited, and ended by then; a stream's handle of 0 stands for several. */
static bool gpu_is_waited_for(const struct ct_call_target *t, const struct ct_span *s)
{
	const struct ct_cause *cause = s->cause;

	if (s->record->pid != t->pid || s->end <= t->begin || (t->returned && s->end > t->end) ||
	    (cause && cause->begin > t->begin))
		return false;
	return !t->one_stream || !cause || !cause->has_stream || cause->stream == t->stream;
}

static bool gpu_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU && class->call;
}

static int gpu_span(struct ct_analysis *a, const struct ct_span *s)
{
	const struct ct_call_found *found = a->arg;
	struct gpu_state *state = a->state;
	int rc = 0;

	for (unsigned int i = 0; i < state->count && !rc; i++) {
		const struct ct_call_target *t = &found->targets[i];
		struct gpu_target *g = &state->targets[i];

		if (g->waits ? gpu_is_waited_for(t, s) : gpu_is_of(t, s->cause))
			rc = gpu_keep(a, g, s);
	}
	return rc;
}

static int gpu_begin(struct ct_analysis *a)
{
	const struct ct_call_found *found = a->arg;
	struct gpu_state *s = a->state;

	if (!a->trace->has_gpu)
		return 0;
	s->targets = calloc(found->count + 1, sizeof(*s->targets));
	if (!s->targets)
		return -ENOMEM;
	s->count = found->count;
	for (unsigned int i = 0; i < s->count; i++)
		s->targets[i].waits = gpu_is_wait(found->targets[i].class);
	return 0;
}

static void gpu_free(struct ct_analysis *a)
{
	struct gpu_state *s = a->state;

	for (unsigned int i = 0; i < s->count; i++)
		for (unsigned int k = 0; k < GPU_KEPT; k++)
			free(s->targets[i].kept[k].detail);
	free(s->targets);
}

static const struct ct_analyser *const needs[] = { &ct_graphs_analyser, NULL };

const struct ct_analyser ct_call_gpu = {
	.needs = needs,
	.spans = CT_SPANS_BY_END,
	.wants = gpu_wants,
	.unfiltered = true,
	.state_size = sizeof(struct gpu_state),
	.begin = gpu_begin,
	.span = gpu_span,
	.free = gpu_free,
};

/* ------------------------------------------------------------------ the table --- */

enum { CALL, BEGIN, END, TOOK, GPU, STREAM, BY, NAME, DETAIL, CAPTURED, COLUMNS };

/* Begin and end from the begin of the call on. */
static const struct ct_column columns[COLUMNS] = {
	[CALL] = { "Call", NULL, CT_CELL_ID, 0 },
	[BEGIN] = { "Begin (ns)", "began", CT_CELL_NS_MEAN, 0 },
	[END] = { "End (ns)", "ended", CT_CELL_NS_MEAN, 0 },
	[TOOK] = { "Duration (ns)", "took", CT_CELL_NS, 0 },
	[GPU] = { "Device", "GPU", CT_CELL_ID, 1 },
	[STREAM] = { "Stream", "stream", CT_CELL_ID, 0 },
	[BY] = { "Launch", "of call", CT_CELL_ID, 0 },
	[NAME] = { "Name", "what", CT_CELL_TEXT, 0 },
	[DETAIL] = { "Detail", "", CT_CELL_TEXT, 0 },
	[CAPTURED] = { "Captured", "made at", CT_CELL_TEXT, 0 },
};

/* The line of the program that made the node of a CUDA graph's kernel, "" where it is not known. */
static const char *gpu_captured(const struct ct_analysis *a, const struct gpu_work *w, char *buf, size_t size)
{
	const struct ct_registry *reg = &a->trace->reg;
	uint32_t stack = ct_graphs_captured(ct_analysis_state(a, &ct_graphs_analyser), w->op_id, w->node), own;
	struct ct_stack_frame f;

	*buf = 0;
	return stack && ct_stack_own(reg, stack, &f, &own) ? ct_stack_line(&f, buf, size) : buf;
}

static const struct gpu_target *gpu_target(const struct ct_analysis *a, const struct ct_call_tree *t)
{
	const struct gpu_state *s = ct_analysis_state(a, &ct_call_gpu);
	const struct ct_call_found *found = a->arg;
	const struct gpu_target *g = NULL;

	for (unsigned int i = 0; i < s->count; i++)
		if (found->targets[i].op_id == t->target.op_id)
			g = &s->targets[i];
	return g;
}

void ct_call_gpu_begin(struct ct_table *table, const struct ct_analysis *a, const struct ct_call_tree *t)
{
	const struct gpu_target *g = t ? gpu_target(a, t) : NULL;
	bool captured = !t;
	char text[300];

	for (unsigned int i = 0; g && i < GPU_KEPT && i < g->count; i++)
		captured |= *gpu_captured(a, &g->kept[i], text, sizeof(text)) != 0;
	ct_table_begin(table, "call_gpu", "On the GPU; times are from the begin of the call on",
		       columns + !!t, COLUMNS - !!t - !captured);
}

/* Of a synchronisation the newest stands last, as it came. */
static void gpu_rows(struct ct_table *table, const struct ct_analysis *a, const struct gpu_target *g, const struct ct_call_tree *t,
		     bool call)
{
	char captured[300];
	uint64_t kept = g->count < GPU_KEPT ? g->count : GPU_KEPT;
	uint64_t first = g->waits && g->count > GPU_KEPT ? g->count - GPU_KEPT : 0;

	for (uint64_t i = first; i < first + kept; i++) {
		const struct gpu_work *w = &g->kept[i % GPU_KEPT];
		struct ct_cell *row = ct_table_row(table) - !call;

		if (call)
			row[CALL] = ct_u64(t->target.op_id);
		row[BEGIN] = ct_since(w->begin, t->target.begin);
		row[END] = ct_since(w->end, t->target.begin);
		row[TOOK] = ct_u64(w->end > w->begin ? w->end - w->begin : 0);
		row[GPU] = ct_u64(w->gpu);
		row[STREAM] = ct_u64(w->stream);
		if (w->op_id)
			row[BY] = ct_u64(w->op_id);
		row[NAME] = ct_const(ct_call_name(w->class));
		row[DETAIL] = ct_text(table, w->detail);
		if (*gpu_captured(a, w, captured, sizeof(captured)))
			row[CAPTURED] = ct_text(table, captured);
	}
}

bool ct_call_gpu_add(struct ct_table *table, const struct ct_analysis *a, const struct ct_call_tree *t, bool call)
{
	const struct gpu_target *g = gpu_target(a, t);
	unsigned long long op = t->target.op_id;

	if (!g)
		return false;
	gpu_rows(table, a, g, t, call);
	if (g->waits && g->count)
		ct_table_note(table, "%llu piece%s of work ended while call %llu waited%s%s.",
			      (unsigned long long)g->count, g->count == 1 ? "" : "s", op,
			      t->target.one_stream ? ", in its stream" : "; which of them it waited for is not known",
			      g->count > GPU_KEPT ? "; the last of them are shown" : "");
	else if (g->waits)
		ct_table_note(table, "No work of the process ended while call %llu waited.", op);
	else if (g->count > GPU_KEPT)
		ct_table_note(table, "Call %llu caused %llu records; the first of them are shown.", op,
			      (unsigned long long)g->count);
	else if (!g->count && ct_class_is(t->target.class, CT_IS_WORK))
		ct_table_note(table, "No record of the GPU names call %llu.", op);
	return g->count || g->waits || ct_class_is(t->target.class, CT_IS_WORK);
}
