/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUDA graphs, and from which lines of the program their kernels were captured.
 *
 * A graph is what was launched into a stream while it was captured; the call of the same thread that instantiates next
 * makes it executable.  With --gpu=nodes the kernels of a graph have numbers that grow as they were captured: where a replay
 * has the kernels of the capture, by number and by name, each is the one in its place.
 */
#ifndef CT_CLI_STACK_GRAPHS_H
#define CT_CLI_STACK_GRAPHS_H

#include "analysis/engine.h"

struct ct_cuda_graph {
	uint64_t number;		/* in the order of captures, from 1 */
	uint32_t pid;
	bool whole;			/* all of its launches are known */
	bool agrees;			/* its replays have the kernels that were captured */
	uint32_t first, kernels;	/* internal: where among all that were captured; how many */
	size_t nodes;			/* internal */
	uint64_t launches, gpu;		/* of the graph; ns */
	uint32_t replay;		/* the stack of its last launch */
};

/* The state of ct_graphs_analyser. */
struct ct_graphs;
extern const struct ct_analyser ct_graphs_analyser;

/* The graph after @before, NULL: the first one.  NULL: no more. */
const struct ct_cuda_graph *ct_graphs_next(const struct ct_graphs *s, const struct ct_cuda_graph *before);

/* A kernel that was captured: zeros before the first one. */
struct ct_graph_kernel {
	uint32_t stack;			/* from where */
	uint64_t ns, node;		/* of all its replays, and its number; 0 where the graph does not agree */
	unsigned int index;		/* internal */
};

/* The next kernel of a graph; false: no more. */
bool ct_graph_kernel(const struct ct_graphs *s, const struct ct_cuda_graph *graph, struct ct_graph_kernel *k);

/* The stack with which the kernel of this number was captured that the graph launch @launch replayed; 0: not known. */
uint32_t ct_graphs_captured(const struct ct_graphs *s, uint64_t launch, uint64_t node);

#endif
