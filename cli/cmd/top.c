// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace top: what is called now, by process and function.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/words.h"
#include "cmd/cmd.h"
#include "live/top.h"
#include "module/uapi/cudatrace.h"

enum { KEY_VIEWS = 0x100, KEY_NEW, KEY_STUCK, KEY_SORT };

struct env {
	const char *dir;
	bool stuck;	/* --stuck was given */
	struct ct_top_options options;
};

static volatile bool stop;

static const char doc[] =
	"Show what is called now, by process and function, with percentiles of the\n"
	"durations: of the trace that is being recorded in DIR, or without DIR of\n"
	"this machine: which programs use libcuda, what records them, and what those\n"
	"do that are recorded, into directories or by the module (/dev/cudatrace).\n"
	"\vThe first table has a row for each process: calls that failed, bytes that it\n"
	"copies, memory of the GPU that it allocated since it is recorded and did not\n"
	"free, and how it came to be recorded. Below it are programs of this machine\n"
	"that use libcuda and are not recorded here; one that stands by can be asked\n"
	"(cudatrace record --pid).\n"
	"\nWithout DIR, \"into DIR\" says into which directory a program is recorded.\n"
	"Figures are of calls since top began. MEMORY is \"-\" where the recording\n"
	"began before, and by the module: what the program held then is not known.\n"
	"USED is what NVML says that the process uses on all GPUs, with contexts and\n"
	"what is kept for later, so more than it allocated by calls; less than 100\n"
	"columns have USED alone, and with DIR MEMORY alone.\n"
	"All figures are \"-\" where the directory can't be followed; RECORDED says\n"
	"why. An ordinary user sees own programs only, root sees all.\n"
	"\nCALLS/s and TIME% (of one thread's time) are of the last interval, the rest\n"
	"is of all calls. So the first view comes after one --delay (on a terminal\n"
	"without DIR after half a second). With DIR it ends with the recording, and\n"
	"the last view is of all of it; Ctrl-C ends it in any case. In a pipe, and\n"
	"with --batch, each view follows the one before. On a terminal these keys\n"
	"work: space (freeze, and go on), s (sort by another column), q (end).\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace top\n"
	"  cudatrace top --batch --delay 5 --views 1 --sort calls\n"
	"  cudatrace record -o trace -- python train.py & cudatrace top trace\n"
	"  cudatrace top --batch --delay 10 --views 1 --sort calls trace >view.txt\n"
	"  cudatrace top --pid 4242 --filter 'cuMem*' trace\n";

static const struct argp_option options[] = {
	{ "delay", 'd', "SECONDS", 0, "between two views (default 2)", 0 },
	{ "views", KEY_VIEWS, "N", 0, "end after N views", 0 },
	{ "top", 'n', "N", 0, "rows of functions, and without DIR of processes (default: what the terminal holds; in a pipe 20 functions, all processes)", 0 },
	{ "batch", 'b', NULL, 0, "one view behind the other, as in a pipe, for scripts", 0 },
	{ "sort", KEY_SORT, "WHAT", 0, "what is the most stands first: time (default), calls, p99, failed, bytes", 0 },
	{ "calls", 'c', NULL, 0, "the same as --sort calls", 0 },
	{ "pid", 'p', "PID", 0, "this process alone", 0 },
	{ "filter", 'f', "PATTERN", 0, "functions of such a name alone, as 'cuMem*'", 0 },
	{ "stuck", KEY_STUCK, "SECONDS", 0, "with DIR: say which NCCL collectives wait for a rank for longer (default 10)", 0 },
	{ "new", KEY_NEW, NULL, 0, "with DIR: only calls from now on", 0 },
	{ 0 },
};

static unsigned long top_number(struct argp_state *state, const char *what, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (end == arg || *end || *arg == '-' || !n || n > 4194304)
		argp_failure(state, 64, 0, "%s takes a number of at least 1, not '%s'", what, arg);
	return n;
}

static error_t top_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	char *end;
	int sort;

	switch (key) {
	case 'd':
		env->options.delay = strtod(arg, &end);
		if (end == arg || *end || !(env->options.delay >= 0.1 && env->options.delay <= 86400))
			argp_failure(state, 64, 0, "--delay takes seconds of at least 0.1, not '%s'", arg);
		return 0;
	case KEY_STUCK:
		env->stuck = true;
		env->options.stuck = strtod(arg, &end);
		if (end == arg || *end || !(env->options.stuck >= 0 && env->options.stuck <= 1e6))
			argp_failure(state, 64, 0, "--stuck takes seconds, not '%s'", arg);
		return 0;
	case KEY_VIEWS:
		env->options.views = top_number(state, "--views", arg);
		return 0;
	case 'n':
		env->options.rows = top_number(state, "--top", arg);
		return 0;
	case 'b':
		env->options.batch = true;
		return 0;
	case 'c':
		env->options.sort = CT_TOP_CALLS;
		return 0;
	case KEY_SORT:
		sort = ct_word_index(ct_top_sort_word, CT_TOP_SORTS, arg);
		if (sort < 0)
			argp_failure(state, 64, 0, "--sort takes time, calls, p99, failed or bytes, not '%s'", arg);
		env->options.sort = (enum ct_top_sort)sort;
		return 0;
	case 'p':
		env->options.pid = top_number(state, "--pid", arg);
		return 0;
	case 'f':
		env->options.names = arg;
		return 0;
	case KEY_NEW:
		env->options.only_new = true;
		return 0;
	case ARGP_KEY_ARG:
		if (env->dir)
			argp_failure(state, 64, 0, "one DIR, not also '%s'", arg);
		env->dir = arg;
		return 0;
	case ARGP_KEY_END:
		if (env->options.only_new && !env->dir)
			argp_failure(state, 64, 0, "--new goes with DIR: without it only what happens now counts");
		if (env->stuck && !env->dir)
			argp_failure(state, 64, 0, "--stuck goes with DIR, which has the collectives");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void top_on_signal(int sig)
{
	(void)sig;
	stop = true;
}

static int top_machine(const struct ct_top_options *options)
{
	struct ct_error err;
	int fd, rc;

	fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno != ENOENT)
		return ct_complain("%s: %s; 'cudatrace doctor' says how to get access", CT_DEVICE_PATH,
				   strerror(errno));
	rc = ct_top_machine(fd, options, stdout, &stop, &err);
	if (fd >= 0)
		close(fd);
	return rc ? ct_complain("%s: %s", CT_DEVICE_PATH, err.text) : 0;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp argp = { options, top_parse, "[DIR]", doc, NULL, NULL, NULL };
	struct sigaction action = { .sa_handler = top_on_signal };
	struct env env = { .options = { .delay = 2, .stuck = 10 } };
	struct ct_error err;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!env.dir)
		return top_machine(&env.options);
	if (ct_top_follow(env.dir, &env.options, stdout, &stop, &err))
		return ct_complain("%s", err.text);
	return 0;
}
