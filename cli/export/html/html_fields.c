// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_fields.h.  Values must be those of the details of jsonl. */
#include "export/html/html_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stacks/graphs.h"
#include "analysis/stacks/hot.h"
#include "export/html/json.h"
#include "export/fields.h"
#include "trace/names.h"

#define FIELDS_LINES	12	/* of a stack */

struct fields_stack {
	uint64_t node;
	uint64_t text;			/* string number */
};

/* A column in the making, with what has no value. */
struct fields {
	struct ct_html_columns *columns;
	struct ct_out *out;
	const struct ct_graphs *graphs;	/* NULL: not known */
	uint64_t *missing;		/* by row: 1 */
	const uint8_t **data;		/* by row: the fields, NULL: none */
	const char *word;		/* the last constant word, and its number */
	uint64_t word_number;
	uint32_t class, first, rows;	/* index; in .by_class */
	unsigned int field;		/* columns of the class so far */
	CT_KEYED(struct fields_stack) stacks;
};

static uint64_t fields_text(struct fields *f, const char *text)
{
	return text ? ct_html_string(&f->columns->records->strings, text, strlen(text)) : 0;
}

/* A text that stays as it is where it is: mostly the same one again. */
static uint64_t fields_word(struct fields *f, const char *word)
{
	if (word != f->word) {
		f->word = word;
		f->word_number = fields_text(f, word);
	}
	return f->word_number;
}

static uint64_t fields_word_or_hex(struct fields *f, const char *word, uint64_t value)
{
	char hex[24];

	if (word)
		return fields_word(f, word);
	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)value);
	return fields_text(f, hex);
}

static struct ct_record fields_record(const struct fields *f, uint32_t row)
{
	const struct ct_html_columns *c = f->columns;

	return ct_html_record_of(c->records, &c->records->sorted[c->by_class[f->first + row]]);
}

/* What a string column holds for field @i. */
static uint64_t fields_string(struct fields *f, uint32_t row, const struct ct_record *r, unsigned int i)
{
	const struct ct_html_records *records = f->columns->records;
	struct ct_field_value v;
	struct ct_record whole;
	char number[24];

	/* A text's length stands in the record itself. */
	if (r->class->fields[i].type == CT_TYPE_text) {
		whole = fields_record(f, row);
		r = &whole;
	}
	ct_field_value(records->names, r, i, &v);
	switch (v.kind) {
	case CT_FIELD_WORD:
		return v.text == v.buf ? fields_text(f, v.text) : fields_word(f, v.text);
	case CT_FIELD_TEXT:
		return v.text ? ct_html_string(&f->columns->records->strings, v.text, v.len) : 0;
	case CT_FIELD_HEX:
		return fields_word_or_hex(f, NULL, v.number);
	case CT_FIELD_NULL:
		return 0;
	case CT_FIELD_UNSIGNED:
	case CT_FIELD_SIGNED:
		break;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)v.number);
	return fields_text(f, number);
}

/* Stores the column whose values are made, and says so in the manifest. */
static void fields_store(struct fields *f, enum ct_html_coding coding, const char *type, const char *name, bool extra)
{
	struct ct_html_blobs *blobs = f->columns->blobs;
	bool some = false;
	char blob[32];

	for (uint32_t row = 0; row < f->rows && !some; row++)
		some = f->missing[row];
	snprintf(blob, sizeof(blob), "c%u.%u", f->class, f->field);
	ct_html_column(blobs, coding, f->columns->values, f->rows, "%s", blob);
	ct_html_text(f->out, f->field ? ",{\"name\":" : "{\"name\":", name);
	ct_html_text(f->out, ",\"type\":", type);
	ct_html_text(f->out, ",\"blob\":", blob);
	if (some) {
		snprintf(blob, sizeof(blob), "c%u.%u.missing", f->class, f->field);
		ct_html_column(blobs, CT_HTML_PLAIN, f->missing, f->rows, "%s", blob);
		ct_html_text(f->out, ",\"missing\":", blob);
	}
	ct_out_text(f->out, extra ? ",\"extra\":true}" : "}");
	f->field++;
}

static void fields_field(struct fields *f, const struct ct_class *class, unsigned int i)
{
	enum ct_html_coding coding = CT_HTML_PLAIN;
	struct ct_record r = { .class = class };
	const char *type = "string";
	bool have = class->known[CT_KNOWN_HAVE] >= 0;

	switch (class->fields[i].type) {
	case CT_TYPE_s8: case CT_TYPE_s16: case CT_TYPE_s32: case CT_TYPE_s64:
		coding = CT_HTML_SIGNED;
		type = "dec";
		break;
	case CT_TYPE_u8: case CT_TYPE_u16: case CT_TYPE_u32: case CT_TYPE_u64:
		type = "dec";
		break;
	case CT_TYPE_x8: case CT_TYPE_x16: case CT_TYPE_x32: case CT_TYPE_x64: case CT_TYPE_nvcode:
		type = "hex";
		break;
	}
	for (uint32_t row = 0; row < f->rows; row++) {
		r.fields = f->data[row];
		f->missing[row] = !r.fields || (have && ct_field_missing(&r, i));
		if (f->missing[row])
			f->columns->values[row] = 0;
		else if (*type != 's')
			f->columns->values[row] = ct_record_field(&r, i);
		else
			f->columns->values[row] = fields_string(f, row, &r, i);
	}
	fields_store(f, coding, type, class->fields[i].name, false);
}

/* ------------------------------------------------- what is no detail --- */

static uint64_t fields_result(struct fields *f, const struct ct_record *r)
{
	const char *name;
	char number[24];
	int64_t code;

	if (!ct_record_result(r, &code))
		return 0;
	name = ct_name_result(r);
	if (name)
		return fields_word(f, name);
	snprintf(number, sizeof(number), "%lld", (long long)code);
	return fields_text(f, number);
}

static uint64_t fields_context(struct fields *f, const struct ct_record *r)
{
	return r->class->layer == CT_LAYER_KERNEL ? fields_word(f, ct_name_context(r->flags)) : 0;
}

static uint64_t fields_escape(struct fields *f, const struct ct_record *r)
{
	if (!r->fields || !ct_record_is_ioctl(r))
		return 0;
	return fields_word(f, ct_name_ioctl(ct_record_known(r, CT_KNOWN_CMD), ct_record_known(r, CT_KNOWN_DEVICE)));
}

static uint64_t fields_code(struct fields *f, const struct ct_record *r, unsigned int kind)
{
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE), code = ct_record_known(r, CT_KNOWN_CODE);

	if (!r->fields || !ct_record_is_ioctl(r) || !(have & kind))
		return 0;
	return fields_word_or_hex(f, ct_name_code(code, have), code);
}

static uint64_t fields_control(struct fields *f, const struct ct_record *r)
{
	return fields_code(f, r, CT_IOCTL_CONTROL);
}

static uint64_t fields_rm_class(struct fields *f, const struct ct_record *r)
{
	return ct_record_known(r, CT_KNOWN_HAVE) & CT_IOCTL_CONTROL ? 0 : fields_code(f, r, CT_IOCTL_CLASS);
}

static void fields_extra(struct fields *f, const char *name, uint64_t (*text)(struct fields *, const struct ct_record *))
{
	bool some = false;

	memset(f->missing, 0, f->rows * sizeof(*f->missing));
	for (uint32_t row = 0; row < f->rows; row++) {
		struct ct_record r = fields_record(f, row);

		f->columns->values[row] = text(f, &r);
		some |= f->columns->values[row] != 0;
	}
	if (some)
		fields_store(f, CT_HTML_PLAIN, "string", name, true);
}

static void fields_cpu(struct fields *f)
{
	bool some = false;

	for (uint32_t row = 0; row < f->rows; row++) {
		struct ct_record r = fields_record(f, row);

		f->missing[row] = r.cpu == CT_NO_CPU;
		f->columns->values[row] = f->missing[row] ? 0 : r.cpu;
		some |= !f->missing[row];
	}
	if (some)
		fields_store(f, CT_HTML_PLAIN, "dec", "cpu", true);
}

/* "model.py:7 (forward) < train.py:12 (step)": from where a call was made, and what the GPU did was called. */
static uint64_t fields_stack(struct fields *f, uint32_t node)
{
	const struct ct_registry *reg = f->columns->records->reg;
	struct fields_stack *known = node ? ct_keyed_get(&f->stacks, node) : NULL;
	struct ct_stack_frame frame = { .parent = node };
	unsigned int lines = 0, more = 0;
	char text[2048], line[300];
	size_t used = 0;

	if (known || !node)
		return known ? known->text : 0;
	while (lines + more < CT_STACK_DEPTH && ct_stack_frame(reg, frame.parent, &frame)) {
		if (lines == FIELDS_LINES || used + sizeof(line) > sizeof(text)) {
			more++;
			continue;
		}
		used += snprintf(text + used, sizeof(text) - used, "%s%s", lines++ ? " < " : "",
				 ct_stack_line(&frame, line, sizeof(line)));
	}
	if (!lines)
		return 0;
	if (more && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, " < %u more", more);
	known = ct_keyed_put(&f->stacks, node);
	if (!known)
		return 0;
	return known->text = fields_text(f, text);
}

static uint32_t fields_called(const struct fields *f, const struct ct_html_record *kept)
{
	(void)f;
	return kept->stack;
}

/* A kernel that a CUDA graph replayed was launched by a line that says nothing of it; another one captured it. */
static uint32_t fields_captured(const struct fields *f, const struct ct_html_record *kept)
{
	struct ct_record r = ct_html_record_of(f->columns->records, kept);

	return f->graphs && r.fields && ct_record_has(&r, CT_KNOWN_GRAPH_NODE) ?
	       ct_graphs_captured(f->graphs, kept->parent, ct_record_known(&r, CT_KNOWN_GRAPH_NODE)) : 0;
}

static void fields_stacks(struct fields *f, const char *name, uint32_t (*node)(const struct fields *, const struct ct_html_record *))
{
	const struct ct_html_columns *c = f->columns;
	bool some = false;

	memset(f->missing, 0, f->rows * sizeof(*f->missing));
	for (uint32_t row = 0; row < f->rows; row++) {
		c->values[row] = fields_stack(f, node(f, &c->records->sorted[c->by_class[f->first + row]]));
		some |= c->values[row] != 0;
	}
	if (some)
		fields_store(f, CT_HTML_PLAIN, "string", name, true);
}

static void fields_class_columns(struct fields *f, const struct ct_class *class)
{
	f->field = 0;
	f->first = f->columns->class_first[f->class];
	f->rows = f->columns->class_first[f->class + 1] - f->first;
	if (!f->rows)
		return;
	for (uint32_t row = 0; row < f->rows; row++)
		f->data[row] = f->columns->records->sorted[f->columns->by_class[f->first + row]].fields;
	for (unsigned int i = 0; i < class->fields_count; i++)
		fields_field(f, class, i);
	fields_extra(f, "result", fields_result);
	if (ct_class_is(class, CT_IS_IOCTL)) {
		fields_extra(f, "escape", fields_escape);
		fields_extra(f, "control", fields_control);
		fields_extra(f, "class", fields_rm_class);
	}
	fields_extra(f, "context", fields_context);
	fields_cpu(f);
	fields_stacks(f, "called_from", fields_called);
	fields_stacks(f, "captured_from", fields_captured);
}

int ct_html_fields(struct ct_html_columns *c, const struct ct_engine *e, struct ct_out *out)
{
	const struct ct_analysis *graphs = ct_engine_result(e, &ct_graphs_analyser);
	struct fields f = { .columns = c, .out = out, .graphs = graphs ? graphs->state : NULL };

	f.missing = calloc(c->records->count + 1, sizeof(*f.missing));
	f.data = calloc(c->records->count + 1, sizeof(*f.data));
	if (!f.missing || !f.data) {
		free(f.missing);
		free(f.data);
		return -ENOMEM;
	}
	for (f.class = 0; f.class < c->classes_count; f.class++) {
		const struct ct_class *class = ct_registry_class(c->records->reg, c->classes[f.class]);

		ct_html_text(out, f.class ? ",\n{\"name\":" : "\n{\"name\":", class->name);
		ct_html_text(out, ",\"symbol\":", class->symbol);
		ct_html_text(out, ",\"layer\":", ct_layer_word[class->layer]);
		ct_html_text(out, ",\"category\":", ct_category_word[class->category]);
		ct_html_text(out, ",\"op\":", ct_op_word[class->operation]);
		ct_html_u64(out, ",\"kept\":", c->class_first[f.class + 1] - c->class_first[f.class]);
		ct_out_text(out, ",\"fields\":[");
		fields_class_columns(&f, class);
		ct_out_text(out, "]}");
	}
	free(f.missing);
	free(f.data);
	ct_keyed_free(&f.stacks);
	return c->records->strings.error ? c->records->strings.error : c->blobs->error;
}
