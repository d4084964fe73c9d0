// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The JSON Lines writer.  Scripts rely on the words: must never rename one, and never put a call's type on two lines.
 */
#include "export/jsonl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "export/json_details.h"
#include "export/json_machine.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/merge.h"
#include "trace/stacks/stacks.h"
#include "trace/names.h"

#define PUT(out, literal)	ct_out_bytes(out, literal, sizeof(literal) - 1)

struct jsonl {
	struct ct_out out;
	struct ct_out scratch; /* where the words of a class are put together: one for all classes */
	struct ct_names names;
	const struct ct_registry *reg;
	char **begin_words, **end_words; /* by class: what doesn't change */
	uint64_t events; /* lines written */
};

/* Writes what is in the buffer and frees; 0 or the first error of writing. */
static int jsonl_close(struct jsonl *j)
{
	int rc = ct_out_close(&j->out);

	for (unsigned int i = 0; j->begin_words && j->end_words && i <= CT_CLASS_MAX; i++) {
		free(j->begin_words[i]);
		free(j->end_words[i]);
	}
	free(j->begin_words);
	free(j->end_words);
	free(j->scratch.buffer);
	ct_names_forget(&j->names);
	*j = (struct jsonl){ 0 };
	return rc;
}

/* @fd stays the caller's.  0 or -ENOMEM. */
static int jsonl_open(struct jsonl *j, const struct ct_registry *reg, int fd)
{
	*j = (struct jsonl){ .reg = reg };
	j->begin_words = calloc(CT_CLASS_MAX + 1, sizeof(char *));
	j->end_words = calloc(CT_CLASS_MAX + 1, sizeof(char *));
	if (!j->begin_words || !j->end_words || ct_names_init(&j->names, reg) ||
	    ct_out_open(&j->scratch, -1) || ct_out_open(&j->out, fd)) {
		jsonl_close(j);
		return -ENOMEM;
	}
	return 0;
}

/* --------------------------------------------------------------- lines --- */

static void jsonl_put_string(struct ct_out *out, const char *key, const char *text)
{
	ct_out_text(out, key);
	ct_out_json(out, text, strlen(text));
}

/* ,"layer":"user","type":"memory","op":"alloc","name":"cuMemAlloc","symbol":".." */
static char *jsonl_class_words(struct ct_out *out, const struct ct_class *class, bool begin)
{
	out->used = 0;
	jsonl_put_string(out, ",\"layer\":", ct_layer_word[class->layer]);
	if (begin) {
		jsonl_put_string(out, ",\"type\":",
				 class->layer == CT_LAYER_USER ? "userspace" :
								 ct_layer_word[class->layer]);
	} else {
		jsonl_put_string(out, ",\"type\":", ct_category_word[class->category]);
		if (class->operation)
			jsonl_put_string(out, ",\"op\":", ct_op_word[class->operation]);
	}
	jsonl_put_string(out, ",\"name\":", class->name);
	if (*class->symbol && strcmp(class->symbol, class->name))
		jsonl_put_string(out, ",\"symbol\":", class->symbol);
	return strndup(out->buffer, out->used);
}

static void jsonl_put_class(struct jsonl *j, const struct ct_class *class, bool begin)
{
	char **words = &(begin ? j->begin_words : j->end_words)[class->id];

	if (!*words)
		*words = jsonl_class_words(&j->scratch, class, begin);
	if (*words)
		ct_out_text(&j->out, *words);
	else
		j->out.error = -ENOMEM;
}

static void jsonl_put_ioctl(struct ct_out *out, const struct ct_record *r)
{
	struct ct_ioctl_words w;

	ct_ioctl_words(&w, r);
	PUT(out, ",\"cmd\":");
	ct_out_u64(out, w.cmd);
	PUT(out, ",\"decoded\":{\"dir\":");
	ct_out_u64(out, w.cmd >> 30);
	PUT(out, ",\"type\":");
	ct_out_u64(out, w.cmd >> 8 & 0xff);
	PUT(out, ",\"nr\":");
	ct_out_u64(out, w.cmd & 0xff);
	PUT(out, ",\"size\":");
	ct_out_u64(out, w.cmd >> 16 & 0x3fff);
	ct_out_char(out, '}');
	if (w.escape)
		jsonl_put_string(out, ",\"escape\":", w.escape);
	if (w.code_kind) {
		ct_out_text(out, w.have & CT_IOCTL_CONTROL ? ",\"control\":" : ",\"class\":");
		ct_json_word_or_hex(out, w.code_name, w.code);
	}
	if (w.have & CT_IOCTL_STATUS) {
		PUT(out, ",\"status\":");
		ct_json_word_or_hex(out, w.status_name, w.status);
	}
	jsonl_put_string(out, ",\"device\":", w.device_name);
}

static void jsonl_put_result(struct ct_out *out, const struct ct_record *r)
{
	const char *name;
	int64_t code;

	if (!ct_record_result(r, &code))
		return;
	name = ct_name_result(r);
	if (name) {
		jsonl_put_string(out, ",\"result\":", name);
		PUT(out, ",\"result_code\":");
	} else {
		PUT(out, ",\"result\":");
	}
	ct_out_s64(out, code);
}

/* The fields that users select by: only on E and I lines. */
static void jsonl_put_promoted(struct jsonl *j, const struct ct_record *r)
{
	struct ct_out *out = &j->out;
	uint64_t value;
	const char *text;
	uint16_t len;

	if (ct_record_has(r, CT_KNOWN_SIZE)) {
		PUT(out, ",\"size\":");
		ct_out_u64(out, ct_record_known(r, CT_KNOWN_SIZE));
	}
	if (ct_record_has(r, CT_KNOWN_DIRECTION)) {
		value = ct_record_known(r, CT_KNOWN_DIRECTION);
		PUT(out, ",\"direction\":");
		ct_json_word_or_hex(out, ct_name_direction(value), value);
	}
	value = ct_record_threads(r);
	if (value) {
		PUT(out, ",\"threads\":");
		ct_out_u64(out, value);
	}
	if (ct_record_has(r, CT_KNOWN_KERNEL)) {
		text = ct_names_string(&j->names, ct_record_known(r, CT_KNOWN_KERNEL));
		if (text)
			jsonl_put_string(out, ",\"kernel\":", text);
	}
	text = ct_record_text(r, &len);
	if (text) {
		PUT(out, ",\"text\":");
		ct_out_json(out, text, len);
	}
	if (ct_record_is_ioctl(r))
		jsonl_put_ioctl(out, r);
}

/* The call that caused what the GPU did. */
static void jsonl_put_cause(struct ct_out *out, const struct ct_point *p)
{
	if (!p->cause) {
		PUT(out, ",\"joined\":false");
		return;
	}
	PUT(out, ",\"launch_op_id\":");
	ct_out_u64(out, p->cause->op_id);
	PUT(out, ",\"launch_tid\":");
	ct_out_u64(out, p->cause->tid);
}

/* From where it was called, the innermost first: "stack":[["train.py",12,"step"],...] */
/* ",\"stack\":" and frames, the innermost first. */
static void jsonl_put_stack(struct ct_out *out, const struct ct_registry *reg, uint32_t node)
{
	struct ct_stack_frame f = { .parent = node };

	PUT(out, ",\"stack\":[");
	for (unsigned int i = 0; i < CT_STACK_DEPTH && ct_stack_frame(reg, f.parent, &f); i++) {
		ct_out_text(out, i ? ",[" : "[");
		ct_out_json(out, f.file_len ? f.file : f.object, f.file_len ? f.file_len : f.object_len);
		ct_out_char(out, ',');
		ct_out_u64(out, f.line);
		ct_out_char(out, ',');
		ct_out_json(out, f.name, f.name_len);
		ct_out_char(out, ']');
	}
	ct_out_char(out, ']');
}

/* The thread that holds the lock for which another one waits. */
static void jsonl_put_holder(struct ct_out *out, const struct ct_registry *reg, const struct ct_record *r)
{
	uint64_t state = ct_record_known(r, CT_KNOWN_HOLDER_STATE);
	uint32_t node = ct_record_known(r, CT_KNOWN_HOLDER);

	PUT(out, ",\"holder\":{\"tid\":");
	ct_out_u64(out, ct_record_known(r, CT_KNOWN_HOLDER_TID));
	jsonl_put_string(out, ",\"state\":", ct_sample_word[state < CT_SAMPLE_STATES ? state : CT_SAMPLE_UNKNOWN]);
	if (node)
		jsonl_put_stack(out, reg, node);
	ct_out_char(out, '}');
}

static void jsonl_point(struct jsonl *j, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct ct_out *out = &j->out;
	bool begin = p->phase == 'B';
	const char *context;

	PUT(out, "{\"event_id\":");
	ct_out_u64(out, ++j->events);
	PUT(out, ",\"ts\":");
	ct_out_fixed(out, p->ts - j->reg->start, 6);
	PUT(out, ",\"ts_ns\":");
	ct_out_u64(out, p->ts);
	jsonl_put_class(j, r->class, begin);
	PUT(out, ",\"phase\":\"");
	ct_out_char(out, p->phase);
	PUT(out, "\",\"pid\":");
	ct_out_u64(out, r->pid);
	/* What the GPU does is in no thread. */
	if (r->class->layer != CT_LAYER_GPU || r->tid) {
		PUT(out, ",\"tid\":");
		ct_out_u64(out, r->tid);
	}
	/* Where a call began is only known if that was recorded then. */
	if (r->cpu != CT_NO_CPU && (!begin || p->entry)) {
		PUT(out, ",\"cpu\":");
		ct_out_u64(out, r->cpu);
	}
	if (p->op_id) {
		PUT(out, ",\"op_id\":");
		ct_out_u64(out, p->op_id);
		PUT(out, ",\"depth\":");
		ct_out_u64(out, p->depth);
	}
	if (r->class->layer == CT_LAYER_GPU && r->class->call)
		jsonl_put_cause(out, p);
	/* An abandoned call's duration is not known. */
	if (p->phase == 'E' && !(r->flags & CT_F_ABANDONED)) {
		PUT(out, ",\"duration_us\":");
		ct_out_fixed(out, p->ts - p->begin, 3);
	}
	if (!begin) {
		jsonl_put_result(out, r);
		jsonl_put_promoted(j, r);
	}
	if ((!begin || p->open) && p->stack)
		jsonl_put_stack(out, j->reg, p->stack);
	if (ct_class_is_sample(r->class) && ct_record_known(r, CT_KNOWN_STATE) < CT_SAMPLE_STATES)
		jsonl_put_string(out, ",\"state\":", ct_sample_word[ct_record_known(r, CT_KNOWN_STATE)]);
	if (r->class->id == CT_CLASS_gil_wait && ct_record_known(r, CT_KNOWN_HOLDER_TID))
		jsonl_put_holder(out, j->reg, r);
	context = r->class->layer == CT_LAYER_KERNEL ? ct_name_context(r->flags) : NULL;
	if (context)
		jsonl_put_string(out, ",\"context\":", context);
	if (!begin && (r->flags & CT_F_ABANDONED))
		PUT(out, ",\"abandoned\":true");
	if (r->flags & CT_F_TRUNCATED)
		PUT(out, ",\"truncated\":true");
	if (p->open)
		PUT(out, ",\"unfinished\":true");
	if (p->begin_lost)
		PUT(out, ",\"begin_lost\":true");
	PUT(out, ",\"details\":");
	ct_json_details(out, &j->names, r, begin);
	PUT(out, "}\n");
}

/* The first line, of a trace that knows something of its machine. */
static int jsonl_machine(struct jsonl *j)
{
	struct ct_machine *m = calloc(1, sizeof(*m));
	int rc = m ? ct_machine_read(m, j->reg) : -ENOMEM;

	if (!rc && (m->gpus_count || m->versions_count || m->env_count || m->threads_count)) {
		PUT(&j->out, "{\"event_id\":");
		ct_out_u64(&j->out, ++j->events);
		PUT(&j->out, ",\"ts\":0.000000,\"ts_ns\":");
		ct_out_u64(&j->out, j->reg->start);
		PUT(&j->out, ",\"layer\":\"user\",\"type\":\"tracer\",\"name\":\"machine\","
		    "\"phase\":\"I\",\"pid\":0,\"details\":");
		ct_json_machine(&j->out, m);
		PUT(&j->out, "}\n");
	}
	if (m)
		ct_machine_free(m);
	free(m);
	return rc;
}

/* The last line of a damaged trace says what is missing. */
static void jsonl_damage(struct jsonl *j, uint64_t ts)
{
	const char *text = ct_registry_info(j->reg, CT_DAMAGED_INFO);
	struct ct_out *out = &j->out;

	if (!text)
		return;
	PUT(out, "{\"event_id\":");
	ct_out_u64(out, ++j->events);
	PUT(out, ",\"ts\":");
	ct_out_fixed(out, ts - j->reg->start, 6);
	PUT(out, ",\"ts_ns\":");
	ct_out_u64(out, ts);
	PUT(out, ",\"layer\":\"user\",\"type\":\"tracer\",\"name\":\"damaged\",\"phase\":\"I\",\"pid\":0,\"tid\":0");
	jsonl_put_string(out, ",\"text\":", text);
	PUT(out, ",\"details\":{}}\n");
}

int ct_jsonl_export(const struct ct_export *x, struct ct_error *err)
{
	const struct ct_trace *t = x->trace;
	struct ct_merge *m = ct_merge_new(t);
	struct ct_point point = { .ts = t->reg.start };
	struct jsonl j;
	int rc, closed;

	(void)err;
	if (!m)
		return -ENOMEM;
	ct_merge_samples(m);
	rc = jsonl_open(&j, &t->reg, x->fd);
	if (!rc) {
		rc = jsonl_machine(&j);
		if (!rc)
			while ((rc = ct_merge_next(m, &point)) > 0 && !j.out.error)
				jsonl_point(&j, &point);
		if (!rc)
			jsonl_damage(&j, point.ts);
		closed = jsonl_close(&j);
		rc = rc < 0 ? rc : closed;
	}
	ct_merge_free(m);
	return rc;
}
