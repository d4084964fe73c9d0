// SPDX-License-Identifier: LGPL-2.1-or-later
/* See selection.h.  Must never let an end pass whose begin did not, nor the other way round. */
#include "analysis/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/merge.h"

#define SELECTION_DEPTH	4096u	/* open ranges of a track; those inside pass as the last of them */

/* A call that has not ended, whose end may not say what its begin did. */
struct selection_call {
	uint64_t op_id;
	bool passes;
};

/* The open ranges of a track. */
struct selection_track {
	uint64_t key;
	bool *passes;
	uint32_t depth, room;
};

struct selection_state {
	const struct ct_selection *selection;
	struct ct_names names;
	struct ct_filter_state filter;
	CT_KEYED(struct selection_call) calls;
	CT_KEYED(struct selection_track) tracks;
};

static void selection_end(void *arg)
{
	struct selection_state *s = arg;

	for (size_t i = 0; i < s->tracks.count; i++)
		free(s->tracks.list[i].passes);
	ct_keyed_free(&s->tracks);
	ct_keyed_free(&s->calls);
	ct_filter_end(&s->filter);
	ct_names_forget(&s->names);
	free(s);
}

static void *selection_begin(const struct ct_points_filter *f, const struct ct_registry *reg)
{
	const struct ct_selection *selection = (const struct ct_selection *)f;
	struct selection_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->selection = selection;
	if (!ct_names_init(&s->names, reg) && !ct_filter_begin(&s->filter, &selection->filter, &s->names, reg))
		return s;
	selection_end(s);
	return NULL;
}

/* Of the GPU's work that of the call that caused it; interrupts are of no thread. */
static uint32_t selection_tid(const struct ct_point *p)
{
	return p->cause ? p->cause->tid : ct_track_is_interrupts(ct_track_key(&p->record)) ? 0 : p->record.tid;
}

/* A mark or the begin of a range: its text is a name, too. */
static bool selection_text(struct selection_state *s, const struct ct_point *p)
{
	return ct_filter_pass_text(&s->filter, &p->record, p->record.pid, p->record.tid, p->ts);
}

/* The begin or end of a range; the end is as its begin. */
static int selection_range(struct selection_state *s, const struct ct_point *p)
{
	struct selection_track *t = ct_keyed_put(&s->tracks, ct_track_key(&p->record));
	bool *more;

	if (!t)
		return -ENOMEM;
	if (p->record.class->id == CT_CLASS_range_pop) {
		if (t->depth)
			return --t->depth < SELECTION_DEPTH ? t->passes[t->depth] : t->passes[SELECTION_DEPTH - 1];
		/* Its begin was lost, or stood before the recording. */
		return !s->filter.filter.name &&
		       ct_filter_pass(&s->filter, p->record.class, p->record.pid, p->record.tid, p->ts, &p->record);
	}
	if (t->depth == t->room && t->room < SELECTION_DEPTH) {
		uint32_t room = t->room ? 2 * t->room : 16;

		more = realloc(t->passes, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->passes = more;
		t->room = room;
	}
	if (t->depth < t->room)
		t->passes[t->depth] = selection_text(s, p);
	return t->passes[t->depth++ < t->room ? t->depth - 1 : t->room - 1];
}

static int selection_call(struct selection_state *s, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	bool keeps = p->entry || p->open || (r->class->layer == CT_LAYER_GPU && s->filter.filter.tid);
	struct selection_call *call = s->calls.count && p->phase == 'E' ? ct_keyed_get(&s->calls, p->op_id) : NULL;
	bool passes;

	if (call) {
		passes = call->passes;
		ct_keyed_remove(&s->calls, call);
		return passes;
	}
	passes = (!s->selection->no_queries || !ct_class_is(r->class, CT_IS_QUERY)) &&
		 ct_filter_pass(&s->filter, r->class, r->pid, selection_tid(p),
				p->phase == 'B' ? p->ts : p->begin, r);
	if (p->phase != 'B' || !keeps)
		return passes;
	call = ct_keyed_put(&s->calls, p->op_id);
	if (!call)
		return -ENOMEM;
	call->passes = passes;
	return passes;
}

static int selection_passes(void *arg, const struct ct_point *p)
{
	struct selection_state *s = arg;
	const struct ct_class *class = p->record.class;
	uint32_t pid = s->filter.filter.pid;

	if (class->category == CT_CAT_TRACER)
		return 1;
	if (class->id == CT_CLASS_process)
		return !pid || p->record.pid == pid;
	if (class->id == CT_CLASS_range_push || class->id == CT_CLASS_range_pop)
		return selection_range(s, p);
	if (!class->call)
		return selection_text(s, p);
	return selection_call(s, p);
}

void ct_selection_begin(struct ct_selection *s)
{
	const struct ct_report_filter *f = &s->filter;

	s->points = (struct ct_points_filter){
		.begin = selection_begin, .passes = selection_passes, .end = selection_end,
		.from = f->from, .to = f->to, .pid = f->pid,
		.partial = f->tid || f->name || f->layer >= 0 || f->category >= 0,
	};
}

/* ------------------------------------------------------ what a trace has --- */

#define KNOWN_PIDS	8	/* that a message lists */

struct known {
	const struct ct_report_filter *filter;
	bool pid, tid, name;		/* it was seen, or is not asked for */
	uint32_t pids[KNOWN_PIDS];
	unsigned int pids_count, pids_more;
	CT_KEYED(uint64_t) seen;
};

static int known_process(struct known *k, uint32_t pid)
{
	if (!pid || ct_keyed_get(&k->seen, pid))
		return 0;
	if (!ct_keyed_put(&k->seen, pid))
		return -ENOMEM;
	if (k->pids_count < KNOWN_PIDS)
		k->pids[k->pids_count++] = pid;
	else
		k->pids_more++;
	return 0;
}

static bool known_text(const struct known *k, const struct ct_record *r)
{
	char name[UINT16_MAX + 1];
	uint16_t len;
	const char *text = ct_record_text(r, &len);

	if (!text || r->class->category != CT_CAT_MARKER)
		return false;
	memcpy(name, text, len);
	name[len] = 0;
	return !fnmatch(k->filter->name, name, 0);
}

/* All records of a stream, until all is known. */
static int known_stream(struct known *k, const struct ct_trace *t, unsigned int i)
{
	const char *glob = k->filter->name;
	struct ct_cursor c;
	struct ct_record r;

	ct_cursor_init(&c, t, i);
	while (!(k->pid && k->tid && k->name) && ct_cursor_next(&c, &r)) {
		if (r.class->category == CT_CAT_TRACER)
			continue;
		k->pid |= r.pid == k->filter->pid;
		k->tid |= r.tid == k->filter->tid;
		if (!k->name)
			k->name = !fnmatch(glob, r.class->name, 0) || !fnmatch(glob, r.class->symbol, 0) ||
				  known_text(k, &r);
		if (!k->pid && known_process(k, r.pid))
			return -ENOMEM;
	}
	return 0;
}

/* The names of functions and kernels: calls @one with each. */
static int known_names(const struct ct_trace *t, void (*one)(void *arg, const char *name), void *arg)
{
	struct ct_names names;

	if (ct_names_init(&names, &t->reg))
		return -ENOMEM;
	for (unsigned int i = CT_CLASS_DYNAMIC; i <= CT_CLASS_MAX; i++)
		if (t->reg.classes[i]) {
			one(arg, t->reg.classes[i]->name);
			one(arg, t->reg.classes[i]->symbol);
		}
	for (unsigned int i = 0; i < t->reg.strings_count; i++)
		if (ct_registry_string(&t->reg, i))
			one(arg, ct_names_string(&names, i));
	ct_names_forget(&names);
	return 0;
}

static void known_match(void *arg, const char *name)
{
	struct known *k = arg;

	k->name |= name && !fnmatch(k->filter->name, name, 0);
}

struct known_part {
	const char *part;
	unsigned int count;
	struct ct_near near;
};

static void known_part(void *arg, const char *name)
{
	struct known_part *part = arg;

	if (!name || !*name)
		return;
	part->count += strstr(name, part->part) != NULL;
	ct_near_try(&part->near, name);
}

static int known_fail_name(const struct ct_report_filter *filter, const struct ct_trace *t, struct ct_error *err)
{
	struct known_part part = { .part = filter->name, .near.word = filter->name };

	if (known_names(t, known_part, &part))
		return ct_fail(err, ENOMEM, "no memory");
	if (part.count && !strpbrk(filter->name, "*?["))
		return ct_fail(err, ENOENT, "--name %s: names match whole: '*%s*' matches %u of them", filter->name,
			       filter->name, part.count);
	return ct_fail(err, ENOENT, "--name %s: no function, kernel or range has this name%s", filter->name,
		       ct_near_text(&part.near));
}

static int known_fail_pid(const struct known *k, struct ct_error *err)
{
	char list[KNOWN_PIDS * 12 + 32] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < k->pids_count; i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%u", i ? ", " : "", k->pids[i]);
	if (k->pids_more)
		snprintf(list + used, sizeof(list) - used, " and %u more", k->pids_more);
	return ct_fail(err, ESRCH, "no process %u; there %s %s", k->filter->pid,
		       k->pids_count == 1 ? "is" : "are", *list ? list : "none");
}

int ct_selection_known(const struct ct_report_filter *filter, const struct ct_trace *t, struct ct_error *err)
{
	struct known k = {
		.filter = filter, .pid = !filter->pid, .tid = !filter->tid, .name = !filter->name,
	};
	int rc = 0;

	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_THREAD && t->streams[i].records) {
			k.pid |= t->streams[i].pid == filter->pid;
			k.tid |= t->streams[i].tid == filter->tid;
		}
	if (!k.name)
		rc = known_names(t, known_match, &k);
	for (unsigned int i = 0; i < t->streams_count && !rc; i++)
		rc = known_stream(&k, t, i);
	if (rc)
		rc = ct_fail(err, ENOMEM, "no memory");
	else if (!k.pid)
		rc = known_fail_pid(&k, err);
	else if (!k.tid)
		rc = ct_fail(err, ESRCH, "no thread %u in this trace (cudatrace report threads lists them)", filter->tid);
	else if (!k.name)
		rc = known_fail_name(filter, t, err);
	ct_keyed_free(&k.seen);
	return rc;
}
