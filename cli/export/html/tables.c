// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tables.h. */
#include "export/html/tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/memory/memory.h"
#include "analysis/reports.h"
#include "export/html/json.h"

#define TABLES_ROWS		1000u
#define TABLES_PROCESSES	200u	/* whose memory is shown */

unsigned int ct_html_tables_add(const struct ct_analyser **list, unsigned int count, unsigned int room)
{
	for (unsigned int i = 0; i < ct_reports_count && count < room; i++)
		if (!ct_reports[i]->streams)
			list[count++] = ct_reports[i];
	if (count < room)
		list[count++] = &ct_memory_analyser;
	return count;
}

static const char *tables_kind(enum ct_cell_type type)
{
	static const char *const words[] = {
		[CT_CELL_TEXT] = "text", [CT_CELL_KERNEL] = "kernel", [CT_CELL_COUNT] = "count",
		[CT_CELL_ID] = "id", [CT_CELL_HEX] = "hex", [CT_CELL_NS] = "ns", [CT_CELL_TIME] = "time",
		[CT_CELL_BYTES] = "bytes", [CT_CELL_NS_MEAN] = "ns", [CT_CELL_BYTES_MEAN] = "bytes",
		[CT_CELL_NUMBER] = "number", [CT_CELL_PERCENT] = "percent", [CT_CELL_MB] = "bytes",
	};

	return words[type];
}

static void tables_cell(struct ct_out *out, enum ct_cell_type type, const struct ct_cell *cell)
{
	if (!ct_cell_known(type, cell))
		ct_out_text(out, "null");
	else if (ct_cell_is_text(type))
		ct_html_text(out, "", cell->text);
	else if (ct_cell_is_double(type))
		ct_html_double(out, "", cell->d);
	else if (cell->u >> 53)
		ct_html_u64(out, "\"", cell->u), ct_out_char(out, '"');
	else
		ct_out_u64(out, cell->u);
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

/* ----------------------------------------------------------------- memory --- */

static uint64_t tables_number(uint64_t value)
{
	return value < CT_HTML_MOST ? value : CT_HTML_MOST;
}

static uint64_t tables_moment(const struct ct_analysis *a, uint64_t ts)
{
	return ts > a->trace->reg.start ? tables_number(ts - a->trace->reg.start) : 0;
}

/* Two points of each part of the time: its peak, and what is held at its end. */
static int tables_memory(const struct ct_analysis *a, const struct ct_memory_process *p, unsigned int number,
			 struct ct_html_blobs *blobs)
{
	uint64_t *ts = calloc(2 * CT_MEMORY_BUCKETS, sizeof(*ts)), *bytes = calloc(2 * CT_MEMORY_BUCKETS, sizeof(*bytes));
	unsigned int count = 0;

	if (!ts || !bytes) {
		free(ts);
		free(bytes);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < CT_MEMORY_BUCKETS; i++) {
		const struct ct_memory_bucket *b = &p->buckets[i];
		uint64_t end = p->first + ((uint64_t)(i + 1) << p->shift) - 1;

		if (!b->used)
			continue;
		ts[count] = tables_moment(a, b->peak_at);
		bytes[count++] = tables_number(b->peak);
		if (b->after == b->peak)
			continue;
		if (end > a->totals->last)
			end = a->totals->last;
		ts[count] = tables_moment(a, end > b->peak_at ? end : b->peak_at);
		bytes[count++] = tables_number(b->after);
	}
	ct_html_column(blobs, CT_HTML_DELTA, ts, count, "memory%u.ts", number);
	ct_html_column(blobs, CT_HTML_DELTA, bytes, count, "memory%u.bytes", number);
	free(ts);
	free(bytes);
	return 0;
}

static int tables_memories(const struct ct_analysis *a, struct ct_html_blobs *blobs, struct ct_out *out)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	unsigned int shown = 0;
	int rc = 0;

	ct_out_text(out, "\"memory\":[");
	for (unsigned int i = 0; i < m->processes_count && shown < TABLES_PROCESSES && !rc; i++) {
		const struct ct_memory_process *p = m->processes[i];

		if (!p->buckets)
			continue;
		ct_html_u64(out, shown ? ",\n{\"pid\":" : "\n{\"pid\":", p->pid);
		ct_html_text(out, ",\"process\":", ct_processes_word(a->processes, p->pid));
		ct_html_u64(out, ",\"peak\":", tables_number(p->sums[CT_MEMORY_GPU].peak));
		ct_html_u64(out, ",\"blobs\":{\"ts\":\"memory", shown);
		ct_html_u64(out, ".ts\",\"bytes\":\"memory", shown);
		ct_out_text(out, ".bytes\"}}");
		rc = tables_memory(a, p, shown++, blobs);
	}
	ct_out_text(out, "],\n");
	return rc;
}

int ct_html_tables_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out)
{
	bool first = true;

	ct_out_text(out, "\"tables\":[");
	for (unsigned int i = 0; i < ct_reports_count; i++) {
		const struct ct_analysis *a = ct_engine_result(e, ct_reports[i]);

		for (unsigned int k = 0; a && k < a->tables_count; k++) {
			tables_table(out, ct_reports[i], &a->tables[k], first);
			first = false;
		}
	}
	ct_out_text(out, "],\n");
	return tables_memories(ct_engine_result(e, &ct_memory_analyser), blobs, out);
}
