// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The parts of the report that print the figures of stats.h.  Must never show a figure
 * of a simulated GPU without saying so, and never hide that records were lost.
 */
#include "analysis/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/stats.h"
#include "view/term.h"

/* In this order; those without a call are left out. */
static const unsigned int shown[] = {
	CT_CAT_INIT,	CT_CAT_CONTEXT, CT_CAT_MODULE,	  CT_CAT_MEMORY, CT_CAT_TRANSFER,
	CT_CAT_KERNEL,	CT_CAT_SYNC,	CT_CAT_GRAPH,	  CT_CAT_IOCTL,	 CT_CAT_SCHEDULER,
	CT_CAT_SYSCALL, CT_CAT_UVM,	CT_CAT_INTERRUPT, CT_CAT_DRIVER, CT_CAT_STREAM,
	CT_CAT_EVENT,	CT_CAT_QUERY,	CT_CAT_RUNTIME,	  CT_CAT_OTHER,
};

#define WIDE 126 /* columns of a list with all that is known of an operation */

static const char *const advice[CT_CAT_COUNT] = {
	[CT_CAT_INIT] = "the driver is being initialised",
	[CT_CAT_CONTEXT] = "contexts are being made; keep one for the whole run",
	[CT_CAT_MODULE] = "code is being loaded; load it once, or lazily",
	[CT_CAT_MEMORY] = "memory is allocated and freed; keep and reuse it",
	[CT_CAT_TRANSFER] = "data is copied; copy less, from pinned memory, or while kernels run",
	[CT_CAT_KERNEL] = "the host is busy launching; launch fewer and larger kernels, or a graph",
	[CT_CAT_SYNC] = "the host waits for the GPU",
	[CT_CAT_GRAPH] = "graphs are being built and launched",
	[CT_CAT_IOCTL] = "time goes to the kernel driver",
	[CT_CAT_SYSCALL] = "time goes to the kernel driver",
	[CT_CAT_UVM] = "managed memory is being moved",
};

static const char *report_category_name(unsigned int category)
{
	return category == CT_CAT_OTHER ? "other" : ct_category_word[category];
}

/* ---------------------------------------------------------------- summary --- */

static void report_print_head(const struct ct_trace *t, const struct ct_stats *s, FILE *out)
{
	const char *command = ct_registry_info(&t->reg, "command");
	const char *way = ct_registry_info(&t->reg, "way") ? : ct_registry_info(&t->reg, "sink");
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT], line[512], when[64] = "";
	time_t seconds = t->reg.realtime / 1000000000;
	struct tm tm;

	if (t->simulated)
		fprintf(out,
			"*** SIMULATED GPU: these figures are of a simulated libcuda, not of a device ***\n");
	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (command)
		fprintf(out, "command   %s\n", ct_term_clean(line, sizeof(line), command, 300));
	fprintf(out, "recorded  %s, for %s", when,
		ct_term_ns(a, s->points ? s->last - s->first : 0));
	if (way)
		fprintf(out, ", %s", !strcmp(way, "module") || !strcmp(way, "device") ?
			"by the kernel module" : !strcmp(way, "files") ? "without the kernel module" :
			ct_term_clean(line, sizeof(line), way, 40));
	fprintf(out, "\ntrace     %s records, %u process%s, %u thread%s\n",
		ct_term_count(b, s->records), s->processes, s->processes == 1 ? "" : "es",
		s->threads, s->threads == 1 ? "" : "s");
	if (t->unfinished)
		fprintf(out, "          not finished: this is what is there by now\n");
}

static void report_row(FILE *out, const char *name, uint64_t count, const char *more)
{
	char a[CT_TERM_TEXT];

	fprintf(out, "  %-20s %14s%s%s\n", name, ct_term_count(a, count), *more ? "   " : "", more);
}

static const char *report_failures(char buf[64], uint64_t failed, const char *in_front)
{
	char a[CT_TERM_TEXT];

	if (failed)
		snprintf(buf, 64, "%s%s%s failed", in_front, *in_front ? ", " : "",
			 ct_term_count(a, failed));
	else
		snprintf(buf, 64, "%s", in_front);
	return buf;
}

static void report_print_summary(const struct ct_trace *t, const struct ct_stats *s, FILE *out)
{
	char a[CT_TERM_TEXT], b[64], c[160];

	fprintf(out, "\nSUMMARY\n");
	report_failures(b, s->api_failed, "");
	if (s->runtime_calls)
		snprintf(c, sizeof(c), "%s%sof them %s of libcudart", b, *b ? ", " : "",
			 ct_term_count(a, s->runtime_calls));
	else
		snprintf(c, sizeof(c), "%s", b);
	report_row(out, "API calls", s->api_calls, c);
	report_row(out, "kernel launches", s->launches, report_failures(b, s->launches_failed, ""));
	/* What there was none of is left out. */
	if (s->allocs)
		report_row(out, "memory allocations", s->allocs,
			   report_failures(b, s->allocs_failed, ct_term_bytes(a, s->alloc_bytes)));
	if (s->allocs || s->frees)
		report_row(out, "memory frees", s->frees, "");
	if (s->copies)
		report_row(out, "transfers", s->copies, ct_term_bytes(a, s->copy_bytes));
	for (unsigned int i = 0; i < CT_DIR_COUNT; i++)
		if (s->direction_count[i]) {
			snprintf(c, sizeof(c), "  %s", ct_direction_word[i]);
			report_row(out, c, s->direction_count[i],
				   ct_term_bytes(a, s->direction_bytes[i]));
		}
	if (s->sets)
		report_row(out, "memory sets", s->sets, ct_term_bytes(a, s->set_bytes));
	if (s->ioctl.count) {
		report_failures(b, s->ioctl.failed, ct_term_ns(a, s->ioctl.total));
		snprintf(c, sizeof(c), "%s, %s", b,
			 s->ioctl_by_kernel ? "seen in the kernel" : "seen by the program");
		report_row(out, "ioctl calls", s->ioctl.count, c);
	}
	if (s->scheduler_calls)
		report_row(out, "scheduler calls", s->scheduler_calls, "");
	if (s->switches)
		report_row(out, "off the CPU", s->switches, ct_term_ns(a, s->off_cpu));
	if (s->open)
		report_row(out, "never returned", s->open, "calls that were open at the end");
	if (t->packets_lost) {
		snprintf(c, sizeof(c), "and %s packet%s, overwritten or not written whole",
			 ct_term_count(a, t->packets_lost), t->packets_lost == 1 ? "" : "s");
		report_row(out, "lost records", t->lost, c);
	} else {
		report_row(out, "lost records", t->lost, "");
	}
}

/* ------------------------------------------------------------- categories --- */

static void report_print_categories(const struct ct_stats *s, FILE *out)
{
	const struct ct_category_stat *worst = NULL;
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT], c[CT_TERM_TEXT], name[256];
	unsigned int worst_id = 0;

	fprintf(out,
		"\nCATEGORIES (self: without the calls inside; share: of all self time)\n"
		"  %-12s %14s %12s %12s %8s\n",
		"category", "calls", "total", "self", "share");
	for (unsigned int i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		const struct ct_category_stat *category = &s->categories[shown[i]];

		if (!category->count)
			continue;
		if (!category->total && !category->self) {
			fprintf(out, "  %-12s %14s %12s\n", report_category_name(shown[i]),
				ct_term_count(a, category->count), "(not timed)");
			continue;
		}
		fprintf(out, "  %-12s %14s %12s %12s %6.1f %%\n", report_category_name(shown[i]),
			ct_term_count(a, category->count), ct_term_ns(b, category->total),
			ct_term_ns(c, category->self),
			s->self ? 100.0 * category->self / s->self : 0.0);
		if (category->self && (!worst || category->self > worst->self)) {
			worst = category;
			worst_id = shown[i];
		}
	}
	if (!worst)
		return;
	fprintf(out, "  bottleneck: %s, %.1f %% of the time in calls",
		report_category_name(worst_id), 100.0 * worst->self / s->self);
	if (advice[worst_id])
		fprintf(out, ": %s", advice[worst_id]);
	fprintf(out, "\n");
	if (worst->main)
		fprintf(out, "              most of it in %s: %s in %s calls\n",
			ct_term_clean(name, sizeof(name), worst->main->class->name, 60),
			ct_term_ns(a, worst->main->self), ct_term_count(b, worst->main->count));
}

/* ------------------------------------------------------------------- lists --- */

static int report_by_time(const void *a, const void *b)
{
	const struct ct_op_stat *x = *(struct ct_op_stat *const *)a;
	const struct ct_op_stat *y = *(struct ct_op_stat *const *)b;

	if (x->durations.total != y->durations.total)
		return x->durations.total > y->durations.total ? -1 : 1;
	return strcmp(x->class->name, y->class->name);
}

static int report_by_count(const void *a, const void *b)
{
	const struct ct_op_stat *x = *(struct ct_op_stat *const *)a;
	const struct ct_op_stat *y = *(struct ct_op_stat *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->class->name, y->class->name);
}

/* A name that two classes share is shown as the symbol. */
static const char *report_name_of(const struct ct_stats *s, const struct ct_op_stat *op)
{
	for (unsigned int i = 0; i < s->ops_count; i++)
		if (&s->ops[i] != op && !strcmp(s->ops[i].class->name, op->class->name) &&
		    *op->class->symbol)
			return op->class->symbol;
	return op->class->name;
}

/* All that is known of an operation in a line, or what fits 80 columns. */
static void report_print_op(const struct ct_stats *s, struct ct_op_stat *op, bool wide, FILE *out)
{
	struct ct_histogram *h = &op->durations;
	char text[6][CT_TERM_TEXT], name[160];
	const char *why = op->open == op->count ? "(never returned)" : "(not timed)";

	ct_term_clean(name, sizeof(name), report_name_of(s, op), wide ? 28 : 26);
	ct_term_count(text[0], op->count);
	ct_term_count(text[1], op->failed);
	if (wide)
		fprintf(out, "  %-28s %-9.9s %11s %7s", name,
			report_category_name(op->class->category), text[0], text[1]);
	else
		fprintf(out, "  %-26s %9s %6s", name, text[0], text[1]);
	if (!h->count) {
		fprintf(out, " %10s\n", why);
		return;
	}
	ct_term_ns(text[0], h->total);
	ct_term_ns(text[1], h->min);
	ct_term_ns(text[2], ct_histogram_value(h, 500));
	ct_term_ns(text[3], ct_histogram_value(h, 950));
	ct_term_ns(text[4], ct_histogram_value(h, 990));
	ct_term_ns(text[5], h->max);
	if (wide)
		fprintf(out, " %10s %10s %10s %10s %10s %10s\n", text[0], text[1], text[2], text[3],
			text[4], text[5]);
	else
		fprintf(out, " %10s %10s %10s\n", text[0], text[2], text[5]);
}

static int report_print_list(const struct ct_stats *s, FILE *out, const char *title,
			     unsigned int top, int (*compare)(const void *, const void *))
{
	struct ct_op_stat **list = malloc((s->ops_count + 1) * sizeof(*list));
	bool wide = ct_term_width(out, WIDE) >= WIDE;

	if (!list)
		return -ENOMEM;
	if (!s->ops_count) {
		free(list);
		return 0;
	}
	for (unsigned int i = 0; i < s->ops_count; i++)
		list[i] = &s->ops[i];
	qsort(list, s->ops_count, sizeof(*list), compare);
	fprintf(out, "\n%s (times include the calls inside)\n", title);
	if (wide)
		fprintf(out, "  %-28s %-9s %11s %7s %10s %10s %10s %10s %10s %10s\n", "name",
			"category", "calls", "failed", "total", "min", "median", "p95", "p99",
			"max");
	else
		fprintf(out, "  %-26s %9s %6s %10s %10s %10s\n", "name", "calls", "failed", "total",
			"median", "max");
	for (unsigned int i = 0; i < s->ops_count && i < top; i++)
		report_print_op(s, list[i], wide, out);
	free(list);
	return 0;
}

/* ------------------------------------------------- the parts of the report --- */

int ct_report_head(const struct ct_analysis_run *run)
{
	report_print_head(run->trace, run->stats, run->out);
	return 0;
}

int ct_report_totals(const struct ct_analysis_run *run)
{
	report_print_summary(run->trace, run->stats, run->out);
	return 0;
}

int ct_report_categories(const struct ct_analysis_run *run)
{
	if (run->stats->ops_count)
		report_print_categories(run->stats, run->out);
	else
		fprintf(run->out, "\nNo call was recorded.\n");
	return 0;
}

int ct_report_top_by_time(const struct ct_analysis_run *run)
{
	return report_print_list(run->stats, run->out, "TOP OPERATIONS BY TIME",
				 run->options->top, report_by_time);
}

int ct_report_top_by_count(const struct ct_analysis_run *run)
{
	return report_print_list(run->stats, run->out, "TOP OPERATIONS BY COUNT",
				 run->options->top, report_by_count);
}

int ct_report_precision(const struct ct_analysis_run *run)
{
	for (unsigned int i = 0; i < run->stats->ops_count; i++) {
		if (run->stats->ops[i].durations.count <= CT_HISTOGRAM_EXACT)
			continue;
		fprintf(run->out, "\nPercentiles of more than %u calls are right to 1 %%.\n",
			CT_HISTOGRAM_EXACT);
		break;
	}
	return 0;
}
