/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures of a whole trace, from one pass over its points.
 *
 * Time.  A call's total is from its begin to its end.  Its self time is without
 * the calls inside it, of any layer: what libcuda spends in the driver is the
 * driver's.  So the self times of all categories add up to the time spent in
 * calls, and shares are made of them.  A category's total counts a moment once,
 * however its calls nest.  A call that never returned has no time.
 */
#ifndef CT_CLI_STATS_H
#define CT_CLI_STATS_H

#include "analysis/histogram.h"
#include "trace/merge.h"

#define CT_STATS_BYPASSED	8

struct ct_op_stat {
	const struct ct_class *class;
	struct ct_histogram durations;	/* of what has one */
	uint64_t count;			/* instants included */
	uint64_t failed;
	uint64_t self;			/* ns */
	uint64_t open;			/* never returned */
};

struct ct_category_stat {
	uint64_t count, total, self;	/* ns */
	const struct ct_op_stat *main;	/* with the most self time */
};

struct ct_ioctl_stat {
	uint64_t count, total, failed;
};

struct ct_stats {
	uint64_t records, points;
	uint64_t first, last;		/* ns, of points */
	struct ct_op_stat *ops;		/* by the order of their classes' ids */
	unsigned int ops_count;
	struct ct_category_stat categories[CT_CAT_COUNT];
	uint64_t self;			/* of all categories */
	uint64_t api_calls, api_failed, runtime_calls, open;
	uint64_t launches, launches_failed;
	uint64_t allocs, allocs_failed, alloc_bytes, frees;
	uint64_t copies, copy_bytes, direction_count[CT_DIR_COUNT],
		 direction_bytes[CT_DIR_COUNT];
	uint64_t sets, set_bytes;
	struct ct_ioctl_stat ioctl;	/* the kernel's, or else the program's */
	bool ioctl_by_kernel;
	uint64_t scheduler_calls;
	uint64_t switches, off_cpu;	/* of traced threads, ns off the CPU */
	unsigned int processes, threads;
	/* Processes that use the driver as CUDA does, and make no call but lookups. */
	uint32_t bypassed[CT_STATS_BYPASSED];
	unsigned int bypassed_count;	/* more than are named, maybe */
};

/* 0 or -ENOMEM.  Free also after an error. */
int ct_stats_collect(struct ct_stats *s, const struct ct_trace *t);
void ct_stats_free(struct ct_stats *s);

#endif
