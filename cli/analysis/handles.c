// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See handles.h.  Handles are chosen by the program or by RM and used again: an object
 * is a handle of a client between its allocation and its free.  Freeing an object
 * frees its children.
 */
#include "analysis/handles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/merge.h"
#include "trace/names.h"
#include "decode/nv_decode.h"
#include "analysis/processes.h"
#include "view/term.h"

enum { ALLOC_MEMORY = 0x27, ALLOC_OBJECT = 0x28, RM_FREE = 0x29, RM_ALLOC = 0x2b,
       DUP_OBJECT = 0x34, ALLOC_CONTEXT_DMA = 0x54 };

struct object {
	uint32_t client, handle, parent, code, status, pid;
	uint64_t made, freed;		/* ns; freed 0: not by the program */
	uint64_t uses;			/* ioctls that named it, those two not counted */
	bool     with_parent, duplicate, before;
};

struct collector {
	struct ct_processes processes;
	struct ct_hash live;		/* by client and handle; a: index + 1 */
	struct object *objects;
	size_t count, capacity;
};

static uint64_t handles_key(uint32_t client, uint32_t handle)
{
	return (uint64_t)client << 32 | handle;
}

static struct object *handles_add(struct collector *c, const struct object *o)
{
	struct object *more;

	if (c->count == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 64;
		more = realloc(c->objects, c->capacity * sizeof(*more));
		if (!more)
			return NULL;
		c->objects = more;
	}
	c->objects[c->count] = *o;
	return &c->objects[c->count++];
}

static int handles_make(struct collector *c, const struct object *o)
{
	struct ct_hash_slot *slot;

	if (!handles_add(c, o))
		return -ENOMEM;
	if (o->status)
		return 0;	/* refused: there is no such object */
	slot = ct_hash_put(&c->live, handles_key(o->client, o->handle));
	if (!slot)
		return -ENOMEM;
	slot->a = c->count;
	return 0;
}

static void handles_drop(struct collector *c, size_t at, uint64_t ts, bool with_parent)
{
	struct object *o = &c->objects[at];
	struct ct_hash_slot *slot = ct_hash_get(&c->live, handles_key(o->client, o->handle));

	if (slot && slot->a == at + 1)
		ct_hash_remove(&c->live, slot);
	o->freed = ts;
	o->with_parent = with_parent;
	/* Its children were allocated after it. */
	for (size_t i = at + 1; i < c->count; i++)
		if (c->objects[i].client == o->client && !c->objects[i].freed &&
		    !c->objects[i].status && c->objects[i].handle != o->handle &&
		    (c->objects[i].parent == o->handle || o->handle == o->client))
			handles_drop(c, i, ts, true);
}

/* The ioctl names an object that was there before the recording began. */
static int handles_use(struct collector *c, const struct object *o)
{
	struct ct_hash_slot *slot = ct_hash_get(&c->live, handles_key(o->client, o->handle));
	struct object found = *o;

	if (slot) {
		c->objects[slot->a - 1].uses++;
		return 0;
	}
	if (o->status)
		return 0;	/* a handle that RM does not know either */
	found.before = true;
	found.code = 0;
	found.uses = 1;
	return handles_make(c, &found);
}

static int handles_ioctl_done(struct collector *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	uint32_t have = ct_record_quick(r, CT_QUICK_HAVE), cmd = ct_record_quick(r, CT_QUICK_CMD);
	struct object o = {
		.client = ct_record_quick(r, CT_QUICK_CLIENT),
		.handle = ct_record_quick(r, CT_QUICK_OBJECT),
		.parent = have & CT_IOCTL_PARENT ? ct_record_quick(r, CT_QUICK_PARENT) : 0,
		.code = ct_record_quick(r, CT_QUICK_CODE),
		.status = ct_record_quick(r, CT_QUICK_STATUS),
		.pid = r->pid, .made = p->ts,
	};
	struct ct_hash_slot *slot;
	unsigned int nr = cmd & 0xff;

	if (!(have & CT_IOCTL_OBJECT) || (cmd >> 8 & 0xff) != 'F' ||
	    (int64_t)ct_record_quick(r, CT_QUICK_RET) < 0)
		return 0;
	switch (nr) {
	case RM_ALLOC:
		/* A client is its own client: RM chooses its handle. */
		if (!o.client)
			o.client = o.handle;
		return handles_make(c, &o);
	case ALLOC_MEMORY: case ALLOC_OBJECT: case ALLOC_CONTEXT_DMA:
		return handles_make(c, &o);
	case DUP_OBJECT:
		o.duplicate = true;
		o.code = 0;
		return handles_make(c, &o);
	case RM_FREE:
		slot = ct_hash_get(&c->live, handles_key(o.client, o.handle));
		if (slot && !o.status)
			handles_drop(c, slot->a - 1, p->ts, false);
		return 0;
	}
	return handles_use(c, &o);
}

/* ---------------------------------------------------------------- printing --- */

static void handles_print_object(const struct collector *c, const struct ct_trace *t,
				 const struct object *o, unsigned int depth, FILE *out)
{
	const char *class = nv_class_name(o->code), *status;
	char number[32], name[80];

	snprintf(number, sizeof(number), "class 0x%x", o->code);
	fprintf(out, "  %*s0x%08x %s", 2 * depth, "", o->handle, o->duplicate ? "(duplicate)" :
		o->before ? "(allocated before)" : class ? class : number);
	if (!depth)
		fprintf(out, "  %s", ct_processes_name(&c->processes, o->pid, name, sizeof(name)));
	if (o->status) {
		status = nv_status_name(o->status);
		fprintf(out, "  refused at %.3f: %s", (o->made - t->reg.start) / 1e6,
			status ? status : "unknown status");
	} else {
		if (!o->before)
			fprintf(out, "  from %.3f", (o->made - t->reg.start) / 1e6);
		if (o->freed)
			fprintf(out, " to %.3f%s", (o->freed - t->reg.start) / 1e6,
				o->with_parent ? " with its parent" : "");
		else
			fprintf(out, ", not freed");
		fprintf(out, ", %llu ioctl%s", (unsigned long long)o->uses, o->uses == 1 ? "" : "s");
	}
	fputc('\n', out);
}

static void handles_print_below(const struct collector *c, const struct ct_trace *t, size_t at,
				unsigned int depth, bool *done, FILE *out)
{
	const struct object *o = &c->objects[at];

	handles_print_object(c, t, o, depth, out);
	done[at] = true;
	for (size_t i = 0; i < c->count; i++) {
		const struct object *child = &c->objects[i];

		if (!done[i] && !o->status && child->client == o->client &&
		    child->parent == o->handle && child->handle != child->parent &&
		    child->made >= o->made && (!o->freed || child->made <= o->freed))
			handles_print_below(c, t, i, depth + 1, done, out);
	}
}

static int handles_print(const struct collector *c, const struct ct_trace *t, FILE *out)
{
	bool *done = calloc(c->count + 1, sizeof(*done));

	if (!done)
		return -ENOMEM;
	fprintf(out, "\nRM OBJECTS (handle and class, times in ms since the trace began, ioctls that named it)\n");
	for (size_t i = 0; i < c->count; i++)
		if (c->objects[i].handle == c->objects[i].client)
			handles_print_below(c, t, i, 0, done, out);
	/* Objects whose parent was allocated before the recording. */
	for (size_t i = 0; i < c->count; i++)
		if (!done[i])
			handles_print_below(c, t, i, 0, done, out);
	if (!c->count)
		fprintf(out, "  none was allocated, freed or named\n");
	free(done);
	return 0;
}

int ct_handles_report(const struct ct_analysis_run *run)
{
	const struct ct_trace *t = run->trace;
	struct ct_merge *m = ct_merge_new(t);
	struct collector c = { 0 };
	struct ct_point p;
	int rc = -ENOMEM;

	while (m && (rc = ct_merge_next(m, &p)) > 0) {
		rc = ct_processes_point(&c.processes, &p);
		/* Where the kernel recorded, the program's own view would count twice. */
		if (!rc && p.phase == 'E' && p.record.fields && ct_record_is_ioctl(&p.record) &&
		    (!t->has_kernel || p.record.class->layer == CT_LAYER_KERNEL))
			rc = handles_ioctl_done(&c, &p);
		if (rc)
			break;
	}
	if (!rc)
		rc = handles_print(&c, t, run->out);
	free(c.objects);
	ct_hash_free(&c.live);
	ct_processes_free(&c.processes);
	ct_merge_free(m);
	return rc;
}
