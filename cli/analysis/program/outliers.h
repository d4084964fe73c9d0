/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The iterations of each process that took much longer than the others, and what was
 * different in them.  Other analysers need it.
 *
 * Iterations are known before the pass: calls are summed up by function only for the outliers,
 * at most CT_OUTLIERS_MAX of a process, and for all other iterations together.
 */
#ifndef CT_CLI_OUTLIERS_H
#define CT_CLI_OUTLIERS_H

#include "analysis/engine.h"

#define CT_OUTLIERS_MAX		20
#define CT_OUTLIERS_LEAST	5	/* iterations; of fewer none is called an outlier */

/* Outermost calls of one function, of the thread that makes the iterations. */
struct ct_call_sum {
	uint64_t id;			/* of its class */
	const struct ct_class *class;
	uint64_t count, total;		/* ns */
	uint64_t longest, longest_op;	/* ns; its op id */
};

struct ct_call_set {
	CT_KEYED(struct ct_call_sum);
};

struct ct_outlier {
	uint32_t iteration;		/* from 0 */
	struct ct_call_set calls;
	uint32_t kernels;		/* that were launched for the first time */
	uint32_t kernel;		/* the first of them, a string of the registry */
};

struct ct_iteration_stats {
	uint64_t *sorted;		/* durations, ns; the shortest first */
	double   median, mean, deviation;
	uint64_t min, max, p95;
	double   limit;			/* those that are longer are outliers; 0: none */
};

struct ct_outliers_process {
	struct ct_iteration_stats stats;
	struct ct_outlier *list;	/* in the order of time */
	unsigned int count;
	uint32_t beyond;		/* outliers that are not kept */
	struct ct_call_set others;	/* of all iterations that are no outliers */
	uint32_t others_count;		/* of these iterations */
	CT_KEYED(uint64_t) kernels;	/* internal: those that were launched */
	uint32_t next, next_iteration;	/* internal: the first that ends after what was seen */
};

struct ct_outliers {
	struct ct_outliers_process *processes;	/* as the phases have them */
	unsigned int processes_count;
};

/* Of a process that has iterations; free stats->sorted also after an error.  0 or -ENOMEM. */
int ct_iteration_stats(struct ct_iteration_stats *stats, const struct ct_process_phases *p);

/* The sum of @class in a set, or NULL. */
const struct ct_call_sum *ct_call_sum(const struct ct_call_set *set, const struct ct_class *class);

/* Its state is a struct ct_outliers, complete when it has ended. */
extern const struct ct_analyser ct_outliers_analyser;

#endif
