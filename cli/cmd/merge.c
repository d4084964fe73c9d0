// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace merge: traces of several hosts in one folder.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "ranks/clocks.h"
#include "write/gather.h"

struct env {
	struct ct_dirs dirs;
	const char *output;
};

static const char doc[] =
	"Copy traces of several hosts, or of several programs, into one folder, which\n"
	"report, explain, diff, export and timeline read as one trace.\n"
	"\vEach trace stays as it is, in a folder that is called as its host is. Ids of\n"
	"functions and names, pids, and clocks become one when the folder is read: a\n"
	"process of the second host has pid 10001234 for 1234, and its name is\n"
	"python@HOST. GPUs are numbered through. Clocks are fitted to the ends of\n"
	"collectives: what is printed is how exactly times of hosts can be compared.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace merge -o job node1/trace node2/trace\n"
	"  cudatrace report job; cudatrace explain job\n"
	"  cudatrace report ranks node1/trace node2/trace     the same without a copy\n";

static const struct argp_option options[] = {
	{ "output", 'o', "FOLDER", 0, "the folder; made here", 0 },
	{ 0 },
};

static error_t merge_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'o':
		env->output = ct_option_named(state, arg);
		return 0;
	case ARGP_KEY_END:
		if (!env->output)
			argp_failure(state, CT_USAGE, 0, "name the folder: -o FOLDER");
		break;
	}
	return ct_option_traces(key, arg, state, &env->dirs);
}

/* "HOST", or "HOST-2" where that is there already. */
static int merge_one(const char *output, const struct ct_source *s, unsigned int number, struct ct_error *err)
{
	char to[4400], label[80];

	snprintf(label, sizeof(label), "%.70s", *s->label && *s->label != '.' ? s->label : "trace");
	for (char *p = label; *p; p++)
		if (*p == '/')
			*p = '_';
	snprintf(to, sizeof(to), "%.4096s/%s", output, label);
	if (!mkdir(to, 0777))
		rmdir(to);
	else if (errno == EEXIST)
		snprintf(to, sizeof(to), "%.4096s/%s-%u", output, label, number + 1);
	return ct_gather_copy(s->dir, to, err);
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp argp = { options, merge_parse, "DIR...", doc, NULL, NULL, NULL };
	struct env env = { 0 };
	struct ct_error err = { 0 };
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	status = ct_open_traces(&t, env.dirs.list, env.dirs.count);
	if (!status && t.sources_count < 2)
		status = ct_complain("%s: one trace; name two or more, or a folder that holds them", env.dirs.list[0]);
	if (!status && mkdir(env.output, 0777))
		status = errno == EEXIST ? ct_complain("%s exists already: give another -o", env.output) : ct_complain("%s: %s", env.output, strerror(errno));
	for (unsigned int i = 0; i < t.sources_count && !status; i++)
		if (merge_one(env.output, &t.sources[i], i, &err))
			status = ct_complain("%s", err.text);
	ct_trace_close(&t);
	return status;
}
