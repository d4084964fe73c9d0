/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the main process of a trace spends on each function, kernel and ioctl: in all, and in
 * each iteration of its steady state, with the spread from iteration to iteration.
 *
 * A function's time is from begin to end without the calls of libcuda and libcudart inside it;
 * the driver's share is in it.  So the times of all functions of a thread add up to its time
 * in calls.  What the GPU did counts for the iteration whose call caused it; its wall time is all of
 * its time, where several streams work at the same time that of each.  Where no process launched
 * anything, all processes count.
 */
#ifndef CT_CLI_PER_ITERATION_H
#define CT_CLI_PER_ITERATION_H

#include "analysis/engine.h"
#include "base/keyed.h"

enum ct_per_kind {
	CT_PER_FUNCTION,	/* of libcuda and libcudart */
	CT_PER_KERNEL,		/* launches; the time is that of the launching call */
	CT_PER_GPU,		/* what the GPU did, by its records: kernels, copies, sets, graphs */
	CT_PER_IOCTL_PROGRAM,	/* ioctls as the program sees them */
	CT_PER_IOCTL_DRIVER,	/* and as the kernel does, where the module recorded */
	CT_PER_LINE,		/* lines of the program: their calls, and the time since the call before, by samples if there are some */
	CT_PER_KINDS,
};

struct ct_per_sum {
	uint64_t count, ns;	/* of all threads */
	uint64_t wall;		/* of the steady state: ns of the thread that makes the iterations */
};

struct ct_per_item {
	uint64_t key;			/* of its kind, and of what it is */
	enum ct_per_kind kind;
	char *name;
	struct ct_per_sum run;		/* the whole trace */
	struct ct_per_sum steady;	/* all iterations */
	/* The spread of wall over the iterations in which it is not 0 (Welford). */
	uint64_t some;			/* such iterations */
	double mean, squares;
	/* Internal: the iteration that is being summed up. */
	int64_t iteration;
	uint64_t current;
};

struct ct_per_memory {
	uint64_t allocs, frees, bytes;	/* that succeeded */
};

struct ct_per_track;

struct ct_per_iteration {
	const struct ct_process_phases *process;	/* the main one; NULL: all count */
	const struct ct_iteration *list;		/* those of its steady state */
	uint32_t iterations;			/* how many */
	CT_KEYED(struct ct_per_item) items;
	uint64_t *calls;		/* by iteration: ns in calls of the thread that makes them */
	struct ct_per_memory memory_run, memory_steady;
	uint64_t peak;			/* bytes of device memory, as far as calls say */
	uint64_t first, last;		/* ns: of what counts */
	/* Internal. */
	struct ct_per_track *tracks;
	uint32_t tracks_count;
};

/*
 * Its state is a struct ct_per_iteration.  ct_engine_options.arg: a uint32_t, the pid of the process that is the
 * main one; NULL or 0: that of the phases.
 */
extern const struct ct_analyser ct_per_iteration_analyser;

/* Mean and standard error of the mean of an item's wall time, over @iterations of them; ns. */
double ct_per_mean(const struct ct_per_item *item, uint32_t iterations);
double ct_per_error(const struct ct_per_item *item, uint32_t iterations);

#endif
