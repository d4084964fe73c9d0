// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See top.h.  Memory is bounded: what is beyond TOP_ROWS functions is counted together.
 */
#include "live/top.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
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
#define TOP_RECENT	256u	/* functions that are found without their names */
#define TOP_STUCK	3	/* collectives that are shown */
#define TOP_WIDE	112	/* columns of a view with nearly all that is known */
#define TOP_WIDEST	132	/* ... with bytes, too */
#define TOP_READ_NS	100000000ull	/* between two looks into the directories of other recordings */
#define TOP_FIRST_NS	500000000ull	/* until the first view of the machine on a terminal */

struct entry {
	uint64_t key;		/* of the next two */
	uint32_t pid;
	char name[TOP_NAME];
	uint64_t calls, failed, bytes, now_calls, now_ns;	/* now: since the last view */
	bool here;		/* called just now, so by a process of this machine */
	bool gpu;		/* no call: what the GPU did */
	bool elsewhere;		/* recorded into a directory that the machine's view follows */
	struct ct_histogram durations;
};

/* Where the function of a class was found last: comparing names for each of a million calls a second would cost most. */
struct recent {
	const struct ct_class *class;	/* NULL: none */
	uint32_t pid, index;
};

struct top {
	const struct ct_top_options *options;
	FILE *out;
	CT_KEYED(struct entry) entries;
	struct recent recent[TOP_RECENT];	/* of entries */
	struct ct_processes processes;		/* names, from the trace or from /proc */
	struct ct_programs programs;
	const char *dir;			/* NULL: none, it is the machine's view */
	struct ct_elsewhere elsewhere;		/* of the machine's view: recordings that go to directories */
	struct ct_follow_sink elsewhere_sink;
	uint64_t elsewhere_read;		/* ns: when they were read */
	bool elsewhere_more;			/* and there may be more */
	bool session;				/* the module's session is read */
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

/* @class: whose name it is; NULL: of none. */
static struct entry *top_entry(struct top *top, uint32_t pid, const char *name, const struct ct_class *class)
{
	struct recent *recent = &top->recent[((uintptr_t)class / 64 ^ pid) % TOP_RECENT];
	struct entry *e;
	uint64_t key;

	if (class && recent->class == class && recent->pid == pid)
		return &top->entries.list[recent->index];
	key = top_key(pid, name);
	e = ct_keyed_get(&top->entries, key);
	if (!e) {
		if (top->entries.count == TOP_ROWS || !(e = ct_keyed_put(&top->entries, key)))
			return NULL;
		e->pid = pid;
		snprintf(e->name, sizeof(e->name), "%s", name);
	}
	*recent = (struct recent){ .class = class, .pid = pid, .index = (uint32_t)(e - top->entries.list) };
	return e;
}

static int top_count(struct top *top, const struct ct_live_call *call, const struct ct_class *class, struct ct_programs_from from)
{
	const struct ct_top_options *o = top->options;
	struct entry *e;

	if (o->pid && o->pid != call->pid)
		return 0;
	if (!from.gpu && ct_programs_call(&top->programs, call, from))
		return -ENOMEM;
	if (o->names && fnmatch(o->names, call->name, 0))
		return 0;
	e = top_entry(top, call->pid, call->name, class);
	if (!e) {
		top->others++;
		return 0;
	}
	e->here |= from.here;
	e->gpu |= from.gpu;
	e->elsewhere |= from.elsewhere;
	e->calls++;
	e->now_calls += from.now;
	e->failed += call->failed;
	e->bytes += call->bytes;
	if (!call->timed)
		return 0;
	e->now_ns += from.now ? call->ns : 0;
	return ct_histogram_add(&e->durations, call->ns);
}

static int top_call(void *arg, const struct ct_live_call *call)
{
	return top_count(arg, call, NULL, (struct ct_programs_from){ .here = true, .session = true, .now = true });
}

/* A record of a trace directory; @from.gpu is set here. */
static int top_count_record(struct top *top, const struct ct_record *r, struct ct_programs_from from)
{
	const char *work;
	struct ct_live_call call = { .name = r->class->name, .pid = r->pid };

	from.gpu = r->class->layer == CT_LAYER_GPU;
	work = from.gpu ? ct_gpu_work_name(r) : NULL;
	if (from.gpu)
		call.name = work ? work : "[CUDA kernel]";
	call.timed = ct_record_timed(r);
	call.ns = r->duration;
	call.failed = ct_record_failed(r);
	call.bytes = call.failed ? 0 : ct_record_known(r, CT_KNOWN_SIZE);
	return top_count(top, &call, from.gpu ? NULL : r->class, from);
}

static bool top_is_call(const struct ct_record *r)
{
	return r->class->call && !(r->flags & CT_F_BEGIN) && !ct_class_is(r->class, CT_IS_SWITCH);
}

static void top_left_out(void *arg, uint32_t pid)
{
	struct top *top = arg;

	ct_programs_left_out(&top->programs, pid);
}

/* ------------------------------------------- recordings of the machine --- */

static int top_elsewhere_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct top *top = arg;
	/* A recording that is found late has records from before the last view. */
	const struct ct_programs_from from = { .here = true, .elsewhere = true, .now = !old || r->end > top->last };

	(void)reg;
	if (top->options->pid && top->options->pid != r->pid)
		return 0;
	if (ct_programs_record(&top->programs, r, from))
		return -ENOMEM;
	return top_is_call(r) ? top_count_record(top, r, from) : 0;
}

/* What is not recorded any more is forgotten, and a pid may be another process's now. */
static void top_looked(struct top *top)
{
	/* Classes of a directory that is not followed any more are gone, and entries move. */
	memset(top->recent, 0, sizeof(top->recent));
	for (size_t i = top->entries.count; i-- > 0;) {
		struct entry *e = &top->entries.list[i];

		if (!e->elsewhere || ct_keyed_get(&top->programs.programs, e->pid))
			continue;
		ct_histogram_free(&e->durations);
		ct_keyed_remove(&top->entries, e);
	}
	for (unsigned int i = 0; i < top->programs.others_count; i++) {
		const struct ct_program_other *o = &top->programs.others[i];
		struct ct_process_name *name = ct_keyed_put(&top->processes.names, o->pid);

		if (!name)
			continue;
		free(name->name);
		name->name = strdup(o->name);
	}
}

static void top_elsewhere(struct top *top)
{
	uint64_t now = ct_now_ns();

	if (top->dir || now - top->elsewhere_read < TOP_READ_NS)
		return;
	if (ct_programs_look(&top->programs, NULL, &top->elsewhere))
		top_looked(top);
	/* Where there may be more, it goes on with that at once. */
	top->elsewhere_more = ct_elsewhere_read(&top->elsewhere);
	top->elsewhere_read = top->elsewhere_more ? 0 : now;
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

/* 0: it is no terminal. */
static unsigned int top_terminal_lines(const struct top *top)
{
	struct winsize size;

	return top->terminal && !ioctl(fileno(top->out), TIOCGWINSZ, &size) ? size.ws_row : 0;
}

/* How many functions there is room for, below @lines of the view. */
static unsigned int top_rows(const struct top *top, unsigned int lines)
{
	unsigned int all = top_terminal_lines(top);

	if (top->options->rows)
		return top->options->rows;
	return all > lines + 3 ? all - lines - 2 : 20;
}

/* How many processes of the machine: of a terminal half, and all where there are no lines to save. */
static unsigned int top_process_rows(const struct top *top)
{
	unsigned int all = top_terminal_lines(top);

	if (top->options->rows)
		return top->options->rows;
	return !all ? UINT_MAX : all > 16 ? all / 2 : 8;
}

static void top_head(struct top *top, uint64_t calls, double seconds)
{
	char number[CT_TERM_TEXT], time[CT_TERM_TEXT];

	if (top->terminal)
		fputs("\033[H\033[J", top->out);
	fprintf(top->out, "cudatrace top  %s  ", ct_term_ns(time, top->now > top->began ? top->now - top->began : 0));
	if (top->dir || top->session || top->entries.count)
		fprintf(top->out, "%s calls/s  %zu function%s%s%s%s", ct_term_count(number, seconds > 0 ? calls / seconds : 0),
			top->entries.count, top->entries.count == 1 ? "" : "s", top->others ? ", more are not shown" : "",
			top->sort == CT_TOP_TIME ? "" : "  by ", top->sort == CT_TOP_TIME ? "" : ct_top_sort_word[top->sort]);
	else
		fputs("programs that use libcuda; no call is recorded now", top->out);
	fputs(!top->dir && top->programs.hidden && geteuid() ? "  (root sees those of other users)\n" : "\n", top->out);
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
	char text[256], clean[256];

	for (; i < TOP_STUCK && ct_stuck_find(&top->stuck, i, now, top->options->stuck * 1e9, text, sizeof(text)); i++)
		fprintf(top->out, "STUCK: %s\n", ct_term_clean(clean, sizeof(clean), text, width > 20 ? width - 7 : 20));
	return i;
}

/* The processes, above their functions.  Return: lines. */
static unsigned int top_programs(struct top *top, unsigned int width, double seconds)
{
	const struct ct_programs_view view = {
		.out = top->out, .width = width, .seconds = seconds, .dir = top->dir, .machine = !top->over, .session = top->session,
		.pid = top->options->pid, .rows = top->dir ? 0 : top_process_rows(top),
		.by_calls = top->sort == CT_TOP_CALLS, .by_failed = top->sort == CT_TOP_FAILED, .by_bytes = top->sort == CT_TOP_BYTES,
	};

	if (top->dir && !top->over)
		ct_programs_look(&top->programs, top->dir, NULL);
	return ct_programs_print(&top->programs, &top->processes, &view);
}

static int top_view(struct top *top)
{
	struct entry **list = malloc((top->entries.count + 1) * sizeof(*list));
	unsigned int rows, width = ct_term_width(top->out, 120);
	double seconds;
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
	top_head(top, now, seconds);
	rows = 1 + top_stuck(top, width);
	rows = top_rows(top, rows + top_programs(top, width, seconds) + 1);
	if (!top->dir && !top->session && !top->entries.count)
		;	/* no function is known: no table of them */
	else if (width < TOP_WIDE)
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
	double delay = top->options->delay * 1e9;
	int rc = top_key_pressed(top);

	if (rc)
		return rc;
	/* Who looks at a terminal wants to see which programs there are, if not yet what they do. */
	if (!top->dir && top->terminal && !top->views && delay > TOP_FIRST_NS)
		delay = TOP_FIRST_NS;
	top_elsewhere(top);
	return !top->frozen && ct_now_ns() - top->shown >= delay ? top_view(top) : 0;
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
	ct_elsewhere_end(&top->elsewhere);
}

/* -------------------------------------------------------------- a directory --- */

static int top_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	const struct ct_programs_from from = { .here = !old, .now = true };
	struct top *top = arg;

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
	    ct_programs_record(&top->programs, r, from))
		return -ENOMEM;
	if (!top_is_call(r) || (old && top->options->only_new))
		return 0;
	return top_count_record(top, r, from);
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
	struct ct_follow_sink sink = { .arg = &top, .record = top_record, .idle = top_follow_idle, .left_out = top_left_out };
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

/* ------------------------------------------------------------- the machine --- */

int ct_top_machine(int fd, const struct ct_top_options *options, FILE *out, const volatile bool *stop, struct ct_error *err)
{
	struct top top;
	struct ct_live_sink sink = { &top, top_call, top_idle };
	int rc = 0;

	top_open(&top, NULL, options, out);
	top.session = fd >= 0;
	top.elsewhere_sink = (struct ct_follow_sink){
		.arg = &top, .record = top_elsewhere_record, .left_out = top_left_out, .after = top.began,
	};
	ct_elsewhere_begin(&top.elsewhere, &top.elsewhere_sink);
	while (!rc && !*stop && !(options->views && top.views >= options->views) && !ferror(out)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (top_idle(&top))
			break;
		if (poll(&p, 1, top.elsewhere_more ? 0 : 50) > 0)
			rc = ct_live_device_calls(fd, &sink, stop, err);
	}
	top_close(&top);
	return rc;
}
