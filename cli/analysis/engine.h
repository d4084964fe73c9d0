/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The analysis engine: one pass over the records of a trace feeds any number of analysers.
 *
 * An analyser is one file with a struct ct_analyser, and a row of the table in reports.c.  It
 * gets spans (calls, ranges, the GPU's work, each once and complete), or events: a call begins,
 * ends or never returns, an instant (spans/spans.h).  It keeps what it needs in a state of its
 * own, bounded by the number of different things and never by that of records; and at the end
 * it makes tables (table/table.h).
 */
#ifndef CT_CLI_ENGINE_H
#define CT_CLI_ENGINE_H

#include "analysis/filter.h"
#include "spans/processes.h"
#include "phases/phases.h"
#include "ranks/collectives.h"
#include "spans/spans.h"
#include "table/format.h"
#include "table/table.h"
#include "trace/names.h"

struct ct_analysis;

struct ct_analyser {
	const char *name;		/* "cuda_api_sum"; NULL: not a report, others need it */
	const char *summary;		/* what it shows, a line for --list */
	unsigned int on;		/* the events that it gets: CT_ON_* */
	unsigned int spans;		/* the order in which it gets spans, one of CT_SPANS_*; 0: it gets none */
	uint32_t what;			/* classes of these bits of ct_class.what; 0: of every class */
	/* Events and spans of this class are fed to it.  NULL: of every class. */
	bool (*wants)(const struct ct_class *class);
	bool phases;			/* it uses ct_analysis.phases */
	bool collectives;		/* it uses ct_analysis.collectives */
	bool summaries;			/* as a report, it can be made of summaries of traces, too */
	bool gpu;			/* of a trace without records of the GPU it gets nothing */
	bool stacks;			/* of a trace without stacks it gets nothing */
	bool samples;			/* it gets samples, of threads and of GPUs, as instants; nobody else does */
	bool unfiltered;		/* it gets all of them, whatever --from, --pid ... say */
	bool streams;			/* its one table is begun in begin(), and rows go out at once */
	bool steady;			/* of what comes again and again: as a report, of the steady state */
	size_t state_size;		/* of zeros, before begin() */
	const struct ct_analyser *const *needs;	/* analysers whose state it reads; ends with NULL */
	/* Each may be NULL.  Each returns 0 or a negative errno, which ends the pass. */
	int (*begin)(struct ct_analysis *a);
	int (*event)(struct ct_analysis *a, const struct ct_trace_event *e);
	int (*span)(struct ct_analysis *a, const struct ct_span *s);
	int (*end)(struct ct_analysis *a);	/* makes the tables */
	void (*free)(struct ct_analysis *a);	/* what the state holds */
	/* Only where tables are no good text for people: prints instead of them. */
	int (*text)(const struct ct_analysis *a, FILE *out, const struct ct_print_options *print);
	bool single;			/* it always makes exactly one table */
	const void *arg;		/* of what its functions are, where several analysers share them */
};

struct ct_engine;

#define CT_TABLES_MAX	6	/* of a report */

/* An analyser at work on a trace. */
struct ct_analysis {
	const struct ct_analyser *analyser;
	const struct ct_trace *trace;
	const struct ct_phases *phases;
	const struct ct_collectives *collectives;	/* empty where the trace has none */
	const struct ct_processes *processes;	/* names, those that are known so far */
	struct ct_names *names;			/* readable names of kernels */
	const struct ct_report_filter *filter;
	const struct ct_totals *totals;		/* of the whole trace; complete in end() */
	void *arg;			/* as ct_engine_options.arg */
	void *state;
	struct ct_table tables[CT_TABLES_MAX];
	unsigned int tables_count;
	struct ct_engine *engine;
};

/**
 * ct_analysis_table() - begin a table of the report
 *
 * Only in end(), or in begin() of an analyser that streams; at most CT_TABLES_MAX times.  The
 * engine ends the table and frees it.
 *
 * Return: the table, never NULL.
 */
struct ct_table *ct_analysis_table(struct ct_analysis *a, const char *name, const char *title,
				   const struct ct_column *columns, unsigned int count);

/* The state of an analyser that this one needs; it has ended already. */
void *ct_analysis_state(const struct ct_analysis *a, const struct ct_analyser *of);

/* The track of a key (trace/order.h), with the calls that are open now; of a thread it is its tid.  NULL: not seen yet. */
const struct ct_track *ct_analysis_track(const struct ct_analysis *a, uint64_t key);

/* A moment of a record as CT_CELL_TIME. */
static inline struct ct_cell ct_moment(const struct ct_analysis *a, uint64_t ts)
{
	return ct_u64(ts > a->trace->reg.start ? ts - a->trace->reg.start : 0);
}

#define CT_ANALYSERS_MAX	126	/* of a pass */

/* Analysers for a pass, each once.  One too many is an error of ct_engine_run(). */
struct ct_analysers {
	const struct ct_analyser *list[CT_ANALYSERS_MAX];
	unsigned int count;
};

void ct_analysers_add(struct ct_analysers *analysers, const struct ct_analyser *one);

struct ct_engine_options {
	struct ct_report_filter filter;
	const struct ct_phases *phases;	/* found already; NULL: found if an analyser uses them */
	const struct ct_collectives *collectives;	/* the same */
	/* Called with each table of a report that streams, in begin(); NULL: its rows are kept. */
	int (*stream)(void *arg, struct ct_table *t);
	void *stream_arg;
	void *arg;			/* what the caller asks of its own analysers */
};

/**
 * ct_engine_run() - one pass over a trace
 * @analysers: @count analysers; those that they need are added
 *
 * Return: the engine with its results, or NULL with a line in @err.  Free with
 * ct_engine_free() before the trace is closed.
 */
struct ct_engine *ct_engine_run(const struct ct_trace *t, const struct ct_analyser *const *analysers,
				unsigned int count, const struct ct_engine_options *options,
				struct ct_error *err);

/**
 * ct_engine_one() - a pass over all of a trace for an analyser that keeps its results itself
 * @arg: what it finds in ct_analysis.arg
 *
 * Return: 0; -ENOMEM; what a function of the analyser returned.
 */
int ct_engine_one(const struct ct_trace *t, const struct ct_analyser *analyser, void *arg);

/* The analysis that @analyser made, with its tables and its state; NULL: it did not run. */
const struct ct_analysis *ct_engine_result(const struct ct_engine *e, const struct ct_analyser *analyser);
void ct_engine_free(struct ct_engine *e);

#endif
