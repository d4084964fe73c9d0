// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace diff: what changed from one trace to another.
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
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
};

static const char doc[] =
	"Compare the traces A (before) and B (after): wall time, functions, kernels,\n"
	"ioctls, stages and memory, by their effect on wall time.\n"
	"\vFigures are per iteration where both traces have iterations, else of the\n"
	"whole run. A difference that the spread of the iterations explains is marked\n"
	"as noise. Record both in the same way: the module's records cost time, too.\n"
	"\n"
	"With --fail-above the exit status is 1 if the median iteration (without\n"
	"iterations: the execution as a whole) of B is slower by more than so many\n"
	"percent and that is outside the noise, and also if a trace cannot be read.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace diff before after\n"
	"  cudatrace diff --fail-above 5 baseline today || echo slower     in CI\n"
	"  cudatrace diff --format json before after | jq '.diff_functions[:5]'\n";

static const struct argp_option options[] = {
	{ "fail-above", KEY_FAIL, "PERCENT", 0, "exit status 1 if B is slower by more than this", 0 },
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "top", 'n', "N", 0, "at most N rows of each table, 0: all (default: 15 in tables)", 0 },
	{ 0 },
};

static error_t diff_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	unsigned long long n;
	char *end;

	switch (key) {
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
		errno = 0;
		n = strtoull(arg, &end, 10);
		if (errno || end == arg || *end || *arg == '-')
			argp_failure(state, 64, 0, "--top takes a number, not '%s'", arg);
		env->request.print.top = n;
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

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = { options, diff_parse, "A B", doc, NULL, NULL, NULL };
	struct env env = { 0 };
	struct ct_trace traces[2] = { 0 };
	struct ct_error err = { 0 };
	double worst = 0;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (!env.request.format) {
		env.request.print.width = ct_term_width(stdout, 160);
		env.request.print.colour = ct_term_colour(stdout);
	}
	if (!env.top)
		env.request.print.top = env.request.format ? 0 : 15;
	status = ct_open_trace(&traces[0], env.dirs[0]);
	if (!status)
		status = ct_open_trace(&traces[1], env.dirs[1]);
	if (!status && ct_diff(&traces[0], &traces[1], &env.request, stdout, &worst, &err))
		status = err.code != EPIPE ? ct_complain("%s, %s: %s", env.dirs[0], env.dirs[1], err.text) : 1;
	if (!status && env.fails && worst > env.most)
		status = ct_complain("%s is slower than %s by %.1f %%, more than %g %%", env.dirs[1],
				     env.dirs[0], worst, env.most);
	ct_trace_close(&traces[0]);
	ct_trace_close(&traces[1]);
	return status;
}
