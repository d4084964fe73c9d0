/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUDA graphs that are executable, and from which lines of the program their kernels come.
 *
 * What they hold is what the graph held of which they were made (program_graphs.h), and changes where they are updated to
 * another one: then they are another graph from there on, unless that one has the same kernels from the same lines.
 * With --gpu=nodes the kernels of a replay have numbers that grow as nodes were captured or added, those of a graph and then of
 * the graphs inside of it: where a replay has the same kernels, by number and by name, each is the one in its place.  Otherwise the kernels of a name are known where all of them
 * come from one place.
 */
#ifndef CT_CLI_STACK_GRAPHS_H
#define CT_CLI_STACK_GRAPHS_H

#include "analysis/engine.h"

struct ct_cuda_graph {
	uint64_t number;		/* in the order in which they became executable, from 1 */
	uint32_t pid;
	bool whole;			/* all of its kernels are known */
	bool told;			/* of each kernel of its replays it is known which one it is */
	uint32_t first, kernels;	/* internal: where among those of all graphs; how many */
	size_t nodes, nodes_count;	/* internal; how many kernels its replays have */
	uint64_t launches, gpu;		/* of the graph; ns */
	uint32_t replay;		/* the stack of its last launch */
};

/* The state of ct_graphs_analyser. */
struct ct_graphs;
extern const struct ct_analyser ct_graphs_analyser;

/* The graph after @before, NULL: the first one.  NULL: no more. */
const struct ct_cuda_graph *ct_graphs_next(const struct ct_graphs *s, const struct ct_cuda_graph *before);

/* Launches of graphs of which not all kernels are known, as of those that were made before the recording began. */
uint64_t ct_graphs_unknown(const struct ct_graphs *s);

/* A kernel of a graph: zeros before the first one. */
struct ct_graph_kernel {
	uint32_t stack;			/* from where it was captured, or added as a node */
	uint64_t ns;			/* of all its replays, where these are told */
	unsigned int index;		/* internal */
};

/* The next kernel of a graph; false: no more. */
bool ct_graph_kernel(const struct ct_graphs *s, const struct ct_cuda_graph *graph, struct ct_graph_kernel *k);

/* The stack with which the kernel of this number was captured or added that the graph launch @launch replayed; 0: not known. */
uint32_t ct_graphs_captured(const struct ct_graphs *s, uint64_t launch, uint64_t node);

#endif
