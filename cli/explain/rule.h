/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What rules judge, and the findings that they make.
 *
 * A rule is a function and a row of the table in rules.c, with its threshold and the reason for
 * it.  A rule judges one process at a time and may only say what records show.
 */
#ifndef CT_CLI_RULE_H
#define CT_CLI_RULE_H

#include "analysis/threads/accounting.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/stacks/costs.h"
#include "explain/facts.h"
#include "view/term.h"

/* How sure a finding is. */
enum ct_certainty {
	CT_SURE,		/* the records show it and what it cost */
	CT_LIKELY,		/* the records show it; the cost is a bound or an estimate */
	CT_POSSIBLE,		/* the records fit it; something else may fit too */
};

#define CT_EVIDENCE_MAX	3

struct ct_rule;

/* What an advice comes to: parts of one finding do not tell it twice. */
enum ct_remedy {
	CT_REMEDY_OWN, CT_REMEDY_SYNC, CT_REMEDY_APPLICATION,
};

struct ct_finding {
	const struct ct_rule *rule;
	uint32_t pid;
	enum ct_scope scope;
	enum ct_certainty certainty;
	uint64_t cost;		/* ns of wall time of the launching thread, of the whole scope */
	bool at_most;		/* the cost is an upper bound */
	bool estimate;		/* it is one: neither measured nor a bound */
	double share;		/* of the scope's wall time, % */
	/*
	 * What a mend could gain: the cost, or less where another finding counts the same time.  The
	 * gains of a process's findings add up to no more than the scope's wall time, parts left out.
	 */
	uint64_t gain;		/* ns */
	/*
	 * ns that a mend gains at least, where .gain is a bound; 0: nothing is known of it.  Between the two nothing is
	 * known without records of the GPU: how long it works while the host does not wait for it.
	 */
	uint64_t least;
	unsigned int group;	/* findings of one cause have one number; 0: it stands alone */
	bool part;		/* of the finding of its group */
	uint64_t order;		/* the gain of the finding that it is a part of, or its own */
	char *what, *advice;
	enum ct_remedy remedy;	/* of the advice */
	char *lines;		/* of the program, that cost most of it; NULL: not known */
	char *source;		/* the text of the first of them; NULL: not known */
	struct ct_evidence evidence[CT_EVIDENCE_MAX];
	unsigned int evidence_count;
};

/* Findings of these rules may be parts of one finding. */
enum ct_cause_of {
	CT_CAUSE_OWN,		/* each is a cause of its own */
	CT_CAUSE_HOST,		/* the GPU has nothing to do, because the host is late */
};

/* What a rule gets: one process. */
struct ct_explain {
	const struct ct_analysis *analysis;	/* of any analyser of the pass: trace, names, states */
	const struct ct_trace *trace;
	const struct ct_phases *phases;
	const struct ct_process_phases *process;
	unsigned int index;			/* of the process */
	const struct ct_process_facts *facts;
	const struct ct_process_account *account;
	const struct ct_thread_account *thread;	/* that makes the iterations, or launches most; or NULL */
	const struct ct_idle_process *idle;
	bool idle_measured;
	const struct ct_gpu_busy_process *busy;	/* NULL: no records of the GPU, or not of all the steady state */
	uint64_t queued;			/* ns: see ct_gpu_idle_queued() */
	uint64_t elsewhere;			/* ns of the application without work of its own: ct_hot_elsewhere() */
	enum ct_sample_state waits_for;		/* most of it */
	uint64_t polled;			/* ns of the application in which the GPU was asked, and was not done: ct_polls_of() */
	uint64_t polling, poll_waits;		/* ns in these questions; so many times it waited by them */
	uint64_t waiting;			/* ns in which the GPU only waited for other ranks */
	uint64_t wall[CT_SCOPE_COUNT];		/* ns */
	uint64_t iterations;			/* of the steady state, at least 1 */
	struct ct_finding *list;
	unsigned int count, capacity;
	unsigned int groups;
	unsigned int first;			/* of the list: findings of this process */
	char **unseen;				/* what rules could not look at, a sentence each */
	unsigned int unseen_count, unseen_room;
	int error;
};

struct ct_rule {
	const char *name;		/* "alloc-in-loop" */
	const char *summary;		/* what it finds */
	double threshold;
	const char *unit;		/* of the threshold, in words */
	const char *reason;		/* why this threshold, why it matters */
	const struct ct_analyser *collects;	/* what it needs beside the facts, or NULL */
	void (*judge)(struct ct_explain *x, const struct ct_rule *rule);	/* NULL: see finding_causes.h */
	enum ct_cause_of cause;
	unsigned int lines;		/* CT_COST_BIT()s: what lines of the program have of it; 0: none */
};

/**
 * ct_explain_add() - add a finding
 * @cost: ns; its share of the scope's wall time is worked out here.  More than that time, which
 * several threads may spend together, counts as all of it, at most
 * @what: one sentence: what, how often, how much
 *
 * Return: the finding, for advice and evidence; never NULL.
 */
struct ct_finding *ct_explain_add(struct ct_explain *x, const struct ct_rule *rule,
				      enum ct_scope scope, enum ct_certainty certainty, uint64_t cost,
				      const char *what, ...) __attribute__((format(printf, 6, 7)));
void ct_explain_advise(struct ct_explain *x, struct ct_finding *f, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The finding and one of the process by the rule @other, if there is one, show one cause: the one that costs less
 * becomes a part of the other.
 */
void ct_explain_join(struct ct_explain *x, struct ct_finding *f, const char *other);

/* Adds a record that shows it; one without a class is left out. */
void ct_explain_show(struct ct_finding *f, const struct ct_evidence *e);

/* Says what a rule could not look at of the process, where a trace has more than it keeps. */
void ct_explain_unseen(struct ct_explain *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "12.3 ms (4.1 %)" of a scope, "12.3 s of all threads together"; @buf of 64 bytes. */
const char *ct_explain_time(const struct ct_explain *x, enum ct_scope scope, uint64_t ns, char buf[64]);

/*
 * How often something happened: "2.5" for each iteration where there are iterations, "2,500"
 * in all where there are none; and the words that go with it: "an iteration", "in all".
 * @count: what ct_explain_countable() says, since not all of the steady state lies in iterations
 */
const char *ct_explain_rate(const struct ct_explain *x, uint64_t count, char buf[CT_TERM_TEXT]);
const char *ct_explain_rate_s(const struct ct_explain *x, uint64_t count);	/* of the plural */
const char *ct_explain_per(const struct ct_explain *x);

/* Of @all that happened in the steady state what is divided among the iterations, if there are some. */
static inline uint64_t ct_explain_countable(const struct ct_explain *x, uint64_t all, uint64_t in_iterations)
{
	return x->process->iterations_count ? in_iterations : all;
}

/* The stages in which the process does its work, in words: without a pattern it has no steady state. */
static inline const char *ct_explain_main(const struct ct_explain *x)
{
	if (ct_phases_other(x->process))
		return "execution and the steady state";
	return ct_phases_steady(x->process) ? "steady state" : "execution";
}

/* The ending of a plural. */
static inline const char *ct_explain_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* The state of a collector. */
static inline void *ct_explain_state(const struct ct_explain *x, const struct ct_analyser *of)
{
	return ct_analysis_state(x->analysis, of);
}

/* ns of the steady state in which the GPU worked, by its records, which x->busy says are there. */
static inline uint64_t ct_explain_gpu_ns(const struct ct_explain *x)
{
	return CT_STAGES_MAIN(x->busy->any.stages, .busy);
}

/* "The launching thread 12 is", "The 2 launching threads are"; @buf of 48 bytes. */
const char *ct_explain_launching(const struct ct_explain *x, char buf[48]);

/* A finding's gain as a share of its scope's wall time, %; and the least of it. */
static inline double ct_finding_gain(const struct ct_finding *f)
{
	return f->cost ? f->share * f->gain / f->cost : 0;
}

static inline double ct_finding_least(const struct ct_finding *f)
{
	return f->cost ? f->share * f->least / f->cost : 0;
}

/* The sum of an account of the process over a scope, in ns: see analysis/threads/launching.h. */
uint64_t ct_explain_account(const struct ct_explain *x, enum ct_scope scope, unsigned int account);


/* Sets the fields of @x that belong to a process of the phases. */
void ct_explain_choose(struct ct_explain *x, unsigned int index);

#endif
