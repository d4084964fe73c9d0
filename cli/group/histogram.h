/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Durations, for their percentiles.  Exact for the first CT_HISTOGRAM_EXACT values; beyond,
 * values are counted in buckets: those below 65,536 exactly, larger ones to 1/32,768 of the
 * power of two below them, so that a percentile is wrong by less than 0.01 %.
 */
#ifndef CT_CLI_HISTOGRAM_H
#define CT_CLI_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define CT_HISTOGRAM_EXACT	1024

struct ct_histogram {
	uint64_t count, total, min, max;
	double   mean, squares;	/* squares: of the distances from the mean, summed up */
	uint64_t *values;	/* the first ones, until there are buckets */
	uint64_t *buckets;
	bool sorted;
};

/* 0 or -ENOMEM.  A histogram of zeros is empty. */
int ct_histogram_add(struct ct_histogram *h, uint64_t value);

/* The value that @permille of all are not above; 0 if there are none. */
uint64_t ct_histogram_value(struct ct_histogram *h, unsigned int permille);

/* The median, of an even number the mean of the two in the middle; the standard deviation. */
double ct_histogram_median(struct ct_histogram *h);
double ct_histogram_deviation(const struct ct_histogram *h);
void ct_histogram_free(struct ct_histogram *h);

#endif
