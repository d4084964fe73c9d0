/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of numbers that anyone may have written. */
#ifndef CT_CLI_SUM_H
#define CT_CLI_SUM_H

#include <stdint.h>

/* a + b, or the largest number: a sum that wraps would hide what it counts. */
static inline uint64_t ct_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
