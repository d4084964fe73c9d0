// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sqlite_records.h.  Must never keep something for each record. */
#include "export/sqlite/sqlite_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/sqlite/schema.h"
#include "trace/stacks/stacks.h"
#include "trace/about/machine.h"

#define CLASS_COLUMNS	15

enum { ID, PARENT, CLASS, START, END, SELF, PID, TID, CPU, DEPTH, RESULT, FLAGS, SIZE, COLUMNS };

static int records_learn(struct ct_records *s, struct ct_records_class *c, const struct ct_span *span)
{
	const struct ct_class *class = span->class;
	int rc;

	*c = (struct ct_records_class){
		.class = class,
		.category = span->category,
		.results = ct_results_of(class),
	};
	if (ct_class_is(class, CT_IS_IOCTL))
		c->ioctl = 1 + (class->layer != CT_LAYER_USER);
	c->fields = ct_fields_of(&s->fields, class, &rc);
	return rc;
}

static int records_thread(struct ct_records *s, const struct ct_span *span)
{
	uint64_t key = (uint64_t)span->pid << 32 | span->tid;

	if (key == s->thread)
		return 0;
	s->thread = key;
	if (!span->tid || ct_keyed_get(&s->threads, key))
		return 0;
	if (s->threads.count == CT_RECORDS_THREADS) {
		s->threads_left_out = true;
		return 0;
	}
	return ct_keyed_put(&s->threads, key) ? 0 : -ENOMEM;
}

static unsigned int records_flags(const struct ct_span *span)
{
	static const struct { unsigned int span, record; } bits[] = {
		{ CT_SPAN_FAILED, CT_RECORD_FAILED }, { CT_SPAN_UNFINISHED, CT_RECORD_UNFINISHED },
		{ CT_SPAN_ABANDONED, CT_RECORD_ABANDONED }, { CT_SPAN_BEGIN_LOST, CT_RECORD_BEGIN_LOST },
		{ CT_SPAN_NESTED, CT_RECORD_NESTED }, { CT_SPAN_INNER_IOCTL, CT_RECORD_INNER_IOCTL },
	};
	unsigned int flags = 0;

	for (unsigned int i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		flags |= span->flags & bits[i].span ? bits[i].record : 0;
	if (span->flags & CT_SPAN_UNFINISHED)
		return flags;
	if (span->class->layer != CT_LAYER_USER)
		flags |= span->record->flags & CT_F_CONTEXT;
	return span->record->flags & CT_F_TRUNCATED ? flags | CT_RECORD_TRUNCATED : flags;
}
_Static_assert(CT_RECORD_SOFTIRQ == CT_F_SOFTIRQ && CT_RECORD_HARDIRQ == CT_F_HARDIRQ, "the same bits");

/* The values that only a record of what happened has. */
static int records_put(struct ct_records *s, const struct ct_records_class *c, const struct ct_record *r,
		       struct ct_value *v)
{
	int64_t code;

	if (ct_record_has(r, CT_KNOWN_SIZE))
		ct_value_int(&v[SIZE], ct_record_known(r, CT_KNOWN_SIZE));
	if (!ct_record_result(r, &code))
		return 0;
	ct_value_int(&v[RESULT], code);
	if (ct_results_known(&s->results, c->results, code))
		return 0;
	return ct_results_add(&s->results, c->results, code, ct_name_result(r));
}

/* Which end belongs to which begin of a range. */
static int records_range(struct ct_records *s, const struct ct_span *range)
{
	struct ct_value *v;

	if (!range->pop)
		return 0;
	v = ct_insert_row(&s->ranges);
	ct_value_int(&v[0], -(int64_t)range->number);
	ct_value_int(&v[1], -(int64_t)range->pop);
	ct_value_int(&v[2], range->end - s->start);
	return s->ranges.error;
}

static int records_sample(struct ct_records *s, const struct ct_span *span)
{
	uint64_t state = ct_record_known(span->record, CT_KNOWN_STATE);
	const char *word = ct_sample_word[state < CT_SAMPLE_STATES ? state : CT_SAMPLE_UNKNOWN];
	struct ct_value *v = ct_insert_row(&s->samples);

	ct_value_int(&v[0], span->begin - s->start);
	ct_value_int(&v[1], span->pid);
	ct_value_int(&v[2], span->tid);
	if (span->stack)
		ct_value_int(&v[3], span->stack);
	ct_insert_text(&s->samples, &v[4], word, strlen(word));
	if (ct_record_known(span->record, CT_KNOWN_HOLDER_TID))
		ct_value_int(&v[5], ct_record_known(span->record, CT_KNOWN_HOLDER_TID));
	if (ct_record_known(span->record, CT_KNOWN_HOLDER))
		ct_value_int(&v[6], ct_record_known(span->record, CT_KNOWN_HOLDER));
	return s->samples.error;
}

static int records_metric(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	const char *name = ct_slice_metric_name[which], *unit = ct_slice_metric_unit[which];
	struct ct_records *s = arg;
	struct ct_value *v = ct_insert_row(&s->metrics);

	ct_value_int(&v[0], ts - s->start);
	ct_value_int(&v[1], gpu);
	ct_insert_text(&s->metrics, &v[2], name, strlen(name));
	ct_insert_text(&s->metrics, &v[3], unit, strlen(unit));
	ct_value_int(&v[4], value);
	return s->metrics.error;
}

/* From where a call was made. */
static void records_stack(struct ct_records *s, const struct ct_span *span, int64_t id)
{
	struct ct_value *v;

	/* The GPU's work has that of its cause, which is the parent of its record. */
	if (!span->stack || !span->op_id || span->cause)
		return;
	v = ct_insert_row(&s->stacks);
	ct_value_int(&v[0], id);
	ct_value_int(&v[1], span->stack);
}

static int records_frames(struct ct_records *s, const struct ct_registry *reg)
{
	struct ct_insert in;
	int rc = ct_insert_begin(&in, s->db, "CUDATRACE_FRAMES", 6, true), ended;

	for (uint32_t id = 1; id < reg->strings_count && !rc && ct_registry_info(reg, "stacks"); id++) {
		struct ct_stack_frame f;
		struct ct_value *v;

		if (!ct_stack_frame(reg, id, &f))
			continue;
		v = ct_insert_row(&in);
		ct_value_int(&v[0], id);
		if (f.parent)
			ct_value_int(&v[1], f.parent);
		ct_insert_text(&in, &v[2], f.name, f.name_len);
		ct_insert_text(&in, &v[3], f.file_len ? f.file : f.object, f.file_len ? f.file_len : f.object_len);
		if (f.line)
			ct_value_int(&v[4], f.line);
		ct_insert_text(&in, &v[5], f.language, f.language_len);
		rc = in.error;
	}
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

static int records_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct ct_records *s = a->arg;
	struct ct_records_class *c = &s->classes[span->class->id];
	int64_t id = span->op_id ? (int64_t)span->op_id : -(int64_t)span->number;
	const struct ct_record *r = span->record;
	bool timed = span->flags & CT_SPAN_TIMED, known = !(span->flags & CT_SPAN_UNFINISHED);
	int64_t start = span->begin - s->start, end = span->end - s->start;
	struct ct_value *v;
	int rc = 0;

	if (span->kind == CT_SPAN_RANGE)
		return records_range(s, span);
	if (ct_class_is_sample(span->class))
		return records_sample(s, span);
	if (span->class->id == CT_CLASS_gpu_metrics)
		return ct_slice_metrics_record(&s->changes, span->record, span->begin);
	records_stack(s, span, id);
	if (!c->class)
		rc = records_learn(s, c, span);
	c->count++;
	v = ct_insert_row(&s->insert);
	ct_value_int(&v[ID], id);
	if (span->parent && (span->op_id || span->cause))
		ct_value_int(&v[PARENT], span->parent);
	ct_value_int(&v[CLASS], span->class->id);
	ct_value_int(&v[START], start);
	if (known)
		ct_value_int(&v[END], end);
	if (timed)
		ct_value_int(&v[SELF], span->self);
	ct_value_int(&v[PID], span->pid);
	ct_value_int(&v[TID], span->tid);
	if (r->cpu != CT_NO_CPU)
		ct_value_int(&v[CPU], r->cpu);
	if (span->op_id)
		ct_value_int(&v[DEPTH], span->depth);
	ct_value_int(&v[FLAGS], records_flags(span));
	rc = rc ? rc : records_thread(s, span);
	if (known && !rc)
		rc = records_put(s, c, r, v);
	if (known && !rc && span->class->fields_count && r->fields)
		rc = ct_fields_add(&s->fields, c->fields, a->names, r, id);
	if (known && !rc && span->class->layer == CT_LAYER_GPU)
		rc = ct_gpu_tables_add(&s->gpu, s->strings, a->names, span, start, end);
	if (c->ioctl == 2 && timed && !(span->flags & CT_SPAN_INNER_IOCTL))
		s->kernel_ioctls = true;
	rc = rc ? rc : s->stacks.error;
	return rc ? rc : s->insert.error;
}

struct records_name {
	uint64_t id;			/* of the text */
	unsigned int classes;		/* how many with records have it */
};

/* The tables that need to know what the whole trace had. */
static int records_classes(struct ct_records *s)
{
	CT_KEYED(struct records_name) names = { 0 };
	struct records_name *known;
	struct ct_insert in;
	struct ct_value *v;
	int rc = ct_insert_begin(&in, s->db, "CUDATRACE_CLASSES", CLASS_COLUMNS, true), ended;

	for (unsigned int i = 0; i <= CT_CLASS_MAX && !rc; i++) {
		if (!s->classes[i].class)
			continue;
		known = ct_keyed_put(&names, ct_strings_id(s->strings, s->classes[i].class->name));
		rc = known ? 0 : -ENOMEM;
		if (known)
			known->classes++;
	}
	for (unsigned int i = 0; i <= CT_CLASS_MAX && !rc; i++) {
		const struct ct_records_class *c = &s->classes[i];
		const struct ct_class *class = c->class;
		const char *name, *texts[CLASS_COLUMNS] = { 0 };

		if (!class)
			continue;
		known = ct_keyed_get(&names, ct_strings_id(s->strings, class->name));
		name = known && known->classes > 1 && *class->symbol ? class->symbol : class->name;
		texts[2] = name;
		texts[3] = *class->symbol ? class->symbol : NULL;
		texts[4] = ct_layer_word[class->layer];
		texts[5] = ct_category_word[class->category];
		texts[6] = ct_category_word[c->category];
		texts[7] = class->operation ? ct_op_word[class->operation] : NULL;
		texts[10] = c->ioctl ? c->ioctl == 2 ? "kernel" : "program" : NULL;
		texts[11] = ct_results_word[c->results];
		texts[12] = !class->fields_count ? NULL : c->fields ? c->fields->name : "CUDATRACE_FIELDS_OTHER";
		v = ct_insert_row(&in);
		ct_value_int(&v[0], i);
		ct_value_int(&v[1], ct_strings_id(s->strings, name));
		ct_value_int(&v[8], class->call);
		ct_value_int(&v[9], ct_class_is(class, CT_IS_API));
		ct_value_int(&v[13], c->count);
		ct_value_int(&v[14], ct_strings_id(s->strings, class->name));
		for (unsigned int k = 0; k < CLASS_COLUMNS; k++)
			if (texts[k])
				ct_insert_text(&in, &v[k], texts[k], strlen(texts[k]));
	}
	ct_keyed_free(&names);
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

static int records_names(struct ct_analysis *a)
{
	struct ct_records *s = a->arg;
	struct ct_insert threads, processes;
	struct ct_machine *m = calloc(1, sizeof(*m));
	CT_KEYED(uint64_t) known = { 0 };
	int rc = ct_insert_begin(&threads, s->db, "ThreadNames", 3, false), ended;

	if (!rc)
		rc = ct_insert_begin(&processes, s->db, "PROCESSES", 3, true);
	else
		processes = (struct ct_insert){ 0 };
	if (!rc)
		rc = m ? ct_machine_read(m, &a->trace->reg) : -ENOMEM;
	for (size_t i = 0; i < s->threads.count && !rc; i++) {
		uint32_t pid = s->threads.list[i] >> 32, tid = s->threads.list[i];
		const char *name = ct_processes_word(a->processes, pid), *own = ct_machine_thread(m, pid, tid);
		struct ct_value *v;

		/* An older recorder noted no names of threads. */
		if (own || name) {
			v = ct_insert_row(&threads);
			ct_value_int(&v[0], ct_strings_id(s->strings, own ? own : name));
			ct_value_int(&v[2], ct_global_tid(pid, tid));
		}
		if (ct_keyed_get(&known, pid))
			continue;
		if (!ct_keyed_put(&known, pid)) {
			rc = -ENOMEM;
			break;
		}
		v = ct_insert_row(&processes);
		ct_value_int(&v[0], ct_global_tid(pid, 0));
		ct_value_int(&v[1], pid);
		if (name)
			ct_insert_text(&processes, &v[2], name, strlen(name));
	}
	ct_keyed_free(&known);
	if (m)
		ct_machine_free(m);
	free(m);
	ended = ct_insert_end(&threads);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&processes);
	return rc ? rc : ended;
}

/* What the views need to know; after all other keys, because a trace may have one of these names. */
static int records_meta(const struct ct_records *s, const struct ct_trace *t)
{
	ct_strings_const(s->strings, "ioctl");
	return ct_db_execf(s->db, "INSERT INTO CUDATRACE_META VALUES ('ioctls_seen_by', %Q), ('gpu_records', %d)",
			   s->kernel_ioctls ? "kernel" : "program", t->has_gpu);
}

static int records_begin(struct ct_records *s)
{
	int rc = ct_insert_begin(&s->insert, s->db, "CUDATRACE_RECORDS", COLUMNS, true);

	rc = rc ? rc : ct_results_begin(&s->results, s->db);
	rc = rc ? rc : ct_fields_begin(&s->fields, s->db, s->strings, &s->results);
	rc = rc ? rc : ct_insert_begin(&s->ranges, s->db, "CUDATRACE_RANGES", 3, true);
	rc = rc ? rc : ct_insert_begin(&s->stacks, s->db, "CUDATRACE_STACKS", 2, true);
	rc = rc ? rc : ct_insert_begin(&s->samples, s->db, "CUDATRACE_SAMPLES", 7, true);
	rc = rc ? rc : ct_insert_begin(&s->metrics, s->db, "CUDATRACE_GPU_METRICS", 5, true);
	return rc ? rc : ct_gpu_tables_begin(&s->gpu, s->db);
}

static const struct ct_analyser records_analyser = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.samples = true,
	.span = records_span,
	.end = records_names,
};

int ct_records_write(struct ct_records *s, const struct ct_trace *t, struct ct_db *db, struct ct_strings *strings)
{
	int rc;

	*s = (struct ct_records){ .db = db, .strings = strings, .start = t->reg.start };
	s->changes = (struct ct_slice_metrics){ .give = records_metric, .arg = s };
	s->classes = calloc(CT_CLASS_MAX + 1, sizeof(*s->classes));
	if (!s->classes)
		return -ENOMEM;
	rc = records_begin(s);
	rc = rc ? rc : ct_engine_one(t, &records_analyser, s);
	rc = rc ? rc : records_classes(s);
	rc = rc ? rc : records_frames(s, &t->reg);
	return rc ? rc : records_meta(s, t);
}

int ct_records_end(struct ct_records *s)
{
	int rc = ct_insert_end(&s->insert), ended = ct_results_end(&s->results);

	rc = rc ? rc : ended;
	ended = ct_fields_end(&s->fields);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&s->ranges);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&s->stacks);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&s->samples);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&s->metrics);
	rc = rc ? rc : ended;
	ct_slice_metrics_free(&s->changes);
	ended = ct_gpu_tables_end(&s->gpu);
	ct_keyed_free(&s->threads);
	free(s->classes);
	s->classes = NULL;
	return rc ? rc : ended;
}
