// SPDX-License-Identifier: LGPL-2.1-or-later
/* See diff.h.  Must never compare what was recorded in different ways without saying so. */
#include "explain/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/gpu_metrics.h"
#include "explain/diff/diff_clocks.h"
#include "explain/diff/machines.h"
#include "explain/diff/diff_processes.h"
#include "explain/diff/diff_ranks.h"
#include "ranks/rank_summary.h"

struct diff {
	struct ct_diff_pair pair;
	struct ct_printer *printer;
	const struct ct_analysis *analysis[2], *metrics[2];
	struct ct_diff_ranks ranks;
	double worst, worst_process;	/* %: of the processes that are compared in full, of all */
};

static double diff_percent(double a, double b)
{
	return a > 0 ? 100 * (b - a) / a : 0;
}

static int diff_print(struct diff *d, struct ct_table *t, int rc)
{
	int ended = ct_table_end(t);

	if (!rc)
		rc = ended;
	/* A table without rows says nothing to people; the notes of one may. */
	if (!rc)
		rc = ct_printer_table(d->printer, t);
	ct_table_free(t);
	return rc;
}

/* ----------------------------------------------------------------- summary --- */

enum { S_WHAT, S_A, S_B, S_CHANGE, S_PERCENT, S_NOISE, S_VERDICT, S_COLUMNS };

static const struct ct_column summary_columns[S_COLUMNS] = {
	[S_WHAT] = { "What", "time of", CT_CELL_TEXT, 0 },
	[S_A] = { "A (ns)", "A", CT_CELL_NS_MEAN, 0 },
	[S_B] = { "B (ns)", "B", CT_CELL_NS_MEAN, 0 },
	[S_CHANGE] = { "Change (ns)", "change", CT_CELL_NS_MEAN, 0 },
	[S_PERCENT] = { "Change (%)", "%", CT_CELL_PERCENT, 0 },
	[S_NOISE] = { "Noise (ns)", "noise", CT_CELL_NS_MEAN, 0 },
	[S_VERDICT] = { "Verdict", "verdict", CT_CELL_TEXT, 0 },
};

static void diff_summary_row(struct diff *d, struct ct_table *t, const char *what, double a,
			     double b, double noise, bool noise_known, bool counts)
{
	struct ct_cell *row = ct_table_row(t);
	double change = b - a;
	bool same = fabs(change) < 0.5, within = noise_known && fabs(change) <= noise;

	row[S_WHAT] = ct_const(what);
	row[S_A] = ct_double(a);
	row[S_B] = ct_double(b);
	row[S_CHANGE] = ct_double(change);
	row[S_PERCENT] = ct_double(diff_percent(a, b));
	if (noise_known)
		row[S_NOISE] = ct_double(noise);
	row[S_VERDICT] = ct_const(same ? "same" : within ? "noise" :
				  change > 0 ? "slower" : "faster");
	if (counts)
		d->worst = same || within ? 0 : diff_percent(a, b);
}

static void diff_describe(const struct diff *d, struct ct_table *t)
{
	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_per_iteration *per = d->pair.side[s].per;
		const struct ct_process_phases *p = per->process;

		if (per->iterations)
			ct_table_note(t, "%c: %s: %u steady iterations: %s", "AB"[s],
				      d->pair.side[s].trace->dir, per->iterations, p->what);
		else
			ct_table_note(t, "%c: %s: no iterations%s%s", "AB"[s], d->pair.side[s].trace->dir,
				      p && *p->why_none ? ": " : "", p && *p->why_none ? p->why_none :
				      p ? "" : " (no work was given to the GPU)");
	}
	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_diff_side *side = &d->pair.side[s];

		if (side->others)
			ct_table_note(t, "%c: only of process %u, %s; %u more called libcuda.", "AB"[s], side->per->process->pid,
				      d->ranks.pids[s] ? "the rank for which others wait" : "which gives the GPU most work", side->others);
		if (ct_registry_info(&side->trace->reg, CT_DAMAGED_INFO))
			ct_table_note(t, "%c: damaged: %s", "AB"[s], ct_registry_info(&side->trace->reg, CT_DAMAGED_INFO));
		if (side->trace->simulated)
			ct_table_note(t, "%c: a simulated GPU: these figures are not of a device.", "AB"[s]);
	}
	if (!d->pair.iterations)
		ct_table_note(t, "Figures are of the whole run: without iterations in both, the noise is not known.");
	else
		ct_table_note(t, "Figures are per iteration. Noise: two standard errors, by the spread of the iterations;");
	if (d->pair.iterations)
		ct_table_note(t, "runs vary more: record several before you trust a small change.");
	if (d->pair.side[0].trace->has_gpu != d->pair.side[1].trace->has_gpu)
		ct_table_note(t, "Only %s has records of the GPU, which cost time: the two are not recorded alike.",
			      d->pair.side[0].trace->has_gpu ? "A" : "B");
	if (d->pair.side[0].trace->has_kernel != d->pair.side[1].trace->has_kernel)
		ct_table_note(t, "Only %s has the module's records, which cost time: the two are not recorded alike.",
			      d->pair.side[0].trace->has_kernel ? "A" : "B");
}

static int diff_summary(struct diff *d)
{
	double median[2] = { 0 }, error[2] = { 0 }, noise, mean[2], spread[2], mean_noise;
	uint64_t execution[2], run[2];
	struct ct_table t;
	bool stage[2];
	int rc = 0;

	ct_table_begin(&t, "diff_summary",
		       "Wall time: of the median and the mean iteration, of the execution, and of the run",
		       summary_columns, S_COLUMNS);
	for (unsigned int s = 0; s < 2 && !rc; s++)
		rc = ct_diff_iteration(&d->pair.side[s], &median[s], &error[s]);
	for (unsigned int s = 0; s < 2; s++)
		execution[s] = ct_diff_execution(&d->pair.side[s], &stage[s]);
	/* An execution is compared with an execution, or else lives. */
	if (stage[0] != stage[1])
		for (unsigned int s = 0; s < 2; s++)
			execution[s] = d->pair.side[s].per->last - d->pair.side[s].per->first;
	noise = ct_diff_noise(&d->pair, error[0], error[1]);
	for (unsigned int s = 0; s < 2; s++)
		ct_diff_mean(&d->pair.side[s], &mean[s], &spread[s]);
	mean_noise = ct_diff_noise(&d->pair, spread[0], spread[1]);
	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_per_iteration *per = d->pair.side[s].per;

		run[s] = per->process ? per->process->end - per->process->begin : per->last - per->first;
	}
	if (d->pair.iterations) {
		bool known = d->pair.side[0].per->iterations >= 3 && d->pair.side[1].per->iterations >= 3;

		diff_summary_row(d, &t, "iteration", median[0], median[1], noise, known, true);
		diff_summary_row(d, &t, "iteration, mean", mean[0], mean[1], mean_noise, known, false);
		ct_table_note(&t, "Iteration: the median one. Mean: with what is between them, so that what comes now and then counts "
			      "(report iterations).");
	}
	diff_summary_row(d, &t, stage[0] && stage[1] ? "execution" : "all records", execution[0],
			 execution[1], 0, false, !d->pair.iterations);
	if (stage[0] && stage[1]) {
		diff_summary_row(d, &t, "run", run[0], run[1], 0, false, false);
		ct_table_note(&t, "Execution: the stages warmup and steady, or execution where there is no pattern; run: from the "
			      "process's begin to its end.");
	}
	diff_describe(d, &t);
	return diff_print(d, &t, rc);
}

/* ---------------------------------------------- functions, kernels, ioctls --- */

enum { R_EFFECT, R_PERCENT, R_NOISE, R_VERDICT, R_COUNT_A, R_COUNT_B, R_TIME_A, R_TIME_B, R_NAME,
       R_COLUMNS };

#define ROW_COLUMNS(count_a, count_b, head_a, head_b, name, type) {	\
	[R_EFFECT] = { "Effect (ns)", "effect", CT_CELL_NS_MEAN, 0 },	\
	[R_PERCENT] = { "Change (%)", "%", CT_CELL_PERCENT, 3 },		\
	[R_NOISE] = { "Noise (ns)", "noise", CT_CELL_NS_MEAN, 4 },	\
	[R_VERDICT] = { "Verdict", "verdict", CT_CELL_TEXT, 0 },	\
	[R_COUNT_A] = { count_a, head_a, CT_CELL_NUMBER, 2 },		\
	[R_COUNT_B] = { count_b, head_b, CT_CELL_NUMBER, 2 },		\
	[R_TIME_A] = { "Time A (ns)", "time A", CT_CELL_NS_MEAN, 1 },	\
	[R_TIME_B] = { "Time B (ns)", "time B", CT_CELL_NS_MEAN, 1 },	\
	[R_NAME] = { "Name", name, type, 0 },				\
}

static const struct ct_column function_columns[R_COLUMNS] =
	ROW_COLUMNS("Calls A", "Calls B", "calls A", "calls B", "name", CT_CELL_TEXT);
static const struct ct_column kernel_columns[R_COLUMNS] =
	ROW_COLUMNS("Launches A", "Launches B", "launches A", "launches B", "kernel", CT_CELL_KERNEL);

static const struct ct_column line_columns[R_COLUMNS] =
	ROW_COLUMNS("Calls A", "Calls B", "calls A", "calls B", "line", CT_CELL_TEXT);
static const struct ct_column gpu_columns[R_COLUMNS] =
	ROW_COLUMNS("Runs A", "Runs B", "runs A", "runs B", "work", CT_CELL_KERNEL);

static void diff_row(struct diff *d, struct ct_table *t, const struct ct_diff_row *r, bool counts)
{
	struct ct_cell *row = ct_table_row(t);
	double noise = ct_diff_noise(&d->pair, r->value[0].error, r->value[1].error);

	row[R_EFFECT] = ct_double(r->effect);
	if (r->value[0].there && r->value[0].wall > 0)
		row[R_PERCENT] = ct_double(diff_percent(r->value[0].wall, r->value[1].wall));
	if (noise > 0)
		row[R_NOISE] = ct_double(noise);
	row[R_VERDICT] = ct_const(ct_diff_verdict(&d->pair, r));
	if (counts) {
		row[R_COUNT_A] = ct_double(r->value[0].count);
		row[R_COUNT_B] = ct_double(r->value[1].count);
	}
	row[R_TIME_A] = ct_double(r->value[0].ns);
	row[R_TIME_B] = ct_double(r->value[1].ns);
	row[R_NAME] = ct_text(t, r->name);
}

/* What "in graph" means, where it is said. */
static void diff_note_graphs(struct ct_table *t, const struct ct_diff_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		for (unsigned int s = 0; s < 2; s++)
			if (rows->list[i].value[s].elsewhere && !rows->list[i].value[s].there) {
				ct_table_note(t, "In graph: %c's iterations launch graphs, whose kernels are not recorded one by one; "
					      "it launches or captures this kernel outside of them.", "AB"[s]);
				return;
			}
}

static int diff_by_count(const void *a, const void *b)
{
	const struct ct_diff_row *x = a, *y = b;
	double dx = fabs(x->value[1].count - x->value[0].count);
	double dy = fabs(y->value[1].count - y->value[0].count);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (fabs(x->effect) != fabs(y->effect))
		return fabs(x->effect) > fabs(y->effect) ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Between the calls. */
static bool diff_application(const struct diff *d, const struct ct_diff_rows *rows __attribute__((unused)), struct ct_diff_row *row)
{
	row->name = "(application, between calls)";
	for (unsigned int s = 0; s < 2 && d->pair.iterations; s++)
		ct_diff_application(&d->pair.side[s], &row->value[s]);
	return d->pair.iterations;
}

static bool diff_all_work(const struct diff *d __attribute__((unused)), const struct ct_diff_rows *rows, struct ct_diff_row *row)
{
	row->name = "(all work of the GPU)";
	for (uint32_t i = 0; i < rows->count; i++)
		for (unsigned int s = 0; s < 2; s++) {
			const struct ct_diff_value *from = &rows->list[i].value[s];

			row->value[s].there |= from->there;
			row->value[s].count += from->count;
			row->value[s].ns += from->ns;
			row->value[s].wall += from->wall;
			row->value[s].error = hypot(row->value[s].error, from->error);
		}
	return rows->count;
}

/* A table of what is in both traces, matched by name. */
struct diff_part {
	const char *name, *title[2];		/* of the run; per iteration */
	const struct ct_column *columns;
	enum ct_per_kind kind, better;		/* better: instead, where a trace has it */
	bool both;				/* only where both traces have some */
	int (*order)(const void *a, const void *b);	/* NULL: by effect */
	/* One row more; false: there is none.  A total stands before the others, and has counts. */
	bool (*more)(const struct diff *d, const struct ct_diff_rows *rows, struct ct_diff_row *row);
	bool total, graphs;			/* graphs: kernels may be in one */
	const char *notes[2];			/* per iteration, unless .total */
};

#define DIFF_TITLE(before, after)	{ before "of the run" after, before "per iteration" after }

static const struct diff_part diff_parts[] = {
	{ "diff_functions", DIFF_TITLE("Functions: ", "; time without calls inside, with the driver's"),
	  function_columns, CT_PER_FUNCTION, CT_PER_FUNCTION, .more = diff_application,
	  .notes = { "Effect: on the wall time of the thread that makes the iterations, by means;",
		     "effects add up to its change. Times are of all threads." } },
	{ "diff_lines", DIFF_TITLE("Lines of the program: ", "; time of their calls, and since the call before"),
	  line_columns, CT_PER_LINE, CT_PER_LINE, .both = true,
	  .notes = { "Time between calls counts for the lines that samples show in it; without samples, for the line of the next call." } },
	/* New and gone kernels first: the time of a launch says little about its kernel. */
	{ "diff_kernels", DIFF_TITLE("Kernels: launches ", "; times of the launching calls on the host"),
	  kernel_columns, CT_PER_KERNEL, CT_PER_KERNEL, .order = diff_by_count, .graphs = true },
	{ "diff_gpu", { "GPU: its work in the run; times on the GPU, from its records",
			"GPU: its work per iteration; times on the GPU, from its records" },
	  gpu_columns, CT_PER_GPU, CT_PER_GPU, .both = true, .more = diff_all_work, .total = true, .graphs = true,
	  .notes = { "Effect: on the time that the GPU works; work of several streams at the same time counts for each." } },
};

static const struct diff_part diff_ioctl_part = {
	"diff_ioctls", DIFF_TITLE("Ioctls: ", ""), function_columns, CT_PER_IOCTL_PROGRAM, CT_PER_IOCTL_DRIVER, .both = false,
};

static int diff_part(struct diff *d, const struct diff_part *part)
{
	struct ct_diff_row more = { 0 };
	enum ct_per_kind kinds[2];
	struct ct_diff_rows rows;
	struct ct_table t;
	bool pending;
	int rc;

	for (unsigned int s = 0; s < 2; s++) {
		kinds[s] = ct_diff_has(&d->pair.side[s], part->better) ? part->better : part->kind;
		if (part->both && !ct_diff_has(&d->pair.side[s], kinds[s]))
			return 0;
	}
	rc = ct_diff_match(&d->pair, kinds, &rows);
	ct_table_begin(&t, part->name, part->title[d->pair.iterations], part->columns, R_COLUMNS);
	if (!rc && part->order)
		qsort(rows.list, rows.count, sizeof(*rows.list), part->order);
	pending = !rc && part->more && part->more(d, &rows, &more);
	more.effect = more.value[1].wall - more.value[0].wall;
	for (uint32_t i = 0; i < rows.count && !rc; i++) {
		if (pending && (part->total || fabs(more.effect) >= fabs(rows.list[i].effect))) {
			diff_row(d, &t, &more, part->total);
			pending = false;
		}
		diff_row(d, &t, &rows.list[i], true);
	}
	if (pending)
		diff_row(d, &t, &more, part->total);
	if (part->graphs)
		diff_note_graphs(&t, &rows);
	for (unsigned int i = 0; i < 2 && part->notes[i] && (part->total || d->pair.iterations); i++)
		ct_table_note(&t, "%s", part->notes[i]);
	if (rows.count && kinds[0] != kinds[1])
		ct_table_note(&t, "Of %s they are as the driver sees them, of the other as the program does.",
			      kinds[0] == part->better ? "A" : "B");
	free(rows.list);
	return diff_print(d, &t, rc);
}

static int diff_matched(struct diff *d)
{
	int rc = 0;

	for (unsigned int i = 0; i < sizeof(diff_parts) / sizeof(*diff_parts) && !rc; i++)
		rc = diff_part(d, &diff_parts[i]);
	return rc;
}

static int diff_ioctls(struct diff *d)
{
	return diff_part(d, &diff_ioctl_part);
}

/* Only where both runs looked at the GPUs. */
static int diff_clocks(struct diff *d)
{
	struct ct_table t;
	int process[2];

	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_process_phases *p = d->pair.side[s].per->process;

		process[s] = p ? (int)(p - d->analysis[s]->phases->processes) : -1;
	}
	if (ct_diff_clocks(&t, d->metrics, process))
		return diff_print(d, &t, 0);
	ct_table_free(&t);
	return 0;
}

/* --------------------------------------------------------- stages, memory --- */

enum { G_STAGE, G_A, G_B, G_CHANGE, G_PERCENT, G_COLUMNS };

static const struct ct_column stage_columns[G_COLUMNS] = {
	[G_STAGE] = { "Stage", "stage", CT_CELL_TEXT, 0 },
	[G_A] = { "A (ns)", "A", CT_CELL_NS, 0 },
	[G_B] = { "B (ns)", "B", CT_CELL_NS, 0 },
	[G_CHANGE] = { "Change (ns)", "change", CT_CELL_NS_MEAN, 0 },
	[G_PERCENT] = { "Change (%)", "%", CT_CELL_PERCENT, 0 },
};

static int diff_stages(struct diff *d)
{
	struct ct_table t;

	ct_table_begin(&t, "diff_stages", "Stages: of the main process", stage_columns, G_COLUMNS);
	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++) {
		uint64_t a, b;
		bool has_a = ct_diff_stage(&d->pair.side[0], i, &a);
		bool has_b = ct_diff_stage(&d->pair.side[1], i, &b);
		struct ct_cell *row;

		if (!has_a && !has_b)
			continue;
		row = ct_table_row(&t);
		row[G_STAGE] = ct_const(ct_stage_word[i]);
		if (has_a)
			row[G_A] = ct_u64(a);
		if (has_b)
			row[G_B] = ct_u64(b);
		if (!has_a || !has_b)
			continue;
		row[G_CHANGE] = ct_double((double)b - (double)a);
		if (a)
			row[G_PERCENT] = ct_double(diff_percent(a, b));
	}
	return diff_print(d, &t, 0);
}

enum { M_WHAT, M_COUNT_A, M_COUNT_B, M_BYTES_A, M_BYTES_B, M_CHANGE, M_COLUMNS };

static const struct ct_column memory_columns[M_COLUMNS] = {
	[M_WHAT] = { "What", "", CT_CELL_TEXT, 0 },
	[M_COUNT_A] = { "Calls A", "calls A", CT_CELL_NUMBER, 0 },
	[M_COUNT_B] = { "Calls B", "calls B", CT_CELL_NUMBER, 0 },
	[M_BYTES_A] = { "A (bytes)", "A", CT_CELL_BYTES_MEAN, 0 },
	[M_BYTES_B] = { "B (bytes)", "B", CT_CELL_BYTES_MEAN, 0 },
	[M_CHANGE] = { "Change (bytes)", "change", CT_CELL_BYTES_MEAN, 0 },
};

static void diff_bytes(struct ct_cell *row, double a, double b)
{
	row[M_BYTES_A] = ct_double(a);
	row[M_BYTES_B] = ct_double(b);
	row[M_CHANGE] = ct_double(b - a);
}

static void diff_memory_rows(struct diff *d, struct ct_table *t, bool steady)
{
	const struct ct_per_memory *m[2];
	double n[2];
	struct ct_cell *row;

	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_per_iteration *per = d->pair.side[s].per;

		m[s] = steady ? &per->memory_steady : &per->memory_run;
		n[s] = steady ? per->iterations : 1;
	}
	row = ct_table_row(t);
	row[M_WHAT] = ct_const(steady ? "allocated, per iteration" : "allocated, in all");
	row[M_COUNT_A] = ct_double(m[0]->allocs / n[0]);
	row[M_COUNT_B] = ct_double(m[1]->allocs / n[1]);
	diff_bytes(row, m[0]->bytes / n[0], m[1]->bytes / n[1]);
	row = ct_table_row(t);
	row[M_WHAT] = ct_const(steady ? "freed, per iteration" : "freed, in all");
	row[M_COUNT_A] = ct_double(m[0]->frees / n[0]);
	row[M_COUNT_B] = ct_double(m[1]->frees / n[1]);
}

static int diff_memory(struct diff *d)
{
	struct ct_cell *row;
	struct ct_table t;

	ct_table_begin(&t, "diff_memory", "Device memory: by the calls that allocate and free",
		       memory_columns, M_COLUMNS);
	row = ct_table_row(&t);
	row[M_WHAT] = ct_const("peak");
	diff_bytes(row, d->pair.side[0].per->peak, d->pair.side[1].per->peak);
	if (d->pair.iterations)
		diff_memory_rows(d, &t, true);
	diff_memory_rows(d, &t, false);
	return diff_print(d, &t, 0);
}

/* --------------------------------------------------------------------- all --- */

static struct ct_diff_side diff_side(const struct ct_trace *t, const struct ct_analysis *a)
{
	struct ct_diff_side side = { .trace = t, .per = a->state };

	for (unsigned int i = 0; side.per->process && i < a->phases->processes_count; i++)
		side.others += a->phases->processes[i].stages_count &&
			       &a->phases->processes[i] != side.per->process;
	return side;
}

/* Where a trace has several: a process alone is in the summary. */
static int diff_processes(struct diff *d)
{
	struct ct_table t;
	int rc = ct_diff_processes(&t, d->analysis, &d->worst_process);

	if (rc > 1)
		return diff_print(d, &t, 0);
	ct_table_free(&t);
	return rc < 0 ? rc : 0;
}

/* Where both are of jobs: who makes whom wait is first of all. */
static int diff_ranks(struct diff *d)
{
	struct ct_table t;
	int rc = ct_diff_ranks_table(&t, &d->ranks);

	if (rc > 0)
		return diff_print(d, &t, 0);
	ct_table_free(&t);
	return rc;
}

/* Of summaries the ranks are all that can be compared. */
static int diff_summaries(struct diff *d, const struct ct_trace *const traces[2], struct ct_error *err)
{
	struct ct_table t;
	int rc = ct_diff_ranks_table(&t, &d->ranks);

	for (unsigned int s = 0; s < 2 && rc > 0; s++)
		ct_table_note(&t, "%c: %s: %u %s%s.", "AB"[s], traces[s]->dir, traces[s]->summaries->files,
			      traces[s]->summaries->files == 1 ? "summary" : "summaries",
			      traces[s]->simulated ? ", of a simulated GPU: these figures are not of a device" : "");
	if (rc > 0)
		return diff_print(d, &t, 0);
	ct_table_free(&t);
	return rc ? rc : ct_fail(err, ENODATA, "there are not several ranks in both");
}

static int diff_all(struct diff *d)
{
	static int (*const tables[])(struct diff *d) = {
		diff_ranks, diff_processes, diff_summary, diff_matched, diff_clocks, diff_ioctls, diff_stages, diff_memory,
	};
	struct ct_table machines;
	int rc = ct_diff_machines(&machines, &d->pair.side[0].trace->reg, &d->pair.side[1].trace->reg);

	/* First what else than the program may have changed. */
	if (!rc && machines.rows)
		rc = diff_print(d, &machines, 0);
	else
		ct_table_free(&machines);
	for (unsigned int i = 0; i < sizeof(tables) / sizeof(*tables) && !rc; i++)
		rc = tables[i](d);
	return rc;
}

int ct_diff(const struct ct_trace *a, const struct ct_trace *b, const struct ct_diff_request *q,
	    FILE *out, double *worst_percent, struct ct_error *err)
{
	static const struct ct_analyser *const analysers[] = { &ct_per_iteration_analyser, &ct_gpu_metrics_analyser };
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	struct ct_engine *engine[2] = { NULL, NULL };
	const struct ct_trace *traces[2] = { a, b };
	struct diff d = { 0 };
	int rc = 0, closing;

	*err = (struct ct_error){ 0 };
	*worst_percent = 0;
	rc = ct_diff_ranks_find(&d.ranks, traces, q->phases, err);
	for (unsigned int s = 0; s < 2 && !rc && !a->summaries; s++) {
		options.phases = d.ranks.of[s];
		options.arg = &d.ranks.pids[s];
		engine[s] = ct_engine_run(traces[s], analysers, 2, &options, err);
		d.analysis[s] = engine[s] ? ct_engine_result(engine[s], analysers[0]) : NULL;
		d.metrics[s] = engine[s] ? ct_engine_result(engine[s], analysers[1]) : NULL;
		if (engine[s])
			d.pair.side[s] = diff_side(traces[s], d.analysis[s]);
		rc = engine[s] ? 0 : -ENOMEM;
	}
	if (!rc) {
		d.pair.iterations = !a->summaries && d.pair.side[0].per->iterations && d.pair.side[1].per->iterations;
		d.printer = ct_printer_open(q->format ? q->format : ct_format_find("table"), out,
					    &q->print, true);
		rc = !d.printer ? -ENOMEM : a->summaries ? diff_summaries(&d, traces, err) : diff_all(&d);
		closing = d.printer ? ct_printer_close(d.printer) : 0;
		rc = rc ? rc : closing;
	}
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	*worst_percent = d.worst_process > d.worst ? d.worst_process : d.worst;
	ct_engine_free(engine[0]);
	ct_engine_free(engine[1]);
	ct_diff_ranks_free(&d.ranks);
	if (rc && !err->code)
		ct_fail(err, -rc, "%s", strerror(-rc));
	return rc;
}
