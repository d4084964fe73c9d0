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

#include "analysis/calls.h"
#include "analysis/losses.h"
#include "analysis/unseen.h"
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

static void report_print_head(const struct ct_trace *t, const struct ct_totals *s, FILE *out)
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
		ct_term_count(b, t->records), s->processes, s->processes == 1 ? "" : "es",
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

static void report_print_summary(const struct ct_trace *t, const struct ct_calls *s, FILE *out)
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

static void report_print_categories(const struct ct_calls *s, FILE *out)
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

/* --------------------------------------------------------------- the report --- */

static int summary_text(const struct ct_analysis *a, FILE *out, const struct ct_print_options *print)
{
	const struct ct_calls *calls = ct_analysis_state(a, &ct_calls_analyser);
	int rc;

	(void)print;
	report_print_head(a->trace, a->totals, out);
	report_print_summary(a->trace, calls, out);
	rc = ct_losses_report(a->trace, out);
	ct_unseen_print(a->trace, calls, out);
	if (calls->ops_count)
		report_print_categories(calls, out);
	else
		fprintf(out, "\nNo call was recorded.\n");
	return rc;
}

static const struct ct_analyser *const needs[] = { &ct_calls_analyser, NULL };

const struct ct_analyser ct_report_summary = {
	.name = "summary",
	.summary = "what was recorded, what limits the program, where the time goes",
	.needs = needs,
	.single = true,
	.text = summary_text,
};

int ct_summary_print(const char *dir, FILE *out, struct ct_error *err)
{
	static const struct ct_analyser *const summary = &ct_report_summary;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	struct ct_print_options print = { .width = ct_term_width(out, 160) };
	struct ct_engine *e = NULL;
	struct ct_trace t;
	int rc;

	rc = ct_trace_open(&t, dir, err);
	if (!rc) {
		e = ct_engine_run(&t, &summary, 1, &options, err);
		rc = e ? summary_text(ct_engine_result(e, summary), out, &print) : -err->code;
	}
	ct_engine_free(e);
	ct_trace_close(&t);
	return rc;
}
