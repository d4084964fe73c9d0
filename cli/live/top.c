// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See top.h.  Memory is bounded: what is beyond TOP_ROWS functions is counted together.
 */
#include "live/top.h"

#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "spans/work.h"
#include "group/histogram.h"
#include "spans/processes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/keyed.h"
#include "live/follow.h"
#include "live/live.h"
#include "live/programs.h"
#include "live/stuck.h"
#include "view/term.h"

#define TOP_ROWS	4096	/* functions of processes that are told apart */
#define TOP_NAME	64
#define TOP_STUCK	3	/* collectives that are shown */
#define TOP_WIDE	112	/* columns of a view with nearly all that is known */
#define TOP_WIDEST	132	/* ... with bytes, too */

struct entry {
	uint64_t key;		/* of the next two */
	uint32_t pid;
	char name[TOP_NAME];
	uint64_t calls, failed, bytes, now_calls, now_ns;	/* now: since the last view */
	bool here;		/* called just now, so by a process of this machine */
	bool gpu;		/* no call: what the GPU did */
	struct ct_histogram durations;
};

struct top {
	const struct ct_top_options *options;
	FILE *out;
	CT_KEYED(struct entry) entries;
	struct ct_processes processes;		/* names, from the trace or from /proc */
	struct ct_programs programs;
	const char *dir;			/* NULL: none */
	struct ct_stuck stuck;			/* collectives that wait for a rank */
	bool over;				/* the recording ended: time does not go on */
	uint64_t others;			/* calls beyond TOP_ROWS */
	/*
	 * ns: when it all began, of the last view, and now.  Of a directory in the time of its
	 * records, so that the rates of what was recorded before are right, too.
	 */
	uint64_t began, last, now;
	uint64_t shown;				/* ns: when the last view was shown */
	bool records;				/* time is that of records */
	unsigned long views;
	bool terminal;
	enum ct_top_sort sort;
	bool frozen;				/* the view stays, what comes is counted */
	bool keys;				/* they are read, and the terminal is to be put back */
	struct termios before;
};

static uint64_t top_key(uint32_t pid, const char *name)
{
	return ct_mix(ct_hash_add(CT_HASH_BEGIN, name, strlen(name)), pid);
}

static struct entry *top_entry(struct top *top, uint32_t pid, const char *name)
{
	uint64_t key = top_key(pid, name);
	struct entry *e = ct_keyed_get(&top->entries, key);

	if (e)
		return e;
	if (top->entries.count == TOP_ROWS || !(e = ct_keyed_put(&top->entries, key)))
		return NULL;
	e->pid = pid;
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

/* @gpu: the GPU did it: it is no call. */
static int top_count(struct top *top, const struct ct_live_call *call, bool here, bool gpu)
{
	const struct ct_top_options *o = top->options;
	struct entry *e;

	if (o->pid && o->pid != call->pid)
		return 0;
	if (!gpu && ct_programs_call(&top->programs, call->pid, here, call->failed, call->timed ? call->ns : 0))
		return -ENOMEM;
	if (o->names && fnmatch(o->names, call->name, 0))
		return 0;
	e = top_entry(top, call->pid, call->name);
	if (!e) {
		top->others++;
		return 0;
	}
	e->here |= here;
	e->gpu |= gpu;
	e->calls++;
	e->now_calls++;
	e->failed += call->failed;
	e->bytes += call->bytes;
	if (!call->timed)
		return 0;
	e->now_ns += call->ns;
	return ct_histogram_add(&e->durations, call->ns);
}

static int top_call(void *arg, const struct ct_live_call *call)
{
	return top_count(arg, call, true, false);
}

/* ------------------------------------------------------------------ a view --- */

const char *const ct_top_sort_word[CT_TOP_SORTS] = {
	[CT_TOP_TIME] = "time", [CT_TOP_CALLS] = "calls", [CT_TOP_P99] = "p99", [CT_TOP_FAILED] = "failed",
	[CT_TOP_BYTES] = "bytes",
};

/* What is compared first, second and third. */
static void top_figures(struct entry *e, enum ct_top_sort sort, uint64_t f[3])
{
	f[0] = e->now_ns;
	f[1] = e->durations.total;
	f[2] = e->calls;
	switch (sort) {
	case CT_TOP_CALLS:
		f[0] = e->now_calls;
		f[1] = e->calls;
		break;
	case CT_TOP_P99:
		f[0] = e->durations.count ? ct_histogram_value(&e->durations, 990) : 0;
		break;
	case CT_TOP_FAILED:
		f[0] = e->failed;
		break;
	case CT_TOP_BYTES:
		f[0] = e->bytes;
		break;
	default:
		break;
	}
}

static int top_compare(const void *a, const void *b, void *sort)
{
	uint64_t x[3], y[3];

	top_figures(*(struct entry *const *)a, *(enum ct_top_sort *)sort, x);
	top_figures(*(struct entry *const *)b, *(enum ct_top_sort *)sort, y);
	for (unsigned int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] > y[i] ? -1 : 1;
	return 0;
}

/* How many functions there is room for, below @lines of the view. */
static unsigned int top_rows(const struct top *top, unsigned int lines)
{
	struct winsize size;

	if (top->options->rows)
		return top->options->rows;
	if (top->terminal && !ioctl(fileno(top->out), TIOCGWINSZ, &size) && size.ws_row > lines + 3)
		return size.ws_row - lines - 2;
	return 20;
}

/* All columns, or what fits a narrow terminal. */
static void top_print_row(struct top *top, struct entry *e, double seconds, unsigned int width)
{
	char process[64], name[96], text[6][CT_TERM_TEXT];
	double calls = seconds > 0 ? e->now_calls / seconds : 0;
	double share = seconds > 0 ? e->now_ns / 1e7 / seconds : 0;
	struct ct_histogram *h = &e->durations;
	static const unsigned int permille[3] = { 500, 950, 990 };

	for (unsigned int i = 0; i < 3; i++)
		if (h->count)
			ct_term_ns(text[i], ct_histogram_value(h, permille[i]));
		else
			snprintf(text[i], sizeof(text[i]), "-");
	ct_term_count(text[3], e->calls);
	ct_term_count(text[4], e->failed);
	ct_term_clean(process, sizeof(process), ct_live_process(&top->processes, e->pid, e->here), width < TOP_WIDE ? 12 : 15);
	if (width < TOP_WIDE)
		fprintf(top->out, "%-12s %7u %8.0f %5.1f %9s %9s %s\n", process, e->pid, calls, share, text[0],
			text[2], ct_term_clean(name, sizeof(name), e->name, width > 66 ? width - 56 : 10));
	else
		fprintf(top->out, "%-15s %8u %9.0f %6.1f %10s %9s %9s %9s %6s %*s%s\n", process, e->pid, calls,
			share, text[3], text[0], text[1], text[2], text[4], width < TOP_WIDEST ? 0 : 12,
			width < TOP_WIDEST ? "" : e->bytes ? strcat(ct_term_bytes(text[5], e->bytes), " ") : "- ",
			ct_term_clean(name, sizeof(name), e->name, width - (width < TOP_WIDEST ? 91 : 103)));
}

/* Which collectives wait for a rank for too long.  Return: lines. */
static unsigned int top_stuck(struct top *top, unsigned int width)
{
	uint64_t now = top->over || ct_now_ns() < top->now ? top->now : ct_now_ns();
	unsigned int i = 0;
	char text[256];

	for (; i < TOP_STUCK && ct_stuck_find(&top->stuck, i, now, top->options->stuck * 1e9, text, sizeof(text)); i++)
		fprintf(top->out, "STUCK: %.*s\n", width > 20 ? (int)width - 7 : 20, text);
	return i;
}

/* The processes, above their functions.  Return: lines. */
static unsigned int top_programs(struct top *top, unsigned int width, double seconds)
{
	const struct ct_programs_view view = {
		.out = top->out, .width = width, .seconds = seconds, .dir = top->dir, .machine = !top->over, .pid = top->options->pid,
		.by_calls = top->sort == CT_TOP_CALLS, .by_failed = top->sort == CT_TOP_FAILED,
	};

	return ct_programs_print(&top->programs, &top->processes, &view);
}

static int top_view(struct top *top)
{
	struct entry **list = malloc((top->entries.count + 1) * sizeof(*list));
	unsigned int rows, width = ct_term_width(top->out, 120);
	double seconds;
	char calls[CT_TERM_TEXT], time[CT_TERM_TEXT];
	uint64_t now = 0;

	if (!list)
		return -ENOMEM;
	if (!top->records)
		top->now = ct_now_ns();
	seconds = top->now > top->last ? (top->now - top->last) / 1e9 : 0;
	for (unsigned int i = 0; i < top->entries.count; i++) {
		list[i] = &top->entries.list[i];
		now += list[i]->gpu ? 0 : list[i]->now_calls;
	}
	qsort_r(list, top->entries.count, sizeof(*list), top_compare, &top->sort);
	if (top->terminal)
		fputs("\033[H\033[J", top->out);
	fprintf(top->out, "cudatrace top  %s  %s calls/s  %zu function%s%s%s%s\n",
		ct_term_ns(time, top->now > top->began ? top->now - top->began : 0),
		ct_term_count(calls, seconds > 0 ? now / seconds : 0), top->entries.count,
		top->entries.count == 1 ? "" : "s", top->others ? ", more are not shown" : "",
		top->sort == CT_TOP_TIME ? "" : "  by ", top->sort == CT_TOP_TIME ? "" : ct_top_sort_word[top->sort]);
	rows = 1 + top_stuck(top, width);
	rows = top_rows(top, rows + top_programs(top, width, seconds) + 1);
	if (width < TOP_WIDE)
		fprintf(top->out, "%-12s %7s %8s %5s %9s %9s %s\n", "PROCESS", "PID", "CALLS/s", "TIME%",
			"P50", "P99", "NAME");
	else
		fprintf(top->out, "%-15s %8s %9s %6s %10s %9s %9s %9s %6s %s%s\n", "PROCESS", "PID", "CALLS/s",
			"TIME%", "CALLS", "P50", "P95", "P99", "FAILED", width < TOP_WIDEST ? "" : "      BYTES ", "NAME");
	for (unsigned int i = 0; i < top->entries.count && i < rows; i++)
		top_print_row(top, list[i], seconds, width);
	if (!top->terminal)
		fputc('\n', top->out);
	for (unsigned int i = 0; i < top->entries.count; i++)
		list[i]->now_calls = list[i]->now_ns = 0;
	free(list);
	top->last = top->now;
	top->shown = ct_now_ns();
	top->views++;
	if (fflush(top->out) || ferror(top->out) || top->views == top->options->views)
		return -EPIPE;
	return 0;
}

/* ------------------------------------------------------------------ keys --- */

static void top_keys_begin(struct top *top)
{
	struct termios raw;

	if (!top->terminal || !isatty(0) || tcgetpgrp(0) != getpgrp() || tcgetattr(0, &top->before))
		return;
	raw = top->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	top->keys = !tcsetattr(0, TCSANOW, &raw);
}

/* -EPIPE: the end is asked for. */
static int top_key_pressed(struct top *top)
{
	char key;

	if (!top->keys || read(0, &key, 1) != 1)
		return 0;
	switch (key) {
	case 'q':
		return -EPIPE;
	case ' ':
		top->frozen = !top->frozen;
		if (!top->frozen)
			return top_view(top);
		fputs("frozen; space: go on", top->out);
		fflush(top->out);
		break;
	case 's':
		top->sort = (top->sort + 1) % CT_TOP_SORTS;
		if (!top->frozen)
			return top_view(top);
	}
	return 0;
}

/* Shows a view if it is time. */
static int top_idle(void *arg)
{
	struct top *top = arg;
	int rc = top_key_pressed(top);

	if (rc)
		return rc;
	return !top->frozen && ct_now_ns() - top->shown >= top->options->delay * 1e9 ? top_view(top) : 0;
}

static void top_open(struct top *top, const char *dir, const struct ct_top_options *options, FILE *out)
{
	*top = (struct top){ .options = options, .out = out, .dir = dir, .stuck = { .dir = dir }, .terminal = !options->batch && isatty(fileno(out)), .sort = options->sort };
	top->began = top->last = top->shown = ct_now_ns();
	top_keys_begin(top);
}

static void top_close(struct top *top)
{
	if (top->keys)
		tcsetattr(0, TCSANOW, &top->before);
	for (unsigned int i = 0; i < top->entries.count; i++)
		ct_histogram_free(&top->entries.list[i].durations);
	ct_keyed_free(&top->entries);
	ct_processes_free(&top->processes);
	ct_programs_free(&top->programs);
	ct_stuck_free(&top->stuck);
}

/* -------------------------------------------------------------- a directory --- */

static int top_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct top *top = arg;
	bool gpu = r->class->layer == CT_LAYER_GPU;
	const char *work = gpu ? ct_gpu_work_name(r) : NULL;
	struct ct_live_call call = { .name = work ? work : gpu ? "[CUDA kernel]" : r->class->name, .pid = r->pid };

	if (!top->records) {
		top->records = true;
		top->began = top->last = reg->start;
		top->now = reg->start;
	}
	if (r->end > top->now)
		top->now = r->end;
	if (old && top->options->only_new)
		top->began = top->last = top->now;
	if (ct_processes_record(&top->processes, r) || ct_stuck_record(&top->stuck, r) ||
	    ct_programs_record(&top->programs, r))
		return -ENOMEM;
	if (!r->class->call || (r->flags & CT_F_BEGIN) || ct_class_is(r->class, CT_IS_SWITCH) ||
	    (old && top->options->only_new))
		return 0;
	call.timed = ct_record_timed(r);
	call.ns = r->duration;
	call.failed = ct_record_failed(r);
	call.bytes = call.failed ? 0 : ct_record_known(r, CT_KNOWN_SIZE);
	return top_count(top, &call, !old, gpu);
}

static int top_follow_idle(void *arg, bool *more)
{
	(void)more;
	return top_idle(arg);
}

int ct_top_follow(const char *dir, const struct ct_top_options *options, FILE *out,
		  const volatile bool *stop, struct ct_error *err)
{
	struct top top;
	struct ct_follow_sink sink = { .arg = &top, .record = top_record, .idle = top_follow_idle };
	int rc;

	top_open(&top, dir, options, out);
	rc = ct_follow(dir, &sink, stop, err);
	/* The last view has all, at the rates of the whole recording. */
	top.last = top.began;
	top.over = true;
	ct_programs_whole(&top.programs);
	for (unsigned int i = 0; i < top.entries.count; i++) {
		top.entries.list[i].now_calls = top.entries.list[i].calls;
		top.entries.list[i].now_ns = top.entries.list[i].durations.total;
	}
	if (!rc && !ferror(out) && (!options->views || top.views < options->views))
		top_view(&top);
	top_close(&top);
	return rc;
}

/* --------------------------------------------------------------- the device --- */

int ct_top_device(int fd, const struct ct_top_options *options, FILE *out, const volatile bool *stop,
		  struct ct_error *err)
{
	struct top top;
	struct ct_live_sink sink = { &top, top_call, top_idle };
	int rc = 0;

	top_open(&top, NULL, options, out);
	while (!rc && !*stop && !(options->views && top.views >= options->views) && !ferror(out)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 100) > 0)
			rc = ct_live_device_calls(fd, &sink, stop, err);
		else if (top_idle(&top))
			break;
	}
	top_close(&top);
	return rc;
}

/* ------------------------------------------------------------- the machine --- */

int ct_top_machine(const struct ct_top_options *options, FILE *out, const volatile bool *stop)
{
	struct top top;

	top_open(&top, NULL, options, out);
	while (!*stop && !ferror(out)) {
		unsigned int width = ct_term_width(out, 120);

		if (top_key_pressed(&top))
			break;
		if (!top.frozen && (!top.views || ct_now_ns() - top.shown >= options->delay * 1e9)) {
			fprintf(out, "%scudatrace top  which programs use libcuda; their calls: cudatrace top DIR\n", top.terminal ? "\033[H\033[J" : "");
			top_programs(&top, width, 0);
			if (!top.terminal)
				fputc('\n', out);
			top.shown = ct_now_ns();
			top.views++;
			if (fflush(out) || top.views == options->views)
				break;
		}
		poll(NULL, 0, 50);
	}
	top_close(&top);
	return 0;
}
