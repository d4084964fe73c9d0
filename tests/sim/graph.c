// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * graph.c - graphs as capture and nodes.c leave them, and executables made from them.
 *
 * An executable owns copies of the ops: the graph may go before it. Launching
 * queues copies of those, so several launches may be in flight at once.
 */
#include <stdlib.h>

#include "sim.h"

/* A launch costs the host what cuLaunchKernel costs; see launch.c. */
#define LAUNCH_NS 2330

static void graph_free(struct sim_object *obj)
{
	struct sim_graph *graph = (struct sim_graph *)obj;
	struct sim_op *op, *next;

	for (op = graph->first; op; op = next) {
		next = op->next;
		if (op->kind == SIM_OP_GRAPH)
			sim_handle_close(&op->inside->object);
		sim_op_free(op);
	}
	free(graph);
}

struct sim_graph *sim_graph_new(enum sim_type type)
{
	struct sim_graph *graph = calloc(1, sizeof(*graph));

	if (graph && !sim_handle_new(&graph->object, type, graph_free)) {
		free(graph);
		return NULL;
	}
	return graph;
}

void sim_graph_append(struct sim_graph *graph, struct sim_op *op)
{
	if (graph->last)
		graph->last->next = op;
	else
		graph->first = op;
	graph->last = op;
	graph->count++;
}

bool sim_graph_copy(struct sim_graph *to, const struct sim_graph *from)
{
	struct sim_graph *inside;
	struct sim_op *op, *copy;

	for (op = from->first; op; op = op->next) {
		copy = sim_op_clone(op);
		if (!copy)
			return false;
		if (op->kind == SIM_OP_GRAPH) {
			inside = sim_graph_new(SIM_GRAPH);
			if (!inside) {
				sim_op_free(copy);
				return false;
			}
			copy->inside = inside;
			sim_graph_append(to, copy);
			if (!sim_graph_copy(inside, op->inside))
				return false;
			continue;
		}
		sim_graph_append(to, copy);
	}
	return true;
}

/* @number: of the next node; those of a graph stand before those of the graphs inside of it. */
static bool flatten(struct sim_graph *to, const struct sim_graph *from, bool by_gpu, uint32_t *number)
{
	uint32_t place = *number;
	struct sim_op *op, *copy;

	for (op = from->first; op; op = op->next)
		++*number;
	for (op = from->first; op; op = op->next, place++) {
		if (op->kind == SIM_OP_GRAPH) {
			if (!flatten(to, op->inside, by_gpu || op->by_gpu, number))
				return false;
			continue;
		}
		copy = sim_op_clone(op);
		if (!copy)
			return false;
		copy->place = place;
		copy->by_gpu = by_gpu;
		sim_graph_append(to, copy);
	}
	return true;
}

bool sim_graph_flatten(struct sim_graph *to, const struct sim_graph *from)
{
	uint32_t number = 0;

	return flatten(to, from, false, &number);
}

CUresult cuGraphCreate(CUgraph *handle, unsigned int flags)
{
	struct sim_graph *graph;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!handle || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	graph = sim_graph_new(SIM_GRAPH);
	if (graph)
		*handle = graph->object.handle;
	pthread_mutex_unlock(&sim_lock);
	return graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroy(void *handle, enum sim_type type)
{
	struct sim_graph *graph;

	pthread_mutex_lock(&sim_lock);
	graph = sim_handle_find(handle, type);
	if (graph)
		sim_handle_close(&graph->object);
	pthread_mutex_unlock(&sim_lock);
	return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphDestroy(CUgraph handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return destroy(handle, SIM_GRAPH);
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return destroy(handle, SIM_EXEC);
}

/* Nodes have no handles of their own; the numbers only tell them apart. */
CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
	struct sim_graph *graph;
	size_t i;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	graph = sim_handle_find(handle, SIM_GRAPH);
	if (graph) {
		for (i = 0; nodes && i < *count; i++)
			nodes[i] = i < graph->count ?
				(CUgraphNode)((uintptr_t)handle + 1 + i) : NULL;
		if (!nodes || *count > graph->count)
			*count = graph->count;
	}
	pthread_mutex_unlock(&sim_lock);
	return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult instantiate(CUgraphExec *handle, CUgraph graph_handle)
{
	struct sim_graph *graph, *exec;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	graph = sim_handle_find(graph_handle, SIM_GRAPH);
	if (!graph) {
		result = CUDA_ERROR_INVALID_VALUE;
		goto out;
	}
	exec = sim_graph_new(SIM_EXEC);
	if (!exec)
		goto out;
	if (!sim_graph_flatten(exec, graph)) {
		sim_handle_close(&exec->object);
		goto out;
	}
	*handle = exec->object.handle;
	result = CUDA_SUCCESS;
out:
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
			    CUgraphNode *error_node, char *log, size_t log_size)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (error_node)
		*error_node = NULL;
	if (log && log_size)
		*log = '\0';
	return instantiate(exec, graph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
			       CUgraphNode *error_node, char *log,
			       size_t log_size)
{
	return cuGraphInstantiate(exec, graph, error_node, log, log_size);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
				     unsigned long long flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)flags;
	return instantiate(exec, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	result = instantiate(exec, graph);
	params->hErrNode_out = NULL;
	params->result_out = result == CUDA_SUCCESS ?
		CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
	return result;
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	return cuGraphInstantiateWithParams(exec, graph, params);
}

static CUresult launch(CUgraphExec handle, CUstream stream_handle, bool really)
{
	struct sim_stream *stream;
	struct sim_graph *exec;
	struct sim_op *op, *copy;
	uint32_t number, node = 0, nodes;
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(stream_handle);
	exec = sim_handle_find(handle, SIM_EXEC);
	if (!stream || !exec)
		result = stream ? CUDA_ERROR_INVALID_VALUE :
				  CUDA_ERROR_INVALID_HANDLE;
	else if (stream->capture)
		result = sim_capture_forbids(stream);
	else if (really)
		for (op = exec->first, number = sim_activity_number(),
		     nodes = sim_activity_nodes(op); op && result == CUDA_SUCCESS;
		     op = op->next) {
			copy = sim_op_clone(op);
			if (copy) {
				copy->correlation = number;
				copy->graph = (uint32_t)(uintptr_t)handle;
				copy->node = ++node;
				copy->nodes = nodes;
			}
			result = copy ? sim_queue(stream, copy) :
					CUDA_ERROR_OUT_OF_MEMORY;
		}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return launch(exec, stream, false);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	return cuGraphUpload(exec, SIM_PER_THREAD(stream));
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	uint64_t start = sim_now();
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	result = launch(exec, stream, true);
	sim_spin_until(start +
		       (uint64_t)(LAUNCH_NS * sim_knobs()->time_scale));
	return result;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	return cuGraphLaunch(exec, SIM_PER_THREAD(stream));
}
