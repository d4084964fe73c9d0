// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gap_pairs.h. */
#include "analysis/gpu/gap_pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/median.h"
#include "spans/work.h"

/* Each power of two is divided into so many buckets. */
#define PAIR_STEPS	64u
#define PAIR_BUCKETS	(58u * PAIR_STEPS + 2 * PAIR_STEPS)

static unsigned int pair_bucket(uint64_t ns)
{
	unsigned int power;

	if (ns < 2 * PAIR_STEPS)
		return ns;
	power = 63 - __builtin_clzll(ns);	/* 7 at least */
	return (power - 6) * PAIR_STEPS + (ns >> (power - 6));
}

/* The middle of a bucket. */
static double pair_value(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * PAIR_STEPS)
		return bucket;
	shift = bucket / PAIR_STEPS - 1;
	return (bucket % PAIR_STEPS + PAIR_STEPS + 0.5) * (double)(1ull << shift);
}

static int pair_add(struct ct_gap_pair *pair, uint64_t ns)
{
	if (!pair->values)
		pair->values = malloc(CT_GAP_PAIR_EXACT * sizeof(*pair->values));
	if (!pair->values)
		return -ENOMEM;
	if (pair->count < CT_GAP_PAIR_EXACT) {
		pair->values[pair->count] = ns;
	} else {
		if (!pair->buckets) {
			pair->buckets = calloc(PAIR_BUCKETS, sizeof(*pair->buckets));
			if (!pair->buckets)
				return -ENOMEM;
			for (unsigned int i = 0; i < CT_GAP_PAIR_EXACT; i++)
				pair->buckets[pair_bucket(pair->values[i])]++;
		}
		pair->buckets[pair_bucket(ns)]++;
	}
	pair->count++;
	pair->total += ns;
	pair->longest = ns > pair->longest ? ns : pair->longest;
	return 0;
}

static uint64_t pair_id(const struct ct_gpu_work_name *work)
{
	return ct_mix(work->which, work->class ? work->class->id + 1ull : 0);
}

int ct_gap_pairs_add(struct ct_gap_pairs *pairs, const struct ct_gpu_work_name *previous,
		     const struct ct_gpu_work_name *next, uint64_t ns)
{
	static const struct ct_gpu_work_name others;
	struct ct_gap_pair *pair = ct_keyed_get_pair(pairs, pair_id(previous), pair_id(next));

	if (!pair && pairs->count >= CT_GAP_PAIRS_MAX)
		previous = next = &others;
	if (!pair)
		pair = ct_keyed_put_pair(pairs, pair_id(previous), pair_id(next));
	if (!pair)
		return -ENOMEM;
	pair->previous = *previous;
	pair->next = *next;
	return pair_add(pair, ns);
}

int ct_gap_pair_order(const void *a, const void *b)
{
	const struct ct_gap_pair *x = *(struct ct_gap_pair *const *)a, *y = *(struct ct_gap_pair *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->previous_id != y->previous_id)
		return x->previous_id < y->previous_id ? -1 : 1;
	return x->next_id < y->next_id ? -1 : x->next_id > y->next_id;
}

double ct_gap_pair_median(struct ct_gap_pair *pair)
{
	uint64_t seen = 0;

	if (!pair->count)
		return 0;
	if (!pair->buckets)
		return ct_median(pair->values, pair->count);
	for (unsigned int i = 0; i < PAIR_BUCKETS; i++) {
		seen += pair->buckets[i];
		if (seen * 2 >= pair->count)
			return pair_value(i);
	}
	return pair->longest;
}

const char *ct_gap_work(const struct ct_gpu_work_name *work, struct ct_names *names, char *buf, size_t size)
{
	const char *name = NULL;

	if (!work->class)
		return "(further pairs)";
	if (work->class->id == CT_CLASS_gpu_graph) {
		snprintf(buf, size, "[CUDA graph %llu]", (unsigned long long)work->which);
		return buf;
	}
	if (work->class->layer == CT_LAYER_GPU && ct_gpu_is_kernel(work->class))
		name = ct_names_string(names, work->which);
	else if (work->class->layer == CT_LAYER_GPU && ct_gpu_is_transfer(work->class))
		name = ct_gpu_operation_name(work->which);
	return name ? name : work->class->name;
}

void ct_gap_pairs_free(struct ct_gap_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->list[i].values);
		free(pairs->list[i].buckets);
	}
	ct_keyed_free(pairs);
}
