/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports that are groupings (group/group.h): their analysers. */
#ifndef CT_CLI_GROUPED_H
#define CT_CLI_GROUPED_H

#include "analysis/engine.h"
#include "group/group.h"

int ct_grouped_begin(struct ct_analysis *a);
int ct_grouped_span(struct ct_analysis *a, const struct ct_span *span);
int ct_grouped_end(struct ct_analysis *a);
void ct_grouped_free(struct ct_analysis *a);

extern const struct ct_analyser *const ct_grouped_needs_gpu[];	/* of those on the GPU's work */

/*
 * The analyser of a grouping: const struct ct_analyser x = { CT_GROUPED(&spec, bits), .name = ... };
 * @bits: as ct_group_what()
 */
#define CT_GROUPED(spec, bits)						\
	.single = true, .spans = CT_SPANS_BY_END, .arg = spec, .what = bits,	\
	.state_size = sizeof(struct ct_grouping), .begin = ct_grouped_begin,	\
	.span = ct_grouped_span, .end = ct_grouped_end, .free = ct_grouped_free

/* The same of what a user asks for; @spec must outlive it. */
struct ct_analyser ct_grouped_by(const struct ct_group_spec *spec);

#endif
