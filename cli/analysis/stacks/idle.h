/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In which line of the program a GPU's next work was waited for while it was idle.  What idle is, and which call ended it,
 * is analysis/gpu/idle_causes.h's to say: here each of its gaps is divided among the lines in which the thread was that
 * made this call, from the begin of the gap to the end of the call.  Between two calls that is the line of the later one; where
 * there are samples, such times are divided by those that came in them.  From the call's return until the work began
 * it is the call's line.  Where work had been submitted before the gap, or the call is not known, it is no line.
 * A sample in which the thread waited for another one counts for that one's line (analysis/threads/driving.h), and one in which
 * it waited for Python's lock for the line of the thread that held it.
 */
#ifndef CT_CLI_STACK_IDLE_H
#define CT_CLI_STACK_IDLE_H

#include "analysis/engine.h"

/* With fewer samples times between calls are not divided by them; nor are those of all costs. */
#define CT_COSTS_SAMPLES	10u

/* The steady state, or the startup, of a process of the phases. */
#define CT_STACK_PART(process, steady)	(2 * (uint64_t)(process) + !(steady))
#define CT_STACK_NO_PART		UINT64_MAX

/* The part that a moment of a process is in. */
uint64_t ct_stack_part(const struct ct_analysis *a, uint32_t pid, uint64_t ts);

struct ct_stack_idle_sum {
	uint64_t node;			/* 0: no line */
	uint64_t whose;
	uint64_t ns;			/* complete when it has ended: of a process, those of all nodes are its gaps */
	/* Internal: ns of it between calls, which samples divide; those samples. */
	uint64_t between, samples;
};

typedef CT_KEYED(struct ct_stack_idle_sum) ct_stack_idle_sums;

struct ct_stack_idle {
	ct_stack_idle_sums processes;		/* .whose is the pid */
	ct_stack_idle_sums parts;		/* .whose is the part of a process that the gap begins in: CT_STACK_PART() */
	uint64_t forgotten;			/* ns of gaps that have no line: there were too many in each of them */
	/* Internal. */
	const struct ct_gpu_idle *gaps;
	const struct ct_driving *driving;
	CT_KEYED(struct idle_at) threads;
};

/* Its state is a struct ct_stack_idle.  Empty without stacks, or without records of the GPU. */
extern const struct ct_analyser ct_stack_idle_analyser;

#endif
