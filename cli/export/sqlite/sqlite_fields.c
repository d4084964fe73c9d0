// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sqlite_fields.h. */
#include "export/sqlite/sqlite_fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/out.h"
#include "decode/nv_decode.h"
#include "export/fields.h"
#include "export/json_details.h"
#include "table/short_name.h"

/* Behind the fields of an ioctl: the words for its numbers. */
#define FIELDS_IOCTL	2

static const struct { const char *name, *spec; } fields_layouts[] = {
#define LAYOUT(name)	{ #name, CT_LAYOUT_SPEC(name) },
	CT_LAYOUTS(LAYOUT)
#undef LAYOUT
};

static bool fields_equal(const struct ct_class *a, const struct ct_class *b)
{
	if (a->fields_count != b->fields_count)
		return false;
	for (unsigned int i = 0; i < a->fields_count; i++)
		if (a->fields[i].type != b->fields[i].type || strcmp(a->fields[i].name, b->fields[i].name))
			return false;
	return true;
}

static void fields_name(struct ct_fields_table *t, unsigned int number)
{
	char spec[CT_SPEC_MAX];

	ct_class_spec(t->class, spec);
	snprintf(t->name, sizeof(t->name), "CUDATRACE_FIELDS_%u", number);
	for (size_t i = 0; i < sizeof(fields_layouts) / sizeof(*fields_layouts); i++)
		if (!strcmp(fields_layouts[i].spec, spec)) {
			snprintf(t->name, sizeof(t->name), "CUDATRACE_FIELDS_%s", fields_layouts[i].name);
			break;
		}
	for (char *c = t->name; *c; c++)
		*c = toupper(*c);
}

/* SQLite takes "a" and "A" for one column, and the first is ours. */
static void fields_columns(struct ct_fields_table *t)
{
	for (unsigned int i = 0; i < t->class->fields_count; i++) {
		char *column = t->columns[i];
		bool taken = false;

		snprintf(column, CT_FIELD_LEN, "%s", t->class->fields[i].name);
		for (unsigned int k = 0; k < i; k++)
			taken |= !strcasecmp(t->columns[k], column);
		taken |= !strcasecmp(column, "record") ||
			 (t->ioctl && (!strcasecmp(column, "ioctlName") || !strcasecmp(column, "commandName")));
		/* No field's name begins with a digit. */
		if (taken)
			snprintf(column, CT_FIELD_LEN + 4, "%u_%s", i, t->class->fields[i].name);
	}
}

static const char *fields_type(unsigned int type)
{
	switch (type) {
	case CT_TYPE_str:
	case CT_TYPE_class:
		return "INTEGER REFERENCES StringIds(id)";
	case CT_TYPE_dir:
		return "INTEGER"; /* of ENUM_CUDATRACE_DIRECTION, but a trace may say anything */
	case CT_TYPE_text:
		return "TEXT";
	}
	return "INTEGER";
}

static int fields_create(struct ct_fields *f, struct ct_fields_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(f->db->db);
	char *text;
	int rc;

	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (record INTEGER NOT NULL PRIMARY KEY"
			    " REFERENCES CUDATRACE_RECORDS(id)", t->name);
	for (unsigned int i = 0; i < t->class->fields_count; i++)
		sqlite3_str_appendf(sql, ", \"%w\" %s", t->columns[i], fields_type(t->class->fields[i].type));
	if (t->ioctl)
		sqlite3_str_appendall(sql, ", ioctlName INTEGER REFERENCES StringIds(id)"
				      ", commandName INTEGER REFERENCES StringIds(id)");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? ct_db_exec(f->db, text) : -ENOMEM;
	sqlite3_free(text);
	return rc;
}

struct ct_fields_table *ct_fields_of(struct ct_fields *f, const struct ct_class *class, int *rc)
{
	struct ct_fields_table *t;

	*rc = 0;
	if (!class->fields_count)
		return NULL;
	for (unsigned int i = 0; i < f->count; i++)
		if (fields_equal(f->tables[i]->class, class))
			return f->tables[i];
	if (f->count == CT_FIELDS_TABLES)
		return NULL;
	t = calloc(1, sizeof(*t));
	*rc = -ENOMEM;
	if (!t)
		return NULL;
	t->class = class;
	t->ioctl = ct_class_is(class, CT_IS_IOCTL);
	fields_name(t, f->count);
	fields_columns(t);
	f->tables[f->count++] = t;
	*rc = fields_create(f, t);
	if (!*rc)
		*rc = ct_insert_begin(&t->insert, f->db, t->name,
				      1 + class->fields_count + (t->ioctl ? FIELDS_IOCTL : 0), true);
	return *rc ? NULL : t;
}

int ct_fields_begin(struct ct_fields *f, struct ct_db *db, struct ct_strings *strings,
		    struct ct_results *results)
{
	static const char *const always[] = {
		CT_LAYOUT_SPEC(launch), CT_LAYOUT_SPEC(ioctl), CT_LAYOUT_SPEC(mark),
	};
	const char *why;
	int rc;

	*f = (struct ct_fields){ .db = db, .strings = strings, .results = results };
	rc = ct_insert_begin(&f->other, db, "CUDATRACE_FIELDS_OTHER", 2, true);
	rc = rc ? rc : ct_insert_begin(&f->kernels, db, "CUDATRACE_KERNELS", 3, false);
	for (unsigned int i = 0; i < sizeof(always) / sizeof(*always) && !rc; i++) {
		f->own[i] = ct_class_new(CT_CLASS_MAX, CT_LAYER_USER, CT_CAT_OTHER, CT_OP_NONE, always[i], "-", "-", &why);
		if (!f->own[i])
			return -ENOMEM;
		ct_fields_of(f, f->own[i], &rc);
	}
	return rc;
}

int ct_fields_end(struct ct_fields *f)
{
	int rc = ct_insert_end(&f->kernels), ended = ct_insert_end(&f->other);

	rc = rc ? rc : ended;
	for (unsigned int i = 0; i < f->count; i++) {
		ended = ct_insert_end(&f->tables[i]->insert);
		rc = rc ? rc : ended;
		free(f->tables[i]);
	}
	for (unsigned int i = 0; i < sizeof(f->own) / sizeof(*f->own); i++)
		free(f->own[i]);
	f->count = 0;
	ct_keyed_free(&f->kernels_known);
	return rc;
}

int ct_fields_column(const struct ct_fields_table *t, const char *name)
{
	for (unsigned int i = 0; i < t->class->fields_count; i++)
		if (!strcmp(t->class->fields[i].name, name))
			return i;
	return -1;
}

/* ---------------------------------------------------------------- values --- */

/* A kernel's names in their three forms. */
static int fields_kernel(struct ct_fields *f, struct ct_names *names, uint64_t string, uint32_t id)
{
	const char *mangled = ct_registry_string(names->reg, string);
	const char *plain = ct_names_string(names, string);
	struct ct_value *row;
	char name[512];

	if (ct_keyed_get(&f->kernels_known, id))
		return 0;
	if (!ct_keyed_put(&f->kernels_known, id))
		return -ENOMEM;
	row = ct_insert_row(&f->kernels);
	ct_value_int(&row[0], id);
	ct_value_int(&row[1], ct_strings_id(f->strings, ct_short_kernel(name, sizeof(name), plain)));
	if (mangled != plain)
		ct_value_int(&row[2], ct_strings_id(f->strings, mangled));
	return 0;
}

static void fields_put_id(struct ct_value *value, uint32_t id)
{
	if (id)
		ct_value_int(value, id);
}

static int fields_put(struct ct_fields *f, struct ct_fields_table *t, struct ct_names *names,
		      const struct ct_record *r, unsigned int i, struct ct_value *value)
{
	uint64_t number = ct_record_field(r, i);
	const struct ct_class *class;
	const char *text;
	uint16_t len;
	uint32_t id;

	switch (t->class->fields[i].type) {
	case CT_TYPE_str:
		id = ct_strings_registry(f->strings, names, number);
		fields_put_id(value, id);
		return id && (int)i == r->class->known[CT_KNOWN_KERNEL] ? fields_kernel(f, names, number, id) : 0;
	case CT_TYPE_class:
		class = ct_registry_class(names->reg, number);
		if (class)
			ct_value_int(value, ct_strings_const(f->strings, class->name));
		return 0;
	case CT_TYPE_text:
		text = ct_record_text(r, &len);
		ct_insert_text(&t->insert, value, text, len);
		return 0;
	case CT_TYPE_cures:
		ct_value_int(value, number);
		return ct_results_add(f->results, CT_RESULTS_CUDA, number, cu_result_name(number));
	case CT_TYPE_nvst:
		ct_value_int(value, number);
		return ct_results_add(f->results, CT_RESULTS_NV, number, nv_status_name(number));
	}
	ct_value_int(value, number);
	return 0;
}

static void fields_put_ioctl(struct ct_fields *f, const struct ct_record *r, struct ct_value *value)
{
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE);
	const char *name = ct_name_ioctl(ct_record_known(r, CT_KNOWN_CMD), ct_record_known(r, CT_KNOWN_DEVICE));

	fields_put_id(&value[0], ct_strings_const(f->strings, name));
	name = ct_name_code(ct_record_known(r, CT_KNOWN_CODE), have);
	fields_put_id(&value[1], ct_strings_const(f->strings, name));
}

static int fields_add_json(struct ct_fields *f, struct ct_names *names, const struct ct_record *r, int64_t id)
{
	struct ct_value *row = ct_insert_row(&f->other);
	struct ct_out out;

	if (ct_out_open(&out, -1))
		return -ENOMEM;
	ct_json_details(&out, names, r, false);
	ct_value_int(&row[0], id);
	/* One that is larger than the buffer was cut: no JSON any more. */
	if (out.error)
		ct_insert_text(&f->other, &row[1], "{}", 2);
	else
		ct_insert_text(&f->other, &row[1], out.buffer, out.used);
	free(out.buffer);
	return f->other.error;
}

int ct_fields_add(struct ct_fields *f, struct ct_fields_table *t, struct ct_names *names,
		  const struct ct_record *r, int64_t id)
{
	struct ct_value *row;
	int rc = 0;

	if (!t)
		return fields_add_json(f, names, r, id);
	row = ct_insert_row(&t->insert);
	ct_value_int(&row[0], id);
	for (unsigned int i = 0; i < t->class->fields_count && !rc; i++)
		if (!ct_field_missing(r, i))
			rc = fields_put(f, t, names, r, i, &row[1 + i]);
	if (t->ioctl)
		fields_put_ioctl(f, r, &row[1 + t->class->fields_count]);
	return rc ? rc : t->insert.error;
}
