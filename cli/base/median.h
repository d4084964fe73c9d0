/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The median of some values, which are sorted by it: the one in the middle, of an even number the
 * mean of the two in the middle; 0 of none.
 */
#ifndef CT_CLI_MEDIAN_H
#define CT_CLI_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

double ct_median(uint64_t *values, size_t count);
double ct_median_double(double *values, size_t count);

#endif
