// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of the program by what they cost, and whole stacks: time between calls of CUDA and in them,
 * launches, the GPU's time for what they launched, bytes copied.  A line's own figures are those of calls
 * that it makes itself; its totals have those of what it calls, too, each stack once.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/costs.h"

static const struct ct_analyser *const lines_needs[] = { &ct_stack_costs_analyser, NULL };

/* Of a line of a function. */
struct lines_line {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;			/* one of those that are this line */
	uint32_t seen;			/* the last stack that counted, index + 1 */
	struct ct_stack_cost self, total;
};

struct lines {
	CT_KEYED(struct lines_line) lines;
};

static uint64_t lines_time(const struct ct_stack_cost *c)
{
	return c->of[CT_COST_TIME] + c->of[CT_COST_APP];
}

/* Of all kinds: between calls, and before the first one. */
static uint64_t lines_samples(const struct ct_stack_cost *c)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < CT_SAMPLE_STATES; i++)
		n += c->of[CT_COST_STATE + i];
	return n;
}

/* How far the time of the application may be from the truth: two standard errors of the share of the samples. */
static uint64_t lines_error(const struct ct_stack_cost *c, const struct ct_stack_cost *all)
{
	double n = all->of[CT_COST_SAMPLES], share = n ? c->of[CT_COST_SAMPLES] / n : 0;

	return n ? 2 * all->of[CT_COST_APP] * sqrt(share * (1 - share) / n) : 0;
}

/* What all stacks cost, and calls without one. */
static void lines_all(const struct ct_stack_costs *costs, struct ct_stack_cost *all, struct ct_stack_cost *unknown)
{
	*all = *unknown = (struct ct_stack_cost){ 0 };
	for (size_t i = 0; i < costs->sums.count; i++) {
		ct_stack_cost_add(all, &costs->sums.list[i].cost);
		if (!costs->sums.list[i].node)
			ct_stack_cost_add(unknown, &costs->sums.list[i].cost);
	}
}

/* ------------------------------------------------------------------- rows --- */

static void lines_notes(const struct ct_analysis *a, struct ct_table *t)
{
	const struct ct_stack_costs *costs = ct_analysis_state(a, &ct_stack_costs_analyser);
	const char *refused = ct_registry_info(&a->trace->reg, "stacks_refused");
	struct ct_stack_cost all, unknown;

	lines_all(costs, &all, &unknown);
	if (!ct_stacks_recorded(a->trace))
		ct_table_note(t, "No stacks were recorded: cudatrace record --stacks -- PROGRAM");
	else if (refused)
		ct_table_note(t, "Stacks of this Python were not recorded: %s", refused);
	else if (unknown.of[CT_COST_CALLS])
		ct_table_note(t, "%llu of %llu calls have no stack: of functions without one (getters, events), of threads without Python code, or lost.",
			      (unsigned long long)unknown.of[CT_COST_CALLS], (unsigned long long)all.of[CT_COST_CALLS]);
	if (ct_stacks_recorded(a->trace) && !a->filter->pid && a->totals->processes > 1)
		ct_table_note(t, "Of all %u processes together: --pid takes one.", a->totals->processes);
	if (ct_stacks_sampled(a->trace) && all.of[CT_COST_SAMPLES] >= CT_COSTS_SAMPLES)
		ct_table_note(t, "Time of the application, between calls, is divided by %llu samples; +- is two standard errors.",
			      (unsigned long long)all.of[CT_COST_SAMPLES]);
	else if (ct_stacks_recorded(a->trace))
		ct_table_note(t, "%sTime of the application, between calls, counts for the line of the call that follows.",
			      ct_registry_info(&a->trace->reg, "samples_refused") ? "The recorder could not sample the program. " : "");
}

static double lines_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

/* "train.py:12": the number is not to be cut with the end of a long path. */
static struct ct_cell lines_words(struct ct_table *t, const struct ct_stack_frame *f)
{
	int folders = f->file_len;

	while (folders && f->file[folders - 1] != '/')
		folders--;
	if (!f->line)
		return ct_format(t, "%.*s", f->file_len - folders, f->file + folders);
	return ct_format(t, "%.*s:%u", f->file_len - folders, f->file + folders, f->line);
}

/* ------------------------------------------------------------------ lines --- */

enum { L_SHARE, L_TOTAL, L_SELF, L_APP, L_ERROR, L_WAITS, L_CUDA, L_BEFORE, L_SAMPLES, L_CALLS, L_CALLS_TOTAL, L_LAUNCHES, L_GPU, L_BYTES, L_LINE, L_FUNCTION,
       L_FILE, L_COLUMNS };

static const struct ct_column lines_columns[L_COLUMNS] = {
	[L_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[L_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[L_SELF] = { "Self Time (ns)", "self", CT_CELL_NS, 0 },
	[L_APP] = { "Application (ns)", "app", CT_CELL_NS, 1 },
	[L_ERROR] = { "Application Error (ns)", "+-", CT_CELL_NS, 2 },
	[L_WAITS] = { "Waiting (%)", "waits", CT_CELL_PERCENT, 2 },
	[L_CUDA] = { "CUDA (ns)", "CUDA", CT_CELL_NS, 7 },
	[L_BEFORE] = { "Before CUDA (ns)", "startup", CT_CELL_NS, 1 },
	[L_SAMPLES] = { "Samples", "samples", CT_CELL_COUNT, 6 },
	[L_CALLS] = { "Self Calls", "calls", CT_CELL_COUNT, 3 },
	[L_CALLS_TOTAL] = { "Total Calls", "all calls", CT_CELL_COUNT, 6 },
	[L_LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 4 },
	[L_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 2 },
	[L_BYTES] = { "Copied (B)", "copied", CT_CELL_BYTES, 5 },
	[L_LINE] = { "Line", "line", CT_CELL_TEXT, 0 },
	[L_FUNCTION] = { "Function", "function", CT_CELL_TEXT, 0 },
	[L_FILE] = { "File", "file", CT_CELL_TEXT, 8 },
};

/* Adds a stack's cost to each of its lines. */
static int lines_stack(struct ct_analysis *a, const struct ct_stack_sum *stack, uint32_t index)
{
	struct lines *s = a->state;
	struct ct_stack_frame f = { .parent = stack->node };

	for (unsigned int i = 0; i < CT_STACK_DEPTH; i++) {
		uint32_t node = f.parent;
		struct lines_line *line;

		if (!ct_stack_frame(&a->trace->reg, node, &f))
			break;
		line = ct_keyed_put(&s->lines, (uint64_t)f.function << 32 | f.line);
		if (!line)
			return -ENOMEM;
		line->node = node;
		if (!i)
			ct_stack_cost_add(&line->self, &stack->cost);
		/* A line that calls itself. */
		if (line->seen != index + 1)
			ct_stack_cost_add(&line->total, &stack->cost);
		line->seen = index + 1;
	}
	return 0;
}

static int lines_end(struct ct_analysis *a)
{
	const struct ct_stack_costs *costs = ct_analysis_state(a, &ct_stack_costs_analyser);
	struct lines *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "lines",
		"Lines of the program: time in the application and in CUDA, self and with callees", lines_columns, L_COLUMNS);
	struct ct_stack_cost all, unknown;
	int rc = 0;

	lines_all(costs, &all, &unknown);
	for (size_t i = 0; i < costs->sums.count && !rc; i++)
		rc = lines_stack(a, &costs->sums.list[i], i);
	for (size_t i = 0; i < s->lines.count && !rc; i++) {
		const struct lines_line *line = &s->lines.list[i];
		struct ct_stack_frame f;
		struct ct_cell *row;

		if (!ct_stack_frame(&a->trace->reg, line->node, &f))
			continue;
		row = ct_table_row(t);
		row[L_SHARE] = ct_double(lines_share(lines_time(&line->total), lines_time(&all)));
		row[L_TOTAL] = ct_u64(lines_time(&line->total));
		row[L_SELF] = ct_u64(lines_time(&line->self));
		row[L_APP] = ct_u64(line->total.of[CT_COST_APP]);
		if (ct_stacks_sampled(a->trace)) {
			row[L_ERROR] = ct_u64(lines_error(&line->total, &all));
			row[L_BEFORE] = ct_u64(line->total.of[CT_COST_BEFORE]);
			row[L_SAMPLES] = ct_u64(lines_samples(&line->total));
			if (lines_samples(&line->total))
				row[L_WAITS] = ct_double(100 - lines_share(line->total.of[CT_COST_STATE + CT_SAMPLE_RUNNING],
									   lines_samples(&line->total)));
		}
		row[L_CUDA] = ct_u64(line->total.of[CT_COST_TIME]);
		row[L_CALLS] = ct_u64(line->self.of[CT_COST_CALLS]);
		row[L_CALLS_TOTAL] = ct_u64(line->total.of[CT_COST_CALLS]);
		row[L_LAUNCHES] = ct_u64(line->total.of[CT_COST_LAUNCHES]);
		if (a->trace->has_gpu)
			row[L_GPU] = ct_u64(line->total.of[CT_COST_GPU]);
		row[L_BYTES] = ct_u64(line->total.of[CT_COST_BYTES]);
		row[L_LINE] = lines_words(t, &f);
		row[L_FILE] = ct_format(t, "%.*s", f.file_len, f.file);
		row[L_FUNCTION] = ct_format(t, "%.*s", f.name_len, f.name);
	}
	lines_notes(a, t);
	return rc ? rc : ct_table_sort(t, L_SELF, true);
}

/* ----------------------------------------------------------------- stacks --- */

enum { S_SHARE, S_TIME, S_APP, S_CALLS, S_LAUNCHES, S_GPU, S_BYTES, S_STACK, S_COLUMNS };

static const struct ct_column stacks_columns[S_COLUMNS] = {
	[S_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[S_TIME] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[S_APP] = { "Application (ns)", "app", CT_CELL_NS, 1 },
	[S_CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[S_LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 3 },
	[S_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 2 },
	[S_BYTES] = { "Copied (B)", "copied", CT_CELL_BYTES, 4 },
	[S_STACK] = { "Stack", "stack, the innermost line first", CT_CELL_TEXT, 0 },
};

static struct ct_cell stacks_text(struct ct_analysis *a, struct ct_table *t, uint32_t node)
{
	struct ct_stack_frame f = { .parent = node };
	char text[8192] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < CT_STACK_DEPTH && used + 16 < sizeof(text) &&
				 ct_stack_frame(&a->trace->reg, f.parent, &f); i++) {
		used += snprintf(text + used, sizeof(text) - used, "%s", i ? " < " : "");
		used += strlen(ct_stack_words(&f, text + used, sizeof(text) - used));
	}
	return ct_format(t, "%s", text);
}

static int stacks_end(struct ct_analysis *a)
{
	const struct ct_stack_costs *costs = ct_analysis_state(a, &ct_stack_costs_analyser);
	struct ct_table *t = ct_analysis_table(a, "stacks", "Stacks of the program, by the time before and in its calls of CUDA",
					       stacks_columns, S_COLUMNS);
	struct ct_stack_cost all, unknown;

	lines_all(costs, &all, &unknown);
	for (size_t i = 0; i < costs->sums.count; i++) {
		const struct ct_stack_sum *n = &costs->sums.list[i];
		struct ct_cell *row;

		if (!n->node)
			continue;
		row = ct_table_row(t);
		row[S_SHARE] = ct_double(lines_share(lines_time(&n->cost), lines_time(&all)));
		row[S_TIME] = ct_u64(lines_time(&n->cost));
		row[S_APP] = ct_u64(n->cost.of[CT_COST_APP]);
		row[S_CALLS] = ct_u64(n->cost.of[CT_COST_CALLS]);
		row[S_LAUNCHES] = ct_u64(n->cost.of[CT_COST_LAUNCHES]);
		if (a->trace->has_gpu)
			row[S_GPU] = ct_u64(n->cost.of[CT_COST_GPU]);
		row[S_BYTES] = ct_u64(n->cost.of[CT_COST_BYTES]);
		row[S_STACK] = stacks_text(a, t, n->node);
	}
	lines_notes(a, t);
	return ct_table_sort(t, S_TIME, true);
}

static void lines_free(struct ct_analysis *a)
{
	struct lines *s = a->state;

	ct_keyed_free(&s->lines);
}

const struct ct_analyser ct_report_lines = {
	.name = "lines",
	.summary = "lines of the program (record --stacks): time, calls, launches, the GPU's time, bytes",
	.single = true,
	.needs = lines_needs,
	.state_size = sizeof(struct lines),
	.end = lines_end,
	.free = lines_free,
};

const struct ct_analyser ct_report_stacks = {
	.name = "stacks",
	.summary = "the same for whole stacks",
	.single = true,
	.needs = lines_needs,
	.end = stacks_end,
};
