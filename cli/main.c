// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace: the command line.  Finds the subcommand and calls it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/cmd.h"
#include "module/uapi/cudatrace.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "record",   cmd_record,   "run a program and record it" },
	{ "session",  cmd_session,  "control the module: start, stop, pause, filter a flight recorder" },
	{ "probe",    cmd_probe,    "functions of the driver: list, add, remove, discover" },
	{ "snapshot", cmd_snapshot, "write what a running flight recorder holds to a trace" },
	{ "live",     cmd_live,     "show calls as they happen, or follow a trace directory" },
	{ "top",      cmd_top,      "what is called now, by process and function, refreshed" },
	{ "report",   cmd_report,   "what a trace says, as tables: functions, kernels, iterations, memory ..." },
	{ "explain",  cmd_explain,  "what limits the program, and what to try" },
	{ "diff",     cmd_diff,     "compare two traces: what became slower, and whether that is noise" },
	{ "timeline", cmd_timeline, "a timeline by thread and nesting depth, in the terminal" },
	{ "export",   cmd_export,   "write a trace as a page, a database, a table, or for another tool" },
	{ "doctor",   cmd_doctor,   "check this machine: what is missing, and the command that mends it" },
};

static void help(FILE *out)
{
	fprintf(out,
		"Usage: cudatrace COMMAND [ARGUMENTS]\n"
		"See what a CUDA program asks of libcuda and of NVIDIA's kernel driver.\n\n"
		"Commands:\n");
	for (unsigned int i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(out,
		"\n'cudatrace COMMAND --help' explains a command.\n\n"
		"EXAMPLES\n"
		"  cudatrace doctor\n"
		"  cudatrace record -o trace -- python train.py\n"
		"  cudatrace report trace; cudatrace explain trace\n"
		"  cudatrace export --format chrome -o trace.json trace\n"
		"  cudatrace session start; cudatrace snapshot -o last --last 10\n"
		"  cudatrace probe add nvidia:nv_alloc_contig_pages arg0:nv\n");
}

/* A trace is read through a mapping: a file that becomes shorter raises SIGBUS. */
static void on_sigbus(int sig)
{
	static const char text[] =
		"cudatrace: a file of the trace became shorter while it was read; try again\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

int main(int argc, char **argv)
{
	static char name[64];

	signal(SIGBUS, on_sigbus);
	if (argc < 2) {
		help(stderr);
		return 64;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("cudatrace %s (ABI %u, schema %u)\n", CT_VERSION, CT_ABI_VERSION,
		       CT_SCHEMA_VERSION);
		return 0;
	}
	for (unsigned int i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name)) {
			/* So that argp's messages begin with what was typed. */
			snprintf(name, sizeof(name), "cudatrace %s", commands[i].name);
			argv[1] = name;
			return commands[i].run(argc - 1, argv + 1);
		}
	ct_complain("'%.60s' is no command; 'cudatrace --help' lists the commands", argv[1]);
	return 64;
}
