// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the ways of finding iterations share, see process.h. */
#include "phases/process.h"

#include <errno.h>
#include <stdlib.h>

#include "base/median.h"

#define PROCESS_SAMPLES		65536u	/* for a median */

int ct_iteration_add(struct ct_process_phases *p, uint64_t begin, uint64_t end, uint32_t note)
{
	uint32_t n = p->iterations_count;

	if (n == CT_ITERATIONS_MAX) {
		p->iterations_dropped++;
		return 0;
	}
	/* Its capacity is the next power of two. */
	if (!(n & (n - 1))) {
		struct ct_iteration *more = realloc(p->iterations,
						    (n ? n * 2ul : 1ul) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->iterations = more;
	}
	p->iterations[p->iterations_count++] = (struct ct_iteration){
		.begin = begin, .end = end, .launches = note,
	};
	return 0;
}

int ct_iterations_median(const struct ct_process_phases *p, bool launches, uint64_t *median)
{
	uint32_t n = p->iterations_count < PROCESS_SAMPLES ? p->iterations_count :
		     PROCESS_SAMPLES;
	uint64_t *values = calloc(n + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_iteration *it =
			&p->iterations[(uint64_t)i * p->iterations_count / n];

		values[i] = launches ? it->launches : it->end - it->begin;
	}
	*median = ct_median(values, n);
	free(values);
	return 0;
}

static uint32_t process_lower(const uint64_t *at, uint32_t count, uint64_t value)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (at[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t ct_work_launches(const struct ct_phase_work *w, uint64_t from, uint64_t to)
{
	if (to <= from)
		return 0;
	return process_lower(w->launches, w->launches_count, to) -
	       process_lower(w->launches, w->launches_count, from);
}
