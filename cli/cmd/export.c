// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace export: a trace in the format of another tool.  Must never replace a
 * file that is there without -f.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "export/exporters.h"

struct env {
	const char *dir, *output;
	const struct ct_exporter *format;
	bool force;
};

static const char doc[] =
	"Write the trace in DIR in another format, to the standard output, a file or a directory.\n"
	"\vFormats:\n";
/* export_help() prints the formats between both. */
static const char doc_end[] =
	"In jsonl the lines of a call share an op_id; \"unfinished\":true is a B of a call that never\n"
	"returned, \"begin_lost\":true an E whose B was lost (it began duration_us before).\n"
	"babeltrace2 and Trace Compass open DIR as it is: it is Common Trace Format.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace export trace | jq 'select(.type==\"memory\") | {ts, size}'\n"
	"  cudatrace export -o trace.jsonl trace\n"
	"  cudatrace export --format chrome -o trace.json trace\n";

static const struct argp_option options[] = {
	{ "format", 'F', "FORMAT", 0, "one of the formats below (default: jsonl)", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE", 0 },
	{ "force", 'f', NULL, 0, "replace FILE if it is there", 0 },
	{ 0 },
};

/* The text behind the options, with a line for each format; argp frees it. */
static char *export_help(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&all, &size);
	if (!out)
		return (char *)text;
	fputs(text, out);
	for (size_t i = 0; i < ct_exporters_count; i++)
		fprintf(out, "  %-8s %s\n", ct_exporters[i].name, ct_exporters[i].summary);
	fputs(doc_end, out);
	return fclose(out) ? (char *)text : all;
}

static void export_unknown_format(struct argp_state *state, const char *name)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ct_exporters_count && used < sizeof(known); i++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s", i ? " or " : "",
				 ct_exporters[i].name);
	argp_failure(state, 64, 0, "no format '%s': it is %s", name, known);
}

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'F':
		env->format = ct_exporter_find(arg);
		if (!env->format)
			export_unknown_format(state, arg);
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

/*
 * Opens what is written to: the standard output, a file, or a directory that is made.
 * 0, or 1 after a line on stderr.
 */
static int export_open(const struct env *env, struct ct_export *x)
{
	bool none = !env->output || !strcmp(env->output, "-");

	x->fd = STDOUT_FILENO;
	x->path = env->output;
	if (none && env->format->to == CT_EXPORT_STREAM)
		return 0;
	if (none)
		return ct_complain("format %s goes into a %s: name it with -o", env->format->name,
				   env->format->to == CT_EXPORT_FILE ? "file" : "directory");
	if (env->format->to == CT_EXPORT_DIRECTORY) {
		if (!mkdir(env->output, 0777) || (errno == EEXIST && env->force))
			return 0;
	} else {
		x->fd = open(env->output, O_RDWR | O_CREAT | O_CLOEXEC |
			     (env->force ? O_TRUNC : O_EXCL), 0666);
		if (x->fd >= 0)
			return 0;
	}
	return errno == EEXIST ? ct_complain("%s: is there already; -f replaces it", env->output) :
				 ct_complain("%s: %s", env->output, strerror(errno));
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {
		options, export_parse, "DIR", doc, NULL, export_help, NULL
	};
	struct env env = { .format = &ct_exporters[0] };
	struct ct_export x = { 0 };
	struct ct_error err = { 0 };
	struct ct_trace t;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (ct_open_trace(&t, env.dir)) {
		ct_trace_close(&t);
		return 1;
	}
	x.trace = &t;
	if (export_open(&env, &x)) {
		ct_trace_close(&t);
		return 1;
	}
	rc = env.format->export(&x, &err);
	if (x.fd != STDOUT_FILENO && close(x.fd) && !rc)
		rc = -errno;
	ct_trace_close(&t);
	/* 'export | head' closes the pipe: no error. */
	if (rc && rc != -EPIPE)
		return ct_complain("%s: %s", env.output ? env.output : "standard output",
				   *err.text ? err.text : strerror(-rc));
	return rc != 0;
}
