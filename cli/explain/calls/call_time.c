// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_time.h.  Must never charge a ns twice: time goes on only in ct_calltime_charge(). */
#include "explain/calls/call_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "explain/calls/call_nodes.h"

#define CT_CALL_PLACE_ROW(id, text)	[CT_PLACE_##id] = text,
const char *const ct_call_place_text[CT_PLACE_COUNT] = { CT_CALL_PLACES(CT_CALL_PLACE_ROW) };
#undef CT_CALL_PLACE_ROW

static enum ct_call_place calltime_place(const struct ct_class *class)
{
	if (class->layer == CT_LAYER_USER) {
		switch (class->category) {
		case CT_CAT_SYSCALL:
			return CT_PLACE_BETWEEN;
		case CT_CAT_RUNTIME:
			return CT_PLACE_RUNTIME;
		case CT_CAT_SYNC:
			return CT_PLACE_WAIT;
		}
		return CT_PLACE_LIBCUDA;
	}
	switch (class->category) {
	case CT_CAT_IOCTL:
		return CT_PLACE_DRIVER_IOCTL;
	case CT_CAT_MEMORY:
		return CT_PLACE_DRIVER_MEMORY;
	case CT_CAT_SCHEDULER:
		return CT_PLACE_DRIVER_DELAY;
	case CT_CAT_UVM:
		return CT_PLACE_DRIVER_UVM;
	}
	return CT_PLACE_DRIVER_OTHER;
}

/* The time until @now goes to the innermost thing that is open. */
void ct_calltime_charge(struct ct_call_tree *t, uint64_t now)
{
	struct ct_call_frame *top = &t->stack[t->depth - 1];
	uint64_t ns = now > t->last ? now - t->last : 0;

	top->self += ns;
	if (top->node != CT_NODE_NONE)
		t->nodes[top->node].self += ns;
	t->places[top->place] += ns;
	t->total += ns;
	t->last += ns;
}

static void calltime_move(struct ct_call_tree *t, enum ct_call_place from, enum ct_call_place to,
			  uint64_t ns)
{
	if (ns > t->places[from])
		ns = t->places[from];
	t->places[from] -= ns;
	t->places[to] += ns;
}

static enum ct_call_place calltime_place_of(const struct ct_call_tree *t,
					    const struct ct_trace_event *e)
{
	bool sync = t->depth && t->stack[t->depth - 1].sync;

	if (e->class->category == CT_CAT_SWITCH)
		return sync ? CT_PLACE_WAIT_OFF : CT_PLACE_OFF;
	return !e->track->tid && t->depth ? CT_PLACE_INTERRUPT : calltime_place(e->class);
}

int ct_calltime_push(struct ct_call_tree *t, const struct ct_trace_event *e, uint32_t node)
{
	struct ct_call_frame open = {
		.op_id = e->point->op_id,
		.begin = e->begin,
		.class = e->class,
		.node = node,
		.interrupt = !e->track->tid,
		.off = e->class->category == CT_CAT_SWITCH,
		.sync = (t->depth && t->stack[t->depth - 1].sync) || e->class->category == CT_CAT_SYNC,
		.ioctl = e->class->category == CT_CAT_SYSCALL,
	};

	open.place = calltime_place_of(t, e);
	if (!ct_room(t->stack, t->depth, t->stack_capacity))
		return -ENOMEM;
	for (uint32_t i = t->depth; i-- > 0 && e->kernel && !open.off && !open.interrupt;)
		if (t->stack[i].ioctl || t->stack[i].kernel_inside) {
			t->stack[i].kernel_inside = true;
			break;
		}
	t->user_ioctls |= open.ioctl;
	t->kernel_calls |= e->kernel && !open.off && !open.interrupt;
	t->place_counts[open.place]++;
	t->stack[t->depth++] = open;
	return 0;
}

/* The innermost call is over.  @lost: its end is not in the trace. */
int ct_calltime_pop(struct ct_call_tree *t, const struct ct_trace_event *e, bool lost)
{
	struct ct_call_frame open = t->stack[--t->depth], *outer = &t->stack[t->depth - !!t->depth];
	uint64_t runnable, early = !lost && e->begin > open.begin ? e->begin - open.begin : 0;

	/* An entry event is written a little before the time of the call itself begins. */
	early = early < open.self ? early : open.self;
	if (t->depth && early) {
		calltime_move(t, open.place, outer->place, early);
		open.self -= early;
		outer->self += early;
		if (open.node != CT_NODE_NONE)
			t->nodes[open.node].self -= early;
		if (outer->node != CT_NODE_NONE)
			t->nodes[outer->node].self += early;
	}

	/* Where no function of the driver was recorded inside, all of it is the program's view. */
	if (open.ioctl && !open.kernel_inside) {
		calltime_move(t, CT_PLACE_BETWEEN, CT_PLACE_IOCTL, open.self);
		t->place_counts[CT_PLACE_BETWEEN]--;
		t->place_counts[CT_PLACE_IOCTL]++;
		open.place = CT_PLACE_IOCTL;
	}
	if (lost || !e->timed) {
		calltime_move(t, open.place, CT_PLACE_LEFT, open.self);
		t->place_counts[CT_PLACE_LEFT]++;
	}
	if (open.off && !lost) {
		runnable = ct_record_quick(e->record, CT_QUICK_RUNNABLE);
		runnable = runnable < open.self ? runnable : open.self;
		calltime_move(t, open.place, CT_PLACE_READY, runnable);
		t->place_counts[CT_PLACE_READY] += runnable > 0;
	}
	if (open.node == CT_NODE_NONE && t->depth && t->stack[t->depth - 1].node != CT_NODE_NONE)
		return ct_nodes_rest(t, t->stack[t->depth - 1].node, open.class, 1,
				     lost ? open.self : e->duration);
	return 0;
}

void ct_calltime_claim(struct ct_call_tree *t, const struct ct_trace_event *e, uint32_t node)
{
	struct ct_call_frame *top = &t->stack[t->depth - 1];
	uint64_t ns = e->timed && top->self > 0 ? e->duration : 0;
	enum ct_call_place place = calltime_place_of(t, e);

	ns = ns < top->self ? ns : top->self;
	top->self -= ns;
	if (top->node != CT_NODE_NONE)
		t->nodes[top->node].self -= ns;
	t->nodes[node].self += ns;
	calltime_move(t, top->place, place, ns);
	t->place_counts[place]++;
}
