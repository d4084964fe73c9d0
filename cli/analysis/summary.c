// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report without a name: at most a page for any trace.  Must never show a figure of a
 * simulated GPU without saying so, and never hide that records were lost.
 */
#include "analysis/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/calls.h"
#include "spans/work.h"
#include "analysis/gpu/coverage.h"
#include "analysis/gpu/idle_causes.h"
#include "analysis/losses.h"
#include "analysis/program/outliers.h"
#include "analysis/program/figures.h"
#include "analysis/program/summary_machine.h"
#include "analysis/program/page.h"
#include "analysis/program/top_lists.h"
#include "analysis/ranks/job_uncovered.h"
#include "analysis/ranks/job_verdict.h"
#include "analysis/stacks/costs.h"
#include "analysis/stacks/quiet.h"
#include "analysis/unseen_processes.h"
#include "analysis/verdict.h"
#include "view/term.h"

#define ADVICE_LINES	10	/* about lost records and unseen processes */

struct summary_state {
	struct ct_top_kernels kernels;		/* launches */
	struct ct_top_kernels gpu_kernels;	/* runs on the GPU */
	bool graphs;			/* ran, and their kernels have no records */
};

/* ---------------------------------------------------------------- the head --- */

static void summary_head(const struct ct_analysis *a, struct ct_page *page)
{
	const struct ct_trace *t = a->trace;
	const struct ct_totals *s = a->totals;
	const char *command = ct_registry_info(&t->reg, "command");
	const char *only = ct_registry_info(&t->reg, CT_ONLY_INFO);
	const char *range = ct_registry_info(&t->reg, CT_RANGE_INFO);
	const char *keep = ct_registry_info(&t->reg, CT_KEEP_INFO);
	const char *damage = ct_registry_info(&t->reg, CT_DAMAGED_INFO);
	const char *way = ct_registry_info(&t->reg, "way") ? : ct_registry_info(&t->reg, "sink");
	char ns[CT_TERM_TEXT], count[CT_TERM_TEXT], line[512], when[64] = "";
	time_t seconds = t->reg.realtime / 1000000000;
	struct tm tm;

	page->style = CT_PAGE_WARNING;
	if (t->simulated)
		ct_page_add(page, CT_SIMULATED_LABEL);
	page->style = CT_PAGE_LABELS;
	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (command)
		ct_page_add(page, "command   %s", ct_term_clean(line, sizeof(line), command, page->columns - CT_PAGE_LABEL));
	ct_page_add(page, "recorded  %s, for %s%s%s", when,
		    ct_term_ns(ns, ct_summary_duration(a)), way ? ", " : "",
		    !way ? "" : !strcmp(way, "module") || !strcmp(way, "device") ?
		    "by the kernel module" : !strcmp(way, "files") ? "without the kernel module" :
		    ct_term_clean(line, sizeof(line), way, 30));
	ct_page_add(page, "trace     %s records, %u process%s, %u thread%s",
		    ct_term_count(count, t->records), s->processes, s->processes == 1 ? "" : "es",
		    s->threads, s->threads == 1 ? "" : "s");
	if (only)
		ct_page_add(page, "only      %s: other calls were not recorded", ct_term_clean(line, sizeof(line), only, 400));
	if (range)
		ct_page_add(page, "range     %s%s", ct_term_clean(line, sizeof(line), range, 400),
			    ct_unseen_range(t) ? ": it never began" :
			    strncmp(range, "iteration:", 10) ? ": calls before and after it were not recorded" :
			    ", and what else is in the packets at its ends");
	/* A copy of a recording that keeps all has the word, too; of iterations the range says it. */
	if (keep && !strncmp(keep, "the newest ", 11))
		ct_page_add(page, "kept      %s: older records are dropped", ct_term_clean(line, sizeof(line), keep, 100));
	if (damage)
		ct_page_add(page, "damaged   %s", ct_term_clean(line, sizeof(line), damage, 300));
	if (t->unfinished)
		ct_page_add(page, "          not finished: this is what is there by now");
	page->style = CT_PAGE_PLAIN;
}

/* What a function of other files prints, as lines of the page; at most @limit of them. */
static void summary_text_of(struct ct_page *page, unsigned int limit, char *text)
{
	if (limit) {
		page->limit = page->count + limit;
		if (page->limit > CT_PAGE_LINES)
			page->limit = CT_PAGE_LINES;
	}
	if (*text) {
		text[strlen(text) - 1] = 0;	/* the end of the last line */
		ct_page_add(page, "%s", text);
	}
	page->limit = 0;
}

static void summary_verdict(const struct ct_analysis *a, struct ct_page *page, unsigned int process)
{
	struct ct_verdict v;
	char text[1024];

	ct_verdict_of(&v, a, process);
	v.simulated = false;	/* the page begins with that */
	ct_verdict_steady(&v, text, sizeof(text));
	page->style = CT_PAGE_VERDICT;
	ct_page_add(page, "verdict   %s", text);
	page->style = CT_PAGE_PLAIN;
}

/* What is to be said of all ranks of a job, before the verdict on one of them. */
static void summary_job(const struct ct_analysis *a, struct ct_page *page)
{
	const struct ct_job *job = ct_analysis_state(a, &ct_job_analyser);
	char text[1200];
	unsigned int i;

	page->style = CT_PAGE_VERDICT;
	for (i = 0; ct_job_verdict(a, job, i, text, sizeof(text)); i++)
		ct_page_add(page, "%s%s", i ? "          " : "job       ", text);
	page->style = CT_PAGE_PLAIN;
	if (*ct_job_uncovered(a, text, sizeof(text)))
		ct_page_add(page, "%s%s", i ? "          " : "job       ", text);
}

static int summary_advice(const struct ct_analysis *a, struct ct_page *page)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc = f ? ct_losses_report(a->trace, f) : -ENOMEM;

	if (f) {
		ct_unseen_print(a->trace, ct_analysis_state(a, &ct_calls_analyser), f);
		if (fclose(f))
			rc = -ENOMEM;
	}
	page->style = CT_PAGE_WARNING;
	if (!rc)
		summary_text_of(page, ADVICE_LINES, text);
	page->style = CT_PAGE_PLAIN;
	free(text);
	return rc;
}

/* ------------------------------------------------------ stages and iterations --- */

/* What a thread does, in a word that fits the line. */
static const char *summary_word(unsigned int account)
{
	switch (account) {
	case CT_ACCOUNT_DRIVER:
		return "driver";
	case CT_ACCOUNT_CALLS + CT_CAT_KERNEL:
		return "launching";
	case CT_ACCOUNT_CALLS + CT_CAT_GRAPH:
		return "graphs";
	case CT_ACCOUNT_CALLS + CT_CAT_TRANSFER:
		return "copying";
	case CT_ACCOUNT_CALLS + CT_CAT_MODULE:
		return "loading code";
	case CT_ACCOUNT_CALLS + CT_CAT_MEMORY:
		return "allocating";
	}
	return ct_account_word(account);
}

static void summary_stage(struct ct_page *page, const struct ct_process_phases *p, const struct ct_stage_span *span,
			  const struct ct_process_account *account)
{
	const uint64_t *ns = account->launching ? account->stages[span->stage].ns : NULL;
	uint64_t wall = span->end - span->begin, all = p->end - p->begin;
	unsigned int first = 0, second = CT_ACCOUNT_COUNT;
	char text[CT_TERM_TEXT], more[64] = "";

	for (unsigned int i = 1; ns && i < CT_ACCOUNT_COUNT; i++)
		first = ns[i] > ns[first] ? i : first;
	for (unsigned int i = 0; ns && i < CT_ACCOUNT_COUNT; i++)
		if (i != first && ns[i] && (second == CT_ACCOUNT_COUNT || ns[i] > ns[second]))
			second = i;
	/* Where a line has room for it. */
	if (second < CT_ACCOUNT_COUNT && wall && 1000.0 * ns[second] / wall >= 1 && page->columns >= 74)
		snprintf(more, sizeof(more), ", %.1f %% %s", 100.0 * ns[second] / wall,
			 summary_word(second));
	if (ns && wall)
		ct_page_add(page, "  %-12s %14s  %5.1f %%   %.1f %% %s%s", ct_stage_word[span->stage],
			    ct_term_ns(text, wall), all ? 100.0 * wall / all : 0,
			    100.0 * ns[first] / wall, summary_word(first), more);
	else
		ct_page_add(page, "  %-12s %14s  %5.1f %%   (no work for the GPU)", ct_stage_word[span->stage],
			    ct_term_ns(text, wall), all ? 100.0 * wall / all : 0);
}

/* Those of the steady state, which the verdict is of. */
static int summary_iterations(const struct ct_trace *t, struct ct_page *page, const struct ct_process_phases *p)
{
	uint32_t warmup = ct_phases_warmup(p);
	char x[CT_TERM_TEXT], y[CT_TERM_TEXT], z[CT_TERM_TEXT], line[512], what[512];
	struct ct_iteration_stats s;
	struct ct_coverage c;
	int rc = ct_iteration_stats(&s, p, false);

	if (rc)
		return rc;
	if (!p->iterations_count)
		snprintf(line, sizeof(line), "  no iterations: %s", p->why_none);
	else if (warmup)
		snprintf(line, sizeof(line), "  %s iterations, %u more in the warm-up: %s",
			 ct_term_count(x, s.count), warmup, p->what);
	else
		snprintf(line, sizeof(line), "  %s iterations: %s", ct_term_count(x, p->iterations_count), p->what);
	ct_page_add(page, "%s", line);
	if (s.count)
		ct_page_add(page, "    median %s, p95 %s, max %s, %u much longer than usual",
			    ct_term_ns(x, s.median), ct_term_ns(y, s.p95), ct_term_ns(z, s.max), s.longer);
	ct_phases_coverage(p, &c);
	if (s.count && c.covered < c.steady)
		ct_page_add(page, "    %s", ct_iteration_coverage(t, p, what));
	free(s.sorted);
	return 0;
}

static int summary_stages(const struct ct_analysis *a, struct ct_page *page, unsigned int process)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_process_phases *p = &a->phases->processes[process];
	const struct ct_process_account *account = &acc->processes[process];
	unsigned int others = 0;
	char name[64];
	int rc;

	for (unsigned int i = 0; i < a->phases->processes_count; i++)
		others += i != process && a->phases->processes[i].stages_count;
	ct_page_head(page, "STAGES of %s%s", ct_processes_name_at(a->processes, p->pid, p->end, name, sizeof(name)),
		    others || !account->launching ? "" : ct_account_turns(account) > 1 ? ", where the time of its launching threads went" :
		    ", where the time of its launching thread went");
	for (unsigned int i = 0; i < p->stages_count; i++)
		summary_stage(page, p, &p->stages[i], account);
	rc = summary_iterations(a->trace, page, p);
	if (others)
		ct_page_add(page, "  and %u more process%s that called libcuda: report stages", others,
			    others == 1 ? "" : "es");
	return rc;
}

/* ------------------------------------------------------------------ totals --- */

static void summary_row(struct ct_page *page, const char *name, uint64_t count, const char *more)
{
	char a[CT_TERM_TEXT];

	ct_page_add(page, "  %-20s %14s%s%s", name, ct_term_count(a, count), *more ? "   " : "", more);
}

static const char *summary_failures(char buf[64], uint64_t failed, const char *in_front)
{
	char a[CT_TERM_TEXT];

	if (failed)
		snprintf(buf, 64, "%s%s%s failed", in_front, *in_front ? ", " : "",
			 ct_term_count(a, failed));
	else
		snprintf(buf, 64, "%s", in_front);
	return buf;
}

/* The directions of copies in one line, as far as it is long enough. */
static void summary_directions(struct ct_page *page, const struct ct_calls *s)
{
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT], line[256] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < CT_DIR_COUNT; i++)
		if (s->direction_count[i] && used < 150)
			used += snprintf(line + used, sizeof(line) - used, "%s%s %s (%s)", used ? ", " : "",
					 ct_direction_word[i], ct_term_count(a, s->direction_count[i]),
					 ct_term_bytes(b, s->direction_bytes[i]));
	if (used)
		ct_page_add(page, "    %s", line);
}

/* What the GPU did, and what is not known of it. */
static void summary_gpu(const struct ct_analysis *a, struct ct_page *page)
{
	static const char *const words[CT_WORK_COUNT] = {
		[CT_WORK_KERNELS] = "kernels", [CT_WORK_GRAPHS] = "graphs", [CT_WORK_COPIES] = "copies",
		[CT_WORK_SETS] = "sets",
	};
	const struct ct_gpu_busy *busy = ct_analysis_state(a, &ct_gpu_busy_analyser);
	struct ct_gpu_busy_stage all = { 0 };
	char line[160] = "", x[CT_TERM_TEXT], y[CT_TERM_TEXT];
	unsigned int processes = 0;
	uint64_t count = 0;
	size_t used = 0;

	for (unsigned int i = 0; i < busy->processes_count; i++) {
		const struct ct_gpu_busy_stage *from = &busy->processes[i].any.all;

		if (a->filter->pid && a->filter->pid != a->phases->processes[i].pid)
			continue;
		all.busy += from->busy;
		processes += from->busy > 0;
		for (unsigned int k = 0; k < CT_WORK_COUNT; k++) {
			all.count[k] += from->count[k];
			all.work[k] += from->work[k];
			count += from->count[k];
		}
	}
	if (!count)
		return;
	/* Of several processes it is a sum of what they did, maybe at the same time. */
	if (processes == 1 && !ct_filter_chooses(a->filter) && ct_summary_duration(a))
		snprintf(line, sizeof(line), "busy for %s (%.1f %% of all)", ct_term_ns(x, all.busy),
			 100.0 * all.busy / ct_summary_duration(a));
	else
		snprintf(line, sizeof(line), "busy for %s", ct_term_ns(x, all.busy));
	summary_row(page, "done by the GPU", count, line);
	for (unsigned int k = 0; k < CT_WORK_COUNT; k++)
		if (all.count[k] && used < sizeof(line))
			used += snprintf(line + used, sizeof(line) - used, "%s%s %s (%s)", used ? ", " : "", words[k],
					 ct_term_count(x, all.count[k]), ct_term_ns(y, all.work[k]));
	ct_page_add(page, "    %s", line);
}

/* What is missing of the GPU's work. */
static void summary_coverage(const struct ct_analysis *a, struct ct_page *page)
{
	const struct ct_gpu_coverage *c = ct_analysis_state(a, &ct_gpu_coverage_analyser);
	char text[700];

	for (unsigned int i = 0; ct_gpu_asked(a->trace) && i < c->count && page->count + 2 < CT_PAGE_LINES; i++) {
		ct_gpu_cover_text(a->trace, &c->list[i], false, text, sizeof(text));
		if (*text && (!a->filter->pid || a->filter->pid == c->list[i].pid))
			ct_page_add(page, "  process %u: %s", (uint32_t)c->list[i].pid, text);
	}
}

static void summary_totals(const struct ct_analysis *a, const struct ct_calls *s, struct ct_page *page)
{
	const struct ct_trace *t = a->trace;
	char x[CT_TERM_TEXT], b[64], c[160];

	ct_page_head(page, "SUMMARY%s", ct_filter_chooses(a->filter) ?
		    " and what follows: only what passes --from, --to, --pid and the like" : "");
	summary_failures(b, s->api_failed, "");
	if (s->runtime_calls)
		snprintf(c, sizeof(c), "%s%sof them %s of libcudart", b, *b ? ", " : "",
			 ct_term_count(x, s->runtime_calls));
	else
		snprintf(c, sizeof(c), "%s", b);
	summary_row(page, "API calls", s->api_calls, c);
	summary_row(page, "kernel launches", s->launches, summary_failures(b, s->launches_failed, ""));
	/* What there was none of is left out. */
	if (s->graph_launches)
		summary_row(page, "graph launches", s->graph_launches,
			    summary_failures(b, s->graph_launches_failed, ""));
	if (s->allocs)
		summary_row(page, "memory allocations", s->allocs,
			    summary_failures(b, s->allocs_failed, ct_term_bytes(x, s->alloc_bytes)));
	if (s->allocs || s->frees)
		summary_row(page, "memory frees", s->frees, "");
	if (s->copies)
		summary_row(page, "transfers", s->copies, ct_term_bytes(x, s->copy_bytes));
	summary_directions(page, s);
	if (s->sets)
		summary_row(page, "memory sets", s->sets, ct_term_bytes(x, s->set_bytes));
	summary_gpu(a, page);
	if (s->ioctl.count) {
		summary_failures(b, s->ioctl.failed, ct_term_ns(x, s->ioctl.total));
		snprintf(c, sizeof(c), "%s, %s", b,
			 s->ioctl_by_kernel ? "seen in the kernel" : "seen by the program");
		summary_row(page, "ioctl calls", s->ioctl.count, c);
	}
	if (s->scheduler_calls)
		summary_row(page, "scheduler calls", s->scheduler_calls, "");
	if (s->switches)
		summary_row(page, "off the CPU", s->switches, ct_term_ns(x, s->off_cpu));
	if (s->open)
		summary_row(page, "never returned", s->open, "calls that were open at the end");
	if (t->packets_lost)
		snprintf(c, sizeof(c), "and %s packet%s, overwritten, damaged or cut short",
			 ct_term_count(x, t->packets_lost), t->packets_lost == 1 ? "" : "s");
	page->style = t->lost || t->packets_lost ? CT_PAGE_WARNING : CT_PAGE_PLAIN;
	summary_row(page, "lost records", t->lost, t->packets_lost ? c : "");
	page->style = CT_PAGE_PLAIN;
	summary_coverage(a, page);
}

/* --------------------------------------------------------------- the report --- */

/* The process whose verdict and stages are shown, or -1. */
static int summary_process(const struct ct_analysis *a)
{
	uint32_t pid = a->filter->pid;
	int main = a->phases->main;

	if (pid && main >= 0 && a->phases->processes[main].pid != pid)
		main = -1;
	for (unsigned int i = 0; main < 0 && i < a->phases->processes_count; i++)
		if (a->phases->processes[i].stages_count && (!pid || a->phases->processes[i].pid == pid))
			main = i;
	return main;
}

/* Processes that were attached to and made no call, as one that hangs. */
static int summary_quiet(const struct ct_analysis *a, struct ct_page *page)
{
	struct ct_quiets *q = malloc(sizeof(*q));
	char name[96], text[1024];
	int rc = q ? ct_quiets_find(q, a->trace, a->phases) : -ENOMEM;

	for (unsigned int i = 0; q && !rc && i < q->count; i++)
		ct_page_add(page, "%s: %s", ct_quiet_name(a->trace, a->processes, &q->list[i], name, sizeof(name)),
			    ct_quiet_text(&a->trace->reg, &q->list[i], text, sizeof(text)));
	if (q)
		ct_quiets_free(q);
	free(q);
	return rc;
}

static int summary_text(const struct ct_analysis *a, FILE *out, const struct ct_print_options *print)
{
	const struct ct_calls *calls = ct_analysis_state(a, &ct_calls_analyser);
	struct summary_state *state = a->state;
	struct ct_page *page = calloc(1, sizeof(*page));
	int main = summary_process(a), rc = 0;

	if (!page)
		return -ENOMEM;
	ct_page_begin(page, print->page, print->colour);
	summary_head(a, page);
	rc = ct_page_machine(page, &a->trace->reg);
	summary_job(a, page);
	if (main >= 0)
		summary_verdict(a, page, main);
	if (!rc && main >= 0)
		rc = summary_stages(a, page, main);
	summary_totals(a, calls, page);
	if (!rc)
		rc = summary_advice(a, page);
	if (!rc && calls->functions_count)
		rc = ct_top_lists(page, calls, state->gpu_kernels.count ? &state->gpu_kernels : &state->kernels,
				  a->names, state->graphs);
	else if (!calls->functions_count)
		ct_page_add(page, "%s", ct_filter_chooses(a->filter) ? "No call passes." : ct_unseen_nothing(a->trace));
	rc = rc ? rc : summary_quiet(a, page);
	if (!rc)
		ct_page_print(page, out);
	free(page);
	return rc;
}

static bool summary_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_GPU_GRAPH) || ct_gpu_is_kernel(class);
}

static int summary_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct summary_state *s = a->state;
	bool gpu = e->class->layer == CT_LAYER_GPU;
	struct ct_top_kernel *kernel;

	if (ct_class_is(e->class, CT_IS_GPU_GRAPH)) {
		s->graphs = true;
		return 0;
	}
	kernel = ct_keyed_put(gpu ? &s->gpu_kernels : &s->kernels, ct_record_kernel(e->record, a->names->reg));
	if (!kernel)
		return -ENOMEM;
	kernel->launches++;
	kernel->ns += gpu ? e->duration : 0;
	return 0;
}

static void summary_free(struct ct_analysis *a)
{
	struct summary_state *s = a->state;

	ct_keyed_free(&s->kernels);
	ct_keyed_free(&s->gpu_kernels);
}

static const struct ct_analyser *const needs[] = {
	&ct_calls_analyser, &ct_accounting_analyser, &ct_idle_analyser, &ct_gpu_busy_analyser,
	&ct_gpu_coverage_analyser, &ct_gpu_idle_analyser, &ct_job_analyser, &ct_stack_scopes_analyser, NULL
};

const struct ct_analyser ct_report_summary = {
	.name = "summary",
	.summary = "what was recorded, what limits the program, where the time goes",
	.on = CT_ON_END | CT_ON_INSTANT,
	.wants = summary_wants,
	.phases = true,
	.needs = needs,
	.single = true,
	.state_size = sizeof(struct summary_state),
	.event = summary_event,
	.end = ct_summary_table,
	.text = summary_text,
	.free = summary_free,
};

int ct_summary_print(const char *dir, FILE *out, struct ct_error *err)
{
	static const struct ct_analyser *const summary = &ct_report_summary;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	struct ct_print_options print = { .page = ct_term_width(out, 0), .colour = ct_term_colour(out) };
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
