/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long the GPU had nothing to do for a process, by stage and by iteration.
 *
 * With records of the GPU this is measured: the time that no kernel, copy or set of the process
 * ran.  Without them it is a lower bound: the time between the end of a synchronisation after
 * which nothing was left to do, and the next submission (or the end of the process).  Nothing is
 * said of a process from the moment on when it has more than one context: which of them a call
 * means is not recorded.  Other analysers need it.
 */
#ifndef CT_CLI_DEVICE_IDLE_H
#define CT_CLI_DEVICE_IDLE_H

#include "analysis/cuda/streams.h"
#include "analysis/engine.h"

struct ct_idle_process {
	uint64_t total;				/* ns */
	uint64_t stages[CT_STAGE_COUNT];	/* ns */
	uint64_t chosen[CT_STAGE_COUNT];	/* ns: between --from and --to */
	/* ns in the launches that ended these times: until one returned, it may not have begun. */
	uint64_t submitting_ns[CT_STAGE_COUNT];
	uint64_t *iterations;			/* ns, as the phases have them */
	uint64_t begun[CT_STAGE_COUNT];		/* ... by the stage in which that began */
	bool     measured;			/* by records of the GPU, from the begin of their recording on */
	/* Internal. */
	const struct ct_report_filter *filter;
	uint64_t since;				/* ns: idle since then, 0: not known to be idle */
	struct ct_streams streams;		/* where it had several contexts nothing is known after that */
	uint32_t submitting;			/* open calls that submit */
	uint64_t waker, waker_begin;		/* op id and begin of the call that ended the last time */
	uint64_t started;			/* ns: recording of the GPU began; 0: not that is known */
	uint32_t running;			/* records of the GPU that are open */
	bool     unsure;			/* behind its last record there may have been more */
	uint64_t complete;			/* ns: its records ended, with all that there was; 0: not yet */
	bool     went_on;			/* ... and it launched more */
};

struct ct_idle {
	bool measured;				/* of some process, by records of the GPU */
	bool bound;				/* of some process that gave the GPU work, by its calls */
	struct ct_idle_process *processes;	/* as the phases have them */
	unsigned int processes_count;
	uint8_t *calls;				/* internal: what a call does, by class id */
};

/* What the figures are, for titles and notes. */
const char *ct_idle_meaning(const struct ct_idle *idle);

/* Its state is a struct ct_idle, complete when it has ended. */
extern const struct ct_analyser ct_idle_analyser;

#endif
