/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In which line of the program a GPU's next work was waited for while it was idle.  What idle is, and which call ended it,
 * is analysis/gpu/idle_causes.h's to say: here each of its gaps is divided among the lines in which the thread was that
 * made this call, from the begin of the gap to the end of the call.  Between two calls that is the line of the later one; where
 * there are samples, such times are divided by those that came in them.  From the call's return until the work began
 * it is the call's line.  Where work had been submitted before the gap, or the call is not known, it is no line.
 */
#ifndef CT_CLI_STACK_IDLE_H
#define CT_CLI_STACK_IDLE_H

#include "analysis/engine.h"

/* With fewer samples times between calls are not divided by them; nor are those of all costs. */
#define CT_COSTS_SAMPLES	10u

struct ct_stack_idle_sum {
	uint64_t node;			/* 0: no line */
	uint64_t pid;
	uint64_t ns;			/* complete when it has ended: of a process, those of all nodes are its gaps */
	/* Internal: ns of it between calls, which samples divide; those samples. */
	uint64_t between, samples;
};

struct ct_stack_idle {
	CT_KEYED(struct ct_stack_idle_sum) sums;
	/* Internal. */
	const struct ct_gpu_idle *gaps;
	bool stacks;				/* they were recorded */
	CT_KEYED(struct idle_at) threads;
};

/* Its state is a struct ct_stack_idle.  Empty without stacks, or without records of the GPU. */
extern const struct ct_analyser ct_stack_idle_analyser;

#endif
