// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace export: a trace in the format of another tool.  Must never replace a
 * file that is there without -f.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/stacks/costs.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/common/only.h"
#include "cmd/open_trace.h"
#include "cmd/show.h"
#include "export/exporters.h"
#include "export/output.h"
#include "view/progress.h"

enum { KEY_LIST = 0x100, KEY_OPEN, KEY_NO_QUERIES, KEY_WEIGHT };

struct env {
	struct ct_dirs dirs;
	const char *output;
	const struct ct_exporter *format;
	bool force, list, open;
	unsigned int weight;	/* CT_COST_BIT()s */
	struct ct_only only;
};

static const char doc[] =
	"Write the trace in DIR in another format, to the standard output, a file or a directory.\n"
	"\vFormats:\n";
/* export_help() prints the formats between both. */
static const char doc_end[] =
	"\n"
	"In jsonl the lines of a call share an op_id; \"unfinished\":true is a B of a\n"
	"call that never returned, \"begin_lost\":true an E whose B was lost (it began\n"
	"duration_us before). Parquet files are added to the directory: each trace has\n"
	"its own, below day=YYYY-MM-DD/host=NAME. babeltrace2 and Trace Compass open\n"
	"DIR as it is: it is Common Trace Format.\n"
	"\n"
	"A call counts where it began. --from and --to take ms since the trace began, a\n"
	"time as tables and pages show it (1,234.5 ms, 1.2s), a stage or an iteration.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace export trace | jq 'select(.type==\"memory\") | {ts, size}'\n"
	"  cudatrace export -o trace.jsonl trace\n"
	"  cudatrace export -o report.html trace      the ending says which format\n"
	"  cudatrace export -o trace.pftrace trace\n"
	"  cudatrace export -o trace.sqlite trace\n"
	"  cudatrace export --from iteration:12 --to iteration:14 -o it.html trace\n"
	"  cudatrace export --format chrome --no-queries -o trace.json trace\n"
	"  cudatrace export --weight wall -o lines.folded trace\n"
	"  cudatrace export --format parquet -o /srv/traces trace\n"
	"  cudatrace export --open trace\n";

static const struct argp_option options[] = {
	{ "format", 'F', "FORMAT", 0, "one of the formats below (default: by FILE's ending; jsonl)", 0 },
	{ "list", KEY_LIST, NULL, 0, "list the formats", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE, or below the directory FILE", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show it in the browser: html, and without -o in the cache", 0 },
	{ "force", 'f', NULL, 0, "replace FILE if it is there", 0 },
	{ "weight", KEY_WEIGHT, "WHAT", 0, "folded by lines of the program: wall, app, cuda, calls, launches, gpu, idle, bytes, wait, copy, memory, load, init, most, held, startup, samples", 0 },
	{ "no-queries", KEY_NO_QUERIES, NULL, 0, "without getters of a few ns", 0 },
	{ 0 },
};

static const struct argp_child children[] = { CT_ONLY_KINDS_CHILD, { 0 } };

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
		fprintf(out, "  %-11s  %s\n", ct_exporters[i].name, ct_exporters[i].summary);
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

/* For scripts, a line for each; the first word is the name. */
static void export_list(void)
{
	for (size_t i = 0; i < ct_exporters_count; i++)
		printf("%-11s  %s\n", ct_exporters[i].name, ct_exporters[i].summary);
}

/* A file that gets its format by its name; anything else that is written to is no file. */
static bool export_is_file(const char *path)
{
	struct stat st;

	return path && strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* Without --format: by the file's ending.  One that says nothing is refused, none at all is jsonl. */
static void export_by_ending(struct argp_state *state, struct env *env)
{
	const char *path = env->output;
	const struct ct_exporter *other;

	if (env->format || env->open || !export_is_file(path) || !*ct_export_ending(path))
		return;
	env->format = ct_exporter_of_file(path, NULL);
	if (!env->format)
		argp_failure(state, CT_USAGE, 0, "%s: its ending '.%s' is that of no format: say which by --format", path,
			     ct_export_ending(path));
	other = ct_exporter_of_file(path, env->format);
	if (other)
		argp_failure(state, CT_USAGE, 0, "%s may be %s or %s: say which by --format", path, other->name,
			     env->format->name);
}

static bool export_is_page(const struct env *env)
{
	return env->open || (env->format && !strcmp(env->format->name, "html"));
}

/* Findings of a part of the calls would be wrong. */
static bool export_is_partial(const struct env *env)
{
	const struct ct_report_filter *f = &env->only.filter;

	return f->tid || f->name || f->layer >= 0 || f->category >= 0;
}

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->only;
		return 0;
	case KEY_NO_QUERIES:
		env->only.selection.no_queries = true;
		return 0;
	case 'F':
		env->format = ct_exporter_find(arg);
		if (!env->format)
			export_unknown_format(state, arg);
		return 0;
	case 'o':
		env->output = ct_option_named(state, arg);
		return 0;
	case 'f':
		env->force = true;
		return 0;
	case KEY_WEIGHT:
		env->weight = ct_cost_find(arg);
		if (!env->weight)
			argp_failure(state, CT_USAGE, 0, "--weight: no '%s': --help lists them", arg);
		return 0;
	case KEY_LIST:
		env->list = true;
		return 0;
	case KEY_OPEN:
		env->open = true;
		return 0;
	case ARGP_KEY_END:
		if (env->list)
			return 0;
		if (env->open && env->format && strcmp(env->format->name, "html"))
			argp_failure(state, 64, 0, "--open shows html, not %s", env->format->name);
		if (env->open && env->output && !strcmp(env->output, "-"))
			argp_failure(state, 64, 0, "--open shows a file: name it with -o FILE");
		export_by_ending(state, env);
		if (env->weight && !env->format)
			env->format = ct_exporter_find("folded");
		if (env->weight && (!env->format || strcmp(env->format->name, "folded")))
			argp_failure(state, CT_USAGE, 0, "--weight goes with --format folded");
		if (export_is_page(env) && export_is_partial(env))
			argp_failure(state, CT_USAGE, 0, "a page shows all that processes did: of what counts it takes "
				     "--from, --to, --pid and --no-queries");
	}
	return ct_option_traces(key, arg, state, &env->dirs);
}

/* Return: 0, or 1, after a line on stderr if something was wrong. */
static int export_trace(const struct env *env, struct ct_trace *t)
{
	const struct ct_exporter *format = env->format;
	bool file = env->output && strcmp(env->output, "-");
	struct ct_error err;
	int rc;

	if (!format)
		format = env->open ? ct_exporter_find("html") : &ct_exporters[0];
	if (!format)
		return ct_complain("this cudatrace has no format html, which a browser would show");
	/* Not between the lines of the export. */
	if (file || !isatty(STDOUT_FILENO))
		ct_progress_begin(t);
	rc = ct_export_write(format, t, env->output, env->force, env->weight, &err);
	ct_progress_end(t);
	/* 'export | head' closes the pipe: no error. */
	if (rc && rc != -EPIPE)
		return ct_complain("%s", err.text);
	return rc ? 1 : env->open ? ct_show_file(env->output) : 0;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {
		options, export_parse, "DIR...", doc, children, export_help, NULL
	};
	struct env env = { .only = CT_ONLY_INIT };
	struct ct_error err = { 0 };
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.list) {
		export_list();
		return 0;
	}
	status = export_is_page(&env) ? ct_open_job(&t, env.dirs.list, env.dirs.count) : ct_open_traces(&t, env.dirs.list, env.dirs.count);
	if (!status && t.summaries && ct_only_asked(&env.only))
		status = ct_complain_usage("summaries are of whole traces: they take no --from, --to and --pid");
	if (!status)
		status = ct_tell(env.dirs.list[0], ct_only_find(&env.only, &t, false, &err), &err);
	ct_only_select(&env.only, &t, true);
	if (!status)
		status = env.open && !env.output ? ct_show_trace(&t) : export_trace(&env, &t);
	ct_only_free(&env.only);
	ct_trace_close(&t);
	return status;
}
