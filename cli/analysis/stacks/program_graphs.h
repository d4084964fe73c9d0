/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The graphs that a program builds, before they are made executable: which kernels they hold, each with the stack of the
 * call that captured or added it.
 *
 * A graph is known by its handle until that is destroyed.  Kernels come into it by launches into a stream that is captured,
 * or that waits for an event of one that is, by nodes that are added, and with graphs inside of nodes: copies, or graphs to which the program may still add.
 * Known limits: of a conditional node with several bodies only the first one is known, and nodes that the program
 * destroys (cuGraphDestroyNode) stay.
 */
#ifndef CT_CLI_STACK_PROGRAM_GRAPHS_H
#define CT_CLI_STACK_PROGRAM_GRAPHS_H

#include "analysis/engine.h"
#include "base/keyed.h"

struct ct_graph_kernel_made {
	uint32_t stack, kernel;		/* from where, and its name; 0: not known */
};

struct ct_program_graph;

struct ct_graph_of_handle {
	uint64_t handle, pid;
	uint64_t number;		/* of a graph, or of a capture */
};

struct ct_graph_capture {
	uint64_t number;
	uint64_t graph;
};

struct ct_program_graphs {
	CT_KEYED(struct ct_program_graph) graphs;
	CT_KEYED(struct ct_graph_of_handle) handles, ended;		/* of graphs, by handle and by thread */
	CT_KEYED(struct ct_graph_of_handle) captured, recorded;		/* of captures, by stream and by event */
	CT_KEYED(struct ct_graph_capture) captures;			/* that have not ended */
	uint64_t made, begun;		/* the numbers of the last graph and capture */
	size_t held;			/* kernels and graphs in all of them */
};

/* A call that may build a graph; other spans change nothing. */
bool ct_program_graphs_wants(const struct ct_class *class);
int ct_program_graphs_span(struct ct_program_graphs *s, const struct ct_registry *reg, const struct ct_span *span);

/* The number of the graph that this call makes executable, or an executable graph follows; 0: not known. */
uint64_t ct_program_graphs_source(struct ct_program_graphs *s, const struct ct_span *span);

/*
 * Gives the kernels of a graph in the order in which they were captured or added, and then those of each graph inside of it.
 * *@whole is made false where some are not known.  Gives what @each gave that is not 0.
 */
int ct_program_graphs_each(const struct ct_program_graphs *s, uint64_t number, bool *whole,
			   int (*each)(void *arg, struct ct_graph_kernel_made kernel), void *arg);

void ct_program_graphs_free(struct ct_program_graphs *s);

#endif
