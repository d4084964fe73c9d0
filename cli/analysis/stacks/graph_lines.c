// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CUDA graphs by the lines that captured their kernels, or added them as nodes.  A graph launch has the line that replays; this
 * says what it replays.
 */
#include <errno.h>

#include "analysis/stacks/costs.h"
#include "analysis/stacks/graphs.h"
#include "analysis/stacks/hot.h"
#include "analysis/stacks/source_text.h"
#include "view/term.h"

struct graph_lines {
	struct ct_sources sources;
};

struct graph_row {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;
	uint64_t kernels, ns;
};

enum { G_GRAPH, G_SHARE, G_LAUNCHES, G_KERNELS, G_GPU, G_LINE, G_FUNCTION, G_SOURCE, G_REPLAY, G_FILE, G_COLUMNS };

static const struct ct_column graph_columns[G_COLUMNS] = {
	[G_GRAPH] = { "Graph", "graph", CT_CELL_ID, 0 },
	[G_SHARE] = { "Kernels (%)", "of it", CT_CELL_PERCENT, 0 },
	[G_LAUNCHES] = { "Graph Launches", "launches", CT_CELL_COUNT, 0 },
	[G_KERNELS] = { "Captured Kernels", "kernels", CT_CELL_COUNT, 0 },
	[G_GPU] = { "GPU Time (ns)", "GPU", CT_CELL_NS, 0 },
	[G_LINE] = { "Line", "made at", CT_CELL_TEXT, 0 },
	[G_FUNCTION] = { "Function", "function", CT_CELL_TEXT, 1 },
	[G_SOURCE] = { "Source", "source", CT_CELL_TEXT, 4 },
	[G_REPLAY] = { "Launched", "launched at", CT_CELL_TEXT, 2 },
	[G_FILE] = { "File", "file", CT_CELL_TEXT, 5 },
};

/* The line of the program, or where libraries are not folded the innermost one. */
static bool graph_line(const struct ct_analysis *a, uint32_t stack, struct ct_stack_frame *f, uint32_t *node)
{
	*node = stack;
	return a->filter->fold ? stack && ct_stack_own(&a->trace->reg, stack, f, node) : ct_stack_frame(&a->trace->reg, stack, f);
}

static struct ct_cell graph_words(struct ct_table *t, const struct ct_stack_frame *f)
{
	char text[300];

	return ct_text(t, ct_stack_place(f, text, sizeof(text)));
}

static int graph_rows(struct ct_analysis *a, struct ct_table *t, const struct ct_graphs *graphs, const struct ct_cuda_graph *made)
{
	struct graph_lines *s = a->state;
	CT_KEYED(struct graph_row) rows = { 0 };
	struct ct_graph_kernel k = { 0 };
	struct ct_stack_frame f;
	uint32_t node;
	char text[200];

	while (ct_graph_kernel(graphs, made, &k)) {
		struct graph_row *row = ct_keyed_put(&rows, graph_line(a, k.stack, &f, &node) ? (uint64_t)f.function << 32 | f.line : 0);

		if (!row)
			return ct_keyed_free(&rows), -ENOMEM;
		row->node = node;
		row->kernels++;
		row->ns += k.ns;
	}
	for (size_t i = 0; i < rows.count; i++) {
		struct ct_cell *cells = ct_table_row(t);

		cells[G_GRAPH] = ct_u64(made->number);
		cells[G_SHARE] = ct_double(100.0 * rows.list[i].kernels / made->kernels);
		cells[G_LAUNCHES] = ct_u64(made->launches);
		cells[G_KERNELS] = ct_u64(rows.list[i].kernels);
		if (made->told)
			cells[G_GPU] = ct_u64(rows.list[i].ns);
		if (graph_line(a, made->replay, &f, &node))
			cells[G_REPLAY] = graph_words(t, &f);
		if (!rows.list[i].key || !ct_stack_frame(&a->trace->reg, rows.list[i].node, &f))
			continue;
		cells[G_LINE] = graph_words(t, &f);
		cells[G_FUNCTION] = ct_format(t, "%.*s", f.name_len, f.name);
		cells[G_FILE] = ct_format(t, "%.*s", f.file_len, f.file);
		if (*ct_source_text(&s->sources, &a->trace->reg, &f, text, sizeof(text)))
			cells[G_SOURCE] = ct_text(t, text);
	}
	ct_keyed_free(&rows);
	return 0;
}

static int graph_lines_end(struct ct_analysis *a)
{
	const struct ct_graphs *graphs = ct_analysis_state(a, &ct_graphs_analyser);
	struct ct_table *t = ct_analysis_table(a, "graph_lines", "Lines of the program that made the nodes of CUDA graphs",
					       graph_columns, G_COLUMNS);
	bool recorded = true, told = true;
	char n[CT_TERM_TEXT];
	int rc = 0;

	for (const struct ct_cuda_graph *made = ct_graphs_next(graphs, NULL); made && !rc; made = ct_graphs_next(graphs, made)) {
		if (!made->launches || !made->kernels || !made->whole)
			continue;
		rc = graph_rows(a, t, graphs, made);
		recorded &= made->nodes_count > 0;
		told &= made->told || !made->nodes_count;
	}
	if (!ct_stacks_recorded(a->trace))
		ct_table_note(t, "No stacks were recorded: cudatrace record --stacks -- PROGRAM");
	else if (!recorded)
		ct_table_note(t, "The GPU's time by line is known with record --gpu=nodes.");
	if (!told)
		ct_table_note(t, "The GPU's time by line is not known of graphs where it is not known of each kernel of a replay which node it is.");
	if (ct_graphs_unknown(graphs))
		ct_table_note(t, "%s graph launch%s left out: not all kernels of these graphs are known, as where they were made before the recording "
			      "began, or an older version recorded them.", ct_term_count(n, ct_graphs_unknown(graphs)),
			      ct_graphs_unknown(graphs) == 1 ? "" : "es");
	return rc ? rc : ct_table_sort(t, G_KERNELS, true);
}

static void graph_lines_free(struct ct_analysis *a)
{
	struct graph_lines *s = a->state;

	ct_sources_free(&s->sources);
}

static const struct ct_analyser *const needs[] = { &ct_graphs_analyser, NULL };

const struct ct_analyser ct_report_graph_lines = {
	.name = "graph_lines",
	.summary = "CUDA graphs: which lines of the program captured or added their kernels (record --stacks)",
	.needs = needs,
	.single = true,
	.state_size = sizeof(struct graph_lines),
	.end = graph_lines_end,
	.free = graph_lines_free,
};
