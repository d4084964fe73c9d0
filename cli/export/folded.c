// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Folded stacks.  Memory is bounded by the number of different stacks: must never keep something
 * for each record.
 */
#include "export/folded.h"

#include <errno.h>

#include "analysis/engine.h"
#include "base/out.h"

#define FOLDED_NOBODY	UINT32_MAX
#define FOLDED_NODES	(1u << 18)	/* different stacks; anyone may have written the trace */

/* A call inside its parent's stack, or a process, which has no parent. */
struct folded_node {
	uint64_t key;			/* parent and class, or pid */
	uint32_t parent;		/* index, FOLDED_NOBODY: none */
	uint32_t pid;
	const struct ct_class *class;	/* NULL: a process */
	int64_t  self;			/* ns */
};

/* The node of an open call, as the last span of its depth had it around it. */
struct folded_around {
	uint64_t op_id;
	uint32_t node;
};

struct folded {
	CT_KEYED(struct folded_node) nodes;
	struct folded_around path[CT_TRACK_DEPTH_MAX];
	struct ct_out out;
};

/* Index of the node; FOLDED_NOBODY: no memory. */
static uint32_t folded_node(struct folded *f, uint32_t parent, uint32_t pid, const struct ct_class *class)
{
	uint64_t key = class ? (uint64_t)(parent + 1) << 16 | class->id : 1ull << 63 | pid;
	struct folded_node *node = ct_keyed_get(&f->nodes, key);

	if (node)
		return node - f->nodes.list;
	/* Beyond that many different stacks, what is called counts for its caller. */
	if (f->nodes.count >= FOLDED_NODES && parent != FOLDED_NOBODY)
		return parent;
	node = ct_keyed_put(&f->nodes, key);
	if (!node)
		return FOLDED_NOBODY;
	node->parent = parent;
	node->pid = pid;
	node->class = class;
	return node - f->nodes.list;
}

/* The node of what is around a span; FOLDED_NOBODY: no memory. */
static uint32_t folded_around(struct folded *f, const struct ct_span *span)
{
	const struct ct_track *track = span->track;
	uint32_t known = track->depth, node;

	while (known && f->path[known - 1].op_id != track->frames[known - 1].op_id)
		known--;
	node = known ? f->path[known - 1].node : folded_node(f, FOLDED_NOBODY, span->pid, NULL);
	for (uint32_t i = known; i < track->depth && node != FOLDED_NOBODY; i++) {
		node = folded_node(f, node, span->pid, track->frames[i].class);
		f->path[i] = (struct folded_around){ .op_id = track->frames[i].op_id, .node = node };
	}
	return node;
}

static int folded_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct folded *f = a->arg;
	uint32_t around, node;

	/* Without its begin nothing is known of its stack.  What the GPU did is in no call of a thread. */
	if ((span->kind != CT_SPAN_CALL && span->kind != CT_SPAN_SWITCH) || !(span->flags & CT_SPAN_TIMED) ||
	    (span->flags & CT_SPAN_BEGIN_LOST))
		return 0;
	around = folded_around(f, span);
	node = around == FOLDED_NOBODY ? around : folded_node(f, around, span->pid, span->class);
	if (node == FOLDED_NOBODY)
		return -ENOMEM;
	f->nodes.list[node].self += span->self;
	/* Here the time off the CPU is a frame of its own. */
	if (span->kind == CT_SPAN_SWITCH)
		f->nodes.list[around].self -= span->duration;
	return 0;
}

/* A ';' separates calls, and a line ends at a line feed. */
static void folded_name(struct ct_out *out, const char *name)
{
	for (; *name; name++)
		ct_out_char(out, *name == ';' || (unsigned char)*name < ' ' ? '_' : *name);
}

static void folded_stack(struct folded *f, const struct ct_processes *processes, uint32_t index)
{
	const struct folded_node *node = &f->nodes.list[index];
	char process[64];

	if (!node->class) {
		folded_name(&f->out, node->pid ? ct_processes_name(processes, node->pid, process, sizeof(process)) :
						 "interrupts");
		return;
	}
	folded_stack(f, processes, node->parent);
	ct_out_char(&f->out, ';');
	folded_name(&f->out, node->class->name);
}

static int folded_end(struct ct_analysis *a)
{
	struct folded *f = a->arg;

	for (size_t i = 0; i < f->nodes.count; i++) {
		if (f->nodes.list[i].self <= 0 || !f->nodes.list[i].class)
			continue;
		folded_stack(f, a->processes, i);
		ct_out_char(&f->out, ' ');
		ct_out_u64(&f->out, f->nodes.list[i].self);
		ct_out_char(&f->out, '\n');
	}
	return f->out.error;
}

static const struct ct_analyser folded_analyser = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.span = folded_span,
	.end = folded_end,
};

int ct_folded_export(const struct ct_export *x, struct ct_error *err)
{
	struct folded f = { 0 };
	int rc = ct_out_open(&f.out, x->fd), closed;

	(void)err;
	if (rc)
		return rc;
	rc = ct_engine_one(x->trace, &folded_analyser, &f);
	closed = ct_out_close(&f.out);
	ct_keyed_free(&f.nodes);
	return rc ? rc : closed;
}
