// SPDX-License-Identifier: LGPL-2.1-or-later
/* See graphs.h. */
#include "analysis/stacks/graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define GRAPH_KERNELS	(1u << 20)	/* of all graphs; with more nothing is said of later ones */
#define GRAPH_LAUNCHES	(1u << 20)	/* of which what they replayed is known; with more that of older ones is not */

struct graph_handle {			/* a stream that is captured, an executable graph: which graph it is */
	uint64_t handle, pid;
	uint64_t number;
};

struct graph_launch {
	uint64_t op_id;
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

struct ct_graphs {
	CT_KEYED(struct ct_cuda_graph) graphs;
	CT_KEYED(struct graph_handle) captured, ended, execs;	/* ended: by thread */
	CT_KEYED(struct graph_launch) launches;
	CT_KEYED(struct graph_node) nodes;
	struct graph_captured *list;
	unsigned int count, room;
};

static bool graph_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_GPU_KERNEL | CT_IS_GPU_GRAPH) ||
	       (ct_class_is(class, CT_IS_API) && (class->category == CT_CAT_STREAM || class->category == CT_CAT_GRAPH ||
						  class->category == CT_CAT_KERNEL));
}

static uint64_t graph_stream(const struct ct_record *r)
{
	return ct_record_has(r, CT_KNOWN_STREAM) ? ct_record_known(r, CT_KNOWN_STREAM) : ct_record_known(r, CT_KNOWN_HANDLE);
}

static int graph_begins(struct ct_graphs *s, const struct ct_span *span)
{
	struct ct_cuda_graph *made = ct_keyed_put(&s->graphs, s->graphs.count + 1);
	struct graph_handle *open = ct_keyed_put_pair(&s->captured, graph_stream(span->record), span->pid);

	if (!made || !open)
		return -ENOMEM;
	made->pid = span->pid;
	made->whole = true;
	open->number = made->number;
	return 0;
}

static int graph_ends(struct ct_graphs *s, const struct ct_span *span)
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

static int graph_instantiated(struct ct_graphs *s, const struct ct_span *span)
{
	struct graph_handle *ended = ct_keyed_get_pair(&s->ended, span->tid, span->pid);
	struct graph_handle *exec = ct_keyed_put_pair(&s->execs, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid);

	if (!exec)
		return -ENOMEM;
	/* 0: of a graph that was made otherwise. */
	exec->number = ended ? ended->number : 0;
	if (ended)
		ct_keyed_remove_pair(&s->ended, ended);
	return 0;
}

static int graph_launched(struct ct_graphs *s, const struct ct_span *span)
{
	const struct graph_handle *exec = ct_keyed_get_pair(&s->execs, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid);
	struct ct_cuda_graph *made = exec && exec->number ? ct_keyed_get(&s->graphs, exec->number) : NULL;
	struct graph_launch *launched;

	if (!made)
		return 0;
	made->launches++;
	made->replay = span->stack;
	if (s->launches.count == GRAPH_LAUNCHES)
		ct_keyed_free(&s->launches);
	launched = ct_keyed_put(&s->launches, span->op_id);
	if (!launched)
		return -ENOMEM;
	launched->number = made->number;
	return 0;
}

static int graph_kernel(struct ct_analysis *a, const struct ct_span *span)
{
	struct ct_graphs *s = a->state;
	const struct graph_handle *open = ct_keyed_get_pair(&s->captured, graph_stream(span->record), span->pid);
	struct ct_cuda_graph *made = open ? ct_keyed_get(&s->graphs, open->number) : NULL;

	if (!made)
		return 0;
	if (s->count == GRAPH_KERNELS) {
		made->whole = false;
		return 0;
	}
	if (!ct_room(s->list, s->count, s->room))
		return -ENOMEM;
	s->list[s->count++] = (struct graph_captured){ span->stack, ct_record_kernel(span->record, &a->trace->reg), made->number };
	made->kernels++;
	return 0;
}

static int graph_work(struct ct_analysis *a, const struct ct_span *span)
{
	struct ct_graphs *s = a->state;
	const struct graph_launch *launched = ct_keyed_get(&s->launches, span->parent);
	struct ct_cuda_graph *made = launched ? ct_keyed_get(&s->graphs, launched->number) : NULL;
	struct graph_node *node;
	uint64_t number;

	if (!made)
		return 0;
	made->gpu += span->duration;
	number = ct_record_has(span->record, CT_KNOWN_GRAPH_NODE) ? ct_record_known(span->record, CT_KNOWN_GRAPH_NODE) : 0;
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
	struct ct_graphs *s = a->state;
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

/* ------------------------------------------------------------------- replays --- */

static int graph_compare_nodes(const void *x, const void *y)
{
	const struct graph_node *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Two streams may be captured at once: those of each graph together, as they were captured. */
static int graph_order(struct ct_graphs *s)
{
	struct graph_captured *list = calloc(s->count + 1ul, sizeof(*list));
	uint32_t first = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < s->graphs.count; i++) {
		s->graphs.list[i].first = first;
		first += s->graphs.list[i].kernels;
	}
	for (unsigned int i = 0; i < s->count; i++)
		list[ct_keyed_get(&s->graphs, s->list[i].number)->first++] = s->list[i];
	for (size_t i = 0; i < s->graphs.count; i++)
		s->graphs.list[i].first -= s->graphs.list[i].kernels;
	free(s->list);
	s->list = list;
	return 0;
}

/* Are these the kernels that were captured, each in its place? */
static bool graph_agrees(const struct ct_graphs *s, const struct ct_cuda_graph *made, const struct graph_node *nodes, size_t count)
{
	const struct graph_captured *captured = &s->list[made->first];

	if (made->kernels != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!captured[i].kernel || captured[i].kernel != nodes[i].kernel)
			return false;
	return true;
}

static int graphs_end(struct ct_analysis *a)
{
	struct ct_graphs *s = a->state;
	size_t from = 0;
	int rc = graph_order(s);

	if (rc)
		return rc;
	ct_keyed_sort(&s->nodes, graph_compare_nodes);
	for (size_t i = 0; i < s->graphs.count; i++) {
		struct ct_cuda_graph *made = &s->graphs.list[i];
		size_t to = from;

		while (to < s->nodes.count && s->nodes.list[to].number == made->number)
			to++;
		made->agrees = made->whole && graph_agrees(s, made, &s->nodes.list[from], to - from);
		made->nodes = from;
		from = to;
	}
	return 0;
}

static void graphs_free(struct ct_analysis *a)
{
	struct ct_graphs *s = a->state;

	ct_keyed_free(&s->graphs);
	ct_keyed_free(&s->captured);
	ct_keyed_free(&s->ended);
	ct_keyed_free(&s->execs);
	ct_keyed_free(&s->launches);
	ct_keyed_free(&s->nodes);
	free(s->list);
}

const struct ct_analyser ct_graphs_analyser = {
	.spans = CT_SPANS_BY_BEGIN,
	.wants = graph_wants,
	.state_size = sizeof(struct ct_graphs),
	.span = graph_span,
	.end = graphs_end,
	.free = graphs_free,
};

const struct ct_cuda_graph *ct_graphs_next(const struct ct_graphs *s, const struct ct_cuda_graph *before)
{
	const struct ct_cuda_graph *next = before ? before + 1 : s->graphs.list;

	return s->graphs.count && next < s->graphs.list + s->graphs.count ? next : NULL;
}

bool ct_graph_kernel(const struct ct_graphs *s, const struct ct_cuda_graph *graph, struct ct_graph_kernel *k)
{
	if (k->index == graph->kernels)
		return false;
	k->stack = s->list[graph->first + k->index].stack;
	k->ns = graph->agrees ? s->nodes.list[graph->nodes + k->index].ns : 0;
	k->node = graph->agrees ? s->nodes.list[graph->nodes + k->index].node : 0;
	k->index++;
	return true;
}

uint32_t ct_graphs_captured(const struct ct_graphs *s, uint64_t launch, uint64_t node)
{
	const struct graph_launch *launched = node ? ct_keyed_get(&s->launches, launch) : NULL;
	const struct ct_cuda_graph *graph = launched ? ct_keyed_get(&s->graphs, launched->number) : NULL;
	size_t low = 0, high = graph && graph->agrees ? graph->kernels : 0;

	while (low < high) {	/* the first that is not before it */
		size_t middle = low + (high - low) / 2;

		if (s->nodes.list[graph->nodes + middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return graph && graph->agrees && low < graph->kernels && s->nodes.list[graph->nodes + low].node == node ?
	       s->list[graph->first + low].stack : 0;
}
