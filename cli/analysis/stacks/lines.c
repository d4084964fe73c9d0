// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of the program by what they cost, and whole stacks: calls of CUDA, their time, launches, the
 * GPU's time for what they launched, bytes copied.  A line's own figures are those of calls that it makes
 * itself; its totals have those of what it calls, too, each stack once.  Memory is bounded by the number of
 * different stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "trace/stacks/stacks.h"

struct lines_cost {
	uint64_t calls, ns, launches, gpu, bytes;
};

/* Of a stack. */
struct lines_node {
	uint64_t node;
	struct lines_cost cost;
};

/* Of a line of a function. */
struct lines_line {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;			/* one of those that are this line */
	uint32_t seen;			/* the last stack that counted, index + 1 */
	struct lines_cost self, total;
};

struct lines {
	CT_KEYED(struct lines_node) nodes;
	CT_KEYED(struct lines_line) lines;
	struct lines_cost all, unknown;	/* without a stack */
};

static void lines_add(struct lines_cost *to, const struct lines_cost *c)
{
	to->calls += c->calls;
	to->ns += c->ns;
	to->launches += c->launches;
	to->gpu += c->gpu;
	to->bytes += c->bytes;
}

static int lines_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct lines *s = a->state;
	struct lines_cost cost = { 0 };
	struct lines_node *node;

	if (span->kind == CT_SPAN_GPU) {
		cost.gpu = span->duration;
	} else if (span->api && span->kind == CT_SPAN_CALL) {
		cost.calls = 1;
		/* What is inside a call is in its time already. */
		cost.ns = span->depth ? 0 : span->duration;
		cost.launches = ct_class_is(span->class, CT_IS_LAUNCH);
		if (ct_class_is(span->class, CT_IS_TRANSFER) && span->record->fields)
			cost.bytes = ct_record_quick(span->record, CT_QUICK_SIZE);
	} else {
		return 0;
	}
	lines_add(&s->all, &cost);
	if (!span->stack) {
		lines_add(&s->unknown, &cost);
		return 0;
	}
	node = ct_keyed_get(&s->nodes, span->stack);
	if (!node)
		node = ct_keyed_put(&s->nodes, span->stack);
	if (!node)
		return -ENOMEM;
	lines_add(&node->cost, &cost);
	return 0;
}

static bool lines_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API | CT_IS_GPU_KERNEL | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH);
}

/* ------------------------------------------------------------------- rows --- */

static void lines_notes(const struct ct_analysis *a, struct ct_table *t)
{
	const struct lines *s = a->state;
	const char *refused = ct_registry_info(&a->trace->reg, "stacks_refused");

	if (!ct_registry_info(&a->trace->reg, "stacks"))
		ct_table_note(t, "No stacks were recorded: cudatrace record --stacks -- PROGRAM");
	else if (refused)
		ct_table_note(t, "Stacks of this Python were not recorded: %s", refused);
	else if (s->unknown.calls)
		ct_table_note(t, "%llu of %llu calls have no stack: of functions without one (getters, events), of threads without Python code, or lost.",
			      (unsigned long long)s->unknown.calls, (unsigned long long)s->all.calls);
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

enum { L_SHARE, L_TOTAL, L_SELF, L_CALLS, L_CALLS_TOTAL, L_LAUNCHES, L_GPU, L_BYTES, L_LINE, L_FUNCTION, L_FILE, L_COLUMNS };

static const struct ct_column lines_columns[L_COLUMNS] = {
	{ "Time (%)", "time", CT_CELL_PERCENT, 0 },
	{ "Total Time (ns)", "total", CT_CELL_NS, 0 },
	{ "Self Time (ns)", "self", CT_CELL_NS, 0 },
	{ "Self Calls", "calls", CT_CELL_COUNT, 1 },
	{ "Total Calls", "all calls", CT_CELL_COUNT, 4 },
	{ "Launches", "launches", CT_CELL_COUNT, 3 },
	{ "GPU Time (ns)", "GPU", CT_CELL_NS, 2 },
	{ "Copied (B)", "copied", CT_CELL_BYTES, 5 },
	{ "Line", "line", CT_CELL_TEXT, 0 },
	{ "Function", "function", CT_CELL_TEXT, 0 },
	{ "File", "file", CT_CELL_TEXT, 6 },
};

/* Adds a stack's cost to each of its lines. */
static int lines_stack(struct ct_analysis *a, uint32_t index)
{
	struct lines *s = a->state;
	const struct lines_node *stack = &s->nodes.list[index];
	struct ct_stack_frame f = { .parent = stack->node };

	for (unsigned int i = 0; i < CT_STACK_DEPTH; i++) {
		uint32_t node = f.parent;
		struct lines_line *line;
		uint64_t key;

		if (!ct_stack_frame(&a->trace->reg, node, &f))
			break;
		key = (uint64_t)f.function << 32 | f.line;
		line = ct_keyed_get(&s->lines, key);
		if (!line)
			line = ct_keyed_put(&s->lines, key);
		if (!line)
			return -ENOMEM;
		line->node = node;
		if (!i)
			lines_add(&line->self, &stack->cost);
		/* A line that calls itself. */
		if (line->seen != index + 1)
			lines_add(&line->total, &stack->cost);
		line->seen = index + 1;
	}
	return 0;
}

static int lines_end(struct ct_analysis *a)
{
	struct lines *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "lines",
		"Lines of the program: time in calls of CUDA, self and with callees", lines_columns, L_COLUMNS);
	int rc = 0;

	for (size_t i = 0; i < s->nodes.count && !rc; i++)
		rc = lines_stack(a, i);
	for (size_t i = 0; i < s->lines.count && !rc; i++) {
		const struct lines_line *line = &s->lines.list[i];
		struct ct_stack_frame f;
		struct ct_cell *row;

		if (!ct_stack_frame(&a->trace->reg, line->node, &f))
			continue;
		row = ct_table_row(t);
		row[L_SHARE] = ct_double(lines_share(line->total.ns, s->all.ns));
		row[L_TOTAL] = ct_u64(line->total.ns);
		row[L_SELF] = ct_u64(line->self.ns);
		row[L_CALLS] = ct_u64(line->self.calls);
		row[L_CALLS_TOTAL] = ct_u64(line->total.calls);
		row[L_LAUNCHES] = ct_u64(line->total.launches);
		if (a->trace->has_gpu)
			row[L_GPU] = ct_u64(line->total.gpu);
		row[L_BYTES] = ct_u64(line->total.bytes);
		row[L_LINE] = lines_words(t, &f);
		row[L_FILE] = ct_format(t, "%.*s", f.file_len, f.file);
		row[L_FUNCTION] = ct_format(t, "%.*s", f.name_len, f.name);
	}
	lines_notes(a, t);
	return rc ? rc : ct_table_sort(t, L_SELF, true);
}

/* ----------------------------------------------------------------- stacks --- */

enum { S_SHARE, S_TIME, S_CALLS, S_LAUNCHES, S_GPU, S_BYTES, S_STACK, S_COLUMNS };

static const struct ct_column stacks_columns[S_COLUMNS] = {
	{ "Time (%)", "time", CT_CELL_PERCENT, 0 },
	{ "Total Time (ns)", "total", CT_CELL_NS, 0 },
	{ "Calls", "calls", CT_CELL_COUNT, 0 },
	{ "Launches", "launches", CT_CELL_COUNT, 3 },
	{ "GPU Time (ns)", "GPU", CT_CELL_NS, 2 },
	{ "Copied (B)", "copied", CT_CELL_BYTES, 4 },
	{ "Stack", "stack, the innermost line first", CT_CELL_TEXT, 0 },
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
	struct lines *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "stacks", "Stacks of calls of CUDA, by the time in these calls",
					       stacks_columns, S_COLUMNS);

	for (size_t i = 0; i < s->nodes.count; i++) {
		const struct lines_node *n = &s->nodes.list[i];
		struct ct_cell *row = ct_table_row(t);

		row[S_SHARE] = ct_double(lines_share(n->cost.ns, s->all.ns));
		row[S_TIME] = ct_u64(n->cost.ns);
		row[S_CALLS] = ct_u64(n->cost.calls);
		row[S_LAUNCHES] = ct_u64(n->cost.launches);
		if (a->trace->has_gpu)
			row[S_GPU] = ct_u64(n->cost.gpu);
		row[S_BYTES] = ct_u64(n->cost.bytes);
		row[S_STACK] = stacks_text(a, t, n->node);
	}
	lines_notes(a, t);
	return ct_table_sort(t, S_TIME, true);
}

static void lines_free(struct ct_analysis *a)
{
	struct lines *s = a->state;

	ct_keyed_free(&s->nodes);
	ct_keyed_free(&s->lines);
}

const struct ct_analyser ct_report_lines = {
	.name = "lines",
	.summary = "lines of the program (record --stacks): time in CUDA, calls, launches, the GPU's time, bytes",
	.single = true,
	.spans = CT_SPANS_BY_END,
	.wants = lines_wants,
	.state_size = sizeof(struct lines),
	.span = lines_span,
	.end = lines_end,
	.free = lines_free,
};

const struct ct_analyser ct_report_stacks = {
	.name = "stacks",
	.summary = "the same for whole stacks",
	.single = true,
	.spans = CT_SPANS_BY_END,
	.wants = lines_wants,
	.state_size = sizeof(struct lines),
	.span = lines_span,
	.end = stacks_end,
	.free = lines_free,
};
