/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics of the iterations of each process, the only ones: whoever says a median, or how many
 * were much longer, has it from here.  They are those of the steady state; iterations of the warm-up
 * count apart.  And what was different in those that took much longer than the others.
 *
 * Iterations are known before the pass: calls are summed up by function only for the outliers,
 * at most CT_OUTLIERS_MAX of a process, and for all other iterations together.
 */
#ifndef CT_CLI_OUTLIERS_H
#define CT_CLI_OUTLIERS_H

#include "analysis/engine.h"

#define CT_OUTLIERS_MAX		1000
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
	/* The longest time of that thread between two calls, getters left out, and what ended it. */
	uint64_t gap;			/* ns */
	const struct ct_class *gap_next;
	uint32_t gap_kernel;		/* what it launched, a string; 0: nothing */
};

struct ct_iteration_stats {
	uint64_t *sorted;		/* durations, ns; the shortest first */
	uint32_t count;
	uint32_t longer;		/* than .limit: the outliers */
	double   median, mean, deviation;
	uint64_t min, max, p95;
	double   limit;			/* those that are longer are outliers; 0: none */
};

struct ct_outliers_process {
	struct ct_iteration_stats stats;	/* of the steady state */
	struct ct_outlier *list;	/* in the order of time; the longest of .stats.longer */
	unsigned int count;
	uint32_t beyond;		/* outliers that are not kept */
	struct ct_call_set others;	/* of all iterations of the steady state that are no outliers */
	uint32_t others_count;		/* of these iterations */
	CT_KEYED(uint64_t) kernels;	/* internal: those that were launched */
	/* Internal. */
	uint32_t next_iteration;	/* the first that ends after what was seen */
	uint32_t inner_kernel;		/* launched inside the call that is open */
	uint64_t last_end;		/* ns: of the thread's last call that is no getter */
};

struct ct_outliers {
	struct ct_outliers_process *processes;	/* as the phases have them */
	unsigned int processes_count;
};

/*
 * Of the iterations of the steady state, or of the @warmup; zeros where there is none.  Free
 * stats->sorted also after an error.  0 or -ENOMEM.
 */
int ct_iteration_stats(struct ct_iteration_stats *stats, const struct ct_process_phases *p, bool warmup);

/*
 * "39 iterations cover 97.3 % of the steady state; the longest part without one is from 12.3 ms to 45.6 ms";
 * @buf of 200 bytes.
 */
const char *ct_iteration_coverage(const struct ct_trace *t, const struct ct_process_phases *p, char *buf);

/*
 * "8 iterations that take far longer than the median have 408.21 ms (32.7 %) of the steady state; 7 pauses between
 * iterations take ...".  A median says nothing of what comes now and then, a checkpoint for example.  @buf of 240 bytes; ""
 * where neither takes 5 % more than usual iterations would.
 */
const char *ct_iteration_rare(const struct ct_process_phases *p, const struct ct_iteration_stats *s, char *buf);

/* The sum of @class in a set, or NULL. */
const struct ct_call_sum *ct_call_sum(const struct ct_call_set *set, const struct ct_class *class);

/* Its state is a struct ct_outliers, complete when it has ended. */
extern const struct ct_analyser ct_outliers_analyser;

#endif
