// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Trace Event JSON.  Calls are X events in the order of their begins, so that at
 * one moment the outer comes first; what was recorded at entry is a pair of B and
 * E.  Must never put a driver call on its thread's own track: the arrows between
 * the two tracks are what shows which call caused which ioctl.
 */
#include "export/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/json_details.h"
#include "trace/merge.h"
#include "trace/names.h"
#include "base/out.h"

#define PUT(out, literal)	ct_out_bytes(out, literal, sizeof(literal) - 1)
/* Thread ids of Linux end at 2^22: a thread's driver track has this bit too. */
#define DRIVER_TRACK	(1u << 30)
#define CHROME_BLOCKS	(1u << 19)	/* allocations at a moment; further ones do not count */

struct chrome {
	const struct ct_trace *trace;
	struct ct_out out;
	struct ct_names names;
	struct ct_hash threads;		/* track key; c: open calls, d: open ioctls */
	struct ct_hash tracks;		/* pid, tid of what has a name */
	struct ct_hash processes;	/* pid; c: has a name by a record */
	struct ct_hash open;		/* op_id of B events */
	struct ct_hash memory;		/* pid and pointer; a: bytes */
	struct ct_hash used;		/* pid; a: bytes of device memory */
	uint64_t flows;
	bool some;			/* an event was written */
};

static bool chrome_is_driver(const struct ct_record *r)
{
	return r->class->layer != CT_LAYER_USER || r->class->id == CT_CLASS_ioctl;
}

/* pid and tid of the track that @r belongs to. */
static void chrome_track_of(const struct ct_record *r, uint32_t *pid, uint32_t *tid)
{
	if (ct_track_key(r) >> 40) {
		*pid = 0;
		*tid = r->cpu;
	} else {
		*pid = r->pid;
		*tid = chrome_is_driver(r) ? r->tid | DRIVER_TRACK : r->tid;
	}
}

static void chrome_start(struct chrome *c, const char *ph)
{
	ct_out_text(&c->out, c->some ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	ct_out_text(&c->out, ph);
	PUT(&c->out, "\"");
	c->some = true;
}

static void chrome_put_place(struct chrome *c, uint32_t pid, uint32_t tid, uint64_t ts)
{
	PUT(&c->out, ",\"pid\":");
	ct_out_u64(&c->out, pid);
	PUT(&c->out, ",\"tid\":");
	ct_out_u64(&c->out, tid);
	PUT(&c->out, ",\"ts\":");
	ct_out_fixed(&c->out, ts - c->trace->reg.start, 3);
}

static void chrome_put_string(struct chrome *c, const char *key, const char *text)
{
	ct_out_text(&c->out, key);
	ct_out_json(&c->out, text, strlen(text));
}

/* A metadata event: process_name, thread_name. */
static void chrome_put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
			    const char *name, size_t len)
{
	chrome_start(c, "M");
	chrome_put_string(c, ",\"name\":", what);
	PUT(&c->out, ",\"pid\":");
	ct_out_u64(&c->out, pid);
	PUT(&c->out, ",\"tid\":");
	ct_out_u64(&c->out, tid);
	PUT(&c->out, ",\"args\":{\"name\":");
	ct_out_json(&c->out, name, len);
	PUT(&c->out, "}}");
}

static void chrome_put_order(struct chrome *c, uint32_t pid, uint32_t tid, uint32_t order)
{
	chrome_start(c, "M");
	chrome_put_string(c, ",\"name\":", "thread_sort_index");
	PUT(&c->out, ",\"pid\":");
	ct_out_u64(&c->out, pid);
	PUT(&c->out, ",\"tid\":");
	ct_out_u64(&c->out, tid);
	PUT(&c->out, ",\"args\":{\"sort_index\":");
	ct_out_u64(&c->out, order);
	PUT(&c->out, "}}");
}

/* Names a track when its first event is written. */
static int chrome_know_track(struct chrome *c, const struct ct_record *r, uint32_t pid,
			     uint32_t tid)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	char name[64];
	int len;

	if (ct_hash_get(&c->tracks, key))
		return 0;
	if (!ct_hash_put(&c->tracks, key))
		return -ENOMEM;
	if (!pid && ct_track_key(r) >> 40) {
		if (!ct_hash_get(&c->processes, 0)) {
			if (!ct_hash_put(&c->processes, 0))
				return -ENOMEM;
			chrome_put_name(c, "process_name", 0, 0, "interrupts", 10);
		}
		len = snprintf(name, sizeof(name), "CPU %u", tid);
		chrome_put_name(c, "thread_name", pid, tid, name, len);
		return 0;
	}
	len = snprintf(name, sizeof(name), "%s %u%s", r->tid == r->pid ? "main" : "thread", r->tid,
		       chrome_is_driver(r) ? ": driver" : "");
	chrome_put_name(c, "thread_name", pid, tid, name, len);
	/* The driver's track right below the thread's. */
	chrome_put_order(c, pid, tid, 2 * r->tid + chrome_is_driver(r));
	return 0;
}

static void chrome_put_args(struct chrome *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	const char *name;

	PUT(&c->out, ",\"args\":{\"details\":");
	ct_json_details(&c->out, &c->names, r, p->phase == 'B' && p->entry);
	if (p->op_id) {
		PUT(&c->out, ",\"op_id\":");
		ct_out_u64(&c->out, p->op_id);
	}
	if (*r->class->symbol && strcmp(r->class->symbol, r->class->name))
		chrome_put_string(c, ",\"symbol\":", r->class->symbol);
	if (!(r->flags & (CT_F_BEGIN | CT_F_NO_RESULT)) && r->class->call) {
		PUT(&c->out, ",\"result\":");
		name = ct_name_result(r);
		if (name)
			ct_out_json(&c->out, name, strlen(name));
		else
			ct_out_s64(&c->out, r->result);
	}
	if (r->fields && ct_record_is_ioctl(r)) {
		uint32_t have = ct_record_quick(r, CT_QUICK_HAVE);

		name = ct_name_ioctl(ct_record_quick(r, CT_QUICK_CMD),
				     ct_record_quick(r, CT_QUICK_DEVICE));
		if (name)
			chrome_put_string(c, ",\"escape\":", name);
		name = ct_name_code(ct_record_quick(r, CT_QUICK_CODE), have);
		if (name)
			chrome_put_string(c, ",\"code\":", name);
	}
	/* A slice needs a length: it is as long as until that was noticed. */
	if (r->flags & CT_F_ABANDONED)
		PUT(&c->out, ",\"abandoned\":true");
	if (p->open)
		PUT(&c->out, ",\"unfinished\":true");
	PUT(&c->out, "}}");
}

/* Name, category, place. */
static int chrome_put_event(struct chrome *c, const struct ct_point *p, const char *ph, uint64_t ts)
{
	const struct ct_record *r = &p->record;
	uint32_t pid, tid;

	chrome_track_of(r, &pid, &tid);
	if (chrome_know_track(c, r, pid, tid))
		return -ENOMEM;
	chrome_start(c, ph);
	chrome_put_string(c, ",\"name\":", r->class->name);
	chrome_put_string(c, ",\"cat\":", ct_category_word[r->class->category]);
	chrome_put_place(c, pid, tid, ts);
	return 0;
}

/* An arrow from the call that is open to the ioctl that begins inside it. */
static void chrome_put_flow(struct chrome *c, const struct ct_point *p)
{
	uint32_t pid, tid;

	chrome_track_of(&p->record, &pid, &tid);
	for (int end = 0; end < 2; end++) {
		chrome_start(c, end ? "f" : "s");
		if (end)
			PUT(&c->out, ",\"bp\":\"e\"");
		PUT(&c->out, ",\"name\":\"ioctl\",\"cat\":\"ioctl\",\"id\":");
		ct_out_u64(&c->out, c->flows + 1);
		chrome_put_place(c, pid, end ? tid : p->record.tid, p->ts);
		PUT(&c->out, "}");
	}
	c->flows++;
}

static int chrome_add_begin(struct chrome *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct ct_hash_slot *thread = ct_hash_put(&c->threads, ct_track_key(r));
	bool ioctl = r->fields && ct_record_is_ioctl(r), pair = p->entry || p->open;

	if (!thread)
		return -ENOMEM;
	if (chrome_put_event(c, p, pair ? "B" : "X", p->ts))
		return -ENOMEM;
	if (!pair) {
		PUT(&c->out, ",\"dur\":");
		ct_out_fixed(&c->out, r->end - p->ts, 3);
	} else if (!ct_hash_put(&c->open, p->op_id)) {
		return -ENOMEM;
	}
	chrome_put_args(c, p);
	if (ioctl && thread->c && !thread->d)
		chrome_put_flow(c, p);
	if (!chrome_is_driver(r))
		thread->c++;
	thread->d += ioctl;
	return 0;
}

/* Device memory in use, after a call that allocated or freed. */
static int chrome_count_memory(struct chrome *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct ct_hash_slot *block, *used;
	uint64_t key;

	if (r->class->category != CT_CAT_MEMORY || r->class->layer != CT_LAYER_USER ||
	    !ct_record_has(r, CT_QUICK_PTR) || ct_record_failed(r) ||
	    strstr(r->class->name, "Host"))
		return 0;
	key = ct_hash_mix(ct_record_quick(r, CT_QUICK_PTR), r->pid);
	used = ct_hash_put(&c->used, r->pid);
	if (!used)
		return -ENOMEM;
	if (r->class->op == CT_OP_ALLOC) {
		if (c->memory.count >= CHROME_BLOCKS)
			return 0;
		block = ct_hash_put(&c->memory, key);
		if (!block)
			return -ENOMEM;
		used->a += ct_record_quick(r, CT_QUICK_SIZE) - block->a;
		block->a = ct_record_quick(r, CT_QUICK_SIZE);
	} else if (r->class->op == CT_OP_FREE) {
		block = ct_hash_get(&c->memory, key);
		if (!block)
			return 0;
		used->a -= block->a;
		ct_hash_remove(&c->memory, block);
	} else {
		return 0;
	}
	chrome_start(c, "C");
	PUT(&c->out, ",\"name\":\"device memory\"");
	chrome_put_place(c, r->pid, r->pid, p->ts);
	PUT(&c->out, ",\"args\":{\"bytes\":");
	ct_out_u64(&c->out, used->a);
	PUT(&c->out, "}}");
	return 0;
}

static int chrome_add_end(struct chrome *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct ct_hash_slot *thread = ct_hash_get(&c->threads, ct_track_key(r)), *open;
	bool has_begin = true;

	if (r->flags & CT_F_HAS_BEGIN) {
		open = ct_hash_get(&c->open, p->op_id);
		has_begin = open != NULL;
		/* The begin was lost: all of it is known now. */
		if (chrome_put_event(c, p, has_begin ? "E" : "X", has_begin ? p->ts : p->begin))
			return -ENOMEM;
		if (has_begin) {
			ct_hash_remove(&c->open, open);
		} else {
			PUT(&c->out, ",\"dur\":");
			ct_out_fixed(&c->out, p->ts - p->begin, 3);
		}
		chrome_put_args(c, p);
	}
	if (thread && has_begin) {
		if (!chrome_is_driver(r) && thread->c)
			thread->c--;
		if (ct_record_is_ioctl(r) && thread->d)
			thread->d--;
	}
	return chrome_count_memory(c, p);
}

static int chrome_add_instant(struct chrome *c, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	const char *text;
	uint16_t len;

	text = ct_record_text(r, &len);
	if (r->class->id == CT_CLASS_process && text) {
		chrome_put_name(c, "process_name", r->pid, r->tid, text, len);
		return 0;
	}
	if (r->class->category == CT_CAT_TRACER)
		return 0;
	if (chrome_put_event(c, p, "i", p->ts))
		return -ENOMEM;
	PUT(&c->out, ",\"s\":\"t\"");
	chrome_put_args(c, p);
	return 0;
}

static int chrome_add(struct chrome *c, const struct ct_point *p)
{
	switch (p->phase) {
	case 'B':
		return chrome_add_begin(c, p);
	case 'E':
		return chrome_add_end(c, p);
	}
	return chrome_add_instant(c, p);
}

static void chrome_put_head(struct chrome *c)
{
	const struct ct_registry *reg = &c->trace->reg;
	bool some = false;

	PUT(&c->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
	for (unsigned int i = 0; i < reg->infos_count; i++) {
		const struct ct_info *info = &reg->infos[i];

		if (ct_registry_info(reg, info->key) != info->text)
			continue;
		if (some)
			ct_out_char(&c->out, ',');
		some = true;
		chrome_put_string(c, "", info->key);
		chrome_put_string(c, ":", info->text);
	}
	PUT(&c->out, "},\"traceEvents\":[");
}

int ct_chrome_export(const struct ct_export *x, struct ct_error *err)
{
	const struct ct_trace *t = x->trace;
	struct ct_merge *m = ct_merge_new(t);
	struct chrome c = { .trace = t };
	struct ct_point point;
	int rc = -ENOMEM, closed;

	(void)err;
	if (!m || ct_names_init(&c.names, &t->reg) || ct_out_open(&c.out, x->fd))
		goto out;
	chrome_put_head(&c);
	while ((rc = ct_merge_next(m, &point)) > 0 && !c.out.error) {
		rc = chrome_add(&c, &point);
		if (rc)
			break;
	}
	PUT(&c.out, "\n]}\n");
	closed = ct_out_close(&c.out);
	rc = rc < 0 ? rc : closed;
out:
	ct_names_forget(&c.names);
	ct_hash_free(&c.threads);
	ct_hash_free(&c.tracks);
	ct_hash_free(&c.processes);
	ct_hash_free(&c.open);
	ct_hash_free(&c.memory);
	ct_hash_free(&c.used);
	ct_merge_free(m);
	return rc;
}
