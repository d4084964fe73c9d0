/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gaps by what stood before them and what ended them: how many, how long together, the median.
 * Memory is bounded by the number of different pairs, of which CT_GAP_PAIRS_MAX are told apart.
 */
#ifndef CT_CLI_GAP_PAIRS_H
#define CT_CLI_GAP_PAIRS_H

#include "base/keyed.h"
#include "trace/class.h"
#include "trace/names.h"

#define CT_GAP_PAIRS_MAX	4096u
#define CT_GAP_PAIR_EXACT	1024u	/* of so many the median is exact, of more right to 1 % */

/* A kernel, copy, set or graph, or a call that submits one. */
struct ct_gpu_work_name {
	const struct ct_class *class;		/* NULL: nothing */
	uint64_t which;				/* a kernel's name, a ct_gpu_operation(), the graph's number */
};

struct ct_gap_pair {
	uint64_t previous_id, next_id;		/* of these two, for the key */
	struct ct_gpu_work_name previous, next;	/* both without a class: all further pairs */
	uint64_t count, total, longest;		/* ns */
	uint64_t *values;			/* ns: the first CT_GAP_PAIR_EXACT */
	uint32_t *buckets;			/* of more */
};

struct ct_gap_pairs {
	CT_KEYED(struct ct_gap_pair);
};

/* Adds a gap.  0 or -ENOMEM. */
int ct_gap_pairs_add(struct ct_gap_pairs *pairs, const struct ct_gpu_work_name *previous,
		     const struct ct_gpu_work_name *next, uint64_t ns);

/* Of pointers to pairs for qsort(): the one with most time first. */
int ct_gap_pair_order(const void *a, const void *b);

/* What it is, as cuda_gpu_trace names it, or the call's name; @buf is used where it is made. */
const char *ct_gap_work(const struct ct_gpu_work_name *work, struct ct_names *names, char *buf, size_t size);

double ct_gap_pair_median(struct ct_gap_pair *pair);
void ct_gap_pairs_free(struct ct_gap_pairs *pairs);

#endif
