/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The phases of each process of a trace: its stages (startup, initialisation, ... teardown)
 * and the iterations of its steady state (training steps, tokens, requests, replays of a
 * graph).  Found before the reports are made, by passes of their own over the streams; memory
 * is bounded.  Where there is no repeating pattern, no iterations are invented.
 */
#ifndef CT_CLI_PHASES_H
#define CT_CLI_PHASES_H

#include "trace/reader.h"

/*
 * X(ID, word, what it is) in the order of time.  A process whose iterations are one part of its work, as of two loops one after
 * the other, has an execution before its steady state instead of the warm-up, or after it.
 */
#define CT_STAGES(X)							\
	X(STARTUP, "startup", "before the first call to libcuda")	\
	X(INIT, "init", "initialisation: from the first call until the context is there") \
	X(COMMUNICATORS, "communicators", "communicator setup of NCCL") \
	X(MODULES, "modules", "module loading")				\
	X(WEIGHTS, "weights", "weight loading: copies to the GPU before the steady state") \
	X(WARMUP, "warmup", "warm-up: until the work is regular")	\
	X(STEADY, "steady", "steady state: the iterations")		\
	X(EXECUTION, "execution", "work outside of iterations: another loop, or no repeating pattern") \
	X(TEARDOWN, "teardown", "after the last iteration and the wait for it, or the last work")
#define CT_STAGE_ROW(id, word, text)	CT_STAGE_##id,
enum ct_stage { CT_STAGES(CT_STAGE_ROW) CT_STAGE_COUNT };
#undef CT_STAGE_ROW

extern const char *const ct_stage_word[CT_STAGE_COUNT];
extern const char *const ct_stage_text[CT_STAGE_COUNT];

/* How iterations were found. */
enum ct_iteration_source {
	CT_ITER_NONE,
	CT_ITER_RANGES,		/* ranges of NVTX or of our own header that come again */
	CT_ITER_MARKS,		/* marks that come again */
	CT_ITER_PATTERN,	/* launches and synchronisations that come again */
};

struct ct_stage_span {
	enum ct_stage stage;
	uint64_t begin, end;	/* ns; each begins where the one before ends */
};

struct ct_iteration {
	uint64_t begin, end;	/* ns; end is the next one's begin, or a break follows */
	uint32_t launches;	/* kernels and graphs, of all threads of the process */
};

/* Communicators of libnccl were made, one or several at a time, in any thread (makings.c). */
struct ct_making {
	uint64_t begin, end;	/* ns */
};

#define CT_ITERATIONS_MAX	(1u << 18)	/* of a process; more are not kept */

struct ct_process_phases {
	uint32_t pid;
	uint32_t generation;		/* pids are used again: 0 for the first process of this pid */
	uint64_t begin, end;		/* ns: its first and last moment in the trace */
	bool     calls;			/* it called libcuda; otherwise it has no stages */
	bool     works;			/* it gave the GPU work, by its calls (CT_IS_WORK) or by the GPU's records */
	struct ct_stage_span stages[CT_STAGE_COUNT];
	unsigned int stages_count;
	struct ct_making *makings;	/* in the order of time; none overlaps another */
	uint32_t makings_count;
	uint64_t captured, captures;	/* launches into streams that were captured; how often one was */
	uint32_t tid;			/* the thread whose calls make the iterations */
	uint32_t *launching;		/* tids of the threads that give the GPU work, as far as kept */
	uint32_t launching_count;	/* where none does: the thread of the iterations, if any */
	enum ct_iteration_source source;
	struct ct_iteration *iterations;	/* in the order of time */
	uint32_t iterations_count;
	uint64_t iterations_dropped;	/* beyond CT_ITERATIONS_MAX */
	bool     asks;			/* each ends when the program is told that the GPU is done: it asks, and does not synchronise */
	char what[160];			/* "range 'step #'", "247 launches and 10 synchronisations, ..." */
	char why_none[160];		/* why no iterations were found, for people */
};

struct ct_phases {
	struct ct_process_phases *processes;	/* by begin */
	unsigned int processes_count;
	unsigned int *by_pid;	/* indices of processes, by pid and begin */
	int main;		/* the process with the most launches, without any most copies and sets; -1: no work was given */
};

/* 0 or -ENOMEM.  Free also after an error. */
int ct_phases_find(struct ct_phases *phases, const struct ct_trace *t);
void ct_phases_free(struct ct_phases *phases);

/* Makes .by_pid, without which ct_phases_process() finds none.  0 or -ENOMEM. */
int ct_phases_index(struct ct_phases *phases);

/* The process of @pid that lived at @ts, or NULL. */
const struct ct_process_phases *ct_phases_process(const struct ct_phases *phases, uint32_t pid,
						  uint64_t ts);

/* The stage of a process at @ts; CT_STAGE_COUNT: none. */
enum ct_stage ct_phases_stage(const struct ct_process_phases *p, uint64_t ts);

/* The steady state of a process; NULL: it has none. */
const struct ct_stage_span *ct_phases_steady(const struct ct_process_phases *p);

/* Does the program do its work in the stage: the steady state, or without a pattern the execution, or both? */
static inline bool ct_stage_is_main(unsigned int stage)
{
	return stage == CT_STAGE_STEADY || stage == CT_STAGE_EXECUTION;
}

/* The sum of both of a list by stage: CT_STAGES_MAIN(idle), CT_STAGES_MAIN(stages, .busy). */
#define CT_STAGES_MAIN(list, ...)	((list)[CT_STAGE_STEADY] __VA_ARGS__ + (list)[CT_STAGE_EXECUTION] __VA_ARGS__)

/*
 * For how many kernels a launch of a graph of the process stands: the mean of those that it captured; 1 where none was seen.  They were
 * no work when they were captured.
 */
static inline uint64_t ct_phases_graph_kernels(const struct ct_process_phases *p)
{
	return p->captured > p->captures && p->captures ? p->captured / p->captures : 1;
}

/* Is a communicator of the process made at the time? */
bool ct_phases_makes(const struct ct_process_phases *p, uint64_t at);

/* When these stages of a process begin and end, one after the other, ns; false, and both 0: it has none. */
bool ct_phases_main(const struct ct_process_phases *p, uint64_t *begin, uint64_t *end);

/* How long it does its work outside of the steady state, ns; 0: it has no iterations, or does nothing else. */
uint64_t ct_phases_other(const struct ct_process_phases *p);

/* How many iterations come before the steady state: those of the warm-up. */
uint32_t ct_phases_warmup(const struct ct_process_phases *p);

/* How much of the steady state lies in its iterations; all 0: the process has none. */
struct ct_coverage {
	uint64_t steady, covered;	/* ns */
	uint64_t from, to;		/* ns: the longest part of it that lies in none; both 0: there is none */
};

void ct_phases_coverage(const struct ct_process_phases *p, struct ct_coverage *c);

/* The index of the first iteration that ends after @ts; .iterations_count: there is none. */
static inline uint32_t ct_phases_iteration_from(const struct ct_process_phases *p, uint64_t ts)
{
	uint32_t low = 0, high = p->iterations_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->iterations[middle].end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The index of the iteration that @ts lies in, or -1. */
static inline int64_t ct_phases_iteration(const struct ct_process_phases *p, uint64_t ts)
{
	uint32_t i = ct_phases_iteration_from(p, ts);

	return i < p->iterations_count && p->iterations[i].begin <= ts ? (int64_t)i : -1;
}

#endif
