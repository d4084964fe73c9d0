// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * json: an array of objects, a row a line; several tables are an object of such arrays.
 * Must be valid whatever a trace holds.
 */
#include <errno.h>

#include "table/printer.h"

static void json_open(struct ct_printer *p)
{
	if (p->several)
		ct_out_char(&p->out, '{');
}

/* The names of the columns are the same in each row: they are encoded once. */
static void json_keys(struct ct_printer *p, const struct ct_table *t)
{
	if (!p->keys.buffer && ct_out_open(&p->keys, -1)) {
		p->out.error = p->out.error ? p->out.error : -ENOMEM;
		return;
	}
	p->keys.used = 0;
	for (unsigned int i = 0; i < t->columns_count; i++) {
		ct_out_char(&p->keys, i ? ',' : '{');
		ct_out_json(&p->keys, t->columns[i].name, strlen(t->columns[i].name));
		ct_out_char(&p->keys, ':');
		p->key_ends[i] = p->keys.used;
	}
}

static void json_begin(struct ct_printer *p, const struct ct_table *t)
{
	if (p->several) {
		ct_out_text(&p->out, p->tables ? ",\n" : "\n");
		ct_out_json(&p->out, t->name, strlen(t->name));
		ct_out_text(&p->out, ": ");
	}
	ct_out_char(&p->out, '[');
	json_keys(p, t);
}

static void json_row(struct ct_printer *p, const struct ct_table *t, const struct ct_cell *row)
{
	size_t key = 0;

	if (p->out.error)
		return;
	ct_out_text(&p->out, p->rows ? ",\n" : "\n");
	for (unsigned int i = 0; i < t->columns_count; i++) {
		enum ct_cell_type type = t->columns[i].type;

		ct_out_bytes(&p->out, p->keys.buffer + key, p->key_ends[i] - key);
		key = p->key_ends[i];
		if (!ct_cell_known(type, row + i)) {
			ct_out_text(&p->out, "null");
		} else if (ct_cell_is_text(type)) {
			ct_out_json(&p->out, row[i].text, strlen(row[i].text));
		} else if (type == CT_CELL_HEX) {
			ct_out_char(&p->out, '"');
			ct_out_hex(&p->out, row[i].u);
			ct_out_char(&p->out, '"');
		} else {
			ct_printer_number(&p->out, type, row + i);
		}
	}
	ct_out_char(&p->out, '}');
}

static void json_end(struct ct_printer *p, const struct ct_table *t)
{
	(void)t;
	ct_out_text(&p->out, p->rows ? "\n]" : "]");
	if (!p->several)
		ct_out_char(&p->out, '\n');
}

static void json_close(struct ct_printer *p)
{
	if (p->several)
		ct_out_text(&p->out, p->tables ? "\n}\n" : "}\n");
	else if (!p->tables)
		ct_out_text(&p->out, "[]\n");
}

const struct ct_format ct_format_json = {
	.name = "json",
	.extension = "json",
	.open = json_open,
	.begin = json_begin,
	.row = json_row,
	.end = json_end,
	.close = json_close,
};
