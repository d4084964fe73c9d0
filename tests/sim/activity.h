/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * activity.h - what the simulated libcuda tells the stand-in for libcupti: each kernel, copy
 * and set when it is done, numbered in the order in which they were submitted.
 */
#ifndef CUDATRACE_SIM_ACTIVITY_H
#define CUDATRACE_SIM_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

struct sim_activity {
	int kind;			/* enum sim_op_kind: kernel, copy or set */
	uint32_t correlation;		/* of the call that submitted it */
	uint64_t start, end;		/* ns, CLOCK_MONOTONIC */
	uint32_t context, stream;
	const char *name;		/* of a kernel, valid for ever */
	uint32_t grid[3], block[3], shared;
	uint64_t bytes;
	bool dst_device, src_device, async;
	uint32_t value;
	uint32_t graph, node;		/* of a graph: its number, and the node's, from 1 */
	uint32_t place;			/* the number that CUPTI gives the node, from 0: a graph's nodes before those inside of them */
	uint32_t nodes;			/* how many nodes of that launch are told of */
};

typedef void sim_activity_hook(const struct sim_activity *a);

/*
 * Exported by the simulated libcuda: NULL for none.  As a real one does, it tells only of what was submitted while somebody
 * was told: not of a kernel that was in a queue, or ran, when the collection began.
 */
void cudatrace_sim_activity(sim_activity_hook *hook);

#endif
