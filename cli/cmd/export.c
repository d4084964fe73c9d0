// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace export: a trace in a format of somebody else's.  Must never replace a
 * file that is there unless told to.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/chrome.h"
#include "cmd/cmd.h"
#include "base/options.h"
#include "export/jsonl.h"
#include "trace/merge.h"

struct env {
	const char *dir, *output, *format;
	bool force;
};

static const char doc[] =
	"Write the trace in DIR in another format, to the standard output or to a FILE.\n"
	"\vFormats:\n"
	"  jsonl    one JSON object a line: B and E of a call, I for what has no duration\n"
	"  chrome   Trace Event JSON, for chrome://tracing and https://ui.perfetto.dev\n"
	"In jsonl the lines of a call share an op_id; \"unfinished\":true is a B of a call that never\n"
	"returned, \"begin_lost\":true an E whose B was lost (it began duration_us before).\n"
	"babeltrace2 and Trace Compass open DIR as it is: it is Common Trace Format.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace export trace | jq 'select(.type==\"memory\") | {ts, size}'\n"
	"  cudatrace export -o trace.jsonl trace\n"
	"  cudatrace export --format chrome -o trace.json trace\n";

static const struct argp_option options[] = {
	{ "format", 'F', "FORMAT", 0, "jsonl (default) or chrome", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE", 0 },
	{ "force", 'f', NULL, 0, "replace FILE if it is there", 0 },
	{ 0 },
};

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'F':
		if (strcmp(arg, "jsonl") && strcmp(arg, "chrome"))
			argp_failure(state, 64, 0, "no format '%s': it is jsonl or chrome", arg);
		env->format = arg;
		return 0;
	case 'o':
		env->output = arg;
		return 0;
	case 'f':
		env->force = true;
		return 0;
	}
	return ct_option_trace(key, arg, state, &env->dir);
}

static int export_jsonl(const struct ct_trace *t, int fd)
{
	struct ct_merge *m = ct_merge_new(t);
	struct ct_point point;
	struct ct_jsonl j;
	int rc, closed;

	if (!m)
		return -ENOMEM;
	rc = ct_jsonl_open(&j, &t->reg, fd);
	if (!rc) {
		while ((rc = ct_merge_next(m, &point)) > 0 && !j.out.error)
			ct_jsonl_point(&j, &point);
		closed = ct_jsonl_close(&j);
		rc = rc < 0 ? rc : closed;
	}
	ct_merge_free(m);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = { options, export_parse, "DIR", doc, NULL, NULL, NULL };
	struct env env = { .format = "jsonl" };
	int rc, fd = STDOUT_FILENO;
	struct ct_trace t;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (ct_open_trace(&t, env.dir)) {
		ct_trace_close(&t);
		return 1;
	}
	if (env.output && strcmp(env.output, "-")) {
		fd = open(env.output, O_WRONLY | O_CREAT | O_CLOEXEC |
			  (env.force ? O_TRUNC : O_EXCL), 0666);
		if (fd < 0) {
			ct_trace_close(&t);
			return errno == EEXIST ?
				ct_complain("%s: is there already; -f replaces it", env.output) :
				ct_complain("%s: %s", env.output, strerror(errno));
		}
	}
	rc = strcmp(env.format, "chrome") ? export_jsonl(&t, fd) : ct_chrome_export(&t, fd);
	if (fd != STDOUT_FILENO && close(fd) && !rc)
		rc = -errno;
	ct_trace_close(&t);
	/* 'export | head' is no error of ours. */
	if (rc && rc != -EPIPE)
		return ct_complain("%s: %s", env.output ? env.output : "standard output",
				   strerror(-rc));
	return rc != 0;
}
