// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CUDA graphs by the lines that captured their kernels.  A graph launch has the line that replays; this says what it replays.
 *
 * A graph is what was launched into a stream while it was captured; the call of the same thread that instantiates next
 * makes it executable.  With --gpu=nodes the kernels of a graph have numbers that grow as they were captured: where a replay
 * has the kernels of the capture, by number and by name, each is the one in its place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/costs.h"
#include "analysis/stacks/hot.h"
#include "analysis/stacks/source.h"
#include "base/grow.h"

#define GRAPH_KERNELS	(1u << 20)	/* of all graphs; with more nothing is said of later ones */
#define GRAPH_LAUNCHES	65536u		/* that work of the GPU may still come of */

struct graph_made {
	uint64_t number;		/* in the order of captures, from 1 */
	uint32_t pid;
	bool whole;			/* all of its launches are known */
	uint32_t first, kernels;	/* where among the launches that were captured; others may come between */
	uint64_t launches, gpu;		/* of the graph; ns */
	uint32_t replay;		/* the stack of its last launch */
};

struct graph_handle {			/* a stream that is captured, an executable graph: which graph it is */
	uint64_t handle, pid;
	uint64_t number;
};

struct graph_op {			/* a launch */
	uint64_t op;
	uint64_t number;
};

struct graph_node {			/* of --gpu=nodes */
	uint64_t node, number;
	uint64_t ns;
	uint32_t kernel;
};

struct graph_captured {
	uint32_t stack, kernel;
	uint64_t number;
};

struct graph_lines {
	CT_KEYED(struct graph_made) graphs;
	CT_KEYED(struct graph_handle) captured, ended, execs;	/* ended: by thread */
	CT_KEYED(struct graph_op) launches;
	CT_KEYED(struct graph_node) nodes;
	struct graph_captured *list;
	unsigned int count, room;
	struct ct_sources sources;
};

static bool graph_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_GPU_KERNEL | CT_IS_GPU_GRAPH) ||
	       (ct_class_is(class, CT_IS_API) && (class->category == CT_CAT_STREAM || class->category == CT_CAT_GRAPH ||
						  class->category == CT_CAT_KERNEL));
}

static uint64_t graph_stream(const struct ct_record *r)
{
	return ct_record_has(r, CT_QUICK_STREAM) ? ct_record_quick(r, CT_QUICK_STREAM) : ct_record_quick(r, CT_QUICK_HANDLE);
}

static int graph_begins(struct graph_lines *s, const struct ct_span *span)
{
	struct graph_made *made = ct_keyed_put(&s->graphs, s->graphs.count + 1);
	struct graph_handle *open = ct_keyed_put_pair(&s->captured, graph_stream(span->record), span->pid);

	if (!made || !open)
		return -ENOMEM;
	made->pid = span->pid;
	made->whole = true;
	open->number = made->number;
	return 0;
}

static int graph_ends(struct graph_lines *s, const struct ct_span *span)
{
	struct graph_handle *open = ct_keyed_get_pair(&s->captured, graph_stream(span->record), span->pid), *ended;

	if (!open)
		return 0;
	ended = ct_keyed_put_pair(&s->ended, span->tid, span->pid);
	if (!ended)
		return -ENOMEM;
	ended->number = open->number;
	ct_keyed_remove_pair(&s->captured, open);
	return 0;
}

static int graph_instantiated(struct graph_lines *s, const struct ct_span *span)
{
	struct graph_handle *ended = ct_keyed_get_pair(&s->ended, span->tid, span->pid);
	struct graph_handle *exec = ct_keyed_put_pair(&s->execs, ct_record_quick(span->record, CT_QUICK_GRAPH), span->pid);

	if (!exec)
		return -ENOMEM;
	/* 0: of a graph that was made otherwise. */
	exec->number = ended ? ended->number : 0;
	if (ended)
		ct_keyed_remove_pair(&s->ended, ended);
	return 0;
}

static int graph_launched(struct graph_lines *s, const struct ct_span *span)
{
	const struct graph_handle *exec = ct_keyed_get_pair(&s->execs, ct_record_quick(span->record, CT_QUICK_GRAPH), span->pid);
	struct graph_made *made = exec && exec->number ? ct_keyed_get(&s->graphs, exec->number) : NULL;
	struct graph_op *op;

	if (!made)
		return 0;
	made->launches++;
	made->replay = span->stack;
	if (s->launches.count == GRAPH_LAUNCHES)
		ct_keyed_free(&s->launches);
	op = ct_keyed_put(&s->launches, span->op_id);
	if (!op)
		return -ENOMEM;
	op->number = made->number;
	return 0;
}

static int graph_kernel(struct ct_analysis *a, const struct ct_span *span)
{
	struct graph_lines *s = a->state;
	const struct graph_handle *open = ct_keyed_get_pair(&s->captured, graph_stream(span->record), span->pid);
	struct graph_made *made = open ? ct_keyed_get(&s->graphs, open->number) : NULL;

	if (!made)
		return 0;
	if (s->count == GRAPH_KERNELS) {
		made->whole = false;
		return 0;
	}
	if (!ct_room(s->list, s->count, s->room))
		return -ENOMEM;
	if (!made->kernels)
		made->first = s->count;
	s->list[s->count++] = (struct graph_captured){ span->stack, ct_record_kernel(span->record, &a->trace->reg), made->number };
	made->kernels++;
	return 0;
}

static int graph_work(struct ct_analysis *a, const struct ct_span *span)
{
	struct graph_lines *s = a->state;
	const struct graph_op *op = ct_keyed_get(&s->launches, span->parent);
	struct graph_made *made = op ? ct_keyed_get(&s->graphs, op->number) : NULL;
	struct graph_node *node;
	uint64_t number;

	if (!made)
		return 0;
	made->gpu += span->duration;
	number = ct_record_has(span->record, CT_QUICK_GRAPH_NODE) ? ct_record_quick(span->record, CT_QUICK_GRAPH_NODE) : 0;
	if (!number)
		return 0;
	node = ct_keyed_get_pair(&s->nodes, number, made->number);
	if (!node && s->nodes.count < GRAPH_KERNELS)
		node = ct_keyed_put_pair(&s->nodes, number, made->number);
	if (!node)
		return s->nodes.count < GRAPH_KERNELS ? -ENOMEM : 0;
	node->ns += span->duration;
	node->kernel = ct_record_kernel(span->record, &a->trace->reg);
	return 0;
}

static int graph_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct graph_lines *s = a->state;
	const char *name = span->class->name;

	if (span->kind == CT_SPAN_GPU)
		return graph_work(a, span);
	if (span->kind != CT_SPAN_CALL || !span->record->fields || span->flags & CT_SPAN_FAILED)
		return 0;
	if (!strncmp(name, "cuStreamBeginCapture", 20))
		return graph_begins(s, span);
	if (!strcmp(name, "cuStreamEndCapture"))
		return graph_ends(s, span);
	if (!strncmp(name, "cuGraphInstantiate", 18))
		return graph_instantiated(s, span);
	if (span->class->category == CT_CAT_GRAPH && ct_class_is(span->class, CT_IS_LAUNCH))
		return graph_launched(s, span);
	return span->class->category == CT_CAT_KERNEL && ct_class_is(span->class, CT_IS_LAUNCH) ? graph_kernel(a, span) : 0;
}

/* -------------------------------------------------------------------- rows --- */

static int graph_compare_nodes(const void *x, const void *y)
{
	const struct graph_node *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

struct graph_row {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;
	uint64_t kernels, ns;
};

enum { G_GRAPH, G_SHARE, G_LAUNCHES, G_KERNELS, G_GPU, G_LINE, G_FUNCTION, G_SOURCE, G_REPLAY, G_FILE, G_COLUMNS };

static const struct ct_column graph_columns[G_COLUMNS] = {
	[G_GRAPH] = { "Graph", "graph", CT_CELL_ID, 0 },
	[G_SHARE] = { "Kernels (%)", "of it", CT_CELL_PERCENT, 0 },
	[G_LAUNCHES] = { "Graph Launches", "launches", CT_CELL_COUNT, 0 },
	[G_KERNELS] = { "Captured Kernels", "kernels", CT_CELL_COUNT, 0 },
	[G_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 0 },
	[G_LINE] = { "Line", "captured at", CT_CELL_TEXT, 0 },
	[G_FUNCTION] = { "Function", "function", CT_CELL_TEXT, 1 },
	[G_SOURCE] = { "Source", "source", CT_CELL_TEXT, 4 },
	[G_REPLAY] = { "Launched", "launched at", CT_CELL_TEXT, 2 },
	[G_FILE] = { "File", "file", CT_CELL_TEXT, 5 },
};

/* The line of the program, or where libraries are not folded the innermost one. */
static bool graph_line(const struct ct_analysis *a, uint32_t stack, struct ct_stack_frame *f, uint32_t *node)
{
	*node = stack;
	return a->filter->fold ? stack && ct_stack_own(&a->trace->reg, stack, f, node) : ct_stack_frame(&a->trace->reg, stack, f);
}

static struct ct_cell graph_words(struct ct_table *t, const struct ct_stack_frame *f)
{
	char text[300];

	return ct_text(t, ct_stack_place(f, text, sizeof(text)));
}

/* The rows of a graph; @nodes: its kernels on the GPU in their order, NULL: not known, or not as many. */
static int graph_rows(struct ct_analysis *a, struct ct_table *t, const struct graph_made *made, const struct graph_node *nodes)
{
	struct graph_lines *s = a->state;
	CT_KEYED(struct graph_row) rows = { 0 };
	struct ct_stack_frame f;
	unsigned int index = 0;
	uint32_t node;
	char text[200];

	for (unsigned int i = made->first; index < made->kernels; i++) {
		struct graph_row *row;

		if (s->list[i].number != made->number)
			continue;
		row = ct_keyed_put(&rows, graph_line(a, s->list[i].stack, &f, &node) ? (uint64_t)f.function << 32 | f.line : 0);
		if (!row)
			return ct_keyed_free(&rows), -ENOMEM;
		row->node = node;
		row->kernels++;
		row->ns += nodes ? nodes[index].ns : 0;
		index++;
	}
	for (size_t i = 0; i < rows.count; i++) {
		struct ct_cell *cells = ct_table_row(t);

		cells[G_GRAPH] = ct_u64(made->number);
		cells[G_SHARE] = ct_double(100.0 * rows.list[i].kernels / made->kernels);
		cells[G_LAUNCHES] = ct_u64(made->launches);
		cells[G_KERNELS] = ct_u64(rows.list[i].kernels);
		if (nodes)
			cells[G_GPU] = ct_u64(rows.list[i].ns);
		if (graph_line(a, made->replay, &f, &node))
			cells[G_REPLAY] = graph_words(t, &f);
		if (!rows.list[i].key || !ct_stack_frame(&a->trace->reg, rows.list[i].node, &f))
			continue;
		cells[G_LINE] = graph_words(t, &f);
		cells[G_FUNCTION] = ct_format(t, "%.*s", f.name_len, f.name);
		cells[G_FILE] = ct_format(t, "%.*s", f.file_len, f.file);
		if (*ct_source_text(&s->sources, &a->trace->reg, &f, text, sizeof(text)))
			cells[G_SOURCE] = ct_text(t, text);
	}
	ct_keyed_free(&rows);
	return 0;
}

/* Are these the kernels that were captured, each in its place? */
static bool graph_agrees(const struct graph_lines *s, const struct graph_made *made, const struct graph_node *nodes, size_t count)
{
	size_t index = 0;

	if (made->kernels != count)
		return false;
	for (unsigned int i = made->first; index < count; i++) {
		if (s->list[i].number != made->number)
			continue;
		if (!s->list[i].kernel || s->list[i].kernel != nodes[index].kernel)
			return false;
		index++;
	}
	return true;
}

static int graph_end(struct ct_analysis *a)
{
	struct graph_lines *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "graph_lines", "Lines of the program that captured the kernels of CUDA graphs",
					       graph_columns, G_COLUMNS);
	size_t from = 0;
	int rc = 0;

	ct_keyed_sort(&s->nodes, graph_compare_nodes);
	for (size_t i = 0; i < s->graphs.count && !rc; i++) {
		const struct graph_made *made = &s->graphs.list[i];
		size_t to = from;

		while (to < s->nodes.count && s->nodes.list[to].number == made->number)
			to++;
		if (made->launches && made->kernels && made->whole)
			rc = graph_rows(a, t, made, graph_agrees(s, made, &s->nodes.list[from], to - from) ? &s->nodes.list[from] : NULL);
		from = to;
	}
	if (!ct_stacks_recorded(a->trace))
		ct_table_note(t, "No stacks were recorded: cudatrace record --stacks -- PROGRAM");
	else
		ct_table_note(t, "The GPU's time by line is known with record --gpu=nodes, where each replay has the kernels that were captured.");
	return rc ? rc : ct_table_sort(t, G_KERNELS, true);
}

static void graph_free(struct ct_analysis *a)
{
	struct graph_lines *s = a->state;

	ct_keyed_free(&s->graphs);
	ct_keyed_free(&s->captured);
	ct_keyed_free(&s->ended);
	ct_keyed_free(&s->execs);
	ct_keyed_free(&s->launches);
	ct_keyed_free(&s->nodes);
	ct_sources_free(&s->sources);
	free(s->list);
}

const struct ct_analyser ct_report_graph_lines = {
	.name = "graph_lines",
	.summary = "CUDA graphs: which lines of the program captured their kernels (record --stacks)",
	.spans = CT_SPANS_BY_BEGIN,
	.wants = graph_wants,
	.single = true,
	.state_size = sizeof(struct graph_lines),
	.span = graph_span,
	.end = graph_end,
	.free = graph_free,
};
