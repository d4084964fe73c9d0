/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rules share.  The functions of the rules themselves are declared here for the table in
 * explain/rules.c; each is in the file that is named by its subject.
 */
#ifndef CT_CLI_RULE_COMMON_H
#define CT_CLI_RULE_COMMON_H

#include "explain/rule.h"

/* rule_launch.c */
void ct_rule_host_bound(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_application(struct ct_explain *x, const struct ct_rule *rule);
/* rule_gpu.c */
void ct_rule_gpu_idle(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_gpu_kernels(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_gpu_clocks(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_gpu_kernels_analyser;
/* rule_repeats.c */
void ct_rule_graph(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_repeats_analyser;
/* rule_sync.c */
void ct_rule_sync(struct ct_explain *x, const struct ct_rule *rule);
/* rule_copies.c */
void ct_rule_pageable(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_blocking_copies(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_small_copies(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_copies_analyser;
/* rule_memory.c */
void ct_rule_allocations(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_growth(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_growth_analyser;
/* rule_modules.c */
void ct_rule_lazy_loading(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_startup_communicators(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_startup_modules(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_startup_application(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_startup_init(struct ct_explain *x, const struct ct_rule *rule);
/* rule_getters.c */
void ct_rule_getters(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_getters_analyser;
/* rule_errors.c */
void ct_rule_errors(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_last_error(struct ct_explain *x, const struct ct_rule *rule);
/* rule_driver.c */
void ct_rule_ioctls(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_failing_ioctls(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_ioctls_analyser;
/* rule_cpu.c */
void ct_rule_off_cpu(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_off_cpu_analyser;
/* rule_ranks.c */
void ct_rule_late_rank(struct ct_explain *x, const struct ct_rule *rule);
/* rule_contention.c */
void ct_rule_contention(struct ct_explain *x, const struct ct_rule *rule);
void ct_rule_shared_gpu(struct ct_explain *x, const struct ct_rule *rule);
extern const struct ct_analyser ct_contention_analyser;

/* rule_launch.c: are at least half of the launches of the steady state launches of graphs? */
bool ct_rule_launches_graphs(const struct ct_explain *x);

/* sync.c: ns from synchronisations that left the GPU nothing to do until it has work again; without its records at least. */
uint64_t ct_rule_after_syncs(const struct ct_explain *x);

/* What to do about time in the program's own code: whether stacks were recorded decides. */
const char *ct_rule_profile(const struct ct_explain *x);

/* What to do where the launching thread, by samples, mostly waits for something else between its calls; NULL: it does not. */
const char *ct_rule_waits(const struct ct_explain *x);

/*
 * What of a gain remains: by samples the launching thread waits for something else for so long that it would wait for that
 * instead (a data loader, requests).
 */
static inline uint64_t ct_rule_beyond_waits(const struct ct_explain *x, uint64_t ns)
{
	return ns > x->elsewhere ? ns - x->elsewhere : 0;
}

/* Do samples or context switches say whether the launching thread works between its calls? */
bool ct_rule_host_known(const struct ct_explain *x);

/*
 * "; by samples 62 % running, 38 % sleeping"; "" where no samples say it.  Of waits for Python's lock, too, who holds it
 * (analysis/stacks/holders.h).
 */
#define CT_RULE_STATES	640
const char *ct_rule_states(const struct ct_explain *x, enum ct_scope scope, char text[CT_RULE_STATES]);

/* ": 62 % imports (41 % torch), 20 % waiting for files"; "" where no samples say it (analysis/stacks/startup.h). */
const char *ct_rule_startup(struct ct_explain *x, char text[512]);

/*
 * An array of states, one for each process of the phases: what a collector keeps.  Returned
 * by calloc(); NULL: no memory.
 */
void *ct_rule_per_process(const struct ct_analysis *a, size_t size);

/* The process of an event as index, its scope and iteration; -1: none that counts. */
int ct_rule_process(const struct ct_analysis *a, const struct ct_trace_event *e, enum ct_scope *scope,
		    int64_t *iteration);

/* The facts of a scope. */
static inline const struct ct_scope_facts *ct_rule_facts(const struct ct_explain *x, enum ct_scope scope)
{
	return &x->facts->scopes[scope];
}

/* How often a function was called, to be said for each iteration. */
static inline uint64_t ct_rule_calls(const struct ct_explain *x, const struct ct_fact *fact)
{
	return ct_explain_countable(x, fact->count, fact->in_iterations);
}

/* A share of the wall time of a scope, in %. */
static inline double ct_rule_share(const struct ct_explain *x, enum ct_scope scope, uint64_t ns)
{
	return x->wall[scope] ? 100.0 * ns / x->wall[scope] : 0;
}

#endif
