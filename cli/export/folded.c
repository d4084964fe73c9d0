// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Folded stacks.  Memory is bounded by the number of different stacks: must never keep something
 * for each record.
 */
#include "export/folded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/engine.h"
#include "base/out.h"
#include "export/folded_lines.h"
#include "table/short_name.h"
#include "trace/stacks/stacks.h"
#include "trace/about/machine.h"
#include "view/term.h"

#define FOLDED_NOBODY	UINT32_MAX
#define FOLDED_NODES	(1u << 18)	/* different stacks; anyone may have written the trace */

enum folded_kind { FOLDED_PROCESS = 1, FOLDED_THREAD, FOLDED_CALL, FOLDED_KERNEL, FOLDED_GPU, FOLDED_LINE };

/* A frame below its parent's; a process has no parent. */
struct folded_node {
	uint64_t key;			/* parent, kind and id */
	uint32_t parent;		/* index, FOLDED_NOBODY: none */
	uint8_t  kind;
	uint32_t id;			/* pid, tid, class, string of a kernel's name, GPU, node of a stack */
	const struct ct_class *class;	/* of a call */
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
	struct ct_machine *machine;	/* names of threads, at the end */
	struct ct_out out;
};

/* Index of the node; FOLDED_NOBODY: no memory, or @parent is that already. */
static uint32_t folded_node(struct folded *f, uint32_t parent, enum folded_kind kind, uint32_t id,
			    const struct ct_class *class)
{
	uint64_t key = (uint64_t)kind << 60 | (uint64_t)(kind == FOLDED_PROCESS ? 0 : parent + 1) << 32 | id;
	struct folded_node *node;

	if (kind != FOLDED_PROCESS && parent == FOLDED_NOBODY)
		return FOLDED_NOBODY;
	node = ct_keyed_get(&f->nodes, key);
	if (node)
		return node - f->nodes.list;
	/* Beyond that many different stacks, what is called counts for its caller. */
	if (f->nodes.count >= FOLDED_NODES && kind != FOLDED_PROCESS)
		return parent;
	node = ct_keyed_put(&f->nodes, key);
	if (!node)
		return FOLDED_NOBODY;
	node->parent = parent;
	node->kind = kind;
	node->id = id;
	node->class = class;
	return node - f->nodes.list;
}

/* The node of the span's thread; of interrupts there is none below that of their "process". */
static uint32_t folded_thread(struct folded *f, const struct ct_span *span)
{
	uint32_t process = folded_node(f, FOLDED_NOBODY, FOLDED_PROCESS, span->pid, NULL);

	return span->pid ? folded_node(f, process, FOLDED_THREAD, span->tid, NULL) : process;
}

/* The node of the line that called, below those of its callers; their numbers are smaller, so this ends. */
static uint32_t folded_lines(struct folded *f, const struct ct_registry *reg, uint32_t thread, uint32_t line)
{
	struct ct_stack_frame frame;

	if (thread == FOLDED_NOBODY || !ct_stack_frame(reg, line, &frame))
		return thread;
	return folded_node(f, folded_lines(f, reg, thread, frame.parent), FOLDED_LINE, line, NULL);
}

/* The node of what is around a span; FOLDED_NOBODY: no memory. */
static uint32_t folded_around(struct folded *f, const struct ct_registry *reg, const struct ct_span *span)
{
	const struct ct_track *track = span->track;
	uint32_t known = track->depth, node;

	while (known && f->path[known - 1].op_id != track->frames[known - 1].op_id)
		known--;
	node = known ? f->path[known - 1].node :
	       folded_lines(f, reg, folded_thread(f, span), track->depth ? track->frames[0].stack : span->stack);
	for (uint32_t i = known; i < track->depth && node != FOLDED_NOBODY; i++) {
		node = folded_node(f, node, FOLDED_CALL, track->frames[i].class->id, track->frames[i].class);
		f->path[i] = (struct folded_around){ .op_id = track->frames[i].op_id, .node = node };
	}
	return node;
}

/* What the GPU did is in no call of a thread: it has stacks of its own, by kernel. */
static int folded_gpu(struct ct_analysis *a, const struct ct_span *span)
{
	struct folded *f = a->arg;
	uint32_t node = folded_node(f, FOLDED_NOBODY, FOLDED_PROCESS, span->pid, NULL);
	uint32_t gpu = ct_record_has(span->record, CT_KNOWN_GPU) ? ct_record_known(span->record, CT_KNOWN_GPU) : 0;

	node = folded_node(f, node, FOLDED_GPU, gpu, NULL);
	if (ct_record_has(span->record, CT_KNOWN_KERNEL))
		node = folded_node(f, node, FOLDED_KERNEL, ct_record_kernel(span->record, a->names->reg), NULL);
	else
		node = folded_node(f, node, FOLDED_CALL, span->class->id, span->class);
	if (node == FOLDED_NOBODY)
		return -ENOMEM;
	f->nodes.list[node].self += span->duration;
	return 0;
}

static int folded_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct folded *f = a->arg;
	uint32_t around, node;

	if (span->kind == CT_SPAN_GPU && span->flags & CT_SPAN_TIMED && span->record)
		return folded_gpu(a, span);
	/* Without its begin nothing is known of its stack. */
	if ((span->kind != CT_SPAN_CALL && span->kind != CT_SPAN_SWITCH) || !(span->flags & CT_SPAN_TIMED) ||
	    (span->flags & CT_SPAN_BEGIN_LOST))
		return 0;
	around = folded_around(f, &a->trace->reg, span);
	node = folded_node(f, around, FOLDED_CALL, span->class->id, span->class);
	/* A launch is the kernel's: what it launches says more than that it launches. */
	if (span->kind == CT_SPAN_CALL && span->record && span->category == CT_CAT_KERNEL &&
	    ct_record_has(span->record, CT_KNOWN_KERNEL) && ct_record_kernel(span->record, a->names->reg))
		node = folded_node(f, node, FOLDED_KERNEL, ct_record_kernel(span->record, a->names->reg), NULL);
	if (node == FOLDED_NOBODY)
		return -ENOMEM;
	f->nodes.list[node].self += span->self;
	/* Here the time off the CPU is a frame of its own. */
	if (span->kind == CT_SPAN_SWITCH)
		f->nodes.list[around].self -= span->duration;
	return 0;
}

static void folded_frame(struct folded *f, const struct ct_analysis *a, const struct folded_node *node)
{
	const struct folded_node *process = node->parent == FOLDED_NOBODY ? node : &f->nodes.list[node->parent];
	char text[512], clean[2048], name[128], line[CT_STRING_MAX];
	struct ct_stack_frame frame;
	const char *word;

	switch (node->kind) {
	case FOLDED_PROCESS:
		ct_folded_word(&f->out, node->id ? ct_processes_name(a->processes, node->id, text, sizeof(text)) :
						"interrupts");
		break;
	case FOLDED_THREAD:
		word = ct_machine_thread(f->machine, process->id, node->id);
		snprintf(text, sizeof(text), "%s (%u)", word ? word : node->id == process->id ? "main" : "thread",
			 node->id);
		ct_folded_word(&f->out, text);
		break;
	case FOLDED_LINE:
		if (ct_stack_frame(&a->trace->reg, node->id, &frame))
			ct_folded_word(&f->out, ct_stack_words(&frame, line, sizeof(line)));
		break;
	case FOLDED_GPU:
		snprintf(name, sizeof(name), "GPU %u", node->id);
		ct_folded_word(&f->out, name);
		break;
	case FOLDED_KERNEL:
		word = ct_names_string(a->names, node->id);
		/* Anybody may have written it. */
		if (word && *word)
			ct_folded_word(&f->out, ct_term_clean(clean, sizeof(clean), ct_short_kernel(text, sizeof(text), word),
							   sizeof(clean)));
		else
			ct_folded_word(&f->out, "(unknown kernel)");
		break;
	default:
		ct_folded_word(&f->out, node->class->name);
	}
}

static void folded_stack(struct folded *f, const struct ct_analysis *a, uint32_t index)
{
	const struct folded_node *node = &f->nodes.list[index];

	if (node->parent != FOLDED_NOBODY) {
		folded_stack(f, a, node->parent);
		ct_out_char(&f->out, ';');
	}
	folded_frame(f, a, node);
}

static int folded_end(struct ct_analysis *a)
{
	struct folded *f = a->arg;
	int rc;

	f->machine = calloc(1, sizeof(*f->machine));
	rc = f->machine ? ct_machine_read(f->machine, &a->trace->reg) : -ENOMEM;
	for (size_t i = 0; i < f->nodes.count && !rc; i++) {
		if (f->nodes.list[i].self <= 0 || f->nodes.list[i].kind == FOLDED_PROCESS)
			continue;
		folded_stack(f, a, i);
		ct_out_char(&f->out, ' ');
		ct_out_u64(&f->out, f->nodes.list[i].self);
		ct_out_char(&f->out, '\n');
	}
	if (f->machine)
		ct_machine_free(f->machine);
	free(f->machine);
	return rc ? rc : f->out.error;
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
	int rc, closed;

	if (x->weight)
		return ct_folded_lines(x, err);
	rc = ct_out_open(&f.out, x->fd);
	if (rc)
		return rc;
	rc = ct_engine_one(x->trace, &folded_analyser, &f);
	closed = ct_out_close(&f.out);
	ct_keyed_free(&f.nodes);
	return rc ? rc : closed;
}
