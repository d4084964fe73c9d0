// SPDX-License-Identifier: LGPL-2.1-or-later
/* See median.h. */
#include "base/median.h"

#include <stdlib.h>

static int median_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int median_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double ct_median(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), median_by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + (double)values[count / 2]) / 2;
}

double ct_median_double(double *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), median_by_double);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
