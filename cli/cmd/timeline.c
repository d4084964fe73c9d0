// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace timeline: a trace as a picture in the terminal.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline.h"
#include "cmd/cmd.h"
#include "cmd/common/only.h"
#include "cmd/open_trace.h"
#include "base/options.h"
#include "view/term.h"

struct env {
	struct ct_dirs dirs;
	struct ct_timeline_options timeline;
	struct ct_only only;
};

static const char doc[] =
	"Show the trace in DIR as a timeline: a line for each nesting depth of each\n"
	"thread and for each stream of the GPU, a letter for what most of a column's\n"
	"time went to: a capital where that is half of the column or more, else a small\n"
	"one.\n"
	"\v"
	"As wide as the terminal; in a pipe as wide as $COLUMNS, or 100.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace timeline trace\n"
	"  cudatrace timeline --from 120 --to 140 trace    (ms since the trace began)\n"
	"  cudatrace timeline --from iteration:12 --to iteration:14 --pid 4711 trace\n"
	"  COLUMNS=200 cudatrace timeline --threads 4 trace > timeline.txt\n";

static const struct argp_option options[] = {
	{ "threads", 't', "N", 0, "the N threads with the most time in calls, and N streams (12)", 0 },
	{ "depth", 'd', "N", 0, "N lines a thread at most (default 5)", 0 },
	{ "width", 'w', "N", 0, "N columns", 0 },
	{ 0 },
};

static const struct argp_child children[] = { CT_ONLY_KINDS_CHILD, { 0 } };

static error_t timeline_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->only;
		return 0;
	case 't':
		env->timeline.threads = (unsigned int)ct_option_number(state, "--threads", arg, 1, 512);
		return 0;
	case 'd':
		env->timeline.depth = (unsigned int)ct_option_number(state, "--depth", arg, 1, 64);
		return 0;
	case 'w':
		env->timeline.width = (unsigned int)ct_option_number(state, "--width", arg, 40, 1000);
		return 0;
	}
	return ct_option_traces(key, arg, state, &env->dirs);
}

int cmd_timeline(int argc, char **argv)
{
	static const struct argp argp = { options, timeline_parse, "DIR...", doc, children, NULL, NULL };
	struct env env = { .timeline = { .threads = 12, .depth = 5 }, .only = CT_ONLY_INIT };
	struct ct_error err = { 0 };
	struct ct_trace t;
	int rc, status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (!env.timeline.width)
		env.timeline.width = ct_term_width(stdout, 100);
	if (env.timeline.width < 40)
		env.timeline.width = 40;
	env.timeline.colour = ct_term_colour(stdout);
	status = ct_open_traces(&t, env.dirs.list, env.dirs.count);
	if (!status)
		status = ct_tell(env.dirs.list[0], ct_only_find(&env.only, &t, false, &err), &err);
	if (!status) {
		env.timeline.from = env.only.filter.from;
		env.timeline.to = env.only.filter.to;
		/* What began before the picture and is not over yet is in it, too. */
		ct_only_select(&env.only, &t, false);
		rc = ct_timeline(&t, stdout, &env.timeline);
		if (rc)
			status = rc == -EPIPE ? 1 : ct_complain("%s: %s", env.dirs.list[0], strerror(-rc));
	}
	ct_only_free(&env.only);
	ct_trace_close(&t);
	return status;
}
