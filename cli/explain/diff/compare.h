/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two traces side by side: the same functions matched by name, and how sure a difference is. */
#ifndef CT_CLI_COMPARE_H
#define CT_CLI_COMPARE_H

#include "explain/diff/per_iteration.h"

/* One of both traces. */
struct ct_diff_side {
	const struct ct_trace *trace;
	const struct ct_per_iteration *per;
	unsigned int others;		/* processes that called libcuda and are not compared */
};

struct ct_diff_pair {
	struct ct_diff_side side[2];
	bool iterations;		/* both have some: figures are per iteration */
};

/* What a row says of one trace: per iteration, or of the run. */
struct ct_diff_value {
	double count, ns, wall;
	double error;			/* standard error of wall, ns */
	bool there;
	bool elsewhere;			/* only outside of the iterations, which launch graphs: it may be in one */
};

struct ct_diff_row {
	const char *name;
	struct ct_diff_value value[2];
	double effect;			/* on wall time, ns: the second without the first */
};

struct ct_diff_rows {
	struct ct_diff_row *list;	/* by effect, the largest first, whatever its sign */
	uint32_t count;
};

/* The functions, kernels ... of one kind of both traces.  0 or -ENOMEM; free the list. */
int ct_diff_match(const struct ct_diff_pair *pair, const enum ct_per_kind kind[2],
		  struct ct_diff_rows *rows);

/* How far a difference may be from chance: two standard errors of both; 0: not known. */
double ct_diff_noise(const struct ct_diff_pair *pair, double error_a, double error_b);

/* Does a trace have functions, kernels ... of this kind? */
bool ct_diff_has(const struct ct_diff_side *side, enum ct_per_kind kind);

/* "slower", "faster", "noise" (it may be chance), "same", "new", "gone", "in graph" (on the other side, likely). */
const char *ct_diff_verdict(const struct ct_diff_pair *pair, const struct ct_diff_row *row);

/* The duration of the median iteration, and its standard error by the median deviation; ns. */
int ct_diff_iteration(const struct ct_diff_side *side, double *median, double *error);

/* The mean duration with what is between the iterations, and its standard error; ns. */
void ct_diff_mean(const struct ct_diff_side *side, double *mean, double *error);

/* What the thread that makes the iterations spends outside of calls, per iteration. */
void ct_diff_application(const struct ct_diff_side *side, struct ct_diff_value *value);

/* ns that the main process executed: from the end of its setup to its teardown; or its life. */
uint64_t ct_diff_execution(const struct ct_diff_side *side, bool *stage);

/* ns of a stage of the main process; false: it has none. */
bool ct_diff_stage(const struct ct_diff_side *side, enum ct_stage stage, uint64_t *ns);

#endif
