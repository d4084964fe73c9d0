// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_lines.h.  Lines that cost next to nothing of everything are left out with what is below them. */
#include "export/html/html_lines.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/stacks/hot.h"
#include "analysis/stacks/source_text.h"
#include "export/html/json.h"

#define LINES_LEAST	1000u	/* of each cost: a line that has less than one part in so many is left out */
#define LINES_NODES	20000u

static const char *const lines_words[] = { "wall", "app", "cuda", "calls", "launches", "gpu", "idle", "bytes", "most", "held", "startup" };
#define LINES_WEIGHTS	(sizeof(lines_words) / sizeof(*lines_words))

struct lines_node {
	uint64_t node;
	uint64_t cost[LINES_WEIGHTS];	/* with what it calls */
	uint64_t from, to;		/* ns: its first begin and its last end */
	uint32_t index;			/* in the manifest, + 1; 0: it is left out */
};

struct lines {
	CT_KEYED(struct lines_node) nodes;
	uint64_t all[LINES_WEIGHTS];
	uint32_t written;
	struct ct_sources sources;
};

static int lines_add(struct lines *s, struct ct_stack_costs *costs, const struct ct_registry *reg,
		     const struct ct_stack_sum *sum)
{
	struct ct_stack_frame f = { .parent = sum->node };
	uint64_t cost[LINES_WEIGHTS];
	int rc = 0;

	for (unsigned int i = 0; i < LINES_WEIGHTS; i++) {
		cost[i] = ct_stack_cost_sum(&sum->cost, ct_cost_find(lines_words[i]));
		s->all[i] += cost[i];
	}
	for (unsigned int i = 0; i < CT_STACK_DEPTH && f.parent; i++) {
		uint32_t node = ct_stack_same(&costs->tree, reg, f.parent, &rc);
		struct lines_node *n = node ? ct_keyed_put(&s->nodes, node) : NULL;

		if (!n)
			return node ? -ENOMEM : rc;
		for (unsigned int k = 0; k < LINES_WEIGHTS; k++)
			n->cost[k] += cost[k];
		if (sum->to && (!n->to || sum->from < n->from))
			n->from = sum->from;
		n->to = sum->to > n->to ? sum->to : n->to;
		if (!ct_stack_frame(reg, node, &f))
			break;
	}
	return 0;
}

static bool lines_matters(const struct lines *s, const struct lines_node *n)
{
	for (unsigned int i = 0; i < LINES_WEIGHTS; i++)
		if (n->cost[i] && n->cost[i] >= s->all[i] / LINES_LEAST)
			return true;
	return false;
}

/* Writes a line behind its caller; the index in the manifest + 1, 0: it is left out. */
static uint32_t lines_write(struct lines *s, struct ct_stack_costs *costs, const struct ct_registry *reg, uint32_t node,
			    unsigned int depth, struct ct_out *out)
{
	struct lines_node *n = node ? ct_keyed_get(&s->nodes, node) : NULL;
	struct ct_stack_frame f;
	const char *module;
	char words[512];
	uint32_t parent;
	int rc = 0, len;
	bool package;

	if (!n || n->index || depth == CT_STACK_DEPTH || !lines_matters(s, n) || s->written == LINES_NODES ||
	    !ct_stack_frame(reg, node, &f))
		return n ? n->index : 0;
	parent = f.parent ? lines_write(s, costs, reg, ct_stack_same(&costs->tree, reg, f.parent, &rc), depth + 1, out) : 0;
	if (f.parent && !parent)
		return 0;
	ct_out_text(out, s->written ? ",\n[" : "\n[");
	ct_out_u64(out, parent);
	ct_html_text(out, ",", ct_stack_line(&f, words, sizeof(words)));
	for (unsigned int i = 0; i < LINES_WEIGHTS; i++)
		ct_html_u64(out, ",", n->cost[i]);
	ct_html_bool(out, ",", !ct_stack_foreign(&f));
	module = ct_stack_module(&f, &len, &package);
	snprintf(words, sizeof(words), "%.*s", len, ct_stack_foreign(&f) ? module : "");
	ct_html_text(out, ",", words);
	ct_html_text(out, ",", ct_source_text(&s->sources, reg, &f, words, 200));
	ct_html_u64(out, ",", n->from > reg->start ? n->from - reg->start : 0);
	ct_html_u64(out, ",", n->to > reg->start ? n->to - reg->start : 0);
	ct_out_char(out, ']');
	return n->index = ++s->written;
}

int ct_html_lines_write(const struct ct_trace *t, struct ct_engine *e, struct ct_out *out)
{
	const struct ct_analysis *a = ct_engine_result(e, &ct_stack_costs_analyser);
	struct ct_stack_costs *costs = a ? a->state : NULL;
	struct lines s = { 0 };
	int rc = 0;

	if (!costs || !ct_stacks_recorded(t)) {
		ct_out_text(out, "\"lines\":null,\n");
		return 0;
	}
	for (size_t i = 0; i < costs->sums.count && !rc; i++)
		rc = lines_add(&s, costs, &t->reg, &costs->sums.list[i]);
	ct_out_text(out, "\"lines\":{\"weights\":[");
	for (unsigned int i = 0; i < LINES_WEIGHTS; i++)
		ct_html_text(out, i ? "," : "", lines_words[i]);
	ct_out_text(out, "],\"all\":[");
	for (unsigned int i = 0; i < LINES_WEIGHTS; i++)
		ct_html_u64(out, i ? "," : "", s.all[i]);
	ct_out_text(out, "],\"nodes\":[");
	for (size_t i = 0; i < s.nodes.count && !rc; i++)
		lines_write(&s, costs, &t->reg, s.nodes.list[i].node, 0, out);
	ct_out_text(out, "]},\n");
	ct_keyed_free(&s.nodes);
	ct_sources_free(&s.sources);
	return rc;
}
