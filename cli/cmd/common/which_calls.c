// SPDX-License-Identifier: LGPL-2.1-or-later
/* See which_calls.h. */
#include "cmd/common/which_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

enum { KEY_FUNCTIONS = 0x900, KEY_TYPES, KEY_NO_QUERIES, KEY_TIME_QUERIES, KEY_RUNTIME, KEY_CAPTURE_RANGE };

static const struct argp_option which_calls_options[] = {
	{ "functions", KEY_FUNCTIONS, "PATTERNS", 0, "Record calls of these functions only, as 'cuLaunch*,cuMemcpy*', or all but some, as '!cuEvent*'; others cost nothing", 0 },
	{ "types", KEY_TYPES, "LIST", 0, "Record calls of these types only: " CT_CHOSEN_TYPES, 0 },
	{ "no-queries", KEY_NO_QUERIES, NULL, 0, "Don't record getters of a few ns, which are most of the calls of many programs", 0 },
	{ "time-queries", KEY_TIME_QUERIES, NULL, 0, "Also time getters of a few ns, instead of only counting them", 0 },
	{ "runtime", KEY_RUNTIME, NULL, 0, "Record the cuda* calls of a shared libcudart too, not only the driver calls that they make", 0 },
	{ "capture-range", KEY_CAPTURE_RANGE, "WHAT", 0, "Record one part of each process's time: cudaProfilerApi (from cudaProfilerStart to cudaProfilerStop), nvtx:NAME (the first NVTX range of that name), mark:NAME (the first cudatrace_begin range of that name, or from the mark NAME on), iteration:100-120 (found by the pattern of launches; until then calls are recorded and dropped); else calls before and after it cost little", 0 },
	{ 0 },
};

static void which_calls_range(struct argp_state *state, struct ct_which_calls *c, const char *arg)
{
	switch (ct_capture_range_parse(&c->range, arg)) {
	case -EINVAL:
		argp_error(state, "--capture-range: give cudaProfilerApi, nvtx:NAME, mark:NAME or iteration:FIRST-LAST");
		break;
	case -E2BIG:
		argp_error(state, "--capture-range: at most 1000 characters");
	}
}

static void which_calls_choose(struct argp_state *state, const struct ct_which_calls *c)
{
	struct ct_error err;
	int rc;

	if (c->time_queries && c->chosen.no_queries)
		argp_failure(state, CT_USAGE, 0, "give --time-queries or --no-queries: what is not recorded is not timed");
	rc = ct_chosen_set(&c->chosen, &err);

	if (rc < 0)
		argp_failure(state, CT_USAGE, 0, "%s", err.text);
	else if (rc)
		fprintf(stderr, "%s: %s\n", state->name, err.text);
}

static error_t which_calls_parse(int key, char *arg, struct argp_state *state)
{
	struct ct_which_calls *c = state->input;

	switch (key) {
	case KEY_FUNCTIONS:
		c->given = "--functions";
		c->chosen.functions = arg;
		return 0;
	case KEY_TYPES:
		c->given = "--types";
		c->chosen.types = arg;
		return 0;
	case KEY_NO_QUERIES:
		c->given = "--no-queries";
		c->chosen.no_queries = true;
		return 0;
	case KEY_TIME_QUERIES:
		c->given = "--time-queries";
		c->time_queries = true;
		setenv("CUDATRACE_TIME_QUERIES", "1", 1);
		return 0;
	case KEY_RUNTIME:
		c->given = "--runtime";
		c->chosen.runtime = true;
		setenv("CUDATRACE_RUNTIME", "1", 1);
		return 0;
	case KEY_CAPTURE_RANGE:
		c->given = "--capture-range";
		which_calls_range(state, c, arg);
		return 0;
	case ARGP_KEY_END:
		which_calls_choose(state, c);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp ct_which_calls_argp = { which_calls_options, which_calls_parse, NULL, NULL, NULL, NULL, NULL };
