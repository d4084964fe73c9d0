// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * nodes.c - graphs that are built node by node, cloned and updated.
 *
 * A graph runs its ops in the order in which they were added, which satisfies every
 * dependency that a node can be added with, so no edges are kept. A node has a copy of its child
 * graph; one that moves there, or is a conditional node's body, stays a graph that the
 * program may add to, until its parent is instantiated.
 */
#include "sim.h"

static struct sim_graph *graph_of(CUgraph handle)
{
	return sim_handle_find(handle, SIM_GRAPH);
}

/* The lock is held; takes @op over. The node is known by its place, as cuGraphGetNodes() says. */
static CUresult add(CUgraphNode *node, CUgraph handle, struct sim_op *op)
{
	struct sim_graph *graph = graph_of(handle);

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!node || !graph) {
		sim_op_free(op);
		return CUDA_ERROR_INVALID_VALUE;
	}
	sim_graph_append(graph, op);
	*node = (CUgraphNode)((uintptr_t)handle + graph->count);
	return CUDA_SUCCESS;
}

static void nothing(void *data)
{
	(void)data;
}

static CUresult add_host(CUgraphNode *node, CUgraph handle, CUhostFn fn, void *data)
{
	struct sim_op *op = sim_op_new(SIM_OP_HOST, NULL, 0);

	if (op) {
		op->host.fn = fn;
		op->host.data = data;
	}
	return add(node, handle, op);
}

static CUresult add_kernel(CUgraphNode *node, CUgraph handle, CUfunction function,
			   const struct sim_shape *shape, void **params, void **extra)
{
	struct sim_op *op = NULL;
	CUresult result;

	pthread_mutex_lock(&sim_lock);
	result = sim_launch_op(function, shape, params, extra, &op);
	if (result == CUDA_SUCCESS)
		result = add(node, handle, op);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

#define SHAPE(p)	{ { (p)->gridDimX, (p)->gridDimY, (p)->gridDimZ },	\
			  { (p)->blockDimX, (p)->blockDimY, (p)->blockDimZ },	\
			  (p)->sharedMemBytes, false }
/* By either handle. */
#define FUNCTION(p)	((p)->func ? (p)->func : (CUfunction)(p)->kern)

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			      size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	return add_kernel(node, graph, p->func, &(struct sim_shape)SHAPE(p), p->kernelParams, p->extra);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				 size_t count, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	return add_kernel(node, graph, FUNCTION(p), &(struct sim_shape)SHAPE(p), p->kernelParams, p->extra);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			      const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
	struct sim_memory *mem;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	(void)context;
	if (!p || !p->width || !p->height || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	mem = sim_memory_find(p->dst, p->pitch * (p->height - 1) + p->width * p->elementSize);
	result = CUDA_ERROR_INVALID_VALUE;
	if (mem) {
		struct sim_op *op = sim_op_new(SIM_OP_SET, NULL, 0);

		if (op) {
			op->set.dst = p->dst;
			op->set.pitch = p->pitch;
			op->set.width = p->width;
			op->set.height = p->height;
			op->set.value = p->value;
			op->set.value_size = p->elementSize;
		}
		result = add(node, graph, op);
		sim_memory_put(mem);
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			    const CUDA_HOST_NODE_PARAMS *p)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	if (!p || !p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	result = add_host(node, graph, p->fn, p->userData);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	pthread_mutex_lock(&sim_lock);
	result = add_host(node, graph, nothing, NULL);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

/* The lock is held. A node that runs @inside, which is its own from now on. */
static CUresult add_inside(CUgraphNode *node, CUgraph handle, struct sim_graph *inside, struct sim_op **made)
{
	struct sim_op *op = sim_op_new(SIM_OP_GRAPH, &inside->object.handle, sizeof(inside->object.handle));

	if (op)
		op->inside = inside;
	*made = op;
	return add(node, handle, op);
}

/* The lock is held. */
static CUresult add_copy(CUgraphNode *node, CUgraph handle, CUgraph child_handle)
{
	struct sim_graph *graph = graph_of(handle), *child = graph_of(child_handle), *copy;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	struct sim_op *op;

	if (!node || !graph || !child || graph == child)
		return CUDA_ERROR_INVALID_VALUE;
	copy = sim_graph_new(SIM_GRAPH);
	if (copy && sim_graph_copy(copy, child))
		result = add_inside(node, handle, copy, &op);
	if (copy && result != CUDA_SUCCESS)
		sim_handle_close(&copy->object);
	return result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
				  CUgraph child)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	pthread_mutex_lock(&sim_lock);
	result = add_copy(node, graph, child);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

/* The lock is held. */
static CUresult add_conditional(CUgraphNode *node, CUgraph handle, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	struct sim_graph *body;
	struct sim_op *op;
	CUresult result;

	if (!graph_of(handle) || p->size != 1)
		return CUDA_ERROR_INVALID_VALUE;
	body = sim_graph_new(SIM_GRAPH);
	if (!body)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = add_inside(node, handle, body, &op);
	if (result == CUDA_SUCCESS) {
		p->phGraph_out = op->blob;
		op->by_gpu = true;
	} else {
		sim_handle_close(&body->object);
	}
	return result;
}

/* The lock is held. */
static CUresult add_any(CUgraphNode *node, CUgraph handle, CUgraphNodeParams *p)
{
	struct sim_op *op = NULL;
	struct sim_graph *child;
	CUresult result;

	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		result = sim_launch_op(FUNCTION(&p->kernel), &(struct sim_shape)SHAPE(&p->kernel),
				       p->kernel.kernelParams, p->kernel.extra, &op);
		return result == CUDA_SUCCESS ? add(node, handle, op) : result;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return add_host(node, handle, nothing, NULL);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		if (p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
			return add_copy(node, handle, p->graph.graph);
		child = graph_of(p->graph.graph);
		return child && child != graph_of(handle) ? add_inside(node, handle, child, &op) :
							    CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return add_conditional(node, handle, &p->conditional);
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			CUgraphNodeParams *p)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)after;
	(void)count;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	result = add_any(node, graph, p);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			   const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
	(void)edges;
	return cuGraphAddNode(node, graph, after, count, p);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
					unsigned int value, unsigned int flags)
{
	static CUgraphConditionalHandle last;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)graph;
	(void)context;
	(void)value;
	(void)flags;
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	*handle = ++last;
	pthread_mutex_unlock(&sim_lock);
	return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *handle, CUgraph from)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct sim_graph *graph, *clone;

	SIM_ENTER(SIM_NEEDS_INIT);
	pthread_mutex_lock(&sim_lock);
	graph = graph_of(from);
	if (handle && graph) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
		clone = sim_graph_new(SIM_GRAPH);
		if (clone && sim_graph_copy(clone, graph)) {
			*handle = clone->object.handle;
			result = CUDA_SUCCESS;
		} else if (clone) {
			sim_handle_close(&clone->object);
		}
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

/* Kinds of nodes in their order: what makes two graphs one topology here. */
static bool same_nodes(const struct sim_graph *a, const struct sim_graph *b)
{
	const struct sim_op *x = a->first, *y = b->first;

	for (; x && y && x->kind == y->kind; x = x->next, y = y->next)
		;
	return !x && !y;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph from, CUgraphExecUpdateResultInfo *info)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct sim_graph *exec, *graph, *copy, was;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	exec = sim_handle_find(handle, SIM_EXEC);
	graph = graph_of(from);
	copy = exec && graph && info ? sim_graph_new(SIM_GRAPH) : NULL;
	if (copy) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
		if (sim_graph_flatten(copy, graph)) {
			bool same = same_nodes(exec, copy);

			*info = (CUgraphExecUpdateResultInfo){
				.result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS :
						 CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
			};
			result = same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
			if (same) {	/* what it had goes with the copy */
				was = *exec;
				exec->first = copy->first;
				exec->last = copy->last;
				copy->first = was.first;
				copy->last = was.last;
			}
		}
		sim_handle_close(&copy->object);
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}
