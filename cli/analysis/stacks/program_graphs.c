// SPDX-License-Identifier: LGPL-2.1-or-later
/* See program_graphs.h. */
#include "analysis/stacks/program_graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define BUILT_HELD	(1u << 20)	/* kernels and graphs in all graphs; with more, graphs are not whole */
#define BUILT_DEEP	16		/* graphs inside of graphs; deeper ones are left out */

struct built_node {			/* a kernel, or a graph inside */
	struct ct_graph_kernel_made kernel;
	uint64_t inside;
};

struct ct_program_graph {
	uint64_t number;
	struct built_node *nodes;
	unsigned int count, room;
	bool partly;			/* some of its nodes are not known */
	bool named;			/* it has a handle, or had one */
	bool taken;			/* it is inside of a node */
};

static struct ct_program_graph *built_get(const struct ct_program_graphs *s, uint64_t number)
{
	return number ? ct_keyed_get(&s->graphs, number) : NULL;
}

static struct ct_program_graph *built_new(struct ct_program_graphs *s)
{
	struct ct_program_graph *graph = ct_keyed_put(&s->graphs, s->made + 1);

	if (graph)
		s->made++;
	return graph;
}

/* Its nodes, and the graphs inside of it, which nobody else has. */
static void built_forget(struct ct_program_graphs *s, uint64_t number, unsigned int depth)
{
	struct ct_program_graph *graph = depth < BUILT_DEEP ? built_get(s, number) : NULL;
	struct built_node *nodes;
	unsigned int count;

	if (!graph)
		return;
	nodes = graph->nodes;
	count = graph->count;
	ct_keyed_remove(&s->graphs, graph);
	s->held -= count;
	for (unsigned int i = 0; i < count; i++)
		built_forget(s, nodes[i].inside, depth + 1);
	free(nodes);
}

static uint64_t built_number(const struct ct_program_graphs *s, uint64_t handle, uint64_t pid)
{
	const struct ct_graph_of_handle *known = handle ? ct_keyed_get_pair(&s->handles, handle, pid) : NULL;

	return known ? known->number : 0;
}

/* The handle is that of this graph from now on; it may have been another one's, whose end was not seen. */
static int built_name(struct ct_program_graphs *s, uint64_t handle, uint64_t pid, uint64_t number)
{
	struct ct_graph_of_handle *known = ct_keyed_put_pair(&s->handles, handle, pid);
	struct ct_program_graph *graph;

	if (!known)
		return -ENOMEM;
	if (known->number && known->number != number)
		built_forget(s, known->number, 0);
	known->number = number;
	graph = built_get(s, number);
	/* In a damaged trace it may have been inside of that one. */
	if (graph)
		graph->named = true;
	return 0;
}

/* A graph with this handle that is empty, or of which not everything is known.  NULL: no memory. */
static struct ct_program_graph *built_make(struct ct_program_graphs *s, uint64_t handle, uint64_t pid, bool partly)
{
	struct ct_program_graph *graph = built_new(s);
	uint64_t number = s->made;

	if (!graph)
		return NULL;
	graph->partly = partly;
	return built_name(s, handle, pid, number) ? NULL : built_get(s, number);
}

/* The graph with this handle, which may be one whose making was not seen. */
static struct ct_program_graph *built_of(struct ct_program_graphs *s, uint64_t handle, uint64_t pid)
{
	struct ct_program_graph *graph = built_get(s, built_number(s, handle, pid));

	return graph ? graph : built_make(s, handle, pid, true);
}

static int built_add(struct ct_program_graphs *s, struct ct_program_graph *graph, struct built_node node)
{
	if (s->held >= BUILT_HELD) {
		graph->partly = true;
		return 0;
	}
	if (!ct_room(graph->nodes, graph->count, graph->room))
		return -ENOMEM;
	graph->nodes[graph->count++] = node;
	s->held++;
	return 0;
}

/* A copy of a graph, without a handle: its number in @made. */
static int built_copy(struct ct_program_graphs *s, uint64_t from, unsigned int depth, uint64_t *made)
{
	struct ct_program_graph *copy = built_new(s);
	const struct ct_program_graph *graph = depth < BUILT_DEEP ? built_get(s, from) : NULL;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	*made = copy->number;
	copy->partly = !graph || graph->partly;
	for (unsigned int i = 0; graph && i < graph->count && !rc; i++) {
		struct built_node node = graph->nodes[i];

		if (s->held >= BUILT_HELD) {
			copy->partly = true;
			break;
		}
		if (node.inside)
			rc = built_copy(s, node.inside, depth + 1, &node.inside);
		/* A put moved them. */
		copy = built_get(s, *made);
		graph = built_get(s, from);
		if (!rc)
			rc = built_add(s, copy, node);
	}
	return rc;
}

/* ------------------------------------------------------------------ captures --- */

static uint64_t built_stream(const struct ct_record *r)
{
	return ct_record_has(r, CT_KNOWN_STREAM) ? ct_record_known(r, CT_KNOWN_STREAM) : ct_record_known(r, CT_KNOWN_HANDLE);
}

/* The capture that the stream is in; NULL: none. */
static struct ct_graph_capture *built_capture(struct ct_program_graphs *s, uint64_t stream, uint64_t pid)
{
	const struct ct_graph_of_handle *in = s->captures.count ? ct_keyed_get_pair(&s->captured, stream, pid) : NULL;

	return in ? ct_keyed_get(&s->captures, in->number) : NULL;
}

/* Into a graph of its own, or into the program's. */
static int built_begins(struct ct_program_graphs *s, const struct ct_span *span)
{
	uint64_t into = ct_record_has(span->record, CT_KNOWN_GRAPH) ? ct_record_known(span->record, CT_KNOWN_GRAPH) : 0;
	const struct ct_program_graph *graph = into ? built_of(s, into, span->pid) : built_new(s);
	struct ct_graph_capture *capture = ct_keyed_put(&s->captures, s->begun + 1);
	struct ct_graph_of_handle *in = ct_keyed_put_pair(&s->captured, built_stream(span->record), span->pid);

	if (!graph || !capture || !in)
		return -ENOMEM;
	capture->graph = graph->number;
	in->number = ++s->begun;
	return 0;
}

/* In all its streams. */
static int built_ends(struct ct_program_graphs *s, const struct ct_span *span)
{
	struct ct_graph_capture *capture = built_capture(s, built_stream(span->record), span->pid);
	uint64_t number = capture ? capture->graph : 0, handle = ct_record_known(span->record, CT_KNOWN_GRAPH);
	struct ct_graph_of_handle *ended;

	if (!capture)
		return 0;
	ct_keyed_remove(&s->captures, capture);
	if (span->flags & CT_SPAN_FAILED) {
		if (built_get(s, number) && !built_get(s, number)->named)
			built_forget(s, number, 0);
		return 0;
	}
	ended = ct_keyed_put_pair(&s->ended, span->tid, span->pid);
	if (!ended)
		return -ENOMEM;
	ended->number = number;
	return handle && built_get(s, number) ? built_name(s, handle, span->pid, number) : 0;
}

/* An event of a stream that is captured takes other streams into the capture, which wait for it. */
static int built_event(struct ct_program_graphs *s, const struct ct_span *span, bool waits)
{
	uint64_t event = ct_record_known(span->record, CT_KNOWN_EVENT), stream = built_stream(span->record), pid = span->pid;
	struct ct_graph_of_handle *recorded = ct_keyed_get_pair(&s->recorded, event, pid), *in;
	const struct ct_graph_capture *capture;

	if (!s->captures.count)
		return 0;
	if (waits) {
		if (!recorded || !ct_keyed_get(&s->captures, recorded->number) || built_capture(s, stream, pid))
			return 0;
		in = ct_keyed_put_pair(&s->captured, stream, pid);
		if (in)
			in->number = recorded->number;
		return in ? 0 : -ENOMEM;
	}
	capture = built_capture(s, stream, pid);
	if (!capture && recorded)
		ct_keyed_remove_pair(&s->recorded, recorded);
	if (!capture)
		return 0;
	recorded = ct_keyed_put_pair(&s->recorded, event, pid);
	if (recorded)
		recorded->number = capture->number;
	return recorded ? 0 : -ENOMEM;
}

static int built_launch(struct ct_program_graphs *s, const struct ct_registry *reg, const struct ct_span *span)
{
	const struct ct_graph_capture *capture = built_capture(s, built_stream(span->record), span->pid);
	struct ct_program_graph *graph = capture ? built_get(s, capture->graph) : NULL;
	struct built_node node = { .kernel = { .stack = span->stack, .kernel = ct_record_kernel(span->record, reg) } };

	return graph ? built_add(s, graph, node) : 0;
}

/* --------------------------------------------------------------------- nodes --- */

enum { BUILT_KERNEL = 0 };		/* CUgraphNodeType of cuda.h */

static int built_node(struct ct_program_graphs *s, const struct ct_registry *reg, const struct ct_span *span)
{
	const struct ct_record *r = span->record;
	uint64_t child = ct_record_known(r, CT_KNOWN_CHILD), pid = span->pid;
	struct ct_program_graph *graph, *inside;
	struct built_node node = { 0 };
	int rc;

	if (child && ct_record_known(r, CT_KNOWN_OWNED)) {
		inside = built_get(s, built_number(s, child, pid));
		/* A conditional node's body is made with it. */
		if (!inside)
			inside = built_make(s, child, pid, false);
		if (!inside)
			return -ENOMEM;
		if (inside->taken)
			return 0;
		inside->taken = true;
		node.inside = inside->number;
	} else if (child) {
		rc = built_copy(s, built_number(s, child, pid), 0, &node.inside);
		if (rc)
			return rc;
	} else if (ct_record_known(r, CT_KNOWN_NODE_TYPE) == BUILT_KERNEL) {
		node.kernel = (struct ct_graph_kernel_made){ .stack = span->stack, .kernel = ct_record_kernel(r, reg) };
	} else {
		return 0;
	}
	graph = built_of(s, ct_record_known(r, CT_KNOWN_GRAPH), pid);
	return graph ? built_add(s, graph, node) : -ENOMEM;
}

static int built_clone(struct ct_program_graphs *s, const struct ct_span *span)
{
	uint64_t from = built_number(s, ct_record_known(span->record, CT_KNOWN_SOURCE), span->pid), made;
	int rc = built_copy(s, from, 0, &made);

	return rc ? rc : built_name(s, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid, made);
}

static void built_destroyed(struct ct_program_graphs *s, const struct ct_span *span)
{
	struct ct_graph_of_handle *known = ct_keyed_get_pair(&s->handles, ct_record_known(span->record, CT_KNOWN_HANDLE), span->pid);

	if (!known)
		return;
	built_forget(s, known->number, 0);
	ct_keyed_remove_pair(&s->handles, known);
}

/* ---------------------------------------------------------------- what is told --- */

static int built_stream_call(struct ct_program_graphs *s, const struct ct_span *span)
{
	const char *name = span->class->name;

	if (!strcmp(name, "cuStreamEndCapture"))
		return built_ends(s, span);
	if (span->flags & CT_SPAN_FAILED)
		return 0;
	if (!strcmp(name, "cuStreamWaitEvent"))
		return built_event(s, span, true);
	return !strncmp(name, "cuStreamBeginCapture", 20) ? built_begins(s, span) : 0;
}

bool ct_program_graphs_wants(const struct ct_class *class)
{
	if (!ct_class_is(class, CT_IS_API))
		return false;
	return class->category == CT_CAT_STREAM || class->category == CT_CAT_GRAPH || class->category == CT_CAT_KERNEL ||
	       (class->category == CT_CAT_EVENT && class->operation == CT_OP_RECORD);
}

int ct_program_graphs_span(struct ct_program_graphs *s, const struct ct_registry *reg, const struct ct_span *span)
{
	const char *name = span->class->name;

	switch (span->class->category) {
	case CT_CAT_STREAM:
		return built_stream_call(s, span);
	case CT_CAT_KERNEL:
		return !(span->flags & CT_SPAN_FAILED) && ct_class_is(span->class, CT_IS_LAUNCH) ? built_launch(s, reg, span) : 0;
	case CT_CAT_EVENT:
		return !(span->flags & CT_SPAN_FAILED) && span->class->operation == CT_OP_RECORD ? built_event(s, span, false) : 0;
	case CT_CAT_GRAPH:
		break;
	default:
		return 0;
	}
	if (span->flags & CT_SPAN_FAILED)
		return 0;
	if (ct_record_has(span->record, CT_KNOWN_NODE_TYPE))
		return built_node(s, reg, span);
	if (!strcmp(name, "cuGraphCreate"))
		return built_make(s, ct_record_known(span->record, CT_KNOWN_GRAPH), span->pid, false) ? 0 : -ENOMEM;
	if (!strcmp(name, "cuGraphClone") && ct_record_has(span->record, CT_KNOWN_SOURCE))
		return built_clone(s, span);
	if (!strcmp(name, "cuGraphDestroy"))
		built_destroyed(s, span);
	return 0;
}

uint64_t ct_program_graphs_source(struct ct_program_graphs *s, const struct ct_span *span)
{
	struct ct_graph_of_handle *ended;
	uint64_t number;

	if (ct_record_has(span->record, CT_KNOWN_SOURCE))
		return built_number(s, ct_record_known(span->record, CT_KNOWN_SOURCE), span->pid);
	/* Traces of before schema 8 do not name it: that which this thread captured last. */
	ended = ct_keyed_get_pair(&s->ended, span->tid, span->pid);
	number = ended ? ended->number : 0;
	if (ended)
		ct_keyed_remove_pair(&s->ended, ended);
	return number;
}

/* What is asked for each kernel, and how far it is. */
struct built_walk {
	int (*each)(void *arg, struct ct_graph_kernel_made kernel);
	void *arg;
	bool whole;
};

static int built_each(const struct ct_program_graphs *s, uint64_t number, unsigned int depth, struct built_walk *walk)
{
	const struct ct_program_graph *graph = depth < BUILT_DEEP ? built_get(s, number) : NULL;
	int rc = 0;

	walk->whole &= graph && !graph->partly;
	for (unsigned int i = 0; graph && i < graph->count && !rc; i++)
		rc = graph->nodes[i].inside ? 0 : walk->each(walk->arg, graph->nodes[i].kernel);
	for (unsigned int i = 0; graph && i < graph->count && !rc; i++)
		rc = graph->nodes[i].inside ? built_each(s, graph->nodes[i].inside, depth + 1, walk) : 0;
	return rc;
}

int ct_program_graphs_each(const struct ct_program_graphs *s, uint64_t number, bool *whole,
			   int (*each)(void *arg, struct ct_graph_kernel_made kernel), void *arg)
{
	struct built_walk walk = { .each = each, .arg = arg, .whole = true };
	int rc = built_each(s, number, 0, &walk);

	*whole &= walk.whole;
	return rc;
}

void ct_program_graphs_free(struct ct_program_graphs *s)
{
	for (size_t i = 0; i < s->graphs.count; i++)
		free(s->graphs.list[i].nodes);
	ct_keyed_free(&s->graphs);
	ct_keyed_free(&s->handles);
	ct_keyed_free(&s->ended);
	ct_keyed_free(&s->captured);
	ct_keyed_free(&s->recorded);
	ct_keyed_free(&s->captures);
}
