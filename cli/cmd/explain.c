// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace explain: what limits a program, and what to try.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "explain/explain.h"
#include "explain/rules.h"
#include "view/term.h"

enum { KEY_RULES = 0x100 };

struct env {
	const char *dir;
	bool rules;
	struct ct_explain_request request;
};

static const char doc[] =
	"Say what limits the program in the trace DIR, in its steady state and in its startup, and\n"
	"what to try, most costly first.\n"
	"\v"
	"Each finding says what, how much time, the records that show it, what to try and how sure it\n"
	"is. A cost marked \"up to\" is an upper bound. A cause that no record shows is never named.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace explain trace\n"
	"  cudatrace explain --top 3 trace\n"
	"  cudatrace explain --format json trace | jq '.findings[] | {Rule, Share: .\"Share (%)\"}'\n"
	"  cudatrace explain --rules                 what is looked for, and from which threshold on\n";

static const struct argp_option options[] = {
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "top", 'n', "N", 0, "at most N findings, 0: all (default: 10)", 0 },
	{ "rules", KEY_RULES, NULL, 0, "print the table of rules", 0 },
	{ 0 },
};

static error_t explain_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	unsigned long n;
	char *end;

	switch (key) {
	case 'F':
		env->request.format = strcmp(arg, "table") ? ct_format_find(arg) : NULL;
		if (!env->request.format && strcmp(arg, "table"))
			argp_failure(state, 64, 0, "no format '%s': it is %s", arg, ct_format_names());
		return 0;
	case 'n':
		n = strtoul(arg, &end, 10);
		if (end == arg || *end || *arg == '-')
			argp_failure(state, 64, 0, "--top takes a number, not '%s'", arg);
		env->request.print.top = n;
		return 0;
	case KEY_RULES:
		env->rules = true;
		return 0;
	case ARGP_KEY_END:
		if (env->rules)
			return 0;
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
	};
	struct ct_error err = { 0 };
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.rules) {
		ct_explain_print_rules(stdout);
		return 0;
	}
	env.request.print.width = ct_term_width(stdout, 100);
	if (env.request.print.top == UINT64_MAX)
		env.request.print.top = env.request.format ? 0 : 10;
	status = ct_open_trace(&t, env.dir);
	if (!status && ct_explain_print(&t, &env.request, stdout, &err))
		status = err.code && err.code != EPIPE ? ct_complain("%s: %s", env.dir, err.text) : 1;
	ct_trace_close(&t);
	return status;
}
