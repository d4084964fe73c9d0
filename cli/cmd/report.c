// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace report: what a trace says, as tables.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/grouped.h"
#include "analysis/print.h"
#include "analysis/range.h"
#include "analysis/summary.h"
#include "base/options.h"
#include "base/words.h"
#include "cmd/cmd.h"
#include "cmd/open_trace.h"
#include "cmd/show.h"
#include "group/parse.h"
#include "view/term.h"

enum { KEY_FROM = 0x100, KEY_TO, KEY_PID, KEY_TID, KEY_LAYER, KEY_TYPE, KEY_NAME, KEY_SORT, KEY_LIST,
       KEY_ALL, KEY_OPEN, KEY_FULL, KEY_BY, KEY_OF, KEY_MEASURE };

struct env {
	const char *words[CT_REPORTS_MAX + 1];	/* names of reports, then the directory */
	unsigned int words_count;
	const char *from, *to;
	const char *by, *of, *measure;
	struct ct_group_spec spec;
	struct ct_analyser grouping;	/* of --by */
	bool list, all, open;
	struct ct_report_request request;
};

static const char doc[] =
	"Print reports on the trace in DIR: the summary, or those that are named.\n"
	"\vNames and columns are those of nsys where the content is the same. 'report\n"
	"--list' lists all reports. A call counts where it began: --from and --to take\n"
	"ms since the trace began, a stage (its begin, its end) or an iteration.\n"
	"\n"
	"--by makes a table of its own, a row for each combination of at most four KEYS: function,\n"
	"kernel, thread, process, stage, iteration, stream, context, device, range (of the thread, or\n"
	"the range itself), operation (of copies), ioctl, command, class, error, type, layer, cpu,\n"
	"line and stack (of record --stacks).\n"
	"--of says of what: calls, launches, waits, allocations, frees, kernels, copies (these two from\n"
	"records of the GPU where there are some), work (of the GPU), ioctls, driver, ranges, switches.\n"
	"--measure says what is summed up: duration, self (time without the calls inside), count, bytes,\n"
	"gpu (the time of the GPU's work that calls caused; keys are those of the calls).\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace report trace                              the summary\n"
	"  cudatrace report cuda_api_sum trace                 calls by function\n"
	"  cudatrace report stages iterations trace  where the time goes, step by step\n"
	"  cudatrace report --from steady --to steady cuda_gpu_kern_sum trace\n"
	"  cudatrace report --from iteration:12 --to iteration:12 cuda_api_trace trace\n"
	"  cudatrace report --format csv -o out cuda_api_sum memory trace\n"
	"  cudatrace report --format json errors trace | jq '.[].Name'\n"
	"  cudatrace report --name 'cuMem*' --sort Failed --top 5 cuda_api_sum trace\n"
	"  cudatrace report --by kernel,stream --of launches trace\n"
	"  cudatrace report --by function,thread --measure self --from steady --to steady trace\n"
	"  cudatrace report --by range --of launches --measure count --format csv trace\n";

static const struct argp_option options[] = {
	{ "list", KEY_LIST, NULL, 0, "list all reports", 0 },
	{ "all", KEY_ALL, NULL, 0, "all reports but the lists of all records", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show the trace in the browser, as export --format html", 0 },
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE; several reports: to FILE_NAME.csv and so on", 0 },
	{ "force", 'f', NULL, 0, "replace a file that is there", 0 },
	{ "top", 'n', "N", 0, "at most N rows of each table, 0: all (default: 20 in tables)", 0 },
	{ "sort", KEY_SORT, "COLUMN", 0, "sort by this column, largest first; -COLUMN: smallest first", 0 },
	{ "full-names", KEY_FULL, NULL, 0, "whole names of kernels in tables, however long (csv, tsv and json have them)", 0 },
	{ NULL, 0, NULL, 0, "A table of your own:", 2 },
	{ "by", KEY_BY, "KEYS", 0, "a row for each: function, kernel, thread, stage, stream ...; several with commas", 2 },
	{ "of", KEY_OF, "WHAT", 0, "calls, launches, kernels, copies, ioctls ... (default: what fits the first key)", 2 },
	{ "measure", KEY_MEASURE, "MEASURE", 0, "duration (default), self, count, bytes or gpu", 2 },
	{ NULL, 0, NULL, 0, "Only what counts:", 1 },
	{ "from", KEY_FROM, "TIME", 0, "from this moment: ms, a stage, iteration:N", 1 },
	{ "to", KEY_TO, "TIME", 0, "until this moment", 1 },
	{ "pid", KEY_PID, "PID", 0, "calls of this process", 1 },
	{ "tid", KEY_TID, "TID", 0, "calls of this thread", 1 },
	{ "layer", KEY_LAYER, "LAYER", 0, "user, kernel or gpu", 1 },
	{ "type", KEY_TYPE, "TYPE", 0, "memory, transfer, kernel, sync, ioctl ...", 1 },
	{ "name", KEY_NAME, "GLOB", 0, "functions or kernels of this name: 'cuMem*'", 1 },
	{ 0 },
};

static uint64_t report_number(struct argp_state *state, const char *what, const char *arg, uint64_t least)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || n < least || n > UINT32_MAX)
		argp_failure(state, 64, 0, "%s takes a number of at least %llu, not '%s'", what,
			     (unsigned long long)least, arg);
	return n;
}

static int report_word(struct argp_state *state, const char *what, const char *const *words,
		       unsigned int count, const char *arg)
{
	int i = ct_word_index(words, count, arg);

	if (i < 0)
		argp_failure(state, 64, 0, "%s: there is no '%s'", what, arg);
	return i;
}

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	struct ct_report_filter *filter = &env->request.engine.filter;
	struct ct_error err = { 0 };

	switch (key) {
	case KEY_LIST:
		env->list = true;
		return 0;
	case KEY_ALL:
		env->all = true;
		return 0;
	case KEY_OPEN:
		env->open = true;
		return 0;
	case 'F':
		env->request.format = strcmp(arg, "table") ? ct_format_find(arg) : NULL;
		if (!env->request.format && strcmp(arg, "table"))
			argp_failure(state, 64, 0, "no format '%s': it is %s", arg, ct_format_names());
		return 0;
	case 'o':
		env->request.output = ct_option_named(state, arg);
		return 0;
	case 'f':
		env->request.force = true;
		return 0;
	case 'n':
		env->request.print.top = report_number(state, "--top", arg, 0);
		return 0;
	case KEY_FULL:
		env->request.print.full_names = true;
		return 0;
	case KEY_SORT:
		env->request.sort = arg;
		return 0;
	case KEY_BY:
		env->by = arg;
		return 0;
	case KEY_OF:
		env->of = arg;
		return 0;
	case KEY_MEASURE:
		env->measure = arg;
		return 0;
	case KEY_FROM:
		env->from = arg;
		return 0;
	case KEY_TO:
		env->to = arg;
		return 0;
	case KEY_PID:
		filter->pid = report_number(state, "--pid", arg, 1);
		return 0;
	case KEY_TID:
		filter->tid = report_number(state, "--tid", arg, 1);
		return 0;
	case KEY_LAYER:
		filter->layer = report_word(state, "--layer", ct_layer_word, CT_LAYER_COUNT, arg);
		return 0;
	case KEY_TYPE:
		filter->category = report_word(state, "--type", ct_category_word, CT_CAT_COUNT, arg);
		return 0;
	case KEY_NAME:
		filter->name = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (env->words_count == CT_REPORTS_MAX)
			argp_failure(state, 64, 0, "too many reports");
		env->words[env->words_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!env->words_count && !env->list)
			argp_failure(state, 64, 0, "give the directory of a trace");
		if (!env->by && (env->of || env->measure))
			argp_failure(state, 64, 0, "--of and --measure belong to --by: say by what");
		if (env->by && ct_group_parse(&env->spec, env->by, env->of, env->measure, &err))
			argp_failure(state, 64, 0, "%s", err.text);
		if (env->open && env->by)
			argp_failure(state, 64, 0, "--open shows all of the trace: it takes no --by");
		if (env->open && env->words_count > 1)
			argp_failure(state, 64, 0, "--open shows all of the trace: give its directory alone");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void report_list(void)
{
	for (unsigned int i = 0; i < ct_reports_count; i++)
		printf("%-22s %s\n", ct_reports[i]->name, ct_reports[i]->summary);
}

/* Each report is printed once. */
static void report_add(struct ct_report_request *q, const struct ct_analyser *report)
{
	for (unsigned int i = 0; i < q->count; i++)
		if (q->reports[i] == report)
			return;
	if (q->count < CT_REPORTS_MAX)
		q->reports[q->count++] = report;
}

/* The reports that the words name.  Return: 0, or 1 after a line on stderr. */
static int report_choose(struct env *env)
{
	struct ct_report_request *q = &env->request;
	const struct ct_analyser *report;

	for (unsigned int i = 0; i + 1 < env->words_count; i++) {
		report = ct_report_find(env->words[i]);
		if (!report)
			return ct_complain("there is no report '%s' (cudatrace report --list)", env->words[i]);
		report_add(q, report);
	}
	for (unsigned int i = 0; env->all && i < ct_reports_count; i++)
		if (!ct_reports[i]->streams)
			report_add(q, ct_reports[i]);
	if (env->by) {
		env->grouping = ct_grouped_by(&env->spec);
		report_add(q, &env->grouping);
	}
	if (!q->count)
		q->reports[q->count++] = &ct_report_summary;
	return 0;
}

static int report_range(struct env *env, const struct ct_trace *t, struct ct_phases *phases,
			struct ct_error *err)
{
	struct ct_report_filter *filter = &env->request.engine.filter;
	int rc = 0;

	if (ct_range_needs_phases(env->from) || ct_range_needs_phases(env->to)) {
		rc = ct_phases_find(phases, t);
		if (rc)
			return ct_fail(err, -rc, "%s", strerror(-rc));
		env->request.engine.phases = phases;
	}
	if (env->from)
		rc = ct_range_parse(env->from, t, phases, filter->pid, false, &filter->from, err);
	if (!rc && env->to)
		rc = ct_range_parse(env->to, t, phases, filter->pid, true, &filter->to, err);
	if (!rc && filter->to && filter->from >= filter->to)
		return ct_fail(err, EINVAL, "--from %s is not before --to %s", env->from ? : "0", env->to);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = { options, report_parse, "[NAME...] DIR", doc, NULL, NULL, NULL };
	struct env env = {
		.request = { .print.top = UINT64_MAX,
			     .engine.filter = { .layer = -1, .category = -1 } },
	};
	struct ct_phases phases = { 0 };
	struct ct_error err = { 0 };
	const char *dir;
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.list) {
		report_list();
		return 0;
	}
	if (report_choose(&env))
		return 1;
	if (env.request.print.top == UINT64_MAX)
		env.request.print.top = env.request.format ? 0 : 20;
	if (!env.request.output && !env.request.format) {
		env.request.print.width = ct_term_width(stdout, 160);
		env.request.print.page = ct_term_width(stdout, 0);
		env.request.print.colour = ct_term_colour(stdout);
	}
	dir = env.words[env.words_count - 1];
	status = ct_open_trace(&t, dir);
	if (env.open) {
		status = status ? status : ct_show_trace(&t);
		ct_trace_close(&t);
		return status;
	}
	if (!status && (report_range(&env, &t, &phases, &err) ||
			ct_reports_print(&t, &env.request, &err)))
		status = err.code && err.code != EPIPE ? ct_complain("%s: %s", dir, err.text) : 1;
	ct_phases_free(&phases);
	ct_trace_close(&t);
	return status;
}
