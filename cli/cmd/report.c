// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace report: what a trace says, as tables.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/grouped.h"
#include "analysis/print.h"
#include "analysis/summary.h"
#include "base/near.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/common/only.h"
#include "cmd/open_trace.h"
#include "cmd/show.h"
#include "group/parse.h"
#include "view/term.h"

enum { KEY_SORT = 0x100, KEY_LIST, KEY_ALL, KEY_OPEN, KEY_FULL, KEY_BY, KEY_OF, KEY_MEASURE, KEY_MODULE };

struct env {
	const char *words[CT_REPORTS_MAX + CT_DIRS_MAX];	/* names of reports, then directories */
	unsigned int words_count;
	unsigned int dirs;		/* where these begin */
	const char *by, *of, *measure, *module;
	struct ct_only only;
	struct ct_group_spec spec;
	struct ct_analyser grouping;	/* of --by */
	bool list, all, open;
	struct ct_report_request request;
};

static const char doc[] =
	"Print reports on the trace in DIR: the summary, or those that are named.\n"
	"\vNames and columns are those of nsys where the content is the same. 'report\n"
	"--list' lists all reports. A call counts where it began. --from and --to take\n"
	"ms since the trace began, a time as tables show it (1,234.5 ms, 1.2s), a stage\n"
	"(its begin, its end), an iteration, or start and end. Without them, reports of\n"
	"what comes again and again (gaps, sync, cuda_..._sum, --by) are of the\n"
	"steady state, if there is one; --from start: of the whole run.\n"
	"\n"
	"--by makes a table of its own, a row for each combination of at most 4 KEYS:\n"
	"function, kernel, thread, process, rank, stage, iteration, stream, context,\n"
	"device, range (of the thread, or the range itself), operation (of copies),\n"
	"work (of the GPU), category, ioctl, command, class, error, type, layer, cpu,\n"
	"line and stack (of record --stacks).\n"
	"--of says of what: calls, launches, waits, allocations, frees, kernels, copies\n"
	"(these two from records of the GPU where there are some), work (of the GPU),\n"
	"ioctls, driver, ranges, switches.\n"
	"--measure says what is summed up: duration, self (time without the calls\n"
	"inside), count, bytes, gpu (the time of the GPU's work that calls caused; keys\n"
	"are those of the calls).\n"
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
	"  cudatrace report --by function,thread --measure self --from steady trace\n"
	"  cudatrace report --by range --of launches --measure count --format csv trace\n";

static const struct argp_option options[] = {
	{ "list", KEY_LIST, NULL, 0, "list all reports", 0 },
	{ "all", KEY_ALL, NULL, 0, "all reports but the lists of all records", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show the trace in the browser, as export --format html", 0 },
	{ "format", 'F', "FORMAT", 0, "table (default), csv, tsv or json", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE; several reports, or tables in csv: to FILE_NAME.csv and so on", 0 },
	{ "force", 'f', NULL, 0, "replace a file that is there", 0 },
	{ "top", 'n', "N", 0, "at most N rows of each table, 0: all (default: 20 in tables)", 0 },
	{ "sort", KEY_SORT, "COLUMN", 0, "sort by this column, largest first; -COLUMN: smallest first", 0 },
	{ "full-names", KEY_FULL, NULL, 0, "whole names of kernels in tables, however long (csv, tsv and json have them)", 0 },
	{ "module", KEY_MODULE, "GLOB", 0, "lines, stacks: show lines of these libraries one by one, too ('torch', '*')", 0 },
	{ NULL, 0, NULL, 0, "A table of your own:", 2 },
	{ "by", KEY_BY, "KEYS", 0, "a row for each: function, kernel, thread, stage, stream ...; several with commas", 2 },
	{ "of", KEY_OF, "WHAT", 0, "calls, launches, kernels, copies, ioctls ... (default: what fits the first key)", 2 },
	{ "measure", KEY_MEASURE, "MEASURE", 0, "duration (default), self, count, bytes or gpu", 2 },
	{ 0 },
};

static const struct argp_child children[] = { CT_ONLY_KINDS_CHILD, { 0 } };

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	struct ct_error err = { 0 };

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->only;
		return 0;
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
		env->request.print.top = ct_option_number(state, "--top", arg, 0, UINT32_MAX);
		return 0;
	case KEY_FULL:
		env->request.print.full_names = true;
		return 0;
	case KEY_SORT:
		env->request.sort = arg;
		return 0;
	case KEY_MODULE:
		env->module = arg;
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
	case ARGP_KEY_ARG:
		if (env->words_count == CT_REPORTS_MAX + CT_DIRS_MAX)
			argp_failure(state, 64, 0, "too many reports or traces");
		if (!*arg)
			argp_failure(state, 64, 0, "an empty word is no trace: name its directory");
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
		if (env->open && (env->only.filter.tid || env->only.filter.name || env->only.filter.layer >= 0 ||
				  env->only.filter.category >= 0))
			argp_failure(state, 64, 0, "a page shows all that processes did: of what counts --open takes "
				     "--from, --to and --pid");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

#define LIST_NAME	23	/* columns of a name, and a blank */

/* A line for each in a pipe; as wide as a terminal is. */
static void report_list(void)
{
	unsigned int width = isatty(STDOUT_FILENO) ? ct_term_width(stdout, 0) : 0;

	for (unsigned int i = 0; i < ct_reports_count; i++) {
		printf("%-*s", LIST_NAME, ct_reports[i]->name);
		if (width > 2 * LIST_NAME)
			ct_term_wrap(stdout, ct_reports[i]->summary, width, LIST_NAME, LIST_NAME);
		else
			puts(ct_reports[i]->summary);
	}
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

static bool report_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The directory comes last.  Who gave it first meant the same. */
static void report_order(struct env *env)
{
	const char *first = env->words[0], *last = env->words[env->words_count - 1];

	if (env->words_count < 2 || report_is_directory(last) || !ct_report_find(last) || ct_report_find(first) ||
	    !report_is_directory(first))
		return;
	memmove(&env->words[0], &env->words[1], (env->words_count - 1) * sizeof(*env->words));
	env->words[env->words_count - 1] = first;
}

/* The reports that the words name.  Return: 0, or a status after a line on stderr. */
static int report_choose(struct env *env)
{
	struct ct_report_request *q = &env->request;
	const struct ct_analyser *report;

	report_order(env);
	/* Further directories are of traces that are read as one. */
	env->dirs = env->words_count - 1;
	while (env->dirs && !access(env->words[env->dirs - 1], F_OK) && !ct_report_find(env->words[env->dirs - 1]))
		env->dirs--;
	if (env->words_count - env->dirs > CT_DIRS_MAX)
		return ct_complain_usage("at most %u traces are read as one", CT_DIRS_MAX);
	for (unsigned int i = 0; i < env->dirs; i++) {
		struct ct_near near = { .word = env->words[i] };

		report = ct_report_find(env->words[i]);
		for (unsigned int k = 0; k < ct_reports_count && !report; k++)
			ct_near_try(&near, ct_reports[k]->name);
		if (!report)
			return ct_complain_usage("there is no report '%s'%s (cudatrace report --list)", env->words[i],
						 ct_near_text(&near));
		report_add(q, report);
	}
	for (unsigned int i = 0; env->all && i < ct_reports_count; i++)
		if (!ct_reports[i]->streams)
			report_add(q, ct_reports[i]);
	if (env->open && env->dirs)
		return ct_complain_usage("--open shows all of the trace: give its directory alone");
	if (env->by) {
		env->grouping = ct_grouped_by(&env->spec);
		report_add(q, &env->grouping);
	}
	if (!q->count)
		q->reports[q->count++] = &ct_report_summary;
	return 0;
}

/* Of summaries only what compares ranks can be said, and only of all of them. */
static int report_summaries(struct env *env)
{
	struct ct_report_request *q = &env->request;
	unsigned int kept = 0;

	if (ct_only_asked(&env->only) || env->open || env->by)
		return ct_complain_usage("summaries are of whole traces: they take no --from, --to, --pid and the like, no --by and no --open");
	if (q->count == 1 && q->reports[0] == &ct_report_summary)
		q->reports[0] = ct_report_find("ranks");
	for (unsigned int i = 0; i < q->count; i++) {
		if (!q->reports[i]->summaries && !env->all)
			return ct_complain_usage("%s is not made of summaries: ranks, collectives_sum and collectives are", q->reports[i]->name);
		if (q->reports[i]->summaries)
			q->reports[kept++] = q->reports[i];
	}
	q->count = kept;
	return 0;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = { options, report_parse, "[NAME...] DIR...", doc, children, NULL, NULL };
	struct env env = {
		.request = { .print.top = UINT64_MAX },
		.only = CT_ONLY_INIT,
	};
	struct ct_error err = { 0 };
	const char *dir;
	struct ct_trace t;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.list) {
		report_list();
		return 0;
	}
	status = report_choose(&env);
	if (status)
		return status;
	if (env.request.print.top == UINT64_MAX)
		env.request.print.top = env.request.format ? 0 : 20;
	if (!env.request.output && !env.request.format) {
		env.request.print.width = ct_term_width(stdout, 160);
		env.request.print.page = ct_term_width(stdout, 0);
		env.request.print.colour = ct_term_colour(stdout);
	}
	dir = env.words[env.dirs];
	status = ct_open_job(&t, &env.words[env.dirs], env.words_count - env.dirs);
	if (!status && t.summaries)
		status = report_summaries(&env);
	if (!status)
		status = ct_tell(dir, ct_only_find(&env.only, &t, false, &err), &err);
	if (env.open) {
		ct_only_select(&env.only, &t, true);
		status = status ? status : ct_show_trace(&t);
		ct_only_free(&env.only);
		ct_trace_close(&t);
		return status;
	}
	env.request.engine.filter = env.only.filter;
	/* For people; scripts get whole stacks unless they say which. */
	env.request.engine.filter.fold = !env.request.format || env.module;
	env.request.engine.filter.modules = env.module;
	env.request.steady = !env.only.from && !env.only.to;
	env.request.engine.phases = env.only.phases_found ? &env.only.phases : NULL;
	if (!status)
		status = ct_tell(dir, ct_reports_print(&t, &env.request, &err), &err);
	ct_only_free(&env.only);
	ct_trace_close(&t);
	return status;
}
