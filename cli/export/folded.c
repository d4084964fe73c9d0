// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Folded stacks.  Memory is bounded by the number of different stacks and of open calls:
 * must never keep something for each record.
 */
#include "export/folded.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/processes.h"
#include "base/hash.h"
#include "base/out.h"
#include "trace/merge.h"

#define NOBODY	UINT32_MAX
/* More than programs have; anyone may have written the trace. */
#define NODES_MAX	(1u << 18)	/* different stacks */
#define DEPTH_MAX	256u		/* calls inside each other */

/* A call inside its parent's stack, or a process, which has no parent. */
struct node {
	uint32_t parent;		/* index, NOBODY: none */
	uint32_t pid;
	const struct ct_class *class;	/* NULL: a process */
	uint64_t self;			/* ns */
};

struct frame {
	uint64_t op_id;
	uint64_t inner;			/* ns in calls inside it */
	uint32_t node;
};

/* What runs one after the other: a thread, or a CPU's interrupts. */
struct track {
	struct frame *frames;
	uint32_t depth, room;
};

struct folded {
	struct node *nodes;
	size_t nodes_count, nodes_room;
	struct ct_hash by_call;		/* parent and class, or pid; a: index + 1 into nodes */
	struct track *tracks;
	size_t tracks_count, tracks_room;
	struct ct_hash by_track;	/* a: index + 1 into tracks */
	struct ct_processes processes;
};

/* Room for one more of @count things of @size bytes; false: no memory. */
static bool folded_grow(void *things, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *moved;

	if (count < *room)
		return true;
	moved = realloc(*(void **)things, more * size);
	if (!moved)
		return false;
	*(void **)things = moved;
	*room = more;
	return true;
}

/* Index of the node; NOBODY: no memory. */
static uint32_t folded_node(struct folded *f, uint32_t parent, const struct ct_record *r,
			    const struct ct_class *class)
{
	uint64_t key = class ? (uint64_t)(parent + 1) << 16 | class->id :
			       1ull << 63 | r->pid;
	struct ct_hash_slot *slot = ct_hash_get(&f->by_call, key);

	/* Beyond that many different stacks, what is called counts for its caller. */
	if (!slot && (f->nodes_count < NODES_MAX || parent == NOBODY))
		slot = ct_hash_put(&f->by_call, key);
	if (!slot)
		return f->nodes_count >= NODES_MAX ? parent : NOBODY;
	if (!slot->a) {
		if (!folded_grow(&f->nodes, f->nodes_count, &f->nodes_room, sizeof(*f->nodes)))
			return NOBODY;
		f->nodes[f->nodes_count] = (struct node){ parent, r->pid, class, 0 };
		slot->a = ++f->nodes_count;
	}
	return slot->a - 1;
}

static struct track *folded_track(struct folded *f, const struct ct_record *r)
{
	struct ct_hash_slot *slot = ct_hash_put(&f->by_track, ct_track_key(r));

	if (!slot)
		return NULL;
	if (!slot->a) {
		if (!folded_grow(&f->tracks, f->tracks_count, &f->tracks_room,
				 sizeof(*f->tracks)))
			return NULL;
		f->tracks[f->tracks_count] = (struct track){ 0 };
		slot->a = ++f->tracks_count;
	}
	return &f->tracks[slot->a - 1];
}

static int folded_begin(struct folded *f, struct track *track, const struct ct_point *p)
{
	size_t room = track->room;
	uint32_t parent, node;

	if (track->depth == DEPTH_MAX)
		return 0;
	parent = track->depth ? track->frames[track->depth - 1].node :
				folded_node(f, NOBODY, &p->record, NULL);
	if (parent == NOBODY ||
	    !folded_grow(&track->frames, track->depth, &room, sizeof(*track->frames)))
		return -ENOMEM;
	track->room = room;
	node = folded_node(f, parent, &p->record, p->record.class);
	if (node == NOBODY)
		return -ENOMEM;
	track->frames[track->depth++] = (struct frame){ p->op_id, 0, node };
	return 0;
}

static void folded_end(struct folded *f, struct track *track, const struct ct_point *p)
{
	uint64_t duration = p->ts - p->begin;
	struct frame frame;
	uint32_t at;

	for (at = track->depth; at > 0 && track->frames[at - 1].op_id != p->op_id; at--)
		;
	if (!at)	/* its begin was lost: nothing is known of its stack */
		return;
	frame = track->frames[at - 1];
	track->depth = at - 1;	/* ends of the calls inside were lost */
	/* When it was left is not known, only when that was noticed. */
	if (p->record.flags & CT_F_ABANDONED)
		duration = frame.inner;
	if (track->depth)
		track->frames[track->depth - 1].inner += duration;
	if (duration > frame.inner)
		f->nodes[frame.node].self += duration - frame.inner;
}

static int folded_point(struct folded *f, const struct ct_point *p)
{
	struct track *track;
	int rc = ct_processes_point(&f->processes, p);

	/* What the GPU did is in no call of a thread. */
	if (rc || (p->phase != 'B' && p->phase != 'E') || p->record.class->layer == CT_LAYER_GPU)
		return rc;
	track = folded_track(f, &p->record);
	if (!track)
		return -ENOMEM;
	if (p->phase == 'B')
		return folded_begin(f, track, p);
	folded_end(f, track, p);
	return 0;
}

/* A ';' separates calls, and a line ends at a line feed. */
static void folded_name(struct ct_out *out, const char *name)
{
	for (; *name; name++)
		ct_out_char(out, *name == ';' || (unsigned char)*name < ' ' ? '_' : *name);
}

static void folded_stack(const struct folded *f, struct ct_out *out, uint32_t index)
{
	const struct node *node = &f->nodes[index];
	char process[64];

	if (!node->class) {
		folded_name(out, node->pid ? ct_processes_name(&f->processes, node->pid, process,
							       sizeof(process)) : "interrupts");
		return;
	}
	folded_stack(f, out, node->parent);
	ct_out_char(out, ';');
	folded_name(out, node->class->name);
}

static void folded_free(struct folded *f)
{
	for (size_t i = 0; i < f->tracks_count; i++)
		free(f->tracks[i].frames);
	free(f->tracks);
	free(f->nodes);
	ct_hash_free(&f->by_call);
	ct_hash_free(&f->by_track);
	ct_processes_free(&f->processes);
}

int ct_folded_export(const struct ct_export *x, struct ct_error *err)
{
	const struct ct_trace *t = x->trace;
	struct ct_merge *m = ct_merge_new(t);
	struct folded f = { 0 };
	struct ct_point point;
	struct ct_out out;
	int rc, closed;

	(void)err;
	if (!m)
		return -ENOMEM;
	rc = ct_out_open(&out, x->fd);
	if (!rc) {
		while ((rc = ct_merge_next(m, &point)) > 0) {
			rc = folded_point(&f, &point);
			if (rc)
				break;
		}
		for (size_t i = 0; i < f.nodes_count && !rc; i++) {
			if (!f.nodes[i].self)
				continue;
			folded_stack(&f, &out, i);
			ct_out_char(&out, ' ');
			ct_out_u64(&out, f.nodes[i].self);
			ct_out_char(&out, '\n');
		}
		closed = ct_out_close(&out);
		rc = rc ? rc : closed;
	}
	folded_free(&f);
	ct_merge_free(m);
	return rc;
}
