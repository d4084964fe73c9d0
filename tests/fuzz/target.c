// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What reads a trace, on a trace that is made of any bytes: all reports, explain, all formats
 * of export, the timeline, live and top.  libFuzzer calls LLVMFuzzerTestOneInput(); replay.c
 * does it where there is no clang.  Texts for people must be UTF-8 without control characters.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/print.h"
#include "analysis/reports.h"
#include "analysis/timeline.h"
#include "capture/finish.h"
#include "explain/calls/call_tree.h"
#include "explain/diff/diff.h"
#include "explain/explain.h"
#include "export/exporters.h"
#include "live/live.h"
#include "live/top.h"
#include "make_trace.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], out[72];	/* the trace, and what exports write */
static int null_fd;

static void target_remove(void)
{
	fuzz_clear(dir);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *classes = getenv("FUZZ_CLASSES");

	(void)argc;
	(void)argv;
	fuzz_classes_read(classes ? classes : "tests/fuzz/classes");
	snprintf(dir, sizeof(dir), "/dev/shm/cudatrace-fuzz-%d", (int)getpid());
	snprintf(out, sizeof(out), "%s.out", dir);
	if (mkdir(dir, 0700)) {
		perror(dir);
		exit(2);
	}
	atexit(target_remove);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return 0;
}

/* ---------------------------------------------------------------- judging --- */

static void target_stop(const char *why, const char *what, const char *text)
{
	fprintf(stderr, "%s: %s:\n%.2000s\n", what, why, text);
	abort();
}

/* A text for people: lines of UTF-8 without control characters. */
static void target_judge(const char *text, size_t size, const char *what)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + size;

	while (p < end) {
		unsigned int more = *p < 0x80 ? 0 : *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
		uint32_t c = more ? *p & (0x3f >> more) : *p;

		if (*p >= 0x80 && (*p < 0xc2 || *p > 0xf4))
			target_stop("no UTF-8", what, (const char *)p);
		for (unsigned int i = 1; i <= more; i++) {
			if (p + i >= end || (p[i] & 0xc0) != 0x80)
				target_stop("no UTF-8", what, (const char *)p);
			c = c << 6 | (p[i] & 0x3f);
		}
		if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0))
			target_stop("a control character", what, (const char *)p);
		p += more + 1;
	}
}

/* A file in memory, for what prints to a descriptor. */
static FILE *target_file(void)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!out)
		abort();
	return out;
}

/* Judges what was written to it, and closes it. */
static void target_judge_file(FILE *out, const char *what)
{
	struct stat st;
	char *text;

	fflush(out);
	if (fstat(fileno(out), &st))
		abort();
	text = malloc(st.st_size + 1);
	if (!text || pread(fileno(out), text, st.st_size, 0) != st.st_size)
		abort();
	text[st.st_size] = 0;
	target_judge(text, st.st_size, what);
	free(text);
	fclose(out);
}

struct target_text {
	char *text;
	size_t size;
	FILE *out;
};

static void target_open(struct target_text *t)
{
	t->out = open_memstream(&t->text, &t->size);
	if (!t->out)
		abort();
}

static void target_close(struct target_text *t, const char *what, bool people)
{
	fclose(t->out);
	if (people)
		target_judge(t->text, t->size, what);
	free(t->text);
}

/* ---------------------------------------------------------------- reading --- */

static int target_streamed(void *arg, struct ct_table *t)
{
	ct_table_stream(t, ct_printer_row, arg);
	return ct_printer_begin(arg, t);
}

/* A table's printer writes to a descriptor: a file in memory, which is read again. */
static void target_tables(const struct ct_trace *trace, const struct ct_engine_options *options,
			  const char *format_name, unsigned int width)
{
	const struct ct_format *format = ct_format_find(format_name);
	struct ct_print_options print = { .width = width, .top = width ? 20 : 0 };
	bool people = !strcmp(format_name, "table");
	struct ct_engine_options streamed = *options;
	struct ct_error err = { 0 };
	struct ct_printer *printer;
	struct ct_engine *e;
	FILE *out;

	out = people ? target_file() : fopen("/dev/null", "w");
	printer = ct_printer_open(format, out, &print, true);
	e = ct_engine_run(trace, ct_reports, ct_reports_count, options, &err);
	for (unsigned int i = 0; e && printer && i < ct_reports_count; i++) {
		const struct ct_analysis *a = ct_engine_result(e, ct_reports[i]);

		for (unsigned int k = 0; a && k < a->tables_count; k++)
			ct_printer_table(printer, &a->tables[k]);
		if (a && people && ct_reports[i]->text) {
			struct target_text t;

			target_open(&t);
			ct_reports[i]->text(a, t.out, &print);
			target_close(&t, ct_reports[i]->name, true);
		}
	}
	ct_engine_free(e);
	streamed.stream = target_streamed;
	streamed.stream_arg = printer;
	for (unsigned int i = 0; printer && i < ct_reports_count; i++) {
		const struct ct_analysis *a;

		if (!ct_reports[i]->streams)
			continue;
		e = ct_engine_run(trace, &ct_reports[i], 1, &streamed, &err);
		a = e ? ct_engine_result(e, ct_reports[i]) : NULL;
		if (a && a->tables_count)
			ct_printer_end(printer, &a->tables[0]);
		ct_engine_free(e);
	}
	if (printer)
		ct_printer_close(printer);
	if (people)
		target_judge_file(out, "tables");
	else
		fclose(out);
}

static void target_explain(const struct ct_trace *trace, const struct ct_engine_options *options,
			   const char *format, unsigned int width)
{
	struct ct_explain_request request = {
		.format = format ? ct_format_find(format) : NULL,
		.print = { .width = width, .top = 10 },
		.engine = *options,
	};
	struct ct_error err = { 0 };
	FILE *out;

	out = format ? fopen("/dev/null", "w") : target_file();
	ct_explain_print(trace, &request, out, &err);
	if (format)
		fclose(out);
	else
		target_judge_file(out, "explain");
}

static int target_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void target_export(const struct ct_exporter *format, const struct ct_trace *trace)
{
	struct ct_export x = { .trace = trace, .fd = null_fd, .path = out };
	struct ct_error err = { 0 };

	if (format->to == CT_EXPORT_DIRECTORY && mkdir(out, 0700))
		abort();
	if (format->to == CT_EXPORT_FILE)
		x.fd = open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (x.fd < 0)
		abort();
	format->export(&x, &err);
	if (strchr(err.text, '\n'))
		target_stop("not one line", format->name, err.text);
	target_judge(err.text, strlen(err.text), format->name);
	if (x.fd != null_fd)
		close(x.fd);
	if (format->to != CT_EXPORT_STREAM)
		nftw(out, target_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void target_exports(const struct ct_trace *trace, unsigned int width)
{
	struct ct_timeline_options options = { .width = width, .threads = 12, .depth = 5 };
	struct target_text t;

	for (size_t i = 0; i < ct_exporters_count; i++)
		target_export(&ct_exporters[i], trace);
	target_open(&t);
	ct_timeline(trace, t.out, &options);
	options.from = 0.001;
	options.to = 5;
	ct_timeline(trace, t.out, &options);
	target_close(&t, "timeline", true);
}

/* The trace with itself: what differs is the way to each of both. */
static void target_diff(const struct ct_trace *trace, const char *format, unsigned int width)
{
	struct ct_diff_request request = {
		.format = format ? ct_format_find(format) : NULL,
		.print = { .width = width, .top = 15 },
	};
	FILE *out = format ? fopen("/dev/null", "w") : target_file();
	struct ct_error err = { 0 };
	double worst;

	ct_diff(trace, trace, &request, out, &worst, &err);
	if (format)
		fclose(out);
	else
		target_judge_file(out, "diff");
}

static void target_calls(const struct ct_trace *trace, unsigned int width)
{
	const struct ct_call_request requests[] = {
		{ .question = CT_CALL_ONE, .op_id = 2, .print.width = width },
		{ .question = CT_CALL_SLOWEST, .count = 3, .print.width = width },
		{ .question = CT_CALL_AT, .at = trace->reg.start + 1000, .print.width = width },
	};

	for (unsigned int i = 0; i < 3; i++) {
		struct ct_call_request request = requests[i];
		struct ct_error err = { 0 };
		FILE *out = target_file();

		request.filter = (struct ct_report_filter){ .layer = -1, .category = -1 };
		ct_explain_calls(trace, &request, out, &err);
		target_judge_file(out, "calls");
	}
}

/* They end, because the trace is finished. */
static void target_live(void)
{
	struct ct_top_options options = { .delay = 0.001, .views = 2, .rows = 20 };
	volatile bool stop = false;
	struct ct_error err = { 0 };
	struct target_text t;

	target_open(&t);
	ct_live_follow(dir, false, t.out, &stop, &err);
	target_close(&t, "live", true);
	target_open(&t);
	ct_top_follow(dir, &options, t.out, &stop, &err);
	target_close(&t, "top", false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	unsigned int asks = fuzz_make_trace(dir, data, size), width;
	struct ct_error err = { 0 };
	struct ct_trace trace;

	width = asks & FUZZ_NARROW ? 40 : 120;
	if (asks & FUZZ_UNFINISHED && ct_finish(dir, false, &err) < 0)
		target_judge(err.text, strlen(err.text), "finish");
	if (ct_trace_open(&trace, dir, &err)) {
		target_judge(err.text, strlen(err.text), "open");
		if (!*err.text || strchr(err.text, '\n'))
			target_stop("not one line", "open", err.text);
		ct_trace_close(&trace);
		return 0;
	}
	if (asks & FUZZ_FILTER) {
		options.filter.from = trace.reg.start + 1000;
		options.filter.to = trace.reg.start + 1000000;
		options.filter.name = "cu*";
	}
	target_tables(&trace, &options, "table", width);
	if (asks & FUZZ_EXPORT) {
		target_tables(&trace, &options, "json", 0);
		target_exports(&trace, width);
		target_diff(&trace, "json", 0);
		target_explain(&trace, &options, "json", 0);
	}
	target_explain(&trace, &options, NULL, width);
	target_diff(&trace, NULL, width);
	target_calls(&trace, width);
	ct_trace_close(&trace);
	if (asks & FUZZ_EXPORT)
		target_live();
	return 0;
}
