// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace mcp: an assistant asks about traces.  Must never let it write, or read outside of the directory
 * that it was given.
 */
#include <argp.h>
#include <string.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "serve/mcp.h"

enum { KEY_LIMIT = 0x100, KEY_TIMEOUT };

static const char doc[] =
	"Answer an assistant's questions about the traces below DIR: a server of the\n"
	"Model Context Protocol on stdin and stdout.\n"
	"\vThe assistant's program starts it. In its settings that is often:\n"
	"\n"
	"  {\"mcpServers\": {\"cudatrace\": {\"command\": \"cudatrace\",\n"
	"                                \"args\": [\"mcp\", \"/home/me/traces\"]}}}\n"
	"\n"
	"Its tools are traces, summary, explain, reports, report (with a table of one's\n"
	"own by --by), call, lines, ranks, diff and search. They only read, and only\n"
	"below DIR. An answer that is cut says so, and how to ask for less.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace mcp ~/traces\n"
	"  npx @modelcontextprotocol/inspector cudatrace mcp ~/traces   to try it out\n";

static const struct argp_option options[] = {
	{ "limit", KEY_LIMIT, "BYTES", 0, "of an answer (default: 32768)", 0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "for an answer (default: 120)", 0 },
	{ 0 },
};

static error_t mcp_parse(int key, char *arg, struct argp_state *state)
{
	struct ct_mcp *m = state->input;

	switch (key) {
	case KEY_LIMIT:
		m->bounds.bytes = ct_option_number(state, "--limit", arg, 1024, 1 << 24);
		return 0;
	case KEY_TIMEOUT:
		m->bounds.seconds = ct_option_number(state, "--timeout", arg, 1, 86400);
		return 0;
	}
	return ct_option_trace(key, arg, state, &m->dir);
}

/* Those that the tools name.  Runs in a process of its own. */
static int mcp_command(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = { { "report", cmd_report }, { "explain", cmd_explain }, { "diff", cmd_diff }, { "export", cmd_export } };

	ct_open_read_only = true;
	for (unsigned int i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].run(argc, argv);
	return CT_USAGE;
}

int cmd_mcp(int argc, char **argv)
{
	static const struct argp argp = { options, mcp_parse, "DIR", doc, NULL, NULL, NULL };
	struct ct_mcp m = { .bounds = { .bytes = 32768, .seconds = 120 }, .command = mcp_command };
	struct ct_error err = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &m);
	return ct_tell("mcp", ct_mcp_serve(&m, &err), &err);
}
