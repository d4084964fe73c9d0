// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report handles: the objects of the driver's resource manager (RM).  Handles are chosen by
 * the program or by RM and used again: an object is a handle of a client between its allocation
 * and its free.  Freeing an object frees its children, freeing a client all of its objects.
 *
 * An object's parent was there before it, so that the objects are a forest; no walk of it
 * recurses.  Must never keep more than HANDLES_MAX objects.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/engine.h"
#include "base/grow.h"
#include "decode/nv_decode.h"

#define HANDLES_MAX	(1u << 18)
#define NONE		UINT32_MAX

enum { ALLOC_MEMORY = 0x27, ALLOC_OBJECT = 0x28, RM_FREE = 0x29, RM_ALLOC = 0x2b,
       DUP_OBJECT = 0x34, ALLOC_CONTEXT_DMA = 0x54 };

enum { DEPTH, CLIENT, HANDLE, PARENT, CLASS, PID, ALLOCATED, FREED, WITH_PARENT, IOCTLS, STATUS,
       COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[DEPTH] = { "Depth", "depth", CT_CELL_ID, 2 },
	[CLIENT] = { "Client", "client", CT_CELL_HEX, 5 },
	[HANDLE] = { "Handle", "handle", CT_CELL_HEX, 0 },
	[PARENT] = { "Parent", "parent", CT_CELL_HEX, 1 },
	[CLASS] = { "Class", "class", CT_CELL_TEXT, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 3 },
	[ALLOCATED] = { "Allocated (ns)", "allocated", CT_CELL_TIME, 0 },
	[FREED] = { "Freed (ns)", "freed", CT_CELL_TIME, 0 },
	[WITH_PARENT] = { "With Parent", "with parent", CT_CELL_TEXT, 4 },
	[IOCTLS] = { "Ioctls", "ioctls", CT_CELL_COUNT, 1 },
	[STATUS] = { "Status", "status", CT_CELL_TEXT, 2 },
};

struct object {
	uint32_t client, handle, parent, code, status, pid;
	uint64_t made, freed;		/* ns; freed 0: not by the program */
	uint64_t uses;			/* ioctls that named it, those two not counted */
	/* Indices: its parent, its first and last child, the next child of its parent. */
	uint32_t above, first, last, next;
	uint32_t work;			/* of those that are to be freed, the next */
	bool     with_parent, duplicate, before;
};

struct live_object {
	uint64_t name;			/* client and handle */
	uint32_t index;
};

struct handles {
	CT_KEYED(struct live_object) live;
	struct object *objects;
	uint32_t count, room;
	uint64_t left_out;
};

static bool handles_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_IOCTL);
}

static uint32_t handles_live(const struct handles *s, uint32_t client, uint32_t handle)
{
	const struct live_object *live = ct_keyed_get(&s->live, (uint64_t)client << 32 | handle);

	return live ? live->index : NONE;
}

/* Puts object @at below its parent, or else below its client. */
static void handles_link(struct handles *s, uint32_t at)
{
	struct object *o = &s->objects[at];
	uint32_t above = o->handle == o->client ? NONE : handles_live(s, o->client, o->parent);

	if (above == NONE && o->handle != o->client)
		above = handles_live(s, o->client, o->client);
	o->above = above;
	if (above == NONE)
		return;
	if (s->objects[above].last == NONE)
		s->objects[above].first = at;
	else
		s->objects[s->objects[above].last].next = at;
	s->objects[above].last = at;
}

static int handles_make(struct handles *s, const struct object *o)
{
	struct live_object *live;

	if (s->count == HANDLES_MAX) {
		s->left_out++;
		return 0;
	}
	if (!ct_room(s->objects, s->count, s->room))
		return -ENOMEM;
	s->objects[s->count] = *o;
	s->objects[s->count].first = s->objects[s->count].last = NONE;
	s->objects[s->count].next = s->objects[s->count].work = NONE;
	handles_link(s, s->count++);
	if (o->status)
		return 0;	/* refused: there is no such object */
	live = ct_keyed_put(&s->live, (uint64_t)o->client << 32 | o->handle);
	if (!live)
		return -ENOMEM;
	live->index = s->count - 1;
	return 0;
}

/* Frees an object and all below it.  Each object is met once in all. */
static void handles_drop(struct handles *s, uint32_t at, uint64_t ts)
{
	uint32_t work = at;

	while (work != NONE) {
		struct object *o = &s->objects[work];
		struct live_object *live = ct_keyed_get(&s->live, (uint64_t)o->client << 32 | o->handle);

		if (live && live->index == work)
			ct_keyed_remove(&s->live, live);
		o->freed = ts ? ts : 1;	/* 0: it was not freed */
		o->with_parent = work != at;
		work = o->work;
		for (uint32_t i = o->first; i != NONE; i = s->objects[i].next) {
			if (s->objects[i].freed || s->objects[i].status)
				continue;
			s->objects[i].work = work;
			work = i;
		}
	}
}

/* The ioctl names an object that was there before the recording began. */
static int handles_use(struct handles *s, const struct object *o)
{
	uint32_t at = handles_live(s, o->client, o->handle);
	struct object found = *o;

	if (at != NONE) {
		s->objects[at].uses++;
		return 0;
	}
	if (o->status)
		return 0;	/* a handle that RM does not know either */
	found.before = true;
	found.code = 0;
	found.uses = 1;
	return handles_make(s, &found);
}

static int handles_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_record *r = e->record;
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE), cmd = ct_record_known(r, CT_KNOWN_CMD), at;
	struct handles *s = a->state;
	struct object o = {
		.client = ct_record_known(r, CT_KNOWN_CLIENT),
		.handle = ct_record_known(r, CT_KNOWN_OBJECT),
		.parent = have & CT_IOCTL_PARENT ? ct_record_known(r, CT_KNOWN_PARENT) : 0,
		.code = ct_record_known(r, CT_KNOWN_CODE),
		.status = ct_record_known(r, CT_KNOWN_STATUS),
		.pid = r->pid, .made = e->end,
	};

	/* Where the kernel recorded, the program's own view would count twice. */
	if (!r->fields || (a->trace->has_kernel && !e->kernel) || e->track->ioctls[e->kernel])
		return 0;
	if (!(have & CT_IOCTL_OBJECT) || (cmd >> 8 & 0xff) != 'F' ||
	    (int64_t)ct_record_known(r, CT_KNOWN_RET) < 0)
		return 0;
	switch (cmd & 0xff) {
	case RM_ALLOC:
		/* A client is its own client: RM chooses its handle. */
		if (!o.client)
			o.client = o.handle;
		return handles_make(s, &o);
	case ALLOC_MEMORY: case ALLOC_OBJECT: case ALLOC_CONTEXT_DMA:
		return handles_make(s, &o);
	case DUP_OBJECT:
		o.duplicate = true;
		o.code = 0;
		return handles_make(s, &o);
	case RM_FREE:
		at = handles_live(s, o.client, o.handle);
		if (at != NONE && !o.status)
			handles_drop(s, at, e->end);
		return 0;
	}
	return handles_use(s, &o);
}

static void handles_row(const struct ct_analysis *a, struct ct_table *t, const struct object *o,
			uint64_t depth)
{
	const char *class = nv_class_name(o->code), *status = nv_status_name(o->status);
	struct ct_cell *row = ct_table_row(t);

	row[DEPTH] = ct_u64(depth);
	row[CLIENT] = ct_u64(o->client);
	row[HANDLE] = ct_u64(o->handle);
	if (o->parent)
		row[PARENT] = ct_u64(o->parent);
	row[CLASS] = o->duplicate ? ct_const("(duplicate)") :
		o->before ? ct_const("(allocated before)") :
		class ? ct_const(class) : ct_format(t, "0x%x", o->code);
	row[PID] = ct_u64(o->pid);
	if (!o->before)
		row[ALLOCATED] = ct_moment(a, o->made);
	if (o->freed) {
		row[FREED] = ct_moment(a, o->freed);
		row[WITH_PARENT] = ct_const(o->with_parent ? "yes" : "no");
	}
	row[IOCTLS] = ct_u64(o->uses);
	if (o->status)
		row[STATUS] = status ? ct_const(status) : ct_format(t, "0x%x", o->status);
}

/* An object and all below it, each before its children. */
static void handles_rows(const struct ct_analysis *a, struct ct_table *t, uint32_t top)
{
	const struct handles *s = a->state;
	uint32_t at = top;
	uint64_t depth = 0;

	for (;;) {
		handles_row(a, t, &s->objects[at], depth);
		if (s->objects[at].first != NONE) {
			at = s->objects[at].first;
			depth++;
			continue;
		}
		while (at != top && s->objects[at].next == NONE) {
			at = s->objects[at].above;
			depth--;
		}
		if (at == top)
			return;
		at = s->objects[at].next;
	}
}

static int handles_end(struct ct_analysis *a)
{
	struct handles *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "handles",
		"Objects of the driver's resource manager, each below its parent; ioctls that named it",
		columns, COLUMNS);

	for (uint32_t i = 0; i < s->count; i++)
		if (s->objects[i].above == NONE)
			handles_rows(a, t, i);
	if (s->left_out)
		ct_table_note(t, "%llu more objects were allocated; only the first %u have rows.",
			      (unsigned long long)s->left_out, HANDLES_MAX);
	return 0;
}

static void handles_free(struct ct_analysis *a)
{
	struct handles *s = a->state;

	free(s->objects);
	ct_keyed_free(&s->live);
}

const struct ct_analyser ct_report_handles = {
	.name = "handles",
	.summary = "the driver's RM objects, from their allocation to their free",
	.single = true,
	.on = CT_ON_END,
	.wants = handles_wants,
	.state_size = sizeof(struct handles),
	.event = handles_event,
	.end = handles_end,
	.free = handles_free,
};
