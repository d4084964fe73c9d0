// SPDX-License-Identifier: LGPL-2.1-or-later
/* See csv.h.  Must never send the control characters of a trace to a terminal. */
#include "export/csv.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "export/columns.h"

struct csv {
	struct ct_out out;
	struct ct_columns columns;
	bool terminal;
	uint64_t day;			/* ns since 1970 where it begins, of the last time */
	char date[16];			/* as text */
	unsigned int date_len;
};

/* Bytes that do not stand as they are. */
enum { QUOTED = 1, CONTROL = 2, OTHER = 4 };

static const unsigned char special[256] = {
	[0] = OTHER, [1 ... 8] = CONTROL, [9] = 0, ['\n'] = QUOTED, [11 ... 12] = CONTROL,
	['\r'] = QUOTED | CONTROL, [14 ... 31] = CONTROL, ['"'] = QUOTED, [','] = QUOTED,
	[127] = CONTROL, [128 ... 255] = OTHER,
};

static void csv_text_by_character(struct csv *w, const char *text, size_t len, bool quoted)
{
	unsigned int n;
	char c[4];

	for (size_t i = 0; i < len;) {
		i += ct_utf8_next(text + i, len - i, c, &n);
		/* Also those of Latin-1, which a terminal obeys. */
		if (w->terminal && ((n == 1 && special[(unsigned char)*c] & CONTROL) ||
				    (n == 2 && !memcmp(c, "\xc2", 1) && (unsigned char)c[1] < 0xa0)))
			*c = '?', n = 1;
		if (quoted && *c == '"')
			ct_out_char(&w->out, '"');
		ct_out_bytes(&w->out, c, n);
	}
}

static void csv_text(struct csv *w, const char *text, size_t len)
{
	unsigned char found = 0;
	bool quoted;

	for (size_t i = 0; i < len; i++)
		found |= special[(unsigned char)text[i]];
	if (!(found & (QUOTED | OTHER)) && !w->terminal) {
		ct_out_bytes(&w->out, text, len);
		return;
	}
	quoted = found & QUOTED;
	if (quoted)
		ct_out_char(&w->out, '"');
	csv_text_by_character(w, text, len, quoted);
	if (quoted)
		ct_out_char(&w->out, '"');
}

/* 2026-11-23T10:15:30.123456789Z */
static void csv_wall(struct csv *w, uint64_t ns)
{
	static const uint64_t day_ns = 86400000000000ull;
	uint64_t in_day = ns % day_ns, s = in_day / 1000000000;
	char text[24];
	time_t t;

	if (!w->date_len || ns - in_day != w->day) {
		t = ns / 1000000000;
		w->day = ns - in_day;
		w->date_len = strftime(w->date, sizeof(w->date), "%Y-%m-%dT", gmtime(&t));
	}
	ct_out_bytes(&w->out, w->date, w->date_len);
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int n = i == 0 ? s / 3600 : i == 1 ? s / 60 % 60 : s % 60;

		text[3 * i] = '0' + n / 10;
		text[3 * i + 1] = '0' + n % 10;
		text[3 * i + 2] = i < 2 ? ':' : '.';
	}
	s = in_day % 1000000000;
	for (unsigned int i = 17; i >= 9; i--, s /= 10)
		text[i] = '0' + s % 10;
	text[18] = 'Z';
	ct_out_bytes(&w->out, text, 19);
}

static void csv_value(struct csv *w, enum ct_column_type type, const struct ct_value *v)
{
	switch (type) {
	case CT_COLUMN_TEXT:
		csv_text(w, v->text, v->len);
		break;
	case CT_COLUMN_S32:
	case CT_COLUMN_S64:
		ct_out_s64(&w->out, (int64_t)v->number);
		break;
	case CT_COLUMN_BOOL:
	case CT_COLUMN_U32:
	case CT_COLUMN_U64:
		ct_out_u64(&w->out, v->number);
		break;
	case CT_COLUMN_HANDLE:
		ct_out_hex(&w->out, v->number);
		break;
	case CT_COLUMN_WALL:
		csv_wall(w, v->number);
		break;
	}
}

static int csv_row(struct ct_analysis *a, const struct ct_span *span)
{
	struct csv *w = a->arg;

	if (span->kind == CT_SPAN_RANGE)
		return 0;
	ct_columns_row(&w->columns, a, span);
	for (unsigned int i = 0; i < CT_COL_COUNT; i++) {
		if (i)
			ct_out_char(&w->out, ',');
		if (w->columns.values[i].known)
			csv_value(w, ct_export_columns[i].type, &w->columns.values[i]);
	}
	ct_out_char(&w->out, '\n');
	return w->out.error;
}

static const struct ct_analyser csv_analyser = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.samples = true,
	.span = csv_row,
};

int ct_csv_export(const struct ct_export *x, struct ct_error *err)
{
	struct csv w = { .terminal = isatty(x->fd) };
	int rc = ct_columns_open(&w.columns), closed;

	(void)err;
	if (!rc)
		rc = ct_out_open(&w.out, x->fd);
	if (!rc) {
		for (unsigned int i = 0; i < CT_COL_COUNT; i++) {
			ct_out_text(&w.out, i ? "," : "");
			ct_out_text(&w.out, ct_export_columns[i].name);
		}
		ct_out_char(&w.out, '\n');
		rc = ct_engine_one(x->trace, &csv_analyser, &w);
		closed = ct_out_close(&w.out);
		rc = rc ? rc : closed;
	}
	ct_columns_close(&w.columns);
	return rc;
}
