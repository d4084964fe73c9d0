// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See call_print.h.  Must never print more than CT_CALL_PARTS_MAX calls of a tree, each with at
 * most one line for what was left out inside it.
 */
#include "explain/calls/call_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/folds.h"
#include "analysis/stacks/source_text.h"
#include "explain/calls/call_detail.h"
#include "explain/calls/call_nodes.h"
#include "explain/calls/call_tables.h"
#include "view/term.h"

#define REST_NAMES	3	/* functions that a line names */
#define INDENT_MOST	24

/* What is printed of a tree. */
struct print_tree {
	struct ct_call_tree *t;
	const struct ct_analysis *a;
	FILE *out;
	unsigned int width;		/* of a line; 0: not limited */
	unsigned int start, columns;	/* of the first column; of all in front of a call */
	bool *shown;
	uint32_t *child, *next;		/* by node: those that are shown, CT_NODE_NONE: none */
	uint32_t *rest;			/* by node: its first sum, in rests as sorted */
};

/* -------------------------------------------------------------- what to show --- */

struct print_weight {
	uint64_t weight;
	uint32_t node;
};

static int print_by_weight(const void *a, const void *b)
{
	const struct print_weight *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

/* The heaviest nodes.  None is heavier than what it is in, or comes before it. */
static int print_choose(struct print_tree *p, uint32_t parts)
{
	struct ct_call_tree *t = p->t;
	struct print_weight *list = malloc(t->nodes.count * sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nodes.count; i++)
		list[i] = (struct print_weight){ t->nodes.list[i].weight, i };
	qsort(list, t->nodes.count, sizeof(*list), print_by_weight);
	for (uint32_t i = 0; i < t->nodes.count && i < parts; i++)
		p->shown[list[i].node] = true;
	free(list);
	return 0;
}

/* Links the nodes that are shown, in the order of time; those that are not become sums. */
static int print_link(struct print_tree *p)
{
	struct ct_call_tree *t = p->t;
	int rc = 0;

	for (uint32_t i = 0; i < t->nodes.count; i++)
		p->child[i] = p->next[i] = CT_NODE_NONE;
	for (uint32_t i = t->nodes.count; i-- > 1 && !rc;) {
		uint32_t parent = t->nodes.list[i].parent;

		if (p->shown[i]) {
			p->next[i] = p->child[parent];
			p->child[parent] = i;
		} else if (p->shown[parent]) {
			rc = ct_nodes_rest(t, t->nodes.list[parent].key, t->nodes.list[i].class, 1, t->nodes.list[i].duration);
		}
	}
	return rc;
}

static void print_index_rests(struct print_tree *p)
{
	struct ct_call_tree *t = p->t;

	ct_nodes_sum(t);
	for (uint32_t i = 0; i < t->nodes.count; i++)
		p->rest[i] = CT_NODE_NONE;
	for (uint32_t i = t->rests.count; i-- > 0;)
		p->rest[t->rests.list[i].parent] = i;
}

/* ------------------------------------------------------------------ the text --- */

/* Columns in front of the call: start, duration, self, layer. */
#define TREE_FORMAT	"%*s %9s %9s  %-7s %*s"
#define TREE_COLUMNS	30	/* without the first one */
#define TEXT_WANTED	24	/* columns that a call keeps however deep it is */

/* A line's text from column @at on, cut to the width; @text is of the trace. */
static void print_text(const struct print_tree *p, unsigned int at, const char *text)
{
	char clean[4 * 1000];
	unsigned int most = sizeof(clean) / 4 - 2;

	if (p->width)
		most = p->width > at + 16 ? p->width - at : 16;
	if (most > sizeof(clean) / 4 - 2)
		most = sizeof(clean) / 4 - 2;
	fprintf(p->out, "%s\n", ct_term_clean(clean, sizeof(clean), text, most));
}

static unsigned int print_indent(const struct print_tree *p, unsigned int depth)
{
	unsigned int indent = 2 * depth, most = 2 * INDENT_MOST;

	if (p->width && p->width < p->columns + TEXT_WANTED + most)
		most = p->width > p->columns + TEXT_WANTED ? p->width - p->columns - TEXT_WANTED : 0;
	return indent < most ? indent : most;
}

static void print_flags(const struct ct_call_node *n, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s%s", n->failed ? " = " : "",
		 n->failed ? n->result ? n->result : "failed" : "",
		 n->abandoned ? " (it was left: how long it took is not known)" :
		 !n->returned && !n->instant ? " (its end is not in the trace)" : "",
		 n->begin_lost && !ct_class_is(n->class, CT_IS_SWITCH) ? " (its begin was lost)" : "");
}

static void print_node(const struct print_tree *p, uint32_t index)
{
	const struct ct_call_node *n = &p->t->nodes.list[index];
	char text[1024], ns[CT_TERM_TEXT], self[CT_TERM_TEXT], start[48], flags[256];
	uint64_t root = p->t->target.begin;
	unsigned int indent = print_indent(p, n->depth);

	snprintf(start, sizeof(start), "%s%.3f", n->begin < root ? "-" : "",
		 (n->begin < root ? root - n->begin : n->begin - root) / 1e3);
	ct_term_ns(ns, n->duration);
	ct_term_ns(self, n->self);
	if (n->instant || n->abandoned || !n->returned)
		strcpy(ns, "-");
	if (n->instant)
		strcpy(self, "-");
	print_flags(n, flags, sizeof(flags));
	fprintf(p->out, TREE_FORMAT, (int)p->start, start, ns, self,
		ct_call_layer(n->class, n->interrupt, n->deferred), (int)indent, "");
	/* That it failed comes before what says less: a line may be cut at its end. */
	if (ct_class_is(n->class, CT_IS_SWITCH))
		snprintf(text, sizeof(text), "%s%s", n->detail ? n->detail : ct_call_name(n->class), flags);
	else if (n->ioctl && n->detail)
		snprintf(text, sizeof(text), "%.128s  %.*s%s%s", ct_call_name(n->class),
			 (int)strcspn(n->detail, " "), n->detail, flags,
			 n->detail + strcspn(n->detail, " "));
	else
		snprintf(text, sizeof(text), "%.128s%s%s%s", ct_call_name(n->class), flags,
			 n->detail ? "  " : "", n->detail ? n->detail : "");
	print_text(p, p->columns + indent, text);
}

/* "... and 1,204 more calls of os_alloc_mem, 3.20 ms; 12 of 3 other functions, 1.00 us" */
static void print_rest(const struct print_tree *p, uint32_t index)
{
	const struct ct_call_node *n = &p->t->nodes.list[index];
	uint64_t count = 0, ns = 0;
	char text[1024], number[CT_TERM_TEXT], time[CT_TERM_TEXT];
	unsigned int named = 0, more = 0, indent = print_indent(p, n->depth + 1);
	size_t used = 0;

	for (uint32_t i = p->rest[index]; i < p->t->rests.count && p->t->rests.list[i].parent == index; i++) {
		count += p->t->rests.list[i].count;
		ns += p->t->rests.list[i].ns;
	}
	if (!count)
		return;
	for (uint32_t i = p->rest[index]; i < p->t->rests.count && p->t->rests.list[i].parent == index; i++) {
		const struct ct_call_rest *r = &p->t->rests.list[i];

		if (!r->class)
			continue;
		if (named == REST_NAMES) {
			more++;
			continue;
		}
		used += snprintf(text + used, sizeof(text) - used, "%s%s %s%.64s", named ? "; " : "... and ",
				 ct_term_count(number, r->count), named ? "of " : "more of ",
				 ct_call_name(r->class));
		used += snprintf(text + used, sizeof(text) - used, ", %s", ct_term_ns(time, r->ns));
		named++;
		count -= r->count < count ? r->count : count;
		ns -= r->ns < ns ? r->ns : ns;
	}
	if (count)
		snprintf(text + used, sizeof(text) - used, "%s%s %s of %u other function%s, %s",
			 named ? "; " : "... and ", ct_term_count(number, count), named ? "" : "more",
			 more, more == 1 ? "" : "s", ct_term_ns(time, ns));
	fprintf(p->out, TREE_FORMAT, (int)p->start, "", "", "", "", (int)indent, "");
	print_text(p, p->columns + indent, text);
}

static void print_nodes(const struct print_tree *p)
{
	uint32_t i = 0;

	fprintf(p->out, TREE_FORMAT "%s\n", (int)p->start, "start us", "duration", "self", "layer",
		0, "", "call");
	for (;;) {
		print_node(p, i);
		if (p->child[i] != CT_NODE_NONE) {
			i = p->child[i];
			continue;
		}
		print_rest(p, i);
		while (i && p->next[i] == CT_NODE_NONE) {
			i = p->t->nodes.list[i].parent;
			print_rest(p, i);
		}
		if (!i)
			return;
		i = p->next[i];
	}
}

#define PRINT_LINES	16	/* of a stack */

/* A line, and its text if that is known. */
static void print_line(const struct print_tree *p, struct ct_sources *sources, const struct ct_fold *fold)
{
	char words[CT_STRING_MAX], text[200];

	if (fold->frames)
		ct_fold_words(p->a->filter, fold, words, sizeof(words));
	else
		ct_stack_words(&fold->f, words, sizeof(words));
	fputs("  ", p->out);
	print_text(p, 2, words);
	if (fold->frames || !*ct_source_text(sources, &p->a->trace->reg, &fold->f, text, sizeof(text)))
		return;
	fputs("      ", p->out);
	print_text(p, 6, text);
}

/* The lines of the program that made the call, the innermost first. */
static void print_stack(const struct print_tree *p)
{
	struct ct_fold *folds = calloc(CT_STACK_DEPTH, sizeof(*folds));
	unsigned int count = folds ? ct_folds(p->a->filter, &p->a->trace->reg, p->t->called_from, folds) : 0;
	struct ct_sources sources = { 0 };

	if (count)
		print_text(p, 0, "called from");
	for (unsigned int i = 0; i < count && i < PRINT_LINES; i++)
		print_line(p, &sources, &folds[i]);
	if (count > PRINT_LINES)
		fprintf(p->out, "  ... and %u more lines\n", count - PRINT_LINES);
	ct_sources_free(&sources);
	free(folds);
}

static void print_head(const struct print_tree *p)
{
	const struct ct_call_tree *t = p->t;
	const struct ct_call_node *root = t->nodes.list;
	char process[96], text[1024], ns[CT_TERM_TEXT];
	size_t used = 0;

	snprintf(text, sizeof(text), "%.128s: call %llu of thread %u, %s", ct_call_name(root->class),
		 (unsigned long long)root->key, root->tid,
		 ct_processes_name(p->a->processes, root->pid, process, sizeof(process)));
	print_text(p, 0, text);
	used = snprintf(text, sizeof(text), "at %.6f ms, ",
			((double)root->begin - (double)p->a->trace->reg.start) / 1e6);
	if (root->instant)
		snprintf(text + used, sizeof(text) - used, "without a duration");
	else if (root->abandoned)
		snprintf(text + used, sizeof(text) - used,
			 "it was left (by an exception or longjmp); that was noticed %s later",
			 ct_term_ns(ns, root->duration));
	else if (root->returned)
		snprintf(text + used, sizeof(text) - used, "took %s", ct_term_ns(ns, root->duration));
	else if (t->end_lost)
		snprintf(text + used, sizeof(text) - used, "its end was lost; what is known of it lasts %s",
			 ct_term_ns(ns, t->total));
	else if (t->total)
		snprintf(text + used, sizeof(text) - used,
			 "it never returned; its thread's last record in it is %s later",
			 ct_term_ns(ns, t->total));
	else
		snprintf(text + used, sizeof(text) - used, "it never returned");
	print_text(p, 0, text);
	if (root->begin_lost)
		print_text(p, 0, "its begin was lost, and maybe records of what its thread did in it");
	used = 0;
	for (uint32_t i = 0; i < t->around_count && i < CT_CALL_AROUND && used < sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%.128s (call %llu)",
				 i ? " > " : "inside ", ct_call_name(t->around[i].class),
				 (unsigned long long)t->around[i].op_id);
	if (used)
		print_text(p, 0, text);
	print_stack(p);
	fputc('\n', p->out);
}

static uint32_t print_parts(const struct ct_call_request *q)
{
	uint64_t parts = q->print.top ? q->print.top : q->question == CT_CALL_SLOWEST && !q->format ? 12 :
			 CT_CALL_PARTS_MAX;

	return parts < CT_CALL_PARTS_MAX ? parts : CT_CALL_PARTS_MAX;
}

/* What is shown of a tree, as text or as rows. */
static int print_tree(const struct ct_analysis *a, struct ct_call_tree *t,
		      const struct ct_call_request *q, FILE *out, struct ct_call_tables *tables)
{
	struct print_tree p = { .t = t, .a = a, .out = out, .width = q->print.width };
	char start[48];
	int rc = -ENOMEM;

	p.shown = calloc(t->nodes.count, sizeof(*p.shown));
	p.child = malloc(t->nodes.count * sizeof(*p.child));
	p.next = malloc(t->nodes.count * sizeof(*p.next));
	p.rest = malloc(t->nodes.count * sizeof(*p.rest));
	if (p.shown && p.child && p.next && p.rest)
		rc = print_choose(&p, print_parts(q));
	if (!rc)
		rc = print_link(&p);
	p.start = snprintf(start, sizeof(start), " %.3f", t->total / 1e3);
	p.start = p.start < sizeof("  start us") - 1 ? sizeof("  start us") - 1 : p.start;
	p.columns = p.start + TREE_COLUMNS;
	if (!rc) {
		print_index_rests(&p);
		if (tables) {
			ct_call_tables_add(tables, a, t, p.shown);
		} else {
			print_head(&p);
			print_nodes(&p);
		}
	}
	free(p.shown);
	free(p.child);
	free(p.next);
	free(p.rest);
	return rc;
}

static int print_one(const struct ct_analysis *a, struct ct_call_tree *t,
		     const struct ct_call_request *q, FILE *out)
{
	int rc = print_tree(a, t, q, out, NULL);

	if (rc)
		return rc;
	fputc('\n', out);
	return ct_call_tables_text(a, t, q, out);
}

int ct_call_print(const struct ct_analysis *a, const struct ct_call_request *q, FILE *out)
{
	const struct ct_call_trees *s = a->state;
	struct ct_call_tables tables;
	int rc = 0;

	if (q->format)
		ct_call_tables_begin(&tables, a->trace->has_gpu);
	for (uint32_t i = 0; i < s->count && !rc; i++) {
		if (!s->list[i].nodes.count)
			continue;
		if (!q->format && i)
			fputc('\n', out);
		rc = q->format ? print_tree(a, &s->list[i], q, out, &tables) :
				 print_one(a, &s->list[i], q, out);
	}
	if (q->format) {
		int closing = ct_call_tables_end(&tables, q, out, !rc);

		rc = rc ? rc : closing;
	}
	return rc;
}
