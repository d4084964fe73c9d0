// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Trace Event JSON.  Calls are X events in the order of their begins, so that at
 * one moment the outer comes first; what was recorded at entry is a pair of B and
 * E.
 */
#include "export/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "export/json_details.h"
#include "export/slices/slices.h"

#define PUT(out, literal)	ct_out_bytes(out, literal, sizeof(literal) - 1)
/*
 * A track is a thread there.  Thread ids of Linux end at 2^22: a thread's driver and ranges have
 * one of these bits too; other tracks have a third one and their index.
 */
#define DRIVER_TRACK	(1u << 30)
#define RANGES_TRACK	(1u << 29)
#define OTHER_TRACK	(1u << 28)
#define LAST		(1u << 30)	/* a sort index behind all others */

/* The process that the machine's GPUs are there; no process of Linux has this number. */
#define METRICS_PID	OTHER_TRACK
#define METRICS_NAME	"GPUs of the machine (NVML)"

struct chrome {
	const struct ct_trace *trace;
	struct ct_out out;
	struct ct_names *names;
	bool some;			/* an event was written */
	bool interrupts, metrics;	/* their processes have their names */
};

static void chrome_start(struct chrome *c, const char *ph)
{
	ct_out_text(&c->out, c->some ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	ct_out_text(&c->out, ph);
	PUT(&c->out, "\"");
	c->some = true;
}

static void chrome_put_ids(struct chrome *c, uint32_t pid, uint32_t tid)
{
	PUT(&c->out, ",\"pid\":");
	ct_out_u64(&c->out, pid);
	PUT(&c->out, ",\"tid\":");
	ct_out_u64(&c->out, tid);
}

static void chrome_put_ts(struct chrome *c, uint64_t ts)
{
	PUT(&c->out, ",\"ts\":");
	ct_out_fixed(&c->out, ts - c->trace->reg.start, 3);
}

static void chrome_put_string(struct chrome *c, const char *key, const char *text)
{
	ct_out_text(&c->out, key);
	ct_out_json(&c->out, text, strlen(text));
}

/* ---------------------------------------------------------------- tracks --- */

static uint32_t chrome_tid(const struct ct_slice_track *track)
{
	if (track->number)
		return OTHER_TRACK | track->index;
	switch (track->kind) {
	case CT_SLICE_TRACK_RANGES:
		return track->tid | RANGES_TRACK;
	case CT_SLICE_TRACK_DRIVER:
		return track->tid | DRIVER_TRACK;
	case CT_SLICE_TRACK_CALLS:
	case CT_SLICE_TRACK_INTERRUPTS:
		return track->tid;
	default:
		return OTHER_TRACK | track->index;
	}
}

/* A metadata event: process_name, thread_name. */
static void chrome_put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
			    const char *name, size_t len)
{
	chrome_start(c, "M");
	chrome_put_string(c, ",\"name\":", what);
	chrome_put_ids(c, pid, tid);
	PUT(&c->out, ",\"args\":{\"name\":");
	ct_out_json(&c->out, name, len);
	PUT(&c->out, "}}");
}

static void chrome_put_order(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, uint64_t order)
{
	chrome_start(c, "M");
	chrome_put_string(c, ",\"name\":", what);
	chrome_put_ids(c, pid, tid);
	PUT(&c->out, ",\"args\":{\"sort_index\":");
	ct_out_u64(&c->out, order);
	PUT(&c->out, "}}");
}

static int chrome_process(void *arg, uint32_t pid, const char *name, size_t len)
{
	chrome_put_name(arg, "process_name", pid, pid, len ? name : "process", len ? len : 7);
	return 0;
}

static int chrome_track(void *arg, struct ct_slice_track *track)
{
	struct chrome *c = arg;
	uint64_t order = track->tid & (OTHER_TRACK - 1);

	track->id = chrome_tid(track);
	chrome_put_name(c, "thread_name", track->pid, track->id, track->name, strlen(track->name));
	if (track->kind == CT_SLICE_TRACK_INTERRUPTS || track->kind == CT_SLICE_TRACK_OTHERS) {
		if (!c->interrupts) {
			c->interrupts = true;
			chrome_put_name(c, "process_name", 0, 0, "interrupts", 10);
			chrome_put_order(c, "process_sort_index", 0, 0, LAST);
		}
		return 0;
	}
	/* A thread's own tracks one below the other, the GPU's below all threads. */
	order = track->kind == CT_SLICE_TRACK_GPU ? LAST : 4 * order + track->kind;
	chrome_put_order(c, "thread_sort_index", track->pid, track->id, order);
	return 0;
}

/* ---------------------------------------------------------------- events --- */

static void chrome_put_result(struct chrome *c, const struct ct_record *r)
{
	const char *name;
	int64_t code;

	if (!ct_record_result(r, &code))
		return;
	name = ct_name_result(r);
	PUT(&c->out, ",\"result\":");
	if (name)
		ct_out_json(&c->out, name, strlen(name));
	else
		ct_out_s64(&c->out, code);
}

static void chrome_put_ioctl(struct chrome *c, const struct ct_record *r)
{
	struct ct_ioctl_words w;

	ct_ioctl_words(&w, r);
	if (w.escape)
		chrome_put_string(c, ",\"escape\":", w.escape);
	if (w.code_name)
		chrome_put_string(c, ",\"code\":", w.code_name);
}

static void chrome_put_args(struct chrome *c, const struct ct_slice *s)
{
	const struct ct_record *r = s->point ? &s->point->record : NULL;

	PUT(&c->out, ",\"args\":{\"details\":");
	if (r)
		ct_json_details(&c->out, c->names, r, s->point->phase == 'B' && !s->known);
	else
		PUT(&c->out, "{}");
	if (s->op_id) {
		PUT(&c->out, ",\"op_id\":");
		ct_out_u64(&c->out, s->op_id);
	}
	if (r && *r->class->symbol && strcmp(r->class->symbol, r->class->name))
		chrome_put_string(c, ",\"symbol\":", r->class->symbol);
	if (r)
		chrome_put_result(c, r);
	if (r && r->fields && ct_record_is_ioctl(r))
		chrome_put_ioctl(c, r);
	if (s->measured) {
		PUT(&c->out, ",\"duration_ns\":");
		ct_out_u64(&c->out, s->measured);
	}
	/* A slice needs a length: it is as long as until that was noticed. */
	if (r && r->flags & CT_F_ABANDONED)
		PUT(&c->out, ",\"abandoned\":true");
	if (s->unfinished)
		PUT(&c->out, ",\"unfinished\":true");
	PUT(&c->out, "}}");
}

/* Name, category, place.  What ends a range does not know its name. */
static void chrome_put_event(struct chrome *c, const struct ct_slice *s, const char *ph, uint64_t ts)
{
	chrome_start(c, ph);
	if (*ph != 'E' || s->op_id) {
		PUT(&c->out, ",\"name\":");
		ct_out_json(&c->out, s->name, s->name_len);
	}
	chrome_put_string(c, ",\"cat\":", ct_category_word[s->class->category]);
	chrome_put_ids(c, s->track->pid, s->track->id);
	chrome_put_ts(c, ts);
}

/* One end of an arrow. */
static void chrome_put_flow(struct chrome *c, const char *name, uint64_t id, bool end,
			    const struct ct_slice_track *track, uint64_t ts)
{
	chrome_start(c, end ? "f" : "s");
	if (end)
		PUT(&c->out, ",\"bp\":\"e\"");
	chrome_put_string(c, ",\"name\":", name);
	chrome_put_string(c, ",\"cat\":", name);
	PUT(&c->out, ",\"id\":");
	ct_out_u64(&c->out, id);
	chrome_put_ids(c, track->pid, track->id);
	chrome_put_ts(c, ts);
	PUT(&c->out, "}");
}

static int chrome_begin(void *arg, const struct ct_slice *s)
{
	struct chrome *c = arg;

	chrome_put_event(c, s, s->known ? "X" : "B", s->ts);
	if (s->known) {
		PUT(&c->out, ",\"dur\":");
		ct_out_fixed(&c->out, s->point->record.end - s->ts, 3);
	}
	chrome_put_args(c, s);
	if (s->flow_out)
		chrome_put_flow(c, "launch", s->flow_out, false, s->track, s->ts);
	if (s->flow_in)
		chrome_put_flow(c, "launch", s->flow_in, true, s->track, s->ts);
	if (s->from) {
		chrome_put_flow(c, "ioctl", s->op_id, false, s->from, s->ts);
		chrome_put_flow(c, "ioctl", s->op_id, true, s->track, s->ts);
	}
	return c->out.error;
}

static int chrome_end(void *arg, const struct ct_slice *s)
{
	struct chrome *c = arg;

	if (s->known)
		return c->out.error;
	chrome_put_event(c, s, "E", s->ts);
	chrome_put_args(c, s);
	return c->out.error;
}

/* The begin was lost: all of it is known now. */
static int chrome_whole(void *arg, const struct ct_slice *s)
{
	struct chrome *c = arg;

	chrome_put_event(c, s, "X", s->begin);
	PUT(&c->out, ",\"dur\":");
	ct_out_fixed(&c->out, s->ts - s->begin, 3);
	chrome_put_args(c, s);
	return c->out.error;
}

static int chrome_instant(void *arg, const struct ct_slice *s)
{
	struct chrome *c = arg;

	chrome_put_event(c, s, "i", s->ts);
	PUT(&c->out, ",\"s\":\"t\"");
	chrome_put_args(c, s);
	return c->out.error;
}

static int chrome_counter(void *arg, enum ct_slice_counter which, uint32_t pid, uint64_t ts, uint64_t value)
{
	struct chrome *c = arg;

	chrome_start(c, "C");
	chrome_put_string(c, ",\"name\":", ct_counter_name[which]);
	chrome_put_ids(c, pid, pid);
	chrome_put_ts(c, ts);
	ct_out_text(&c->out, which == CT_COUNTER_MEMORY ? ",\"args\":{\"bytes\":" : ",\"args\":{\"launches\":");
	ct_out_u64(&c->out, value);
	PUT(&c->out, "}}");
	return c->out.error;
}

/* Counters are a process's: those of the machine's GPUs are of one that has no pid. */
static int chrome_metric(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	struct chrome *c = arg;
	char name[96];

	if (!c->metrics) {
		c->metrics = true;
		chrome_put_name(c, "process_name", METRICS_PID, 0, METRICS_NAME, sizeof(METRICS_NAME) - 1);
		chrome_put_order(c, "process_sort_index", METRICS_PID, 0, LAST);
	}
	snprintf(name, sizeof(name), "GPU %u %s", gpu, ct_slice_metric_name[which]);
	chrome_start(c, "C");
	chrome_put_string(c, ",\"name\":", name);
	chrome_put_ids(c, METRICS_PID, 0);
	chrome_put_ts(c, ts);
	chrome_put_string(c, ",\"args\":{", *ct_slice_metric_unit[which] ? ct_slice_metric_unit[which] : "bits");
	ct_out_char(&c->out, ':');
	ct_out_u64(&c->out, value);
	PUT(&c->out, "}}");
	return c->out.error;
}

static int chrome_begin_trace(void *arg, struct ct_names *names, bool gpu)
{
	struct chrome *c = arg;
	const struct ct_registry *reg = &c->trace->reg;
	bool some = false;

	(void)gpu;
	c->names = names;
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
	return 0;
}

static const struct ct_slices_sink chrome_sink = {
	.start = chrome_begin_trace,
	.process = chrome_process,
	.track = chrome_track,
	.begin = chrome_begin,
	.end = chrome_end,
	.whole = chrome_whole,
	.instant = chrome_instant,
	.counter = chrome_counter,
	.metric = chrome_metric,
};

int ct_chrome_export(const struct ct_export *x, struct ct_error *err)
{
	struct chrome c = { .trace = x->trace };
	int rc, closed;

	(void)err;
	if (ct_out_open(&c.out, x->fd))
		return -ENOMEM;
	rc = ct_slices(x->trace, &chrome_sink, &c);
	/* What is cut short must not look complete. */
	if (!rc)
		PUT(&c.out, "\n]}\n");
	closed = ct_out_close(&c.out);
	return rc ? rc : closed;
}
