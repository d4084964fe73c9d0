// SPDX-License-Identifier: LGPL-2.1-or-later
/* See columns.h. */
#include "export/columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/json_details.h"
#include "trace/names.h"

#define COLUMN(id, name, type)	{ name, CT_COLUMN_##type },
const struct ct_export_column ct_export_columns[CT_COL_COUNT] = { CT_EXPORT_COLUMNS(COLUMN) };
#undef COLUMN

int ct_columns_open(struct ct_columns *c)
{
	*c = (struct ct_columns){ 0 };
	return ct_out_open(&c->details, -1);
}

void ct_columns_close(struct ct_columns *c)
{
	free(c->details.buffer);
	c->details.buffer = NULL;
}

static void put(struct ct_columns *c, unsigned int column, uint64_t number)
{
	c->values[column].known = true;
	c->values[column].number = number;
}

/* Times that no clock shows stand at the end of what 63 bits hold. */
static void put_ns(struct ct_columns *c, unsigned int column, uint64_t ns)
{
	put(c, column, ns > INT64_MAX ? INT64_MAX : ns);
}

static void put_bytes(struct ct_columns *c, unsigned int column, const char *text, size_t len, bool kept)
{
	c->values[column] = (struct ct_value){ .known = true, .kept = kept, .text = text, .len = len };
}

/* A word that lives as long as the program or the trace; NULL and "": there is none. */
static void put_word(struct ct_columns *c, unsigned int column, const char *word)
{
	if (word && *word)
		put_bytes(c, column, word, strlen(word), true);
}

/* @word, or @value in hexadecimal where it has no name. */
static void put_word_or_hex(struct ct_columns *c, unsigned int column, const char *word, uint64_t value,
			    char buf[24])
{
	if (word) {
		put_word(c, column, word);
		return;
	}
	put_bytes(c, column, buf, snprintf(buf, 24, "0x%llx", (unsigned long long)value), false);
}

static void put_known(struct ct_columns *c, unsigned int column, const struct ct_record *r,
		      enum ct_known known)
{
	if (ct_record_has(r, known))
		put(c, column, ct_record_known(r, known));
}

static void columns_times(struct ct_columns *c, const struct ct_trace *t, const struct ct_span *span)
{
	uint64_t end = span->flags & CT_SPAN_UNFINISHED ? span->begin : span->end;
	uint64_t since = end > t->reg.start ? end - t->reg.start : 0;
	uint64_t wall;

	if (__builtin_add_overflow(t->reg.realtime, since, &wall))
		wall = UINT64_MAX;
	put_ns(c, CT_COL_TIME, wall);
	put_ns(c, CT_COL_TS_NS, end);
	put_ns(c, CT_COL_BEGIN_NS, span->begin);
	if (span->flags & CT_SPAN_TIMED) {
		put_ns(c, CT_COL_DURATION_NS, span->duration);
		put_ns(c, CT_COL_SELF_NS, span->self);
	}
}

static void columns_who(struct ct_columns *c, const struct ct_analysis *a, const struct ct_span *span)
{
	const struct ct_class *class = span->class;
	const char *process = ct_processes_word(a->processes, span->pid);

	put_word(c, CT_COL_LAYER, ct_layer_word[class->layer]);
	put_word(c, CT_COL_TYPE, ct_category_word[class->category]);
	if (class->operation)
		put_word(c, CT_COL_OP, ct_op_word[class->operation]);
	put_word(c, CT_COL_NAME, class->name);
	if (strcmp(class->symbol, class->name))
		put_word(c, CT_COL_SYMBOL, class->symbol);
	put_word(c, CT_COL_PHASE, span->flags & CT_SPAN_UNFINISHED ? "B" : span->flags & (CT_SPAN_TIMED | CT_SPAN_ABANDONED) ? "E" : "I");
	put(c, CT_COL_PID, span->pid);
	put(c, CT_COL_TID, span->tid);
	/* A process may get another name, and then the old one's memory goes. */
	if (process)
		put_bytes(c, CT_COL_PROCESS, process, strlen(process), false);
	if (span->record->cpu != CT_NO_CPU)
		put(c, CT_COL_CPU, (int64_t)span->record->cpu);
	if (span->op_id) {
		put(c, CT_COL_DEPTH, span->depth);
		put_ns(c, CT_COL_OP_ID, span->op_id);
		if (span->parent)
			put_ns(c, CT_COL_PARENT_OP_ID, span->parent);
	}
	put(c, CT_COL_FAILED, (span->flags & CT_SPAN_FAILED) != 0);
	put(c, CT_COL_UNFINISHED, (span->flags & CT_SPAN_UNFINISHED) != 0);
	put(c, CT_COL_BEGIN_LOST, (span->flags & CT_SPAN_BEGIN_LOST) != 0);
	put(c, CT_COL_ABANDONED, (span->flags & CT_SPAN_ABANDONED) != 0);
	put(c, CT_COL_TRUNCATED, !(span->flags & CT_SPAN_UNFINISHED) && (span->record->flags & CT_F_TRUNCATED));
}

static void columns_result(struct ct_columns *c, const struct ct_record *r)
{
	int64_t code;

	if (!ct_record_result(r, &code))
		return;
	put_word(c, CT_COL_RESULT, ct_name_result(r));
	put(c, CT_COL_RESULT_CODE, code);
}

static void columns_launch(struct ct_columns *c, struct ct_names *names, const struct ct_record *r)
{
	uint64_t threads = ct_record_threads(r);

	if (ct_record_has(r, CT_KNOWN_KERNEL))
		put_word(c, CT_COL_KERNEL, ct_names_string(names, ct_record_known(r, CT_KNOWN_KERNEL)));
	if (!ct_record_has(r, CT_KNOWN_GRID_X) || !ct_record_has(r, CT_KNOWN_BLOCK_X))
		return;
	for (unsigned int i = 0; i < 6; i++)
		put_known(c, CT_COL_GRID_X + i, r, CT_KNOWN_GRID_X + i);
	if (threads)
		put(c, CT_COL_THREADS, threads);
}

static void columns_ioctl(struct ct_columns *c, const struct ct_record *r)
{
	struct ct_ioctl_words *w = &c->ioctl;

	ct_ioctl_words(w, r);
	put(c, CT_COL_CMD, w->cmd);
	put_word(c, CT_COL_ESCAPE, w->escape);
	if (w->code_kind)
		put_word_or_hex(c, w->have & CT_IOCTL_CONTROL ? CT_COL_CONTROL : CT_COL_CLASS, w->code_name, w->code,
				c->words[0]);
	if (w->have & CT_IOCTL_STATUS)
		put_word_or_hex(c, CT_COL_STATUS, w->status_name, w->status, c->words[1]);
	put_bytes(c, CT_COL_DEVICE, w->device_name, strlen(w->device_name), w->device_name != w->buf);
}

static void columns_details(struct ct_columns *c, struct ct_names *names, const struct ct_record *r)
{
	if (!r->class->fields_count)
		return;
	c->details.used = 0;
	c->details.error = 0;
	ct_json_details(&c->details, names, r, false);
	/* Some 100,000 control characters do not fit, and half an object is none. */
	if (!c->details.error)
		put_bytes(c, CT_COL_DETAILS, c->details.buffer, c->details.used, false);
}

void ct_columns_row(struct ct_columns *c, const struct ct_analysis *a, const struct ct_span *span)
{
	const struct ct_record *r = span->record;
	uint64_t direction;
	const char *text;
	uint16_t len;

	for (unsigned int i = 0; i < CT_COL_COUNT; i++)
		c->values[i].known = false;
	columns_times(c, a->trace, span);
	columns_who(c, a, span);
	/* The GPU's work has that of its cause, which is its parent. */
	if (span->stack && !span->cause)
		put(c, CT_COL_STACK, span->stack);
	if (!r->fields)
		return;
	columns_result(c, r);
	put_known(c, CT_COL_SIZE, r, CT_KNOWN_SIZE);
	if (ct_record_has(r, CT_KNOWN_DIRECTION)) {
		direction = ct_record_known(r, CT_KNOWN_DIRECTION);
		put_word_or_hex(c, CT_COL_DIRECTION, ct_name_direction(direction), direction, c->words[2]);
	}
	columns_launch(c, a->names, r);
	put_known(c, CT_COL_STREAM, r, CT_KNOWN_STREAM);
	if (ct_record_is_ioctl(r))
		columns_ioctl(c, r);
	text = ct_record_text(r, &len);
	if (text)
		put_bytes(c, CT_COL_TEXT, text, len, false);
	if (span->class->layer == CT_LAYER_KERNEL)
		put_word(c, CT_COL_CONTEXT, ct_name_context(r->flags));
	columns_details(c, a->names, r);
}

size_t ct_utf8_plain(const char *text, size_t len)
{
	size_t i = 0;
	unsigned int n;

	while (i < len) {
		if ((signed char)text[i] > 0) {
			i++;
			continue;
		}
		n = text[i] ? ct_utf8(text + i, len - i) : 0;
		if (!n)
			break;
		i += n;
	}
	return i;
}

unsigned int ct_utf8_next(const char *text, size_t left, char out[4], unsigned int *n)
{
	unsigned int taken = (signed char)*text > 0 ? 1 : *text ? ct_utf8(text, left) : 0;

	if (!taken) {
		memcpy(out, "\xef\xbf\xbd", 3);
		*n = 3;
		return 1;
	}
	memcpy(out, text, taken);
	*n = taken;
	return taken;
}
