// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace: the command line.  Finds the subcommand and calls it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/near.h"
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
	{ "merge",    cmd_merge,    "traces of several hosts in one folder, which is read as one trace" },
	{ "summarize", cmd_summarize, "of a job's node what comparing ranks needs, for jobs of hundreds of ranks" },
	{ "timeline", cmd_timeline, "a timeline by thread and nesting depth, in the terminal" },
	{ "export",   cmd_export,   "write a trace as a page, a database, a table, or for another tool" },
	{ "pack",     cmd_pack,     "a trace as one compressed file, which every command opens" },
	{ "mcp",      cmd_mcp,      "answer an assistant's questions about traces (Model Context Protocol)" },
	{ "metrics",  cmd_metrics,  "answer a Prometheus with counters of what is recorded now" },
	{ "doctor",   cmd_doctor,   "check this machine: what is missing, and the command that mends it" },
};

#define COMMANDS	(sizeof(commands) / sizeof(*commands))

static void help(FILE *out)
{
	fprintf(out,
		"Usage: cudatrace COMMAND [ARGUMENTS]\n"
		"See what a CUDA program asks of libcuda and of NVIDIA's kernel driver.\n\n"
		"Commands:\n");
	for (unsigned int i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(out,
		"\n'cudatrace help COMMAND' explains a command, 'cudatrace version' says which one this is.\n"
		"Each ends with status 64 after a wrong command line, 1 after another error; 'record'\n"
		"with that of the program that it runs, or 125 after an error of its own.\n\n"
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

/*
 * Where stdin, stdout or stderr is closed, a file of a trace would have its number, and get this command's messages.  The
 * wrong mode: writing fails as before.  A program that is started here finds them closed.
 */
static void hold_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

static const struct command *find(const char *name)
{
	for (unsigned int i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *word)
{
	struct ct_near near = { .word = word };

	for (unsigned int i = 0; i < COMMANDS; i++)
		ct_near_try(&near, commands[i].name);
	return ct_complain_usage("'%.60s' is no command%s ('cudatrace --help' lists the commands)", word,
				 ct_near_text(&near));
}

int main(int argc, char **argv)
{
	static char name[64], help_option[] = "--help";
	const struct command *command;
	bool asks;

	hold_standard_files();
	signal(SIGBUS, on_sigbus);
	ct_file_limit_ignore();
	if (argc < 2) {
		help(stderr);
		return CT_USAGE;
	}
	asks = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help");
	if (asks && argc == 2) {
		help(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version")) {
		printf("cudatrace %s (ABI %u, schema %u)\n", CT_VERSION, CT_ABI_VERSION,
		       CT_SCHEMA_VERSION);
		return 0;
	}
	command = find(argv[1 + asks]);
	if (!command)
		return unknown(argv[1 + asks]);
	/* So that argp's messages begin with what was typed. */
	snprintf(name, sizeof(name), "cudatrace %s", command->name);
	argv[1] = name;
	if (asks) {
		argv[2] = help_option;
		argv[3] = NULL;
		argc = 3;
	}
	return command->run(argc - 1, argv + 1);
}
