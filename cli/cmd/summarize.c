// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace summarize: of a trace of a job's node what comparing ranks needs.
 */
#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ranks/summarize.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "export/output.h"
#include "view/term.h"

enum { KEY_STEP = 0x100 };

struct env {
	const char *dir, *output;
	bool force, quiet;
	uint32_t step;
};

static const char doc[] =
	"Write a summary of the trace in DIR: of each rank and step at most 3 KB.\n"
	"Hundreds of summaries are read as one job where their traces are too large to\n"
	"be brought together.\n"
	"\vA summary has when each rank called each collective, what its kernel took, the\n"
	"sizes, the communicators, when steps began, and what each rank did in its\n"
	"steady state.  report ranks, collectives_sum and collectives, explain and\n"
	"export --format html take summaries, or a folder that holds them, in place of\n"
	"traces.  Summaries and traces do not mix.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace summarize -o /shared/job/$(hostname).summary trace   on each node\n"
	"  cudatrace explain /shared/job                            who waits for whom\n"
	"  cudatrace report ranks /shared/job\n";

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "the file to write (default: DIR.summary)", 0 },
	{ "force", 'f', NULL, 0, "replace FILE if it is there", 0 },
	{ "quiet", 'q', NULL, 0, "don't say what was written", 0 },
	{ "step", KEY_STEP, "BYTES", 0, "for the calls of a rank's step, at most: of more each second, fourth ... is kept (default 3072)", 0 },
	{ 0 },
};

static error_t summarize_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'o':
		env->output = ct_option_named(state, arg);
		return 0;
	case 'f':
		env->force = true;
		return 0;
	case 'q':
		env->quiet = true;
		return 0;
	case KEY_STEP:
		env->step = ct_option_number(state, "--step", arg, 64, 1u << 30);
		return 0;
	}
	return ct_option_trace(key, arg, state, &env->dir);
}

static struct ct_summarized summarize_done;

static int summarize_export(const struct ct_export *x, struct ct_error *err)
{
	return ct_summarize(x->trace, x->weight, x->fd, &summarize_done, err);
}

static void summarize_say(const char *output)
{
	const struct ct_summarized *d = &summarize_done;
	char bytes[CT_TERM_TEXT], each[CT_TERM_TEXT], part[96] = "";

	if (d->kept < d->calls)
		snprintf(part, sizeof(part), "; %llu of %llu calls of libnccl", (unsigned long long)d->kept, (unsigned long long)d->calls);
	fprintf(stderr, "cudatrace: %s: %u rank%s, %llu step%s, %s", output, d->ranks, d->ranks == 1 ? "" : "s",
		(unsigned long long)d->steps, d->steps == 1 ? "" : "s", ct_term_bytes(bytes, d->bytes));
	if (d->ranks && d->steps)
		fprintf(stderr, " (%s a rank and step)", ct_term_bytes(each, d->bytes / d->ranks / d->steps));
	fprintf(stderr, "%s\n", part);
}

int cmd_summarize(int argc, char **argv)
{
	static const struct argp argp = { options, summarize_parse, "DIR", doc, NULL, NULL, NULL };
	static const struct ct_exporter format = { .name = "summary", .to = CT_EXPORT_STREAM, .export = summarize_export };
	struct env env = { .step = CT_SUMMARY_STEP };
	struct ct_error err = { 0 };
	char file[PATH_MAX];
	struct ct_trace t;
	size_t len;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	len = strlen(env.dir);
	while (len > 1 && env.dir[len - 1] == '/')
		len--;
	snprintf(file, sizeof(file), "%.*s.summary", (int)len, env.dir);
	env.output = env.output ? env.output : file;
	status = ct_open_traces(&t, &env.dir, 1);
	if (!status && t.sources_count > 1)
		status = ct_complain("%s: holds %u traces: summarize each of them", env.dir, t.sources_count);
	if (!status && ct_export_write(&format, &t, env.output, env.force, env.step, &err))
		status = ct_complain("%s", err.text);
	if (!status && !env.quiet)
		summarize_say(env.output);
	ct_trace_close(&t);
	return status;
}
