// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of the program by what they cost, and whole stacks: time between calls of CUDA and in them,
 * launches, the GPU's time for what they launched, bytes copied, memory that is held.  A line's own figures are those of calls
 * that it makes itself; its totals have those of what it calls, too, each stack once.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/costs.h"
#include "analysis/stacks/folds.h"
#include "analysis/stacks/hot.h"
#include "analysis/stacks/source_text.h"
#include "base/grow.h"
#include "view/term.h"

static const struct ct_analyser *const lines_needs[] = { &ct_stack_costs_analyser, NULL };

/* Of a line of a function; or of all lines of a library in stacks where the program itself has none. */
struct lines_line {
	uint64_t key;			/* function << 32 | line; the library's index in modules */
	uint64_t module;		/* 1: of a library */
	uint32_t node;			/* one of those that are this line */
	uint32_t seen;			/* the last stack that counted, index + 1 */
	struct ct_stack_cost self, total;
	/* The library that most of its own time is in, by majority. */
	struct ct_module_vote inside;
};

struct lines_module {
	const char *name;		/* not terminated */
	int len;
};

struct lines {
	CT_KEYED(struct lines_line) lines;
	struct lines_module *modules;
	unsigned int modules_count, modules_room;
	struct ct_sources sources;
	struct ct_fold folds[CT_STACK_DEPTH];
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
	double n = all->of[CT_COST_DIVIDES] + all->of[CT_COST_WAITED], share = n ? c->of[CT_COST_DIVIDES] / n : 0;

	return n ? 2 * all->of[CT_COST_DIVIDED] * sqrt(share * (1 - share) / n) : 0;
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

static void lines_notes(const struct ct_analysis *a, struct ct_table *t, bool folded)
{
	const struct ct_stack_costs *costs = ct_analysis_state(a, &ct_stack_costs_analyser);
	const struct ct_stack_idle *idle = ct_analysis_state(a, &ct_stack_idle_analyser);
	const char *refused = ct_registry_info(&a->trace->reg, "stacks_refused"), *missed = ct_registry_info(&a->trace->reg, "samples_missed");
	char ns[CT_TERM_TEXT], none[CT_TERM_TEXT];
	struct ct_stack_cost all, unknown;

	lines_all(costs, &all, &unknown);
	if (!ct_stacks_recorded(a->trace))
		ct_table_note(t, "No stacks were recorded: cudatrace record --stacks -- PROGRAM");
	else if (refused)
		ct_table_note(t, "Stacks of this Python were not recorded: %s", refused);
	else if (unknown.of[CT_COST_CALLS])
		ct_table_note(t, "%llu of %llu calls have no stack: of functions without one (getters, events), of threads without Python code, or lost.",
			      (unsigned long long)unknown.of[CT_COST_CALLS], (unsigned long long)all.of[CT_COST_CALLS]);
	if (folded)
		ct_table_note(t, "Lines of libraries count for the program's line that called them: --module GLOB shows those of a library, --module '*' all.");
	if (ct_stacks_recorded(a->trace) && !a->filter->pid && a->totals->processes > 1)
		ct_table_note(t, "Of all %u processes together: --pid takes one.", a->totals->processes);
	if (all.of[CT_COST_IDLE])
		ct_table_note(t, "GPU idle: %s between its work, by the line in which the thread was that gave it the next; %s have none: work was queued, or who gave it is not known.",
			      ct_term_ns(ns, all.of[CT_COST_IDLE]), ct_term_ns(none, unknown.of[CT_COST_IDLE]));
	if (idle->forgotten)
		ct_table_note(t, "%s of the GPU's idle time have none because there were too many lines in one gap.", ct_term_ns(ns, idle->forgotten));
	if (all.of[CT_COST_MOST]) {
		ct_table_note(t, "Held at most: memory of the GPU that the line allocated, at the moment at which its process held most.");
		ct_table_note(t, "At the end: what of that memory was not freed.");
	}
	if (costs->held_too_many)
		ct_table_note(t, "What lines hold is not known: there were too many blocks of memory at a time.");
	if (ct_stacks_sampled(a->trace) && all.of[CT_COST_DIVIDES] + all.of[CT_COST_WAITED] >= CT_COSTS_SAMPLES) {
		ct_table_note(t, "Time of the application, between calls, is divided by %llu samples.",
			      (unsigned long long)(all.of[CT_COST_DIVIDES] + all.of[CT_COST_WAITED]));
		ct_table_note(t, "+- is two standard errors of that time.");
		if (missed)
			ct_table_note(t, "%s threads were not sampled, too many came at once: their time is not among it.", missed);
	} else if (ct_stacks_recorded(a->trace))
		ct_table_note(t, "%sTime of the application, between calls, counts for the line of the call that follows.",
			      ct_registry_info(&a->trace->reg, "samples_refused") ? "The recorder could not sample the program. " : "");
	if (all.of[CT_COST_HOLDS])
		ct_table_note(t, "%llu samples are of threads that waited for Python's lock (GIL): they count for the line that held it.",
			      (unsigned long long)all.of[CT_COST_HOLDS]);
	if (all.of[CT_COST_WAITED])
		ct_table_note(t, "Of these samples %llu are of threads that only waited for another one: they count for no line.",
			      (unsigned long long)all.of[CT_COST_WAITED]);
}

static double lines_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

/* ------------------------------------------------------------------ lines --- */

enum { L_SHARE, L_TOTAL, L_SELF, L_APP, L_ERROR, L_WAITS, L_HOLDS, L_CUDA, L_BEFORE, L_SAMPLES, L_CALLS, L_CALLS_TOTAL, L_LAUNCHES, L_GPU, L_IDLE, L_BYTES, L_MOST, L_HELD, L_LINE, L_FUNCTION,
       L_INSIDE, L_SOURCE, L_FILE, L_COLUMNS };

static const struct ct_column lines_columns[L_COLUMNS] = {
	[L_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[L_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[L_SELF] = { "Self Time (ns)", "self", CT_CELL_NS, 0 },
	[L_APP] = { "Application (ns)", "app", CT_CELL_NS, 2 },
	[L_ERROR] = { "Application Error (ns)", "+-", CT_CELL_NS, 5 },
	[L_WAITS] = { "Waiting (%)", "waits", CT_CELL_PERCENT, 5 },
	[L_HOLDS] = { "Holding the GIL (%)", "GIL", CT_CELL_PERCENT, 4 },
	[L_CUDA] = { "CUDA (ns)", "CUDA", CT_CELL_NS, 10 },
	[L_BEFORE] = { "Before CUDA (ns)", "startup", CT_CELL_NS, 6 },
	[L_SAMPLES] = { "Samples", "samples", CT_CELL_COUNT, 9 },
	[L_CALLS] = { "Self Calls", "calls", CT_CELL_COUNT, 7 },
	[L_CALLS_TOTAL] = { "Total Calls", "all calls", CT_CELL_COUNT, 8 },
	[L_LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 5 },
	[L_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 3 },
	[L_IDLE] = { "GPU Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
	[L_BYTES] = { "Copied (B)", "copied", CT_CELL_BYTES, 6 },
	[L_MOST] = { "Held at Most (B)", "held at most", CT_CELL_BYTES, 7 },
	[L_HELD] = { "Held at End (B)", "at the end", CT_CELL_BYTES, 8 },
	[L_LINE] = { "Line", "line", CT_CELL_TEXT, 0 },
	[L_FUNCTION] = { "Function", "function", CT_CELL_TEXT, 0 },
	[L_INSIDE] = { "Inside", "in", CT_CELL_TEXT, CT_COLUMN_DETAIL(3) },
	[L_SOURCE] = { "Source", "source", CT_CELL_TEXT, CT_COLUMN_DETAIL(4) },
	[L_FILE] = { "File", "file", CT_CELL_TEXT, CT_COLUMN_DETAIL(11) },
};

/* The index of a library's name; UINT32_MAX: no memory. */
static uint32_t lines_module(struct lines *s, const struct ct_fold *fold)
{
	for (uint32_t i = 0; i < s->modules_count; i++)
		if (s->modules[i].len == fold->module_len && !memcmp(s->modules[i].name, fold->module, fold->module_len))
			return i;
	if (!ct_room(s->modules, s->modules_count, s->modules_room))
		return UINT32_MAX;
	s->modules[s->modules_count] = (struct lines_module){ fold->module, fold->module_len };
	return s->modules_count++;
}

static struct lines_line *lines_line(struct lines *s, const struct ct_fold *fold)
{
	uint32_t module = fold->frames ? lines_module(s, fold) : 0;
	uint64_t key = fold->frames ? module : (uint64_t)fold->f.function << 32 | fold->f.line;
	struct lines_line *line;

	if (module == UINT32_MAX)
		return NULL;
	line = ct_keyed_put_pair(&s->lines, key, fold->frames != 0);
	if (line)
		line->node = fold->node;
	return line;
}

/* Adds a stack's cost to each of its lines; that of libraries to the line that called them. */
static int lines_stack(struct ct_analysis *a, const struct ct_stack_sum *stack, uint32_t index)
{
	struct lines *s = a->state;
	unsigned int count = ct_folds(a->filter, &a->trace->reg, stack->node, s->folds), own = 0;
	bool first = true;

	for (unsigned int i = 0; i < count; i++)
		own += !s->folds[i].frames;
	for (unsigned int i = 0; i < count; i++) {
		const struct ct_fold *fold = &s->folds[i];
		struct lines_line *line;

		if (own && fold->frames)
			continue;
		line = lines_line(s, fold);
		if (!line)
			return -ENOMEM;
		if (first) {
			ct_stack_cost_add(&line->self, &stack->cost);
			ct_module_vote(&line->inside, i ? s->folds[i - 1].module : "", i ? s->folds[i - 1].module_len : 0,
				       lines_time(&stack->cost));
		}
		first = false;
		/* A line that calls itself. */
		if (line->seen != index + 1)
			ct_stack_cost_add(&line->total, &stack->cost);
		line->seen = index + 1;
	}
	return 0;
}

/* What a row is of. */
static void lines_where(struct ct_analysis *a, struct ct_table *t, const struct lines_line *line,
			const struct ct_stack_frame *f, struct ct_cell *row)
{
	struct lines *s = a->state;
	const struct lines_module *m = line->module ? &s->modules[line->key] : NULL;
	char place[300], text[160];

	if (m) {
		row[L_LINE] = m->len ? ct_format(t, "in %.*s", m->len, m->name) : ct_text(t, "in generated code");
		return;
	}
	row[L_LINE] = ct_text(t, ct_stack_place(f, place, sizeof(place)));
	row[L_FILE] = ct_format(t, "%.*s", f->file_len, f->file);
	row[L_FUNCTION] = ct_format(t, "%.*s", f->name_len, f->name);
	if (line->inside.len)
		row[L_INSIDE] = ct_format(t, "%.*s", line->inside.len, line->inside.name);
	if (*ct_source_text(&s->sources, &a->trace->reg, f, text, sizeof(text)))
		row[L_SOURCE] = ct_text(t, text);
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
			if (lines_samples(&line->total)) {
				row[L_WAITS] = ct_double(100 - lines_share(line->total.of[CT_COST_STATE + CT_SAMPLE_RUNNING] +
									   line->total.of[CT_COST_HOLDS], lines_samples(&line->total)));
				if (all.of[CT_COST_HOLDS])
					row[L_HOLDS] = ct_double(lines_share(line->total.of[CT_COST_HOLDS], lines_samples(&line->total)));
			}
		}
		row[L_CUDA] = ct_u64(line->total.of[CT_COST_TIME]);
		row[L_CALLS] = ct_u64(line->self.of[CT_COST_CALLS]);
		row[L_CALLS_TOTAL] = ct_u64(line->total.of[CT_COST_CALLS]);
		row[L_LAUNCHES] = ct_u64(line->total.of[CT_COST_LAUNCHES]);
		if (a->trace->has_gpu) {
			row[L_GPU] = ct_u64(line->total.of[CT_COST_GPU]);
			row[L_IDLE] = ct_u64(line->total.of[CT_COST_IDLE]);
		}
		row[L_BYTES] = ct_u64(line->total.of[CT_COST_BYTES]);
		row[L_MOST] = ct_u64(line->total.of[CT_COST_MOST]);
		row[L_HELD] = ct_u64(line->total.of[CT_COST_HELD]);
		lines_where(a, t, line, &f, row);
	}
	lines_notes(a, t, a->filter->fold && s->lines.count);
	return rc ? rc : ct_table_sort(t, L_SELF, true);
}

/* ----------------------------------------------------------------- stacks --- */

enum { S_SHARE, S_TIME, S_APP, S_CALLS, S_LAUNCHES, S_GPU, S_IDLE, S_BYTES, S_MOST, S_HELD, S_STACK, S_COLUMNS };

static const struct ct_column stacks_columns[S_COLUMNS] = {
	[S_SHARE] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[S_TIME] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[S_APP] = { "Application (ns)", "app", CT_CELL_NS, 1 },
	[S_CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[S_LAUNCHES] = { "Launches", "launches", CT_CELL_COUNT, 3 },
	[S_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 2 },
	[S_IDLE] = { "GPU Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
	[S_BYTES] = { "Copied (B)", "copied", CT_CELL_BYTES, 4 },
	[S_MOST] = { "Held at Most (B)", "held at most", CT_CELL_BYTES, 4 },
	[S_HELD] = { "Held at End (B)", "at the end", CT_CELL_BYTES, 5 },
	[S_STACK] = { "Stack", "stack, the innermost line first", CT_CELL_TEXT, 0 },
};

/* Stacks that are the same to people. */
struct stacks_node {
	uint64_t caller;		/* the one below it, + 1; 0: it is the outermost */
	uint64_t at;			/* function << 32 | line; the library's index, with its highest bit */
	unsigned int least, most;	/* frames of a library */
	struct ct_fold fold;
	struct ct_stack_cost cost;
};

struct stacks {
	struct lines lines;		/* names of libraries, and room */
	CT_KEYED(struct stacks_node) nodes;
};

static int stacks_add(struct ct_analysis *a, const struct ct_stack_sum *sum)
{
	struct stacks *s = a->state;
	unsigned int i = ct_folds(a->filter, &a->trace->reg, sum->node, s->lines.folds);
	uint64_t caller = 0;

	while (i--) {
		const struct ct_fold *fold = &s->lines.folds[i];
		uint64_t at = (uint64_t)fold->f.function << 32 | fold->f.line;
		struct stacks_node *n;

		if (fold->frames)
			at = 1ull << 63 | lines_module(&s->lines, fold);
		n = ct_keyed_get_pair(&s->nodes, caller, at);
		if (!n) {
			n = ct_keyed_put_pair(&s->nodes, caller, at);
			if (!n || at == (1ull << 63 | UINT32_MAX))
				return -ENOMEM;
			n->fold = *fold;
			n->least = n->most = fold->frames;
		}
		n->least = fold->frames < n->least ? fold->frames : n->least;
		n->most = fold->frames > n->most ? fold->frames : n->most;
		caller = n - s->nodes.list + 1;
		if (!i)
			ct_stack_cost_add(&n->cost, &sum->cost);
	}
	return 0;
}

static struct ct_cell stacks_text(struct ct_analysis *a, struct ct_table *t, const struct stacks_node *n)
{
	struct stacks *s = a->state;
	char text[8192] = "";
	size_t used = 0;

	for (bool inner = true; used + 16 < sizeof(text); inner = false) {
		used += snprintf(text + used, sizeof(text) - used, "%s", inner ? "" : " < ");
		used += strlen(ct_fold_words(a->filter, &n->fold, text + used, sizeof(text) - used));
		/* "in torch: 5 to 7 frames" */
		if (n->least != n->most && used < sizeof(text)) {
			used = memrchr(text, ':', used) - (void *)text;
			used += snprintf(text + used, sizeof(text) - used, ": %u to %u frames", n->least, n->most);
		}
		if (!n->caller)
			break;
		n = &s->nodes.list[n->caller - 1];
	}
	return ct_format(t, "%s", text);
}

/* Has it some of what the columns show? */
static bool stacks_some(const struct ct_stack_cost *c)
{
	return lines_time(c) || c->of[CT_COST_CALLS] || c->of[CT_COST_GPU] || c->of[CT_COST_IDLE] || c->of[CT_COST_MOST];
}

static int stacks_end(struct ct_analysis *a)
{
	const struct ct_stack_costs *costs = ct_analysis_state(a, &ct_stack_costs_analyser);
	struct ct_table *t = ct_analysis_table(a, "stacks", "Stacks of the program, by the time before and in its calls of CUDA",
					       stacks_columns, S_COLUMNS);
	struct ct_stack_cost all, unknown;
	struct stacks *s = a->state;
	int rc = 0;

	lines_all(costs, &all, &unknown);
	for (size_t i = 0; i < costs->sums.count && !rc; i++)
		rc = stacks_add(a, &costs->sums.list[i]);
	for (size_t i = 0; i < s->nodes.count && !rc; i++) {
		const struct stacks_node *n = &s->nodes.list[i];
		struct ct_cell *row;

		if (!stacks_some(&n->cost))
			continue;
		row = ct_table_row(t);
		row[S_SHARE] = ct_double(lines_share(lines_time(&n->cost), lines_time(&all)));
		row[S_TIME] = ct_u64(lines_time(&n->cost));
		row[S_APP] = ct_u64(n->cost.of[CT_COST_APP]);
		row[S_CALLS] = ct_u64(n->cost.of[CT_COST_CALLS]);
		row[S_LAUNCHES] = ct_u64(n->cost.of[CT_COST_LAUNCHES]);
		if (a->trace->has_gpu) {
			row[S_GPU] = ct_u64(n->cost.of[CT_COST_GPU]);
			row[S_IDLE] = ct_u64(n->cost.of[CT_COST_IDLE]);
		}
		row[S_BYTES] = ct_u64(n->cost.of[CT_COST_BYTES]);
		row[S_MOST] = ct_u64(n->cost.of[CT_COST_MOST]);
		row[S_HELD] = ct_u64(n->cost.of[CT_COST_HELD]);
		row[S_STACK] = stacks_text(a, t, n);
	}
	lines_notes(a, t, false);
	if (a->filter->fold && s->nodes.count)
		ct_table_note(t, "Frames of libraries are counted: --module GLOB shows those of a library, --module '*' all.");
	return rc ? rc : ct_table_sort(t, S_TIME, true);
}

static void lines_free_all(struct lines *s)
{
	ct_keyed_free(&s->lines);
	ct_sources_free(&s->sources);
	free(s->modules);
}

static void stacks_free(struct ct_analysis *a)
{
	struct stacks *s = a->state;

	ct_keyed_free(&s->nodes);
	lines_free_all(&s->lines);
}

static void lines_free(struct ct_analysis *a)
{
	lines_free_all(a->state);
}

const struct ct_analyser ct_report_lines = {
	.name = "lines",
	.summary = "lines of the program (record --stacks): time, calls, launches, the GPU's time, bytes, memory",
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
	.state_size = sizeof(struct stacks),
	.end = stacks_end,
	.free = stacks_free,
};
