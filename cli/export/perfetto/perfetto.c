// SPDX-License-Identifier: LGPL-2.1-or-later
/* See perfetto.h.  What slices, tracks and arrows there are is decided in slices/. */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/nv_decode.h"
#include "export/fields.h"
#include "export/perfetto/callstacks.h"
#include "export/perfetto/perfetto_job.h"
#include "export/perfetto/packets.h"
#include "export/perfetto/perfetto_tracks.h"
#include "export/slices/slices.h"

/* Fields of TrackEvent and DebugAnnotation. */
enum {
	EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9,
	EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_NAME_TEXT = 23, EVENT_COUNTER = 30, EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48, EVENT_CALLSTACK = 56,
	ANNOTATION_NAME = 1, ANNOTATION_BOOL = 2, ANNOTATION_UNSIGNED = 3, ANNOTATION_SIGNED = 4,
	ANNOTATION_TEXT = 6, ANNOTATION_POINTER = 7, ANNOTATION_NAME_TEXT = 10, ANNOTATION_STRING = 17,
};

/* Fields of PerfSample. */
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4, SAMPLE_MODE = 5, MODE_USER = 2 };

/* TrackEvent.Type */
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* The numbers of what each event of a class says again. */
struct perfetto_class {
	uint64_t name, category;
	uint64_t *fields;		/* names of annotations; 0: not known yet */
};

struct perfetto {
	struct ct_packets packets;
	struct ct_perfetto_tracks tracks;
	struct ct_callstacks stacks;
	struct ct_perfetto_job job;
	struct ct_names *names;
	struct perfetto_class *classes;	/* by id */
	uint64_t flows;			/* added to the number of each arrow */
	uint64_t *strings;		/* numbers of the registry's strings, by id */
	struct ct_proto event, note;
};

/* ----------------------------------------------------------- annotations --- */

static void perfetto_note_name(struct perfetto *p, const char *name, uint64_t number)
{
	if (!number)
		number = ct_intern(&p->packets.intern, CT_INTERN_ANNOTATION, name, strlen(name));
	if (number)
		ct_proto_number(&p->note, ANNOTATION_NAME, number);
	else
		ct_proto_text(&p->note, ANNOTATION_NAME_TEXT, name, strlen(name));
}

static void perfetto_note_end(struct perfetto *p)
{
	ct_proto_message(&p->event, EVENT_ANNOTATION, &p->note);
}

static void perfetto_note_number(struct perfetto *p, const char *name, unsigned int type, uint64_t value)
{
	perfetto_note_name(p, name, 0);
	ct_proto_number(&p->note, type, value);
	perfetto_note_end(p);
}

static void perfetto_put_word(struct perfetto *p, const char *word, size_t len)
{
	uint64_t number = ct_intern(&p->packets.intern, CT_INTERN_STRING, word, len);

	if (number)
		ct_proto_number(&p->note, ANNOTATION_STRING, number);
	else
		ct_proto_text(&p->note, ANNOTATION_TEXT, word, len);
}

static void perfetto_note_word(struct perfetto *p, const char *name, const char *word)
{
	perfetto_note_name(p, name, 0);
	perfetto_put_word(p, word, strlen(word));
	perfetto_note_end(p);
}

/* A string of the registry is known by its id. */
static void perfetto_put_string(struct perfetto *p, uint32_t id, const char *text, size_t len)
{
	uint64_t *number = &p->strings[id];

	if (!*number)
		*number = ct_intern_new(&p->packets.intern, CT_INTERN_STRING, text, len);
	ct_proto_number(&p->note, ANNOTATION_STRING, *number);
}

static void perfetto_note_field(struct perfetto *p, const struct ct_record *r, unsigned int i,
				uint64_t *number)
{
	const char *name = r->class->fields[i].name;
	struct ct_field_value v;

	ct_field_value(p->names, r, i, &v);
	if (v.kind == CT_FIELD_NULL)
		return;
	if (!*number)
		*number = ct_intern(&p->packets.intern, CT_INTERN_ANNOTATION, name, strlen(name));
	perfetto_note_name(p, name, *number);
	switch (v.kind) {
	case CT_FIELD_SIGNED:
		ct_proto_number(&p->note, ANNOTATION_SIGNED, v.number);
		break;
	case CT_FIELD_HEX:
		ct_proto_number(&p->note, ANNOTATION_POINTER, v.number);
		break;
	case CT_FIELD_WORD:
		if (r->class->fields[i].type == CT_TYPE_str)
			perfetto_put_string(p, v.number, v.text, v.len);
		else
			perfetto_put_word(p, v.text, v.len);
		break;
	case CT_FIELD_TEXT:
		ct_proto_text(&p->note, ANNOTATION_TEXT, v.text, v.len);
		break;
	default:
		ct_proto_number(&p->note, ANNOTATION_UNSIGNED, v.number);
	}
	perfetto_note_end(p);
}

/* Of a call that was recorded at entry its begin has the first, its end the others. */
enum perfetto_fields { FIELDS_ALL, FIELDS_OF_BEGIN, FIELDS_OF_END };

static void perfetto_note_fields(struct perfetto *p, const struct ct_record *r, enum perfetto_fields which)
{
	struct perfetto_class *c = &p->classes[r->class->id];

	if (!r->fields || !r->class->fields_count)
		return;
	if (!c->fields)
		c->fields = calloc(r->class->fields_count, sizeof(*c->fields));
	if (!c->fields) {
		p->event.failed = true;
		return;
	}
	for (unsigned int i = 0; i < r->class->fields_count; i++)
		if (!ct_field_missing(r, i) && (which == FIELDS_ALL ||
		    r->class->fields[i].output == (which == FIELDS_OF_END)))
			perfetto_note_field(p, r, i, &c->fields[i]);
}

static void perfetto_note_ioctl(struct perfetto *p, const struct ct_record *r)
{
	struct ct_ioctl_words w;

	ct_ioctl_words(&w, r);
	if (w.escape)
		perfetto_note_word(p, "escape", w.escape);
	if (w.code_name)
		perfetto_note_word(p, w.code_kind, w.code_name);
}

/* What is only known when a call has returned.  Most return 0, which a timeline does not say of each. */
static void perfetto_note_result(struct perfetto *p, const struct ct_record *r)
{
	const char *name;
	int64_t code;

	if (r->flags & CT_F_ABANDONED)
		perfetto_note_number(p, "abandoned", ANNOTATION_BOOL, 1);
	if (!ct_record_result(r, &code) || !code)
		return;
	name = ct_name_result(r);
	if (name)
		perfetto_note_word(p, "result", name);
	else
		perfetto_note_number(p, "result", ANNOTATION_SIGNED, code);
}

/* ---------------------------------------------------------------- events --- */

static void perfetto_track(struct perfetto *p, uint64_t uuid)
{
	if (uuid != p->packets.default_track)
		ct_proto_number(&p->event, EVENT_TRACK, uuid);
}

static int perfetto_emit(struct perfetto *p, uint64_t ts)
{
	ct_packets_add_at(&p->packets, ts, CT_PACKET_EVENT, &p->event);
	return ct_packets_error(&p->packets);
}

/* The name is the class's, or a text of the program's. */
static void perfetto_name(struct perfetto *p, const struct ct_slice *s)
{
	struct perfetto_class *c = &p->classes[s->class->id];
	uint64_t name;

	if (!c->category) {
		const char *word = ct_category_word[s->class->category];

		c->category = ct_intern(&p->packets.intern, CT_INTERN_CATEGORY, word, strlen(word));
		c->name = ct_intern_new(&p->packets.intern, CT_INTERN_NAME, s->class->name,
					strlen(s->class->name));
	}
	name = s->name == s->class->name ? c->name :
	       ct_intern(&p->packets.intern, CT_INTERN_NAME, s->name, s->name_len);
	if (name)
		ct_proto_number(&p->event, EVENT_NAME, name);
	else
		ct_proto_text(&p->event, EVENT_NAME_TEXT, s->name, s->name_len);
	if (c->category)
		ct_proto_number(&p->event, EVENT_CATEGORY, c->category);
}

/* From where a call was made; of what the GPU did its cause. */
static uint64_t perfetto_callstack(struct perfetto *p, uint32_t node)
{
	return node ? ct_callstacks_number(&p->stacks, &p->packets.intern, &p->tracks.trace->reg, node) : 0;
}

/* Type, track, name, category, and the annotations of a slice or an instant that begins. */
static void perfetto_open(struct perfetto *p, const struct ct_slice *s, unsigned int type)
{
	const struct ct_record *r = &s->point->record;
	uint64_t stack = perfetto_callstack(p, s->point->stack);
	bool all = s->known || s->point->phase != 'B';

	ct_proto_number(&p->event, EVENT_TYPE, type);
	perfetto_track(p, s->track->id);
	perfetto_name(p, s);
	if (stack)
		ct_proto_number(&p->event, EVENT_CALLSTACK, stack);
	perfetto_note_fields(p, r, all ? FIELDS_ALL : FIELDS_OF_BEGIN);
	if (s->op_id)
		perfetto_note_number(p, "op_id", ANNOTATION_UNSIGNED, s->op_id);
	if (r->fields && ct_record_is_ioctl(r))
		perfetto_note_ioctl(p, r);
	if (all)
		perfetto_note_result(p, r);
	if (s->unfinished)
		perfetto_note_number(p, "unfinished", ANNOTATION_BOOL, 1);
	if (s->point->begin_lost)
		perfetto_note_number(p, "begin_lost", ANNOTATION_BOOL, 1);
}

/* One arrow goes through all ranks of a collective: by their kernels, or where these were not recorded by the calls. */
static void perfetto_collective(struct perfetto *p, const struct ct_slice *s)
{
	const struct ct_perfetto_number *one = NULL;

	if (s->track->kind == CT_SLICE_TRACK_GPU && s->point->cause)
		one = ct_keyed_get(&p->job.kernels, s->point->cause->op_id);
	else if (s->op_id)
		one = ct_keyed_get(&p->job.calls, s->op_id);
	if (one)
		ct_proto_fixed64(&p->event, EVENT_FLOW, (p->flows ^ 1ull << 63) + one->number);
}

static int perfetto_begin(void *arg, const struct ct_slice *s)
{
	struct perfetto *p = arg;

	perfetto_open(p, s, TYPE_BEGIN);
	if (s->flow_out)
		ct_proto_fixed64(&p->event, EVENT_FLOW, p->flows + s->flow_out);
	if (s->flow_in)
		ct_proto_fixed64(&p->event, EVENT_FLOW, p->flows + s->flow_in);
	if (s->from)
		ct_proto_fixed64(&p->event, EVENT_FLOW, p->flows + s->op_id);
	perfetto_collective(p, s);
	return perfetto_emit(p, s->ts);
}

static int perfetto_end(void *arg, const struct ct_slice *s)
{
	struct perfetto *p = arg;

	/* A slice without an end is shown as one that did not finish. */
	if (s->at_end)
		return 0;
	ct_proto_number(&p->event, EVENT_TYPE, TYPE_END);
	perfetto_track(p, s->track->id);
	if (s->point && !s->known && s->op_id) {
		perfetto_note_fields(p, &s->point->record, FIELDS_OF_END);
		perfetto_note_result(p, &s->point->record);
	}
	if (s->measured)
		perfetto_note_number(p, "duration_ns", ANNOTATION_UNSIGNED, s->measured);
	if (s->unfinished)
		perfetto_note_number(p, "unfinished", ANNOTATION_BOOL, 1);
	/*
	 * When this slice began nobody knew of the arrows that start from it.  A viewer points them
	 * from the slice that began first, so they may be said now.
	 */
	for (uint32_t i = 0; i < s->arrows_count; i++)
		ct_proto_fixed64(&p->event, EVENT_LAST_FLOW, p->flows + s->arrows[i].to);
	return perfetto_emit(p, s->ts);
}

/* The begin was lost: it is written now, with its time. */
static int perfetto_whole(void *arg, const struct ct_slice *s)
{
	struct perfetto *p = arg;
	int rc;

	perfetto_open(p, s, TYPE_BEGIN);
	rc = perfetto_emit(p, s->begin);
	if (rc)
		return rc;
	ct_proto_number(&p->event, EVENT_TYPE, TYPE_END);
	perfetto_track(p, s->track->id);
	return perfetto_emit(p, s->ts);
}

static int perfetto_instant(void *arg, const struct ct_slice *s)
{
	struct perfetto *p = arg;

	perfetto_open(p, s, TYPE_INSTANT);
	return perfetto_emit(p, s->ts);
}

/* What a thread did at a moment, as the recorder saw it from outside. */
static int perfetto_sample(void *arg, const struct ct_slice *s)
{
	struct perfetto *p = arg;
	const struct ct_record *r = &s->point->record;
	uint64_t stack = perfetto_callstack(p, s->point->stack);

	if (!stack)
		return ct_packets_error(&p->packets);
	ct_proto_number(&p->event, SAMPLE_PID, r->pid);
	ct_proto_number(&p->event, SAMPLE_TID, r->tid);
	ct_proto_number(&p->event, SAMPLE_CALLSTACK, stack);
	ct_proto_number(&p->event, SAMPLE_MODE, MODE_USER);
	ct_packets_add_at(&p->packets, s->ts, CT_PACKET_SAMPLE, &p->event);
	return ct_packets_error(&p->packets);
}

/* ---------------------------------------------------------------- tracks --- */

static int perfetto_process(void *arg, uint32_t pid, const char *name, size_t len)
{
	struct perfetto *p = arg;

	return ct_perfetto_process(&p->tracks, pid, len ? name : "process", len ? len : 7);
}

static int perfetto_new_track(void *arg, struct ct_slice_track *track)
{
	struct perfetto *p = arg;
	int rc = ct_perfetto_track(&p->tracks, track);

	if (!rc && track->kind == CT_SLICE_TRACK_CALLS && !p->packets.default_track)
		ct_packets_default_track(&p->packets, track->id);
	return rc;
}

/* @uuid: of its track, 0: there is none. */
static int perfetto_value(struct perfetto *p, uint64_t uuid, uint64_t ts, uint64_t value)
{
	int rc;

	if (!uuid) {
		rc = ct_packets_error(&p->packets);
		return rc ? rc : -ENOMEM;
	}
	ct_proto_number(&p->event, EVENT_TYPE, TYPE_COUNTER);
	perfetto_track(p, uuid);
	ct_proto_number(&p->event, EVENT_COUNTER, value);
	return perfetto_emit(p, ts);
}

static int perfetto_counter(void *arg, enum ct_slice_counter which, uint32_t pid, uint64_t ts, uint64_t value)
{
	struct perfetto *p = arg;

	return perfetto_value(p, ct_perfetto_counter(&p->tracks, which, pid), ts, value);
}

static int perfetto_metric(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	struct perfetto *p = arg;

	return perfetto_value(p, ct_perfetto_metric(&p->tracks, which, gpu), ts, value);
}

/* ------------------------------------------------------------------ file --- */

/*
 * What CLOCK_BOOTTIME was when the recording began, by the record that has one moment on three
 * clocks.  If there is none, the machine is taken for one that never slept: trace processor reports
 * an error of a trace that does not say it.
 */
static uint64_t perfetto_boottime(const struct ct_trace *t)
{
	struct ct_cursor cursor;
	struct ct_record r;

	for (unsigned int i = 0; i < t->streams_count; i++) {
		if (t->streams[i].kind == CT_STREAM_THREAD || t->streams[i].kind == CT_STREAM_CPU)
			continue;
		ct_cursor_init(&cursor, t, i);
		for (unsigned int n = 0; n < 1000 && ct_cursor_next(&cursor, &r); n++) {
			struct ct_clock clock;

			if (r.class->id != CT_CLASS_clock || r.class->size < sizeof(clock))
				continue;
			memcpy(&clock, r.fields, sizeof(clock));
			return t->reg.start + clock.boottime - clock.monotonic;
		}
	}
	return t->reg.start;
}

/*
 * `cat a.pftrace b.pftrace` is one trace to a viewer.  So a sequence, tracks and arrows have
 * numbers that begin at the trace's uuid, which is random.
 */
static int perfetto_start(void *arg, struct ct_names *names, bool gpu)
{
	struct perfetto *p = arg;
	const struct ct_registry *reg = &p->tracks.trace->reg;
	uint32_t id[4];

	(void)gpu;
	p->names = names;
	p->classes = calloc(CT_CLASS_MAX + 1, sizeof(*p->classes));
	p->strings = calloc(reg->strings_count + 1, sizeof(*p->strings));
	if (!p->classes || !p->strings)
		return -ENOMEM;
	memcpy(id, reg->uuid, sizeof(id));
	/*
	 * 16 bits for the tracks, 26 for the file: a number of 6 bytes.  Two files may have one
	 * sequence by chance, for each begins it anew: 3 bytes.
	 */
	p->tracks.uuids = (uint64_t)(id[0] & 0x3ffffff) << 16;
	p->flows = (uint64_t)id[3] << 32;
	ct_packets_begin(&p->packets, (id[2] & 0xfffff) | 1 << 20, reg->start, reg->realtime,
			 perfetto_boottime(p->tracks.trace));
	return ct_perfetto_attributes(&p->tracks);
}

static void perfetto_free(struct perfetto *p)
{
	for (unsigned int i = 0; p->classes && i <= CT_CLASS_MAX; i++)
		free(p->classes[i].fields);
	free(p->classes);
	free(p->strings);
	ct_proto_free(&p->event);
	ct_proto_free(&p->note);
	ct_callstacks_free(&p->stacks);
	ct_perfetto_tracks_free(&p->tracks);
	ct_perfetto_job_free(&p->job);
	ct_packets_free(&p->packets);
}

static const struct ct_slices_sink perfetto_sink = {
	.start = perfetto_start,
	.process = perfetto_process,
	.track = perfetto_new_track,
	.begin = perfetto_begin,
	.end = perfetto_end,
	.whole = perfetto_whole,
	.instant = perfetto_instant,
	.sample = perfetto_sample,
	.counter = perfetto_counter,
	.metric = perfetto_metric,
};

int ct_perfetto_export(const struct ct_export *x, struct ct_error *err)
{
	struct ct_out out;
	struct perfetto p = {
		.packets.out = &out,
		.tracks = { .trace = x->trace, .packets = &p.packets },
	};
	int rc, closed;

	if (isatty(x->fd))
		return ct_fail(err, EINVAL, "the format perfetto is binary, and this is a terminal: "
			       "write it to a file with -o");
	if (ct_out_open(&out, x->fd))
		return -ENOMEM;
	rc = ct_perfetto_job(&p.job, x->trace);
	if (!rc)
		rc = ct_slices(x->trace, &perfetto_sink, &p);
	perfetto_free(&p);
	closed = ct_out_close(&out);
	return rc ? rc : closed;
}
