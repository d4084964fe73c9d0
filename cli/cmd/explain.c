// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace explain: what limits a program, and what to try; one call through the layers.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "explain/calls/call_tree.h"
#include "explain/explain.h"
#include "explain/rules.h"
#include "view/term.h"

enum { KEY_RULES = 0x100, KEY_CALL, KEY_SLOWEST, KEY_AT, KEY_PID, KEY_TID, KEY_NAME };

struct env {
	const char *dir;
	bool rules, calls;
	double at;				/* ms */
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
	{ "at", KEY_AT, "MS", 0, "the calls that were open at this moment, ms since the trace began", 1 },
	{ "pid", KEY_PID, "PID", 0, "with --slowest and --at: of this process", 1 },
	{ "tid", KEY_TID, "TID", 0, "with --slowest and --at: of this thread", 1 },
	{ "name", KEY_NAME, "GLOB", 0, "with --slowest: calls of this name, at any depth: 'cuMem*'", 1 },
	{ 0 },
};

static uint64_t explain_number(struct argp_state *state, const char *what, const char *arg,
			       uint64_t most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || !n || n > most)
		argp_failure(state, 64, 0, "%s takes a number from 1 to %llu, not '%s'", what,
			     (unsigned long long)most, arg);
	return n;
}

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
	char *end;

	switch (key) {
	case KEY_CALL:
		explain_ask(env, state, CT_CALL_ONE);
		q->op_id = explain_number(state, "--call", arg, UINT64_MAX);
		return 0;
	case KEY_SLOWEST:
		explain_ask(env, state, CT_CALL_SLOWEST);
		q->count = explain_number(state, "--slowest", arg, CT_CALLS_SLOWEST_MAX);
		return 0;
	case KEY_AT:
		explain_ask(env, state, CT_CALL_AT);
		env->at = strtod(arg, &end);
		if (*end || end == arg || !isfinite(env->at) || env->at < 0 || env->at > 1e12)
			argp_failure(state, 64, 0, "--at takes ms since the trace began, not '%s'", arg);
		return 0;
	case KEY_PID:
		q->filter.pid = explain_number(state, "--pid", arg, UINT32_MAX);
		return 0;
	case KEY_TID:
		q->filter.tid = explain_number(state, "--tid", arg, UINT32_MAX);
		return 0;
	case KEY_NAME:
		q->filter.name = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t explain_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	unsigned long n;
	char *end;

	if (!explain_parse_call(key, arg, state, env))
		return 0;
	switch (key) {
	case 'F':
		env->request.format = strcmp(arg, "table") ? ct_format_find(arg) : NULL;
		if (!env->request.format && strcmp(arg, "table"))
			argp_failure(state, 64, 0, "no format '%s': it is %s", arg, ct_format_names());
		return 0;
	case 'n':
		n = strtoul(arg, &end, 10);
		if (end == arg || *end || *arg == '-' || n == ULONG_MAX)
			argp_failure(state, 64, 0, "--top takes a number, not '%s'", arg);
		env->request.print.top = n;
		return 0;
	case KEY_RULES:
		env->rules = true;
		return 0;
	case ARGP_KEY_END:
		if (env->rules)
			return 0;
		if (!env->calls && (env->call.filter.pid || env->call.filter.tid))
			argp_failure(state, 64, 0, "--pid and --tid go with --slowest or --at");
		if (env->call.question != CT_CALL_SLOWEST && env->call.filter.name)
			argp_failure(state, 64, 0, "--name goes with --slowest");
		break;
	}
	return ct_option_trace(key, arg, state, &env->dir);
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = { options, explain_parse, "DIR", doc, NULL, NULL, NULL };
	struct env env = {
		.request = { .print.top = UINT64_MAX,
			     .engine.filter = { .layer = -1, .category = -1 } },
		.call.filter = { .layer = -1, .category = -1 },
	};
	struct ct_error err = { 0 };
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.rules) {
		ct_explain_print_rules(stdout);
		return 0;
	}
	env.call.format = env.request.format;
	env.call.print.top = env.request.print.top == UINT64_MAX ? 0 : env.request.print.top;
	env.call.print.width = env.request.format ? 0 : ct_term_width(stdout, 160);
	env.request.print.width = ct_term_width(stdout, 100);
	env.request.print.colour = ct_term_colour(stdout);
	if (env.request.print.top == UINT64_MAX)
		env.request.print.top = env.request.format ? 0 : 10;
	status = ct_open_trace(&t, env.dir);
	env.call.at = t.reg.start + (uint64_t)(env.at * 1e6);
	if (!status && (env.calls ? ct_explain_calls(&t, &env.call, stdout, &err) :
				    ct_explain_print(&t, &env.request, stdout, &err)))
		status = err.code && err.code != EPIPE ? ct_complain("%s: %s", env.dir, err.text) : 1;
	ct_trace_close(&t);
	return status;
}
