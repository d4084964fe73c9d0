// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace diff: what changed from one trace to another.
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/common/only.h"
#include "cmd/open_trace.h"
#include "explain/diff/diff.h"
#include "view/term.h"

enum { KEY_FAIL = 0x100 };

struct env {
	const char *dirs[2];
	unsigned int count;
	bool fails;
	double most;	/* percent */
	bool top;
	struct ct_diff_request request;
	struct ct_only only[2];
};

#define NOT_COMPARED	2	/* the status where the traces could not be compared */

static const char doc[] =
	"Compare the traces A (before) and B (after): wall time, functions, kernels,\n"
	"ioctls, stages and memory, by their effect on wall time.\n"
	"\vFigures are per iteration where both traces have iterations, else of the\n"
	"whole run. A difference that the spread of the iterations explains is marked\n"
	"as noise. Record both in the same way: the module's records cost time, too.\n"
	"\n"
	"With --fail-above the exit status is 1 if the median iteration (without\n"
	"iterations: the execution as a whole) of B, or of one of its processes, is\n"
	"slower by more than so many percent and that is outside the noise. It is 2 if\n"
	"the traces could not be compared, and 64 after a wrong command line.\n"
	"\n"
	"Processes of the same role are compared side by side: the same command line\n"
	"but for numbers, else the same program. --pid A,B chooses those of the other\n"
	"tables.\n"
	"\n"
	"A and B may be folders of traces, one a node of a job, or of summaries of them\n"
	"(cudatrace summarize); of summaries the ranks are compared.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace diff before after\n"
	"  cudatrace diff --fail-above 5 baseline today || echo slower     in CI\n"
	"  cudatrace diff --from steady --to steady before after\n"
	"  cudatrace diff --pid 4711,5122 before after\n"
	"  cudatrace diff --format json before after | jq '.diff_functions[:5]'\n";

static const struct argp_option options[] = {
	{ "fail-above", KEY_FAIL, "PERCENT", 0, "exit status 1 if B is slower by more, 2 if that is not known", 0 },
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "top", 'n', "N", 0, "at most N rows of each table, 0: all (default: 15 in tables)", 0 },
	{ 0 },
};

static const struct argp_child children[] = { CT_ONLY_CHILD, { 0 } };

static error_t diff_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->only[0];
		return 0;
	case KEY_FAIL:
		env->most = strtod(arg, &end);
		if (end == arg || *end || !isfinite(env->most) || env->most < 0)
			argp_failure(state, 64, 0, "--fail-above takes a percentage of at least 0, not '%s'", arg);
		env->fails = true;
		return 0;
	case 'F':
		env->request.format = strcmp(arg, "table") ? ct_format_find(arg) : NULL;
		if (!env->request.format && strcmp(arg, "table"))
			argp_failure(state, 64, 0, "no format '%s': it is %s", arg, ct_format_names());
		return 0;
	case 'n':
		env->request.print.top = ct_option_number(state, "--top", arg, 0, UINT32_MAX);
		env->top = true;
		return 0;
	case ARGP_KEY_ARG:
		if (env->count == 2)
			argp_failure(state, 64, 0, "two traces are compared, not more");
		env->dirs[env->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (env->count < 2)
			argp_failure(state, 64, 0, "name the directories of two traces");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Opens a trace, and finds what of it counts. */
static int diff_open(struct env *env, unsigned int i, struct ct_trace *t)
{
	struct ct_only *only = &env->only[i];
	struct ct_error err = { 0 };
	int status = ct_open_job(t, &env->dirs[i], 1);

	if (!status && t->summaries) {
		if (env->fails || ct_only_asked(&env->only[0]) || ct_only_asked(&env->only[1]))
			status = ct_complain_usage("summaries are of whole traces, and without what is noise: they take no --from, --to, --pid and --fail-above");
		return status;
	}
	if (!status)
		status = ct_tell(env->dirs[i], ct_only_find(only, t, true, &err), &err);
	ct_only_select(only, t, true);
	env->request.phases[i] = only->phases_found ? &only->phases : NULL;
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = { options, diff_parse, "A B", doc, children, NULL, NULL };
	struct env env = { .only = { CT_ONLY_INIT, CT_ONLY_INIT } };
	struct ct_trace traces[2] = { 0 };
	struct ct_error err = { 0 };
	double worst = 0;
	int status = 0;

	env.only[0].pair = true;
	argp_parse(&argp, argc, argv, 0, NULL, &env);
	env.only[1] = ct_only_other(&env.only[0]);
	if (!env.request.format) {
		env.request.print.width = ct_term_width(stdout, 160);
		env.request.print.colour = ct_term_colour(stdout);
	}
	if (!env.top)
		env.request.print.top = env.request.format ? 0 : 15;
	for (unsigned int i = 0; i < 2 && !status; i++)
		status = diff_open(&env, i, &traces[i]);
	if (!status && !traces[0].summaries != !traces[1].summaries)
		status = ct_complain_usage("%s is a summary, %s is none: give two traces, or summaries of both", env.dirs[!traces[0].summaries],
					   env.dirs[!!traces[0].summaries]);
	if (!status && ct_diff(&traces[0], &traces[1], &env.request, stdout, &worst, &err))
		status = err.code != EPIPE ? ct_complain("%s, %s: %s", env.dirs[0], env.dirs[1], err.text) : 1;
	/* Who asks whether B is slower must not take an error for an answer. */
	if (status == 1 && env.fails)
		status = NOT_COMPARED;
	if (!status && env.fails && worst > env.most)
		status = ct_complain("%s is slower than %s by %.1f %%, more than %g %%", env.dirs[1],
				     env.dirs[0], worst, env.most);
	ct_only_free(&env.only[0]);
	ct_only_free(&env.only[1]);
	ct_trace_close(&traces[0]);
	ct_trace_close(&traces[1]);
	return status;
}
