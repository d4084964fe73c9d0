// SPDX-License-Identifier: LGPL-2.1-or-later
/* See print.h.  Must never replace a file that is there without being told to. */
#include "analysis/print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "base/near.h"
#include "view/term.h"

struct job {
	const struct ct_trace *trace;
	const struct ct_report_request *request;
	struct ct_engine *engine;	/* with the results of all that don't stream */
	struct ct_engine *steady;	/* with those of the steady state; NULL: there are none */
	FILE *out;			/* that of all reports, or NULL: each has its own */
	struct ct_printer *printer;
	struct ct_error *err;
};

static struct ct_analysis *print_result(const struct job *j, const struct ct_analyser *report)
{
	struct ct_engine *e = j->steady && report->steady ? j->steady : j->engine;

	return e ? (struct ct_analysis *)ct_engine_result(e, report) : NULL;
}

static int print_fail(const struct job *j, int rc, const char *what)
{
	if (rc == -EPIPE)
		return rc;	/* 'report | head': no error */
	return ct_fail(j->err, -rc, "%s: %s", what, strerror(-rc));
}

/* A figure of a simulated GPU, or of a damaged trace, is never shown without that label; the summary has its own. */
static void print_label(const struct job *j, const struct ct_analyser *report)
{
	const char *damage = ct_registry_info(&j->trace->reg, CT_DAMAGED_INFO);
	unsigned int width = j->request->print.width ? j->request->print.width : 160;
	char line[1024];

	if (j->request->format || report == &ct_report_summary)
		return;
	if (j->trace->simulated)
		fputs(CT_SIMULATED_LABEL "\n", j->out);
	if (damage)
		fprintf(j->out, "damaged: %s\n", ct_term_clean(line, sizeof(line), damage, width > 50 ? width - 9 : 41));
}

static const struct ct_format *print_format(const struct job *j)
{
	return j->request->format ? j->request->format : ct_format_find("table");
}

/* How long FILE is without the ending of the format: FILE.csv is the base of FILE_NAME.csv, too. */
static int print_base(const struct job *j)
{
	const char *extension = ct_format_extension(print_format(j)), *output = j->request->output;
	size_t n = strlen(output), m = strlen(extension);

	return n > m + 1 && output[n - m - 1] == '.' && !strcmp(output + n - m, extension) ? n - m - 1 : n;
}

/* The file of a report, of a table, or of all. */
static int print_open(struct job *j, const char *name)
{
	const struct ct_report_request *q = j->request;
	char path[PATH_MAX];
	int fd, n;

	if (!q->output || !strcmp(q->output, "-")) {
		j->out = stdout;
		return 0;
	}
	n = name ? snprintf(path, sizeof(path), "%.*s_%s.%s", print_base(j), q->output, name,
			    ct_format_extension(print_format(j))) :
		   snprintf(path, sizeof(path), "%s", q->output);
	if (n >= (int)sizeof(path))
		return print_fail(j, -ENAMETOOLONG, q->output);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (q->force ? O_TRUNC : O_EXCL), 0666);
	if (fd < 0 && errno == EEXIST)
		return ct_fail(j->err, EEXIST, "%s: is there already; -f replaces it", path);
	j->out = fd < 0 ? NULL : fdopen(fd, "w");
	return j->out ? 0 : print_fail(j, -errno, path);
}

/* A file of csv holds one table: one of several of a report gets FILE_TABLE.csv. */
static bool print_splits(const struct job *j, const struct ct_analyser *report)
{
	const struct ct_report_request *q = j->request;
	const char *extension = q->format ? ct_format_extension(q->format) : "";
	const struct ct_analysis *a = print_result(j, report);

	return q->output && strcmp(q->output, "-") && a && a->tables_count > 1 &&
	       (!strcmp(extension, "csv") || !strcmp(extension, "tsv"));
}

static int print_close(struct job *j)
{
	int rc = 0;

	if (fflush(j->out) || ferror(j->out))
		rc = errno ? -errno : -EIO;
	if (j->out != stdout && fclose(j->out) && !rc)
		rc = -errno;
	j->out = NULL;
	return rc ? print_fail(j, rc, j->request->output ? j->request->output : "standard output") : 0;
}

/* -------------------------------------------------------------- a report --- */

/* Says which columns there are. */
static int print_fail_column(const struct job *j, const struct ct_analyser *const *reports, unsigned int count,
			     const char *by)
{
	struct ct_near near = { .word = by };
	char all[320] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct ct_analysis *a = print_result(j, reports[i]);

		for (unsigned int k = 0; k < a->tables_count; k++)
			for (unsigned int c = 0; c < a->tables[k].columns_count; c++) {
				const char *name = a->tables[k].columns[c].name;

				ct_near_try(&near, name);
				if (used < sizeof(all))
					used += snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "",
							 name);
			}
	}
	if (count == 1)
		return ct_fail_usage(j->err, "%s has no column '%.60s'%s It has: %s", reports[0]->name, by,
				     *near.best ? ct_near_text(&near) : ".", all);
	return ct_fail_usage(j->err, "none of these reports has a column '%.60s'%s They have: %s", by,
			     *near.best ? ct_near_text(&near) : ".", all);
}

/* Sorts each table that has the column; others keep their order, but one must have it. */
static int print_sort(struct job *j, const struct ct_analyser *const *reports, unsigned int count)
{
	const char *by = j->request->sort;
	bool smallest = by && *by == '-', found = false;
	int rc = 0;

	for (unsigned int i = 0; by && i < count; i++) {
		struct ct_analysis *a = print_result(j, reports[i]);

		for (unsigned int k = 0; k < a->tables_count && !rc; k++) {
			struct ct_table *t = &a->tables[k];
			int column = ct_table_column(t->columns, t->columns_count, by + smallest);

			if (column < 0)
				continue;
			found = true;
			rc = ct_table_sort(t, column, ct_cell_is_text(t->columns[column].type) ? smallest : !smallest);
		}
	}
	if (!by || found || rc)
		return rc;
	return print_fail_column(j, reports, count, by + smallest);
}

/* Of a list of all records that is sorted, only the rows that are printed are kept. */
static int print_limit(void *arg, struct ct_table *t)
{
	const struct ct_report_request *q = arg;
	bool smallest = *q->sort == '-';
	int column = ct_table_column(t->columns, t->columns_count, q->sort + smallest);

	if (column >= 0)
		ct_table_limit(t, column, ct_cell_is_text(t->columns[column].type) ? smallest : !smallest,
			       q->print.top);
	return 0;
}

/* Records of two processes.  A CPU's stream, which the module wrote, has those of any. */
static bool print_several_processes(const struct job *j)
{
	const struct ct_trace *t = j->trace;
	uint32_t pid = 0;

	for (unsigned int i = 0; i < t->streams_count && !j->request->engine.filter.pid; i++) {
		if (pid && t->streams[i].pid && t->streams[i].pid != pid)
			return true;
		pid = t->streams[i].pid ? t->streams[i].pid : pid;
	}
	return false;
}

static int print_stream(void *arg, struct ct_table *t)
{
	struct job *j = arg;

	t->several_processes = print_several_processes(j);
	ct_table_stream(t, ct_printer_row, j->printer);
	return ct_printer_begin(j->printer, t);
}

static int print_streamed(struct job *j, const struct ct_analyser *report)
{
	struct ct_engine_options options = j->request->engine;
	const struct ct_analysis *a;
	struct ct_engine *e;
	int rc;

	options.stream = print_stream;
	options.stream_arg = j;
	e = ct_engine_run(j->trace, &report, 1, &options, j->err);
	if (!e)
		return -j->err->code;
	a = ct_engine_result(e, report);
	rc = a->tables_count ? ct_printer_end(j->printer, &a->tables[0]) : 0;
	ct_engine_free(e);
	return rc;
}

static int print_tables(struct job *j, const struct ct_analyser *report)
{
	struct ct_analysis *a = print_result(j, report);
	int rc = 0;

	for (unsigned int i = 0; i < a->tables_count && !rc; i++)
		rc = ct_printer_table(j->printer, &a->tables[i]);
	return rc;
}

static bool print_streams(const struct job *j, const struct ct_analyser *report)
{
	return report->streams && !j->request->sort;
}

static int print_report(struct job *j, const struct ct_analyser *report)
{
	bool text = report->text && !j->request->format;
	int rc;

	if (text)
		return report->text(print_result(j, report), j->out, &j->request->print);
	rc = print_streams(j, report) ? print_streamed(j, report) : print_tables(j, report);
	return rc;
}

/* Each table in a file of its own. */
static int print_split(struct job *j, const struct ct_analyser *report)
{
	const struct ct_analysis *a = print_result(j, report);
	int rc = 0, closing;

	for (unsigned int i = 0; i < a->tables_count && !rc; i++) {
		rc = print_open(j, a->tables[i].name);
		if (rc)
			break;
		j->printer = ct_printer_open(print_format(j), j->out, &j->request->print, false);
		rc = j->printer ? ct_printer_table(j->printer, (struct ct_table *)&a->tables[i]) : -ENOMEM;
		closing = j->printer ? ct_printer_close(j->printer) : 0;
		j->printer = NULL;
		rc = rc ? rc : closing;
		closing = print_close(j);
		rc = rc ? rc : closing;
	}
	return rc;
}

static int print_all(struct job *j)
{
	const struct ct_report_request *q = j->request;
	bool own = q->output && strcmp(q->output, "-") && q->count > 1;
	int rc = own || print_splits(j, q->reports[0]) ? 0 : print_open(j, NULL), closing;
	bool several = !own && q->count > 1;

	for (unsigned int i = 0; i < q->count && !rc; i++) {
		const struct ct_analyser *report = q->reports[i];

		if (print_splits(j, report)) {
			rc = print_split(j, report);
			continue;
		}

		if (own)
			rc = print_open(j, report->name);
		if (rc)
			break;
		if (own || !i)
			print_label(j, report);
		if (!j->printer)
			j->printer = ct_printer_open(print_format(j), j->out, &q->print,
						     several || !report->single);
		if (!j->printer)
			rc = -ENOMEM;
		/* Between tables the printer leaves a line. */
		if (!rc && several && i && !q->format && (q->reports[i - 1]->text || report->text))
			fputc('\n', j->out);
		if (!rc)
			rc = print_report(j, report);
		if (j->printer && (own || rc || i + 1 == q->count)) {
			closing = ct_printer_close(j->printer);
			rc = rc ? rc : closing;
			j->printer = NULL;
		}
		if (own && j->out) {
			closing = print_close(j);
			rc = rc ? rc : closing;
		}
	}
	if (j->out) {
		closing = print_close(j);
		rc = rc ? rc : closing;
	}
	return rc;
}

/* ------------------------------------------------------ the steady state --- */

/* "CUDA API calls in the steady state"; what a title explains comes after a colon, comma or bracket. */
static int print_steady_title(struct ct_table *t)
{
	size_t head = strcspn(t->title, ":,("), colon = strcspn(t->title, ":(");
	char *title;

	/* "Calls by line, function and stream: duration" */
	if (t->title[head] == ',' && t->title[colon] == ':')
		head = colon;
	while (head && t->title[head - 1] == ' ')
		head--;
	if (asprintf(&title, "%.*s in the steady state%s", (int)head, t->title, t->title + head) < 0)
		return -ENOMEM;
	free(t->title);
	t->title = title;
	return 0;
}

#define PRINT_PROCESSES	3	/* are named with their times */

/* "The steady state of process 1647: from 9,832.196 ms to 9,844.246 ms." */
static void print_steady_note(const struct job *j, const struct ct_phases *phases, uint32_t pid, char *text, size_t size)
{
	char from[CT_TERM_TEXT], to[CT_TERM_TEXT];
	unsigned int count = 0, without = 0;
	size_t used = 0;

	for (unsigned int i = 0; i < phases->processes_count && used < size; i++) {
		const struct ct_process_phases *p = &phases->processes[i];
		const struct ct_stage_span *s = ct_phases_steady(p);

		if (pid && p->pid != pid)
			continue;
		without += !s && p->works;
		if (!s || count++ >= PRINT_PROCESSES)
			continue;
		used += snprintf(text + used, size - used, "%s process %u: from %s to %s", count > 1 ? "," : "The steady state of",
				 p->pid, ct_term_moment(from, s->begin - j->trace->reg.start),
				 ct_term_moment(to, s->end - j->trace->reg.start));
	}
	if (used < size && count > PRINT_PROCESSES)
		used += snprintf(text + used, size - used, ", and of %u more", count - PRINT_PROCESSES);
	if (used < size && without)
		used += snprintf(text + used, size - used, "; %u process%s without one %s left out", without,
				 without == 1 ? "" : "es", without == 1 ? "is" : "are");
	if (used < size)
		snprintf(text + used, size - used, ". --from start: the whole run.");
}

/* Says of each table that it is of the steady state, and below each report from when to when. */
static int print_steady_say(struct job *j, const struct ct_phases *phases, uint32_t pid)
{
	const struct ct_report_request *q = j->request;
	struct ct_analysis *a;
	char note[512];
	int rc = 0;

	print_steady_note(j, phases, pid, note, sizeof(note));
	for (unsigned int i = 0; i < q->count; i++) {
		a = q->reports[i]->steady ? print_result(j, q->reports[i]) : NULL;
		if (!a)
			continue;
		for (unsigned int k = 0; k < a->tables_count && !rc; k++)
			rc = print_steady_title(&a->tables[k]);
		if (a->tables_count)
			ct_table_note(&a->tables[a->tables_count - 1], "%s", note);
	}
	return rc;
}

/*
 * The reports of the steady state, which take no range of their own: of each process, its own.
 * Analysers that both kinds need hold what one range has, so this is another pass.
 */
static int print_steady(struct job *j, const struct ct_analyser *const *reports, unsigned int count,
			const struct ct_engine_options *options)
{
	const struct ct_phases *phases = options->phases;
	struct ct_report_filter *filter;
	struct ct_engine_options of = *options;
	uint32_t pid = of.filter.pid;

	filter = &of.filter;
	filter->from = ~0ull;
	for (unsigned int i = 0; i < phases->processes_count; i++) {
		const struct ct_stage_span *s = ct_phases_steady(&phases->processes[i]);

		if (!s || (pid && phases->processes[i].pid != pid))
			continue;
		filter->from = s->begin < filter->from ? s->begin : filter->from;
		filter->to = s->end > filter->to ? s->end : filter->to;
	}
	if (!filter->to)
		return 0;
	filter->steady = phases;
	j->steady = ct_engine_run(j->trace, reports, count, &of, j->err);
	return j->steady ? print_steady_say(j, phases, pid) : -j->err->code;
}

/* Makes all that don't stream, in one pass or two. */
static int print_make(struct job *j, const struct ct_analyser *const *reports, unsigned int count,
		      struct ct_phases *phases)
{
	struct ct_engine_options options = j->request->engine;
	const struct ct_analyser *whole[CT_REPORTS_MAX], *steady[CT_REPORTS_MAX];
	unsigned int wholes = 0, steadies = 0;
	int rc = 0;

	if (j->request->sort && j->request->print.top) {
		options.stream = print_limit;
		options.stream_arg = (void *)j->request;
	}
	for (unsigned int i = 0; i < count; i++)
		if (j->request->steady && reports[i]->steady)
			steady[steadies++] = reports[i];
	if (steadies && !options.phases) {
		rc = ct_phases_find(phases, j->trace);
		options.phases = phases;
	}
	if (!rc && steadies)
		rc = print_steady(j, steady, steadies, &options);
	for (unsigned int i = 0; i < count; i++)
		if (!j->steady || !reports[i]->steady)
			whole[wholes++] = reports[i];
	if (rc || !wholes)
		return rc;
	j->engine = ct_engine_run(j->trace, whole, wholes, &options, j->err);
	return j->engine ? 0 : -j->err->code;
}

int ct_reports_print(const struct ct_trace *t, const struct ct_report_request *q, struct ct_error *err)
{
	const struct ct_analyser *kept[CT_REPORTS_MAX];
	struct job j = { .trace = t, .request = q, .err = err };
	struct ct_phases phases = { .main = -1 };
	unsigned int count = 0;
	int rc;

	*err = (struct ct_error){ 0 };
	for (unsigned int i = 0; i < q->count; i++)
		if (!print_streams(&j, q->reports[i]))
			kept[count++] = q->reports[i];
	rc = print_make(&j, kept, count, &phases);
	/* Before a file is made. */
	if (!rc)
		rc = print_sort(&j, kept, count);
	if (!rc)
		rc = print_all(&j);
	ct_engine_free(j.engine);
	ct_engine_free(j.steady);
	ct_phases_free(&phases);
	if (rc && rc != -EPIPE && !err->code)
		ct_fail(err, -rc, "%s", strerror(-rc));
	return rc;
}
