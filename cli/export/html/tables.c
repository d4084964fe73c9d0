// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tables.h. */
#include "export/html/tables.h"

#include "analysis/reports.h"
#include "export/html/blobs.h"
#include "export/html/json.h"

#define TABLES_ROWS	1000u

static const char *tables_kind(enum ct_cell_type type)
{
	static const char *const words[] = {
		[CT_CELL_TEXT] = "text", [CT_CELL_WORDS] = "text", [CT_CELL_KERNEL] = "kernel", [CT_CELL_COUNT] = "count",
		[CT_CELL_ID] = "id", [CT_CELL_HEX] = "hex", [CT_CELL_NS] = "ns", [CT_CELL_TIME] = "time",
		[CT_CELL_BYTES] = "bytes", [CT_CELL_NS_MEAN] = "ns", [CT_CELL_BYTES_MEAN] = "bytes",
		[CT_CELL_NUMBER] = "number", [CT_CELL_PERCENT] = "percent", [CT_CELL_MB] = "bytes",
	};

	return words[type];
}

/* A number that a double does not hold. */
static void tables_text(struct ct_out *out, uint64_t value)
{
	ct_html_u64(out, "\"", value);
	ct_out_char(out, '"');
}

static void tables_cell(struct ct_out *out, enum ct_cell_type type, const struct ct_cell *cell)
{
	if (!ct_cell_known(type, cell))
		ct_out_text(out, "null");
	else if (ct_cell_is_text(type))
		ct_html_text(out, "", cell->text);
	else if (ct_cell_is_double(type))
		ct_html_double(out, "", cell->d);
	else if (cell->u <= CT_HTML_MOST)
		ct_out_u64(out, cell->u);
	else
		tables_text(out, cell->u);
}

static void tables_rows(struct ct_out *out, const struct ct_table *t)
{
	size_t rows = t->rows < TABLES_ROWS ? t->rows : TABLES_ROWS;

	ct_out_text(out, ",\"rows\":[");
	for (size_t i = 0; i < rows; i++) {
		ct_out_text(out, i ? ",\n[" : "\n[");
		for (unsigned int k = 0; k < t->columns_count; k++) {
			if (k)
				ct_out_char(out, ',');
			tables_cell(out, t->columns[k].type, &t->cells[i * t->columns_count + k]);
		}
		ct_out_char(out, ']');
	}
	ct_html_u64(out, "],\"total\":", t->rows);
	ct_out_char(out, '}');
}

static void tables_table(struct ct_out *out, const struct ct_analyser *report, const struct ct_table *t, bool first)
{
	ct_html_text(out, first ? "\n{\"name\":" : ",\n{\"name\":", t->name);
	ct_html_text(out, ",\"report\":", report->name);
	ct_html_text(out, ",\"summary\":", report->summary);
	ct_html_text(out, ",\"title\":", t->title);
	ct_out_text(out, ",\"notes\":[");
	for (unsigned int i = 0; i < t->notes_count; i++)
		ct_html_text(out, i ? "," : "", t->notes[i]);
	ct_out_text(out, "],\"columns\":[");
	for (unsigned int i = 0; i < t->columns_count; i++) {
		const struct ct_column *c = &t->columns[i];

		ct_html_text(out, i ? ",{\"name\":" : "{\"name\":", c->name);
		ct_html_text(out, ",\"title\":", c->head ? c->head : c->name);
		ct_html_text(out, ",\"kind\":", tables_kind(c->type));
		ct_out_char(out, '}');
	}
	ct_out_char(out, ']');
	tables_rows(out, t);
}

void ct_html_tables_write(const struct ct_engine *e, struct ct_out *out)
{
	bool first = true;

	ct_out_text(out, "\"tables\":[");
	for (unsigned int i = 0; i < ct_reports_count; i++) {
		const struct ct_analysis *a = ct_engine_result(e, ct_reports[i]);

		if (a && a->trace->summaries && !ct_reports[i]->summaries)
			continue;

		for (unsigned int k = 0; a && k < a->tables_count; k++) {
			tables_table(out, ct_reports[i], &a->tables[k], first);
			first = false;
		}
	}
	ct_out_text(out, "],\n");
}
