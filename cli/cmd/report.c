// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace report: the figures of a trace.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "base/options.h"
#include "analysis/analyses.h"

struct env {
	const char *dir;
	struct ct_report_options report;
};

static const char doc[] =
	"Totals, time by category with the bottleneck named, and the operations that\n"
	"take the most time or are called most, of the trace in DIR.\n"
	"\v"
	"A share is of the time spent in calls, counted where it was spent: the time of\n"
	"a call that waits for an ioctl of the driver is in the category ioctl.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace report trace\n"
	"  cudatrace report --summary trace\n"
	"  cudatrace report --handles trace\n"
	"  cudatrace report --top 30 trace | less -S\n";

static const struct argp_option options[] = {
	{ "top", 'n', "N", 0, "operations in each list (default 15)", 0 },
	{ "summary", 's', NULL, 0, "only the totals", 0 },
	{ "handles", 'H', NULL, 0, "also RM's objects (clients, devices, channels, memory) from allocation to free", 0 },
	{ "blocks", 'b', NULL, 0, "also each block of the driver's memory that is still held at the end", 0 },
	{ 0 },
};

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	char *end;
	long n;

	switch (key) {
	case 'n':
		n = strtol(arg, &end, 10);
		if (*end || end == arg || n < 1 || n > 100000)
			argp_failure(state, 64, 0, "--top takes a number of at least 1, not '%s'", arg);
		env->report.top = n;
		return 0;
	case 's':
		env->report.summary_only = true;
		return 0;
	case 'H':
		env->report.handles = true;
		return 0;
	case 'b':
		env->report.blocks = true;
		return 0;
	}
	return ct_option_trace(key, arg, state, &env->dir);
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = { options, report_parse, "DIR", doc, NULL, NULL, NULL };
	struct env env = { .report.top = 15 };
	struct ct_error err;
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	status = ct_open_trace(&t, env.dir);
	if (!status && ct_report(&t, stdout, &env.report, &err))
		status = err.code == EPIPE ? 1 : ct_complain("%s: %s", env.dir, err.text);
	ct_trace_close(&t);
	return status;
}
