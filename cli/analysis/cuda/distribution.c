// SPDX-License-Identifier: LGPL-2.1-or-later
/* See distribution.h.  Must never divide by a total of zero: a trace may say so. */
#include "analysis/cuda/distribution.h"

void ct_distribution_row(struct ct_cell *row, struct ct_histogram *h, uint64_t total)
{
	row[CT_DIST_COUNT] = ct_u64(h->count);
	if (!h->count)
		return;
	row[CT_DIST_TIME] = ct_double(total ? 100.0 * h->total / total : 0);
	row[CT_DIST_TOTAL] = ct_u64(h->total);
	row[CT_DIST_AVG] = ct_double(h->mean);
	row[CT_DIST_MED] = ct_double(ct_histogram_median(h));
	row[CT_DIST_MIN] = ct_u64(h->min);
	row[CT_DIST_MAX] = ct_u64(h->max);
	row[CT_DIST_DEVIATION] = ct_double(ct_histogram_deviation(h));
}
