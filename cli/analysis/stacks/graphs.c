// SPDX-License-Identifier: LGPL-2.1-or-later
/* See graphs.h. */
#include "analysis/stacks/graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/program_graphs.h"
#include "base/grow.h"

#define GRAPH_KERNELS	(1u << 20)	/* of all graphs; with more nothing is said of later ones */
#define GRAPH_LAUNCHES	(1u << 20)	/* of which what they replayed is known; with more that of older ones is not */

struct graph_launch {
	uint64_t op_id;
	uint64_t number;
};

struct graph_node {			/* of --gpu=nodes */
	uint64_t node, number;
	uint64_t ns;
	uint32_t kernel, stack;
};

struct graph_kernel {
	struct ct_graph_kernel_made made;
	uint64_t ns;
};

struct ct_graphs {
	struct ct_program_graphs program;
	CT_KEYED(struct ct_cuda_graph) graphs;
	CT_KEYED(struct ct_graph_of_handle) execs;
	CT_KEYED(struct graph_launch) launches;
	CT_KEYED(struct graph_node) nodes;
	struct graph_kernel *list;
	unsigned int count, room;
	uint64_t unknown;		/* launches of graphs of which not all kernels are known */
};

static bool graph_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_GPU_KERNEL | CT_IS_GPU_GRAPH) || ct_program_graphs_wants(class);
}

enum { GRAPH_FULL = 1 };

static int graph_add(void *arg, struct ct_graph_kernel_made kernel)
{
	struct ct_graphs *s = arg;

	if (s->count == GRAPH_KERNELS)
		return GRAPH_FULL;
	if (!ct_room(s->list, s->count, s->room))
		return -ENOMEM;
	s->list[s->count++] = (struct graph_kernel){ .made = kernel };
	return 0;
}

/* Are the kernels from @first on those of this graph? */
static bool graph_is(const struct ct_graphs *s, const struct ct_cuda_graph *graph, uint32_t first)
{
	if (graph->kernels != s->count - first)
		return false;
	for (uint32_t i = 0; i < graph->kernels; i++)
		if (memcmp(&s->list[graph->first + i].made, &s->list[first + i].made, sizeof(s->list->made)))
			return false;
	return true;
}

/* The call makes a graph executable, or an executable one follow another graph. */
static int graph_executable(struct ct_graphs *s, const struct ct_span *span)
{
	struct ct_graph_of_handle *exec = ct_keyed_put_pair(&s->execs, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid);
	uint64_t source = ct_program_graphs_source(&s->program, span);
	const struct ct_cuda_graph *before;
	struct ct_cuda_graph *made;
	uint32_t first = s->count;
	bool whole = true, update = span->class->operation != CT_OP_CREATE;
	int rc;

	if (!exec)
		return -ENOMEM;
	before = update && exec->number ? ct_keyed_get(&s->graphs, exec->number) : NULL;
	exec->number = 0;		/* of a graph that is not known */
	if (!source)
		return 0;
	rc = ct_program_graphs_each(&s->program, source, &whole, graph_add, s);
	if (rc < 0)
		return rc;
	if (before && graph_is(s, before, first)) {
		s->count = first;
		exec->number = before->number;
		return 0;
	}
	made = ct_keyed_put(&s->graphs, s->graphs.count + 1);
	if (!made)
		return -ENOMEM;
	made->pid = span->pid;
	made->whole = whole && rc != GRAPH_FULL;
	made->first = first;
	made->kernels = s->count - first;
	exec->number = made->number;
	return 0;
}

static void graph_destroyed(struct ct_graphs *s, const struct ct_span *span)
{
	struct ct_graph_of_handle *exec = ct_keyed_get_pair(&s->execs, ct_record_known(span->record, CT_KNOWN_HANDLE), span->pid);

	if (exec)
		ct_keyed_remove_pair(&s->execs, exec);
}

static int graph_launched(struct ct_graphs *s, const struct ct_span *span)
{
	const struct ct_graph_of_handle *exec = ct_keyed_get_pair(&s->execs, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid);
	struct ct_cuda_graph *made = exec && exec->number ? ct_keyed_get(&s->graphs, exec->number) : NULL;
	struct graph_launch *launched;

	s->unknown += !made || !made->whole;
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
	if (span->kind != CT_SPAN_CALL || !span->record->fields)
		return 0;
	if (span->class->category != CT_CAT_GRAPH || span->flags & CT_SPAN_FAILED)
		return ct_program_graphs_span(&s->program, &a->trace->reg, span);
	if (ct_class_is(span->class, CT_IS_LAUNCH))
		return graph_launched(s, span);
	if (!strncmp(name, "cuGraphInstantiate", 18) || (!strcmp(name, "cuGraphExecUpdate") && ct_record_has(span->record, CT_KNOWN_SOURCE)))
		return graph_executable(s, span);
	if (!strcmp(name, "cuGraphExecDestroy"))
		graph_destroyed(s, span);
	return ct_program_graphs_span(&s->program, &a->trace->reg, span);
}

/* ------------------------------------------------------------------- replays --- */

static int graph_compare_nodes(const void *x, const void *y)
{
	const struct graph_node *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* The kernels of a graph by name; those of one name in their order. */
struct graph_named {
	uint32_t kernel, index;
};

static int graph_compare_names(const void *x, const void *y)
{
	const struct graph_named *a = x, *b = y;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void graph_tell(struct graph_kernel *kernel, struct graph_node *node)
{
	node->stack = kernel->made.stack;
	kernel->ns += node->ns;
}

/* Are the kernels of the replays those of the graph and of those inside of it, each in its place? */
static bool graph_agrees(const struct graph_kernel *kernels, const struct graph_node *nodes, const struct ct_cuda_graph *graph)
{
	if (graph->kernels != graph->nodes_count)
		return false;
	for (size_t i = 0; i < graph->kernels; i++)
		if (!kernels[i].made.kernel || kernels[i].made.kernel != nodes[i].kernel)
			return false;
	return true;
}

/* All of one name come from one place, and the graph has no fewer of them than its replays. */
static bool graph_one_place(const struct graph_kernel *kernels, const struct graph_named *made, size_t count, size_t replayed)
{
	for (size_t i = 1; i < count; i++)
		if (kernels[made[i].index].made.stack != kernels[made[0].index].made.stack)
			return false;
	return made[0].kernel && replayed <= count;
}

static size_t graph_same_name(const struct graph_named *list, size_t count)
{
	size_t n = 1;

	while (n < count && list[n].kernel == list[0].kernel)
		n++;
	return n;
}

/* false: some kernels of the replays are not told. */
static bool graph_tell_by_name(struct graph_kernel *kernels, struct graph_node *nodes, const struct ct_cuda_graph *graph,
			       struct graph_named *names)
{
	struct graph_named *made = names, *replayed = names + graph->kernels;
	size_t m = 0, told = 0;

	for (uint32_t i = 0; i < graph->kernels; i++)
		made[i] = (struct graph_named){ kernels[i].made.kernel, i };
	for (size_t i = 0; i < graph->nodes_count; i++)
		replayed[i] = (struct graph_named){ nodes[i].kernel, i };
	qsort(made, graph->kernels, sizeof(*made), graph_compare_names);
	qsort(replayed, graph->nodes_count, sizeof(*replayed), graph_compare_names);
	for (size_t r = 0, n; r < graph->nodes_count; r += n) {
		size_t count;

		n = graph_same_name(&replayed[r], graph->nodes_count - r);
		while (m < graph->kernels && made[m].kernel < replayed[r].kernel)
			m++;
		if (m == graph->kernels || made[m].kernel != replayed[r].kernel)
			continue;
		count = graph_same_name(&made[m], graph->kernels - m);
		if (!graph_one_place(kernels, &made[m], count, n))
			continue;
		for (size_t i = 0; i < n; i++)
			graph_tell(&kernels[made[m + i].index], &nodes[replayed[r + i].index]);
		told += n;
	}
	return told == graph->nodes_count;
}

/* Which kernel of a graph each kernel of its replays is. */
static int graph_replays(struct ct_graphs *s, struct ct_cuda_graph *graph)
{
	struct graph_kernel *kernels = s->list + graph->first;
	struct graph_node *nodes = s->nodes.list + graph->nodes;
	struct graph_named *names;

	if (!graph->whole || !graph->kernels || !graph->nodes_count)
		return 0;
	if (graph_agrees(kernels, nodes, graph)) {
		for (size_t i = 0; i < graph->kernels; i++)
			graph_tell(&kernels[i], &nodes[i]);
		graph->told = true;
		return 0;
	}
	names = calloc(graph->kernels + graph->nodes_count, sizeof(*names));
	if (!names)
		return -ENOMEM;
	graph->told = graph_tell_by_name(kernels, nodes, graph, names);
	free(names);
	return 0;
}

static int graphs_end(struct ct_analysis *a)
{
	struct ct_graphs *s = a->state;
	size_t from = 0;
	int rc = 0;

	ct_keyed_sort(&s->nodes, graph_compare_nodes);
	for (size_t i = 0; i < s->graphs.count && !rc; i++) {
		struct ct_cuda_graph *made = &s->graphs.list[i];

		made->nodes = from;
		while (from < s->nodes.count && s->nodes.list[from].number == made->number)
			from++;
		made->nodes_count = from - made->nodes;
		rc = graph_replays(s, made);
	}
	return rc;
}

static void graphs_free(struct ct_analysis *a)
{
	struct ct_graphs *s = a->state;

	ct_program_graphs_free(&s->program);
	ct_keyed_free(&s->graphs);
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

uint64_t ct_graphs_unknown(const struct ct_graphs *s)
{
	return s->unknown;
}

bool ct_graph_kernel(const struct ct_graphs *s, const struct ct_cuda_graph *graph, struct ct_graph_kernel *k)
{
	if (k->index == graph->kernels)
		return false;
	k->stack = s->list[graph->first + k->index].made.stack;
	k->ns = graph->told ? s->list[graph->first + k->index].ns : 0;
	k->index++;
	return true;
}

uint32_t ct_graphs_captured(const struct ct_graphs *s, uint64_t launch, uint64_t node)
{
	const struct graph_launch *launched = node ? ct_keyed_get(&s->launches, launch) : NULL;
	const struct ct_cuda_graph *graph = launched ? ct_keyed_get(&s->graphs, launched->number) : NULL;
	size_t low = 0, high = graph ? graph->nodes_count : 0;
	const struct graph_node *nodes = graph ? s->nodes.list + graph->nodes : NULL;

	while (low < high) {	/* the first that is not before it */
		size_t middle = low + (high - low) / 2;

		if (nodes[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return graph && low < graph->nodes_count && nodes[low].node == node ? nodes[low].stack : 0;
}
