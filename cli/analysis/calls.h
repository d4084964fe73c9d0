/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures of the calls of a trace, by function and by category.  Other analysers need them.
 *
 * Time.  A call's total is from its begin to its end.  Its self time is without the calls
 * inside it, of any layer.  So the self times of all categories add up to the time spent in
 * calls, and shares are made of them.  A category's total counts a moment once, however its
 * calls nest.  A call that never returned has no time.
 */
#ifndef CT_CLI_CALLS_H
#define CT_CLI_CALLS_H

#include "analysis/engine.h"
#include "group/histogram.h"

#define CT_CALLS_BYPASSED	8

struct ct_function_sum {
	const struct ct_class *class;
	struct ct_histogram durations;	/* of what has one */
	uint64_t count;			/* instants included */
	uint64_t failed;
	uint64_t self;			/* ns */
	uint64_t open;			/* never returned */
	uint64_t first;			/* ns: begin of the first */
};

struct ct_category_stat {
	uint64_t count, total, self;	/* ns */
	const struct ct_function_sum *main;	/* with the most self time */
};

struct ct_ioctl_stat {
	uint64_t count, total, failed;
};

/* What a process does, as far as its records say. */
struct ct_process_use {
	uint64_t pid;
	bool calls;			/* libcuda */
	bool uvm;			/* ioctls that only libcuda uses */
	bool launches;			/* kernels */
	bool prepares;			/* what comes before a launch */
};

struct ct_calls {
	struct ct_function_sum *functions;		/* by the order of their classes' ids */
	unsigned int functions_count;
	struct ct_category_stat categories[CT_CAT_COUNT];
	uint64_t self;			/* of all categories */
	uint64_t api_calls, api_failed, runtime_calls, open;
	uint64_t launches, launches_failed, graph_launches, graph_launches_failed;
	uint64_t allocs, allocs_failed, alloc_bytes, frees;
	uint64_t copies, copy_bytes, direction_count[CT_DIR_COUNT],
		 direction_bytes[CT_DIR_COUNT];
	uint64_t sets, set_bytes;
	struct ct_ioctl_stat ioctl;	/* the kernel's, or else the program's */
	bool ioctl_by_kernel;
	uint64_t scheduler_calls;
	uint64_t switches, off_cpu;	/* of traced threads, ns off the CPU */
	/* Processes that use the driver as CUDA does, and make no call but lookups. */
	uint32_t bypassed[CT_CALLS_BYPASSED];
	unsigned int bypassed_count;	/* more than are named, maybe */
	/* Processes that launch kernels, but neither initialise CUDA nor load one. */
	uint32_t partial[CT_CALLS_BYPASSED];
	unsigned int partial_count;
	/* Internal, while the pass goes on. */
	struct ct_function_sum **by_class;
	struct ct_ioctl_stat by_layer[2];
	/* By pid.  a: makes calls, b: uses the driver as CUDA does, c: launches, d: prepares. */
	CT_KEYED(struct ct_process_use) uses;
	uint32_t caller;		/* a pid that is noted as one that makes calls */
	uint32_t launcher;		/* and one that launches */
};

/* Its state is a struct ct_calls, complete when it has ended. */
extern const struct ct_analyser ct_calls_analyser;

/*
 * The name by which users know a function.  Two functions of one name (cuMemAlloc and its
 * version 2) are shown by their symbols.
 */
const char *ct_calls_name(const struct ct_calls *calls, const struct ct_function_sum *sum);

#endif
