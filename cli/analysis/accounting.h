/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the wall time of each thread goes, by stage and by iteration.  Every ns of a thread
 * that launches belongs to exactly one account, so that the accounts of a stage add up to its
 * duration.  Other analysers need it.
 */
#ifndef CT_CLI_ACCOUNTING_H
#define CT_CLI_ACCOUNTING_H

#include "analysis/engine.h"

enum ct_account {
	CT_ACCOUNT_APP,		/* in the application, between calls */
	CT_ACCOUNT_WAIT,	/* waiting in a synchronisation, on or off the CPU */
	CT_ACCOUNT_OFF_CPU,	/* off the CPU, not in a synchronisation (only the module sees it) */
	CT_ACCOUNT_DRIVER,	/* in the kernel driver */
	CT_ACCOUNT_ABSENT,	/* before the first or after the last record of a further thread */
	CT_ACCOUNT_CALLS,	/* + CT_CAT_*: in libcuda itself, by category */
	CT_ACCOUNT_COUNT = CT_ACCOUNT_CALLS + CT_CAT_COUNT,
};

/* "application", "waiting", "off the CPU", "kernel driver", "absent", "memory" ... */
const char *ct_account_word(unsigned int account);

struct ct_stage_account {
	uint64_t ns[CT_ACCOUNT_COUNT];
	uint64_t launches, copies, syncs, calls;	/* that began in the stage */
};

struct ct_thread_account {
	uint32_t pid, tid;
	int process;			/* index into the phases' processes, -1: none */
	uint64_t launches;		/* kernels and graphs, of the whole trace */
	uint64_t submissions;		/* and copies and sets */
	uint64_t first, last;		/* ns: of its records */
	struct ct_stage_account stages[CT_STAGE_COUNT];
};

/* Of the thread that makes the iterations; ns.  app + wait + off_cpu + driver + calls is all. */
struct ct_iteration_account {
	uint64_t app, wait, off_cpu, driver, calls;
	uint32_t calls_count;		/* calls of libcuda that began in it, those of getters too */
	uint32_t syncs;
};

struct ct_process_account {
	struct ct_iteration_account *iterations;	/* as the phases have them */
	/*
	 * The thread whose wall time counts: that of the iterations, or else the one that gives the
	 * GPU most work.  NULL: none does.  Known when the analysis has ended.
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
	struct ct_account_state *states;	/* internal, by the tracks' index */
	unsigned int states_count;
};

/* Its state is a struct ct_accounting, complete when it has ended. */
extern const struct ct_analyser ct_accounting_analyser;

/**
 * ct_account_after() - what a thread does from an event of it on
 * @off: it is off the CPU; kept by the caller for each thread, false at first
 *
 * Return: an account; never CT_ACCOUNT_ABSENT.
 */
unsigned int ct_account_after(const struct ct_trace_event *e, bool *off);

/* The moments of a stage that a process has, or NULL. */
const struct ct_stage_span *ct_account_span(const struct ct_process_phases *p, unsigned int stage);

/* Does the thread count as one that launches? */
static inline bool ct_account_launches(const struct ct_thread_account *t)
{
	return t && t->launches > 0;
}

#endif
