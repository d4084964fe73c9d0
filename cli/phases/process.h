/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process while its phases are looked for.  Times are ns after the trace's begin until
 * phases.c makes them absolute.
 */
#ifndef CT_CLI_PHASES_PROCESS_H
#define CT_CLI_PHASES_PROCESS_H

#include "phases/phase_records.h"
#include "phases/phases.h"

/* What one thread of the process did, as far as it was kept. */
struct ct_thread_events {
	const struct ct_phase_thread *thread;
	const struct ct_phase_record *list;
	uint32_t count;
	uint32_t launches, works;	/* works: whatever gives the GPU work */
	uint32_t works_more;		/* the same of what was not kept */
};

struct ct_phase_work {
	const struct ct_phase_records *records;
	struct ct_process_phases *process;
	uint64_t from, to;		/* it lived from .from until before .to */
	struct ct_thread_events *slices;
	unsigned int slices_count;
	uint64_t *launches;		/* begins of the launches of all threads, sorted */
	uint32_t launches_count;
	uint32_t launches_more;		/* those that were not kept */
	uint64_t weight;		/* of all launches, see ct_launch_weight() */
	uint64_t works;			/* calls that gave the GPU work */
	uint64_t last_end;		/* of its last launch, copy, set or wait; without any, of its last use of the GPU */
	uint64_t gpu_first, gpu_last;	/* the GPU worked for it, by its records; 0, 0: none is there */
	uint64_t kept_until;		/* what began before is known of all threads */
	bool partial;			/* not everything was kept */
};

/* A graph stands for many kernels. */
static inline unsigned int ct_launch_weight(const struct ct_phase_record *h)
{
	return h->kind == CT_PHASE_GRAPH ? 4 : 1;
}

/* How many of the kept launches of the process are from @from until before @to. */
uint32_t ct_work_launches(const struct ct_phase_work *w, uint64_t from, uint64_t to);

/* A pause so many times as long as an iteration ends a run of iterations. */
#define CT_PAUSE	8u

/* Adds an iteration; counts it only if there are too many.  0 or -ENOMEM. */
int ct_iteration_add(struct ct_process_phases *p, uint64_t begin, uint64_t end, uint32_t note);

/* The median duration of the iterations (ns), or of how many @launches they have. */
int ct_iterations_median(const struct ct_process_phases *p, bool launches, uint64_t *median);

#endif
