/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each stack of the program costs: calls, times, launches, bytes, the GPU's time.  Three
 * analysers: one adds up the whole trace, for reports; one each process's startup and
 * steady state, for explain; one each process, for folded stacks.  Memory is bounded by the number of different stacks.
 */
#ifndef CT_CLI_STACK_COSTS_H
#define CT_CLI_STACK_COSTS_H

#include "analysis/engine.h"
#include "analysis/stacks/idle.h"
#include "trace/stacks/tree.h"

enum ct_cost {
	CT_COST_CALLS,
	CT_COST_TIME,		/* ns in calls of CUDA */
	CT_COST_LAUNCHES,	/* of kernels and graphs */
	CT_COST_GPU,		/* ns of the GPU's work */
	CT_COST_BYTES,		/* copied and set */
	CT_COST_WAIT,		/* ns in synchronisations */
	CT_COST_COPY,		/* ns in copies and sets */
	CT_COST_MEMORY,		/* ns in allocations and frees */
	CT_COST_LOAD,		/* ns of loading code */
	CT_COST_INIT,		/* ns of initialisation, contexts too */
	CT_COST_IDLE,		/* ns in which a GPU was idle and waited for it: analysis/stacks/idle.h */
	CT_COST_HELD,		/* bytes of the GPU's memory that were not freed */
	CT_COST_MOST,		/* bytes of it that were held when the process held most; not by scopes */
	/*
	 * ns of threads that give the GPU work, between their calls.  At the stack of the call that follows; where
	 * there are samples, divided by them, without those of CT_COST_WAITED.
	 */
	CT_COST_APP,
	CT_COST_BEFORE,		/* ns of the main thread before the first call of its process, by samples */
	CT_COST_SAMPLES,	/* of these two */
	/* Of threads whose samples have stacks: by them their time is divided.  That of others stays where it is. */
	CT_COST_DIVIDES,
	CT_COST_DIVIDED,	/* ns of CT_COST_APP that they divide */
	/* Samples of a thread that waited for another one, which did something: their share of the time counts for no line. */
	CT_COST_WAITED,
	/* Samples of threads that waited for Python's lock while this stack had it: they count here, and not where they waited. */
	CT_COST_HOLDS,
	CT_COST_STATE,		/* samples by what the thread did: CT_COST_STATE + enum ct_sample_state */
	CT_COSTS = CT_COST_STATE + CT_SAMPLE_STATES
};

/* Several of them. */
#define CT_COST_BIT(cost)	(1u << (cost))
_Static_assert(CT_COSTS <= 32, "each has a bit");

struct ct_stack_cost {
	uint64_t of[CT_COSTS];
};

struct ct_stack_sum {
	uint64_t node;			/* 0: without a stack */
	uint64_t part;			/* CT_STACK_PART(); 0 where all is one */
	uint64_t from, to;		/* ns: of all that counts here the begin and the end */
	struct ct_stack_cost cost;
};

typedef CT_KEYED(struct ct_stack_sum) ct_stack_sums;

/* Samples that found one thread with Python's lock in one stack, while another one waited for it and nothing else told more. */
struct ct_holder {
	uint64_t node;			/* 0: not known */
	uint64_t whose;			/* the part << 32 | tid, 0: not known */
	uint64_t samples;
	uint64_t states[CT_SAMPLE_STATES];	/* what the holder did */
};

struct ct_stack_costs {
	ct_stack_sums sums;	/* each stack once; complete when it has ended */
	CT_KEYED(struct ct_holder) holders;
	struct ct_stack_tree tree;
	/* Internal. */
	struct costs_track *tracks;		/* by the tracks' index */
	unsigned int tracks_count;
	CT_KEYED(struct costs_block) held;
	bool held_too_many;
	bool attached;				/* the programs ran already */
	CT_KEYED(struct costs_process) called;	/* those that have called CUDA */
	CT_KEYED(struct costs_part) parts;
};

/* Their state is a struct ct_stack_costs.  The third adds up each process by itself: its pid is the part. */
extern const struct ct_analyser ct_stack_costs_analyser, ct_stack_scopes_analyser, ct_stack_processes_analyser;

/* Were threads sampled? */
bool ct_stacks_sampled(const struct ct_trace *t);

/* Were stacks recorded? */
bool ct_stacks_recorded(const struct ct_trace *t);

/* CT_COST_BIT()s of a word: "wall" is the time of the application and in calls.  0: there is none. */
unsigned int ct_cost_find(const char *word);

/* The sum of the costs @which. */
uint64_t ct_stack_cost_sum(const struct ct_stack_cost *c, unsigned int which);

void ct_stack_cost_add(struct ct_stack_cost *to, const struct ct_stack_cost *c);

#endif
