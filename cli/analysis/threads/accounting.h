/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the wall time of each thread goes, by stage and by iteration.  Every ns of a thread
 * that launches belongs to exactly one account, so that the accounts of a stage add up to its
 * duration.  Other analysers need it.
 */
#ifndef CT_CLI_ACCOUNTING_H
#define CT_CLI_ACCOUNTING_H

#include "analysis/threads/launching.h"
#include "analysis/threads/polls.h"

struct ct_thread_account {
	uint32_t pid, tid;
	int process;			/* index into the phases' processes, -1: none */
	uint64_t launches;		/* kernels and graphs, of the whole trace */
	uint64_t submissions;		/* and copies and sets */
	uint64_t first, last;		/* ns: of its records */
	struct ct_stage_account stages[CT_STAGE_COUNT];
};

struct ct_process_account {
	struct ct_iteration_account *iterations;	/* as the phases have them */
	/*
	 * What the process did in each stage: see launching.h for the times.  The calls are those of
	 * all of its threads.  Zeros where none launches.  Known when the analysis has ended.
	 */
	const struct ct_stage_account *stages;	/* of CT_STAGE_COUNT */
	/*
	 * Before the warm-up the thread that works need not be one that launches later.  The thread that was
	 * longest in calls in each of these stages, NULL: none was.  If it never gives the GPU work, .stages has
	 * what it did.
	 */
	const struct ct_thread_account *workers[CT_STAGE_WARMUP];
	const struct ct_launching_process *model;	/* whose turn it was */
	/*
	 * Of the threads that launch the one of the iterations, or else the one that gives the GPU
	 * most work.  NULL: none does.  Known when the analysis has ended.
	 */
	const struct ct_thread_account *launching;
};

struct ct_accounting {
	/*
	 * In the order in which they appear.  A tid that a later process uses again is there
	 * once for each process.
	 */
	struct ct_thread_account **threads;
	unsigned int threads_count, threads_capacity;
	struct ct_process_account *processes;	/* as the phases have them */
	unsigned int processes_count;
	struct ct_polls polls;
	/* Internal. */
	struct ct_launching *model;
	struct ct_account_state *states;	/* by the tracks' index */
	unsigned int states_count;
};

/* Its state is a struct ct_accounting, complete when it has ended. */
extern const struct ct_analyser ct_accounting_analyser;

/* Thread @i of those that launch by their turns in the steady state and execution; NULL: no more. */
const struct ct_launching_thread *ct_account_turn(const struct ct_process_account *p, unsigned int i, uint64_t *ns);

/*
 * How many threads had at least 1 % of the turns in the steady state or the execution.  More than
 * one: what the process did is not what one of them did.
 */
unsigned int ct_account_turns(const struct ct_process_account *p);

/* Is thread @tid one of them?  It may only copy. */
bool ct_account_has_turns(const struct ct_process_account *p, uint32_t tid);

/*
 * What the process does in the iterations of its steady state.  Where they cover little of it, the pauses between
 * them say nothing of what an iteration takes.
 */
struct ct_account_covered {
	uint64_t covered;		/* ns; 0: there are no iterations */
	uint64_t app, wait;		/* ns of it */
};

void ct_account_covered(const struct ct_process_account *p, const struct ct_process_phases *phases,
			struct ct_account_covered *c);

/* Does the thread count as one that launches? */
static inline bool ct_account_launches(const struct ct_thread_account *t)
{
	return t && t->launches > 0;
}

#endif
