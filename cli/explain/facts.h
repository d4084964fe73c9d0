/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each process called in its startup and in its steady state, by function.  Most rules of
 * explain judge by these facts alone.
 */
#ifndef CT_CLI_FACTS_H
#define CT_CLI_FACTS_H

#include "analysis/engine.h"
#include "base/keyed.h"
#include "base/union.h"

/* The part of a process's life that a fact belongs to. */
enum ct_scope {
	CT_SCOPE_STARTUP,	/* everything before the next one */
	CT_SCOPE_STEADY,	/* the steady state; without a pattern: the execution */
	CT_SCOPE_COUNT,
};

/* A call that can be shown: explain --call OP_ID. */
struct ct_evidence {
	uint64_t op_id, ts, ns;
	uint32_t tid;
	const struct ct_class *class;	/* NULL: there is none */
};

struct ct_fact {
	uint64_t id;			/* of its class */
	const struct ct_class *class;
	uint64_t count, timed, failed;
	uint64_t total;			/* ns, without calls inside others of their category */
	uint64_t self, failed_ns;	/* ns */
	uint64_t iterations;		/* in how many it was called */
	uint64_t in_iterations;		/* calls that began in one */
	uint64_t failed_in_iterations;
	int64_t  last_iteration;	/* internal */
	struct ct_evidence first, longest, failure;
	int64_t  code;			/* result of the first failure */
};

struct ct_scope_facts {
	CT_KEYED(struct ct_fact);
	/* Wall time in calls of any thread: allocations and frees that did not fail; loading and looking up of code. */
	struct ct_union memory, modules;
};

/* What failed after the last work that a process gave the GPU. */
struct ct_last_error {
	struct ct_evidence failure;	/* the first of them; of no class: none */
	int64_t code;
	uint64_t size;			/* bytes of an allocation; 0: not known, or it is none */
};

struct ct_process_facts {
	struct ct_last_error last_error;
	struct ct_scope_facts scopes[CT_SCOPE_COUNT];
};

struct ct_fact_table {
	struct ct_process_facts *processes;	/* as the phases have them */
	unsigned int processes_count;
};

extern const struct ct_analyser ct_facts_analyser;

/*
 * The scope of a moment of a process, CT_SCOPE_COUNT: none (its teardown).  @iteration, unless
 * NULL: set to the iteration's index, -1: none.
 */
enum ct_scope ct_scope_of(const struct ct_process_phases *p, uint64_t ts, int64_t *iteration);

/* The span of a scope, in ns; both 0: the process has none. */
void ct_scope_span(const struct ct_process_phases *p, enum ct_scope scope, uint64_t *begin, uint64_t *end);

/* Adds what of a call lies in the scope in which it began. */
void ct_scope_union(const struct ct_process_phases *p, enum ct_scope scope, const struct ct_trace_event *e, struct ct_union *u);

/* Sets @e from an event that has a point. */
void ct_evidence_set(struct ct_evidence *e, const struct ct_trace_event *event);

#endif
