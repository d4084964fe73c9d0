// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report iterations: the iterations of each process, how long they took, where their time went,
 * and what was different in the longest ones.  Those of the warm-up have rows of their own; nothing
 * else counts them.  It names as a difference only what the records show.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/threads/accounting.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/gpu/coverage.h"
#include "analysis/program/outliers.h"
#include "table/short_name.h"
#include "view/term.h"

enum {
	S_PID, S_TID, S_STAGE, S_COUNT, S_MIN, S_MED, S_AVG, S_P95, S_MAX, S_DEVIATION, S_LAUNCHES, S_CALLS,
	S_WAIT, S_DRIVER, S_OFF, S_APP, S_IDLE, S_WHAT,
	S_BUSY, S_BUSY_SHARE,		/* only where there are records of the GPU */
	S_COLUMNS
};

static const struct ct_column sum_columns[S_COLUMNS] = {
	[S_PID] = { "Pid", "pid", CT_CELL_ID, 0 },
	[S_TID] = { "Tid", "thread", CT_CELL_ID, 7 },
	[S_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[S_COUNT] = { "Iterations", "count", CT_CELL_COUNT, 0 },
	[S_MIN] = { "Min (ns)", "min", CT_CELL_NS, 5 },
	[S_MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 0 },
	[S_AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 4 },
	[S_P95] = { "P95 (ns)", "p95", CT_CELL_NS, 3 },
	[S_MAX] = { "Max (ns)", "max", CT_CELL_NS, 0 },
	[S_DEVIATION] = { "StdDev (ns)", "stddev", CT_CELL_NS_MEAN, 2 },
	[S_LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 6 },
	[S_CALLS] = { "In Calls (ns)", "libcuda", CT_CELL_NS, 1 },
	[S_WAIT] = { "Waiting (ns)", "waiting", CT_CELL_NS, 0 },
	[S_DRIVER] = { "Driver (ns)", "driver", CT_CELL_NS, 2 },
	[S_OFF] = { "Off CPU (ns)", "off CPU", CT_CELL_NS, 2 },
	[S_APP] = { "Application (ns)", "app", CT_CELL_NS, 0 },
	[S_IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
	[S_WHAT] = { "Found By", "found by", CT_CELL_TEXT, CT_COLUMN_NOTED },
	[S_BUSY] = { "GPU Busy (ns)", "busy time", CT_CELL_NS, 1 },
	[S_BUSY_SHARE] = { "GPU Busy (%)", "GPU busy", CT_CELL_PERCENT, 0 },
};

enum {
	PID, ITERATION, STAGE, START, DURATION, RATIO, LAUNCHES, CALLS, IN_CALLS, WAIT, DRIVER, OFF, APP,
	IDLE, BUSY, BUSY_SHARE, COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
	[PID] = { "Pid", "pid", CT_CELL_ID, 3 },
	[ITERATION] = { "Iteration", "iteration", CT_CELL_COUNT, 0 },
	[STAGE] = { "Stage", "stage", CT_CELL_TEXT, 3 },
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 1 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[RATIO] = { "To Median", "x median", CT_CELL_NUMBER, 0 },
	[LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 2 },
	[CALLS] = { "Calls", "calls", CT_CELL_COUNT, 4 },
	[IN_CALLS] = { "In Calls (ns)", "libcuda", CT_CELL_NS, 0 },
	[WAIT] = { "Waiting (ns)", "waiting", CT_CELL_NS, 0 },
	[DRIVER] = { "Driver (ns)", "driver", CT_CELL_NS, 2 },
	[OFF] = { "Off CPU (ns)", "off CPU", CT_CELL_NS, 2 },
	[APP] = { "Application (ns)", "app", CT_CELL_NS, 0 },
	[IDLE] = { "Device Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
	[BUSY] = { "GPU Busy (ns)", "busy time", CT_CELL_NS, 1 },
	[BUSY_SHARE] = { "GPU Busy (%)", "GPU busy", CT_CELL_PERCENT, 0 },
};

enum { O_PID, O_ITERATION, O_START, O_DURATION, O_RATIO, O_WHY, O_COLUMNS };

static const struct ct_column outlier_columns[O_COLUMNS] = {
	[O_PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[O_ITERATION] = { "Iteration", "iteration", CT_CELL_COUNT, 0 },
	[O_START] = { "Start (ns)", "start", CT_CELL_TIME, 2 },
	[O_DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[O_RATIO] = { "To Median", "x median", CT_CELL_NUMBER, 1 },
	[O_WHY] = { "Difference", "what was different", CT_CELL_WORDS, 0 },
};

static bool iterations_shown(const struct ct_analysis *a, const struct ct_process_phases *p)
{
	return p->iterations_count && (!a->filter->pid || a->filter->pid == p->pid) &&
	       (!a->filter->tid || a->filter->tid == p->tid);
}

/* ------------------------------------------------------------------ tables --- */

/* Is what the GPU did in iterations @first to @last of the process in the trace? */
static bool iterations_covered(const struct ct_analysis *a, const struct ct_process_phases *p, uint32_t first,
			       uint32_t last)
{
	return ct_gpu_covers(ct_analysis_state(a, &ct_gpu_coverage_analyser), p->pid, p->iterations[first].begin,
			     p->iterations[last].end);
}

/* Those of the steady state, or of the @warmup. */
static void iterations_sum_row(struct ct_analysis *a, struct ct_table *t, const struct ct_process_phases *p,
			       const struct ct_iteration_stats *s, bool warmup,
			       const struct ct_iteration_account *account, const uint64_t *idle, const uint64_t *busy)
{
	uint32_t first = warmup ? 0 : ct_phases_warmup(p), end = first + s->count;
	struct ct_iteration_account sum = { 0 };
	uint64_t launches = 0, idles = 0, busys = 0, wall = 0;
	struct ct_cell *row;

	if (!s->count)
		return;
	row = ct_table_row(t);
	for (uint32_t i = first; i < end; i++) {
		launches += p->iterations[i].launches;
		idles += idle[i];
		busys += busy ? busy[i] : 0;
		wall += p->iterations[i].end - p->iterations[i].begin;
		sum.calls += account[i].calls;
		sum.wait += account[i].wait;
		sum.driver += account[i].driver;
		sum.off_cpu += account[i].off_cpu;
		sum.app += account[i].app;
	}
	row[S_PID] = ct_u64(p->pid);
	row[S_TID] = ct_u64(p->tid);
	row[S_STAGE] = ct_const(ct_stage_word[warmup ? CT_STAGE_WARMUP : CT_STAGE_STEADY]);
	row[S_COUNT] = ct_u64(s->count);
	row[S_MIN] = ct_u64(s->min);
	row[S_MED] = ct_double(s->median);
	row[S_AVG] = ct_double(s->mean);
	row[S_P95] = ct_u64(s->p95);
	row[S_MAX] = ct_u64(s->max);
	row[S_DEVIATION] = ct_double(s->deviation);
	row[S_LAUNCHES] = ct_u64(launches);
	row[S_CALLS] = ct_u64(sum.calls);
	row[S_WAIT] = ct_u64(sum.wait);
	row[S_DRIVER] = ct_u64(sum.driver);
	if (a->trace->has_kernel)
		row[S_OFF] = ct_u64(sum.off_cpu);
	row[S_APP] = ct_u64(sum.app);
	row[S_IDLE] = ct_u64(idles);
	row[S_WHAT] = ct_text(t, p->what);
	if (!busy)
		return;
	row[S_BUSY] = ct_u64(busys);
	if (iterations_covered(a, p, first, end - 1))
		row[S_BUSY_SHARE] = ct_double(wall ? 100.0 * busys / wall : 0);
}

static void iterations_row(struct ct_analysis *a, struct ct_table *t,
			   const struct ct_process_phases *p, uint32_t i, double median,
			   const struct ct_iteration_account *account, const uint64_t *idle, const uint64_t *busy)
{
	const struct ct_iteration *it = &p->iterations[i];
	struct ct_cell *row = ct_table_row(t);

	row[PID] = ct_u64(p->pid);
	row[ITERATION] = ct_u64(i + 1ull);
	row[STAGE] = ct_const(ct_stage_word[i < ct_phases_warmup(p) ? CT_STAGE_WARMUP : CT_STAGE_STEADY]);
	row[START] = ct_moment(a, it->begin);
	row[DURATION] = ct_u64(it->end - it->begin);
	if (median > 0)
		row[RATIO] = ct_double((it->end - it->begin) / median);
	row[LAUNCHES] = ct_u64(it->launches);
	row[CALLS] = ct_u64(account->calls_count);
	row[IN_CALLS] = ct_u64(account->calls);
	row[WAIT] = ct_u64(account->wait);
	row[DRIVER] = ct_u64(account->driver);
	if (a->trace->has_kernel)
		row[OFF] = ct_u64(account->off_cpu);
	row[APP] = ct_u64(account->app);
	if (idle)
		row[IDLE] = ct_u64(*idle);
	if (!busy)
		return;
	row[BUSY] = ct_u64(*busy);
	row[BUSY_SHARE] = ct_double(it->end > it->begin ? 100.0 * *busy / (it->end - it->begin) : 0);
}

/* ---------------------------------------------------------------- outliers --- */

struct iterations_reason {
	double delta;			/* ns more than usual */
	double usual;			/* ns */
	uint64_t now;			/* ns */
	const struct ct_call_sum *calls;	/* NULL: what */
	const char *what;
	bool application;
};

#define REASONS_MAX	4	/* that are named */
#define REASON_LEAST	0.05	/* of the time that is to be explained */

static int iterations_reason_order(const void *a, const void *b)
{
	const struct iterations_reason *x = a, *y = b;

	return x->delta > y->delta ? -1 : x->delta < y->delta;
}

/* The mean of the iterations of the steady state that are no outliers. */
static void iterations_usual(const struct ct_process_phases *p, double limit,
			     const struct ct_iteration_account *account, double *duration,
			     double *app, double *off)
{
	uint64_t n = 0;

	*duration = *app = *off = 0;
	for (uint32_t i = ct_phases_warmup(p); i < p->iterations_count; i++) {
		uint64_t ns = p->iterations[i].end - p->iterations[i].begin;

		if (limit && ns > limit)
			continue;
		n++;
		*duration += ns;
		*app += account[i].app;
		*off += account[i].off_cpu;
	}
	if (!n)
		return;
	*duration /= n;
	*app /= n;
	*off /= n;
}

/* "one gap of 41.4 ms before gemm(...)", where it is most of what the application took more. */
static bool iterations_gap(struct ct_analysis *a, FILE *out, const struct iterations_reason *r, const struct ct_outlier *o)
{
	char ns[CT_TERM_TEXT], name[256], clean[80];
	const char *kernel = o->gap_kernel ? ct_names_string(a->names, o->gap_kernel) : NULL;

	if (!r->application || !o->gap_next || o->gap * 2 < r->delta || o->gap > r->now)
		return false;
	fprintf(out, "; one gap of %s before %s, in the application", ct_term_ns(ns, o->gap),
		ct_term_clean(clean, sizeof(clean), kernel ? ct_short_kernel(name, sizeof(name), kernel) :
			      o->gap_next->name, 60));
	return true;
}

static void iterations_say_outlier(struct ct_analysis *analysis, FILE *out, const struct iterations_reason *r,
			   const struct ct_outliers_process *o, const struct ct_outlier *outlier)
{
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT];
	const struct ct_call_sum *others;
	double count;

	if (iterations_gap(analysis, out, r, outlier))
		return;
	if (!r->calls) {
		fprintf(out, "; %s +%s", r->what, ct_term_ns(a, r->delta));
		return;
	}
	others = ct_call_sum(&o->others, r->calls->class);
	count = others && o->others_count ? (double)others->count / o->others_count : 0;
	fprintf(out, "; %s %s (others %s)", r->calls->class->name, ct_term_ns(a, r->now),
		r->usual >= 1 ? ct_term_ns(b, r->usual) : "0");
	/* One call of as many as usual. */
	if (r->calls->count > 1 && r->calls->longest > r->now - r->delta / 2)
		fprintf(out, ", one call %s (op %llu)", ct_term_ns(a, r->calls->longest),
			(unsigned long long)r->calls->longest_op);
	else if (r->calls->count == 1)
		fprintf(out, ", op %llu", (unsigned long long)r->calls->longest_op);
	else if (r->calls->count > count * 1.2 + 1)
		fprintf(out, ", %llu calls (others %.0f)", (unsigned long long)r->calls->count, count);
}

/* What was different in an outlier, as a line of words. */
static int iterations_why(struct ct_analysis *a, struct ct_table *t, struct ct_cell *cell,
			  const struct ct_process_phases *p, const struct ct_outliers_process *o,
			  const struct ct_outlier *out, const struct ct_iteration_account *account)
{
	const struct ct_iteration *it = &p->iterations[out->iteration];
	const struct ct_iteration_account *own = &account[out->iteration];
	struct iterations_reason *reasons = calloc(out->calls.count + 2ul, sizeof(*reasons));
	double duration, app, off, excess, named = 0;
	unsigned int count = 0, said = 0;
	char *text = NULL, ns[CT_TERM_TEXT];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!reasons || !f) {
		free(reasons);
		if (f)
			fclose(f);
		free(text);
		return -ENOMEM;
	}
	iterations_usual(p, o->stats.limit, account, &duration, &app, &off);
	excess = it->end - it->begin - duration;
	for (unsigned int i = 0; i < out->calls.count; i++) {
		const struct ct_call_sum *calls = &out->calls.list[i];
		const struct ct_call_sum *others = ct_call_sum(&o->others, calls->class);
		double usual = others && o->others_count ? (double)others->total / o->others_count : 0;

		reasons[count++] = (struct iterations_reason){
			.delta = calls->total - usual, .usual = usual, .now = calls->total,
			.calls = calls,
		};
	}
	reasons[count++] = (struct iterations_reason){
		.delta = own->app - app, .now = own->app, .what = "application", .application = true,
	};
	reasons[count++] = (struct iterations_reason){
		.delta = own->off_cpu - off, .what = "off the CPU, in calls or between them,",
	};
	qsort(reasons, count, sizeof(*reasons), iterations_reason_order);
	fprintf(f, "%.1f times the median", (it->end - it->begin) / o->stats.median);
	for (unsigned int i = 0; i < count && said < REASONS_MAX; i++) {
		if (reasons[i].delta < REASON_LEAST * excess || reasons[i].delta < 1)
			break;
		iterations_say_outlier(a, f, &reasons[i], o, out);
		named += reasons[i].delta;
		said++;
	}
	if (out->kernels) {
		const char *name = ct_names_string(a->names, out->kernel);
		char kernel[128];

		fprintf(f, "; first use of %s%s%s", out->kernels > 1 ? "kernels: " : "kernel ",
			ct_term_clean(kernel, sizeof(kernel), name ? name : "?", 60),
			out->kernels > 1 ? ", ..." : "");
	}
	if (excess - named > REASON_LEAST * excess)
		fprintf(f, "; %s in other things", ct_term_ns(ns, excess - named));
	if (fclose(f)) {
		free(reasons);
		free(text);
		return -ENOMEM;
	}
	*cell = ct_text(t, text);
	free(reasons);
	free(text);
	return 0;
}

static int iterations_longer(const void *a, const void *b, void *arg)
{
	const struct ct_outlier *x = *(const struct ct_outlier *const *)a, *y = *(const struct ct_outlier *const *)b;
	const struct ct_process_phases *p = arg;
	uint64_t nx = p->iterations[x->iteration].end - p->iterations[x->iteration].begin;
	uint64_t ny = p->iterations[y->iteration].end - p->iterations[y->iteration].begin;

	if (nx != ny)
		return nx > ny ? -1 : 1;
	return x->iteration < y->iteration ? -1 : 1;
}

/* The longest first. */
static int iterations_outliers(struct ct_analysis *a, struct ct_table *t, unsigned int index,
			       const struct ct_outliers_process *o,
			       const struct ct_iteration_account *account)
{
	const struct ct_process_phases *p = &a->phases->processes[index];
	const struct ct_outlier **list = calloc(o->count + 1ul, sizeof(*list));
	int rc = list ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < o->count && !rc; i++)
		list[i] = &o->list[i];
	if (!rc)
		qsort_r(list, o->count, sizeof(*list), iterations_longer, (void *)p);
	for (unsigned int i = 0; i < o->count && !rc; i++) {
		const struct ct_iteration *it = &p->iterations[list[i]->iteration];
		struct ct_cell *row = ct_table_row(t);

		row[O_PID] = ct_u64(p->pid);
		row[O_ITERATION] = ct_u64(list[i]->iteration + 1ull);
		row[O_START] = ct_moment(a, it->begin);
		row[O_DURATION] = ct_u64(it->end - it->begin);
		if (o->stats.median > 0)
			row[O_RATIO] = ct_double((it->end - it->begin) / o->stats.median);
		rc = iterations_why(a, t, &row[O_WHY], p, o, list[i], account);
	}
	free(list);
	if (o->beyond)
		ct_table_note(t, "Process %u has %u more; these are its longest, all that are kept.", p->pid, o->beyond);
	return rc;
}

/* The two rows of a process, and what is said below the table. */
static int iterations_sums(struct ct_analysis *a, struct ct_table *t, unsigned int index, const struct ct_iteration_stats *s)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_gpu_busy *gpu = ct_analysis_state(a, &ct_gpu_busy_analyser);
	const struct ct_process_phases *p = &a->phases->processes[index];
	struct ct_iteration_stats warmup;
	char text[240];
	int rc = ct_iteration_stats(&warmup, p, true);

	iterations_sum_row(a, t, p, s, false, acc->processes[index].iterations, idle->processes[index].iterations,
			   gpu->processes[index].iterations);
	iterations_sum_row(a, t, p, &warmup, true, acc->processes[index].iterations, idle->processes[index].iterations,
			   gpu->processes[index].iterations);
	free(warmup.sorted);
	ct_table_note(t, "Process %u: %s.", p->pid, p->what);
	ct_table_note(t, "Process %u: %s.", p->pid, ct_iteration_coverage(a->trace, p, text));
	if (*ct_iteration_rare(p, s, text))
		ct_table_note(t, "Process %u: %s.", p->pid, text);
	return rc;
}

static int iterations_end(struct ct_analysis *a)
{
	const struct ct_accounting *acc = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_outliers *outliers = ct_analysis_state(a, &ct_outliers_analyser);
	const struct ct_gpu_busy *gpu = ct_analysis_state(a, &ct_gpu_busy_analyser);
	struct ct_table *sum = ct_analysis_table(a, "iterations_sum", "Iterations of the steady state, and of the warm-up",
						 sum_columns, a->trace->has_gpu ? S_COLUMNS : S_BUSY);
	struct ct_table *each = ct_analysis_table(a, "iterations", "Each iteration", columns,
						  a->trace->has_gpu ? COLUMNS : BUSY);
	struct ct_table *out = ct_analysis_table(a, "iterations_outliers",
		"Iterations of the steady state that took much longer than their median", outlier_columns, O_COLUMNS);
	int rc = 0;

	for (unsigned int i = 0; i < a->phases->processes_count && !rc; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];
		const struct ct_outliers_process *o = &outliers->processes[i];
		const struct ct_iteration_account *account = acc->processes[i].iterations;

		if (p->calls && !p->iterations_count && p->stages_count)
			ct_table_note(sum, "Process %u has no iterations: %s.", p->pid, p->why_none);
		if (p->iterations_dropped)
			ct_table_note(sum, "Process %u: %llu more iterations are not kept.", p->pid,
				      (unsigned long long)p->iterations_dropped);
		if (!iterations_shown(a, p))
			continue;
		rc = iterations_sums(a, sum, i, &o->stats);
		for (uint32_t k = 0; k < p->iterations_count; k++) {
			bool covered = !idle->processes[i].measured || iterations_covered(a, p, k, k);

			iterations_row(a, each, p, k, o->stats.median, &account[k],
				       covered ? &idle->processes[i].iterations[k] : NULL,
				       covered && gpu->processes[i].iterations ? &gpu->processes[i].iterations[k] : NULL);
		}
		rc = rc ? rc : iterations_outliers(a, out, i, o, account);
	}
	if (a->phases->processes_count)
		ct_table_note(sum, "Times from libcuda on are sums, of the threads that launch.");
	ct_table_note(sum, "GPU idle is %s.", ct_idle_meaning(idle));
	if (a->trace->has_gpu)
		ct_table_note(sum, "GPU busy: any GPU of the process worked during the iteration of the host.");
	ct_gpu_coverage_notes(a, sum, false);
	ct_table_note(out, "Longer than the median by a fifth of it, and by 5 times the median distance from it.");
	return rc;
}

static const struct ct_analyser *const needs[] = {
	&ct_accounting_analyser, &ct_idle_analyser, &ct_outliers_analyser, &ct_gpu_busy_analyser,
	&ct_gpu_coverage_analyser, NULL
};

const struct ct_analyser ct_report_iterations = {
	.name = "iterations",
	.summary = "training steps, tokens, replays ...: their times, and what was different in the longest",
	.phases = true,
	.needs = needs,
	.end = iterations_end,
};
