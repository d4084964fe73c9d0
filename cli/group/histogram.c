// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Percentiles in bounded memory.  The buckets are 13 MiB of address space, of which only the
 * pages of values that occur are ever touched.
 */
#include "group/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SUB_BITS	15
#define SUB		(1u << SUB_BITS)
#define BUCKETS		((64 - SUB_BITS + 1) * SUB)
#define HISTOGRAM_FIRST	8	/* values that there is room for at first, a power of two */

static unsigned int histogram_bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < 2 * SUB)
		return value;
	shift = 63 - __builtin_clzll(value) - SUB_BITS;
	return (shift + 1) * SUB + (value >> shift) - SUB;
}

/* The middle of a bucket. */
static uint64_t histogram_value_of(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * SUB)
		return bucket;
	shift = bucket / SUB - 1;
	return ((uint64_t)(bucket % SUB + SUB) << shift) + ((1ull << shift) >> 1);
}

static int histogram_to_buckets(struct ct_histogram *h)
{
	h->buckets = calloc(BUCKETS, sizeof(*h->buckets));
	if (!h->buckets)
		return -ENOMEM;
	for (unsigned int i = 0; i < CT_HISTOGRAM_EXACT; i++)
		h->buckets[histogram_bucket_of(h->values[i])]++;
	free(h->values);
	h->values = NULL;
	return 0;
}

/* Room for values is doubled when they are a power of two: most histograms have few. */
static bool histogram_needs_room(const struct ct_histogram *h)
{
	return h->count < CT_HISTOGRAM_EXACT && (h->count >= HISTOGRAM_FIRST || !h->count) &&
	       !(h->count & (h->count - 1));
}

static int histogram_grow(struct ct_histogram *h)
{
	uint64_t room = h->count ? 2 * h->count : HISTOGRAM_FIRST;
	uint64_t *more = reallocarray(h->values, room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	h->values = more;
	return 0;
}

int ct_histogram_add(struct ct_histogram *h, uint64_t value)
{
	double distance;

	if (histogram_needs_room(h) && histogram_grow(h))
		return -ENOMEM;
	if (h->count == CT_HISTOGRAM_EXACT && !h->buckets && histogram_to_buckets(h))
		return -ENOMEM;
	if (h->buckets)
		h->buckets[histogram_bucket_of(value)]++;
	else
		h->values[h->count] = value;
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->total += value;
	distance = value - h->mean;
	h->mean += distance / h->count;
	h->squares += distance * (value - h->mean);
	h->sorted = false;
	return 0;
}

static int histogram_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The value of this rank, from 1. */
static uint64_t histogram_rank(struct ct_histogram *h, uint64_t rank)
{
	uint64_t seen = 0, value;

	if (!h->buckets) {
		if (!h->sorted)
			qsort(h->values, h->count, sizeof(*h->values), histogram_compare);
		h->sorted = true;
		return h->values[rank - 1];
	}
	for (unsigned int i = histogram_bucket_of(h->min); i <= histogram_bucket_of(h->max); i++) {
		seen += h->buckets[i];
		if (seen >= rank) {
			value = histogram_value_of(i);
			return value < h->min ? h->min : value > h->max ? h->max : value;
		}
	}
	return h->max;
}

uint64_t ct_histogram_value(struct ct_histogram *h, unsigned int permille)
{
	uint64_t rank = (h->count * permille + 999) / 1000;

	return h->count ? histogram_rank(h, rank ? rank : 1) : 0;
}

double ct_histogram_median(struct ct_histogram *h)
{
	if (!h->count)
		return 0;
	return (histogram_rank(h, (h->count + 1) / 2) + (double)histogram_rank(h, h->count / 2 + 1)) / 2;
}

double ct_histogram_deviation(const struct ct_histogram *h)
{
	return h->count > 1 ? sqrt(h->squares / (h->count - 1)) : 0;
}

void ct_histogram_free(struct ct_histogram *h)
{
	free(h->values);
	free(h->buckets);
	*h = (struct ct_histogram){ 0 };
}
