// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace explain: what limits a program, and what to try; one call through the layers.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "analysis/range.h"
#include "cmd/cmd.h"
#include "cmd/common/only.h"
#include "cmd/open_trace.h"
#include "explain/calls/call_tree.h"
#include "explain/explain.h"
#include "explain/rules.h"
#include "view/term.h"

enum { KEY_RULES = 0x100, KEY_CALL, KEY_SLOWEST, KEY_AT, KEY_MODULE };

struct env {
	struct ct_dirs dirs;
	bool rules, calls;
	const char *at;				/* a time, as typed */
	struct ct_only only;
	struct ct_explain_request request;
	struct ct_call_request call;		/* where calls is set */
};

static const char doc[] =
	"Say what limits the program in the trace DIR, in its steady state and in its\n"
	"startup, and what to try, most costly first; or, with --call, --slowest or\n"
	"--at, show what happened inside calls, layer by layer.\n"
	"\vEach finding says what, how much time, the records that show it, what to try\n"
	"and how sure it is. A cost marked \"up to\" is an upper bound. A cause that no\n"
	"record shows is never named.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace explain trace\n"
	"  cudatrace explain --top 3 trace\n"
	"  cudatrace explain --from 1.2s --to 1.5s trace    findings of this time alone\n"
	"  cudatrace explain --pid 4711 trace\n"
	"  cudatrace explain --format json trace | jq '.findings[] | {Rule, Finding}'\n"
	"  cudatrace explain --rules  what is looked for, and from which threshold on\n"
	"  cudatrace explain --call 5093 trace\n"
	"  cudatrace explain --slowest 3 --name 'cuMemcpy*' trace\n"
	"  cudatrace explain --at 627.3 trace\n";

static const struct argp_option options[] = {
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "top", 'n', "N", 0, "at most N findings, 0: all (default: 10), or parts of a call", 0 },
	{ "rules", KEY_RULES, NULL, 0, "print the table of rules", 0 },
	{ NULL, 0, NULL, 0, "Instead of findings:", 1 },
	{ "call", KEY_CALL, "OP_ID", 0, "the tree of this call; export shows each call's op_id", 1 },
	{ "slowest", KEY_SLOWEST, "N", 0, "the N longest calls, each with its largest parts", 1 },
	{ "at", KEY_AT, "TIME", 0, "the calls that were open at this moment, ms since the trace began", 1 },
	{ "module", KEY_MODULE, "GLOB", 0, "in stacks, show lines of these libraries one by one, too ('torch', '*')", 1 },
	{ 0 },
};

static const struct argp_child children[] = { { &ct_only_argp, 0, "Only what counts:", 2 }, { 0 } };

static void explain_ask(struct env *env, struct argp_state *state, enum ct_call_question question)
{
	if (env->calls)
		argp_failure(state, 64, 0, "give one of --call, --slowest and --at");
	env->calls = true;
	env->call.question = question;
}

/* An option about calls; ARGP_ERR_UNKNOWN for every other key. */
static error_t explain_parse_call(int key, char *arg, struct argp_state *state, struct env *env)
{
	struct ct_call_request *q = &env->call;
	struct ct_error err;

	switch (key) {
	case KEY_CALL:
		explain_ask(env, state, CT_CALL_ONE);
		q->op_id = ct_option_number(state, "--call", arg, 1, UINT64_MAX);
		return 0;
	case KEY_SLOWEST:
		explain_ask(env, state, CT_CALL_SLOWEST);
		q->count = ct_option_number(state, "--slowest", arg, 1, CT_CALLS_SLOWEST_MAX);
		return 0;
	case KEY_AT:
		explain_ask(env, state, CT_CALL_AT);
		if (ct_range_check(arg, &err) || ct_range_needs_phases(arg))
			argp_failure(state, CT_USAGE, 0, "--at takes ms since the trace began, or 1.5s, 300us, not '%s'", arg);
		env->at = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t explain_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	if (!explain_parse_call(key, arg, state, env))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->only;
		return 0;
	case 'F':
		env->request.format = strcmp(arg, "table") ? ct_format_find(arg) : NULL;
		if (!env->request.format && strcmp(arg, "table"))
			argp_failure(state, 64, 0, "no format '%s': it is %s", arg, ct_format_names());
		return 0;
	case 'n':
		env->request.print.top = ct_option_number(state, "--top", arg, 0, UINT32_MAX);
		return 0;
	case KEY_MODULE:
		env->only.filter.modules = arg;
		return 0;
	case KEY_RULES:
		env->rules = true;
		return 0;
	case ARGP_KEY_END:
		if (env->rules && (env->request.format || env->dirs.count))
			argp_failure(state, 64, 0, "--rules prints a page of its own, of no trace: give it alone");
		if (env->rules)
			return 0;
		if (!env->calls && env->only.filter.tid)
			argp_failure(state, CT_USAGE, 0, "findings are of processes: --tid goes with --slowest or --at");
		if ((!env->calls || env->call.question != CT_CALL_SLOWEST) && env->only.filter.name)
			argp_failure(state, CT_USAGE, 0, "findings are of all calls: --name goes with --slowest");
		if (env->calls && env->call.question != CT_CALL_SLOWEST && (env->only.from || env->only.to))
			argp_failure(state, CT_USAGE, 0, "--from and --to go with findings and with --slowest");
		break;
	}
	return ct_option_traces(key, arg, state, &env->dirs);
}

/* What counts.  Findings are of the phases of a range, so that shares are of its time. */
static int explain_only(struct env *env, const struct ct_trace *t, struct ct_error *err)
{
	const struct ct_report_filter *filter = &env->only.filter;
	int rc = ct_only_find(&env->only, t, !env->calls, err);
	char to[64] = "the end";

	if (!rc && env->at)
		rc = ct_range_parse(env->at, t, NULL, 0, false, &env->call.at, err);
	env->call.filter = *filter;
	env->request.engine.phases = env->only.phases_found ? &env->only.phases : NULL;
	if (rc || env->calls || env->request.format || !(filter->from || filter->to))
		return rc;
	if (filter->to)
		snprintf(to, sizeof(to), "%.3f ms", (filter->to - t->reg.start) / 1e6);
	printf("Only from %.3f ms to %s: shares are of this time.\n",
	       filter->from ? (filter->from - t->reg.start) / 1e6 : 0, to);
	return 0;
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = { options, explain_parse, "DIR...", doc, children, NULL, NULL };
	struct env env = {
		.request = { .print.top = UINT64_MAX,
			     .engine.filter = { .layer = -1, .category = -1 } },
		.only = CT_ONLY_INIT,
	};
	struct ct_error err = { 0 };
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.rules) {
		ct_explain_print_rules(stdout, isatty(STDOUT_FILENO) ? ct_term_width(stdout, 80) : 0);
		return 0;
	}
	env.call.format = env.request.format;
	env.call.print.top = env.request.print.top == UINT64_MAX ? 0 : env.request.print.top;
	env.call.print.width = env.request.format ? 0 : ct_term_width(stdout, 160);
	env.request.print.width = ct_term_width(stdout, 100);
	env.request.print.colour = ct_term_colour(stdout);
	if (env.request.print.top == UINT64_MAX)
		env.request.print.top = env.request.format ? 0 : 10;
	status = ct_open_job(&t, env.dirs.list, env.dirs.count);
	if (!status && t.summaries && (env.calls || ct_only_asked(&env.only)))
		status = ct_complain_usage("summaries are of whole traces: they take no --call and the like, and no --from, --to and --pid");
	if (!status)
		status = ct_tell(env.dirs.list[0], explain_only(&env, &t, &err), &err);
	if (!status)
		status = ct_tell(env.dirs.list[0], env.calls ? ct_explain_calls(&t, &env.call, stdout, &err) :
				 ct_explain_print(&t, &env.request, stdout, &err), &err);
	ct_only_free(&env.only);
	ct_trace_close(&t);
	return status;
}
