// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables for people: aligned columns that fit the terminal.  Must never print a text of a
 * trace without ct_term_clean().
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/printer.h"
#include "table/short_name.h"
#include "view/term.h"

#define INDENT		2	/* spaces in front of a line, and between columns */
#define TEXT_MOST	1000	/* columns of a text, also where the width is not limited */
/* A text, the name of a kernel keeps these before a column with a drop order is left out. */
#define TEXT_WANTED	32
#define KERNEL_WANTED	38
#define TEXT_LEAST	8
#define RANK_MOST	1000	/* more than any rank of a column */
#define CELL_SIZE	(4 * TEXT_MOST + 8)

/* Columns that the values of a type need, where the rows are not known yet. */
static const unsigned char type_width[] = {
	[CT_CELL_TEXT] = 28,	 [CT_CELL_WORDS] = 28,	     [CT_CELL_KERNEL] = 48,
	[CT_CELL_COUNT] = 11,
	[CT_CELL_ID] = 8,	 [CT_CELL_HEX] = 14,	     [CT_CELL_NS] = 9,
	[CT_CELL_TIME] = 14,	 [CT_CELL_BYTES] = 10,	     [CT_CELL_NS_MEAN] = 9,
	[CT_CELL_BYTES_MEAN] = 10, [CT_CELL_NUMBER] = 10,    [CT_CELL_PERCENT] = 7,
	[CT_CELL_MB] = 10,
};

static unsigned int table_columns(const char *text)
{
	unsigned int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* -------------------------------------------------------------------- cells --- */

/* @value with at most three decimals and thousands separators. */
static void table_number(char *buf, size_t size, double value)
{
	char plain[400], count[CT_TERM_TEXT];
	char *point, *end;

	if (fabs(value) >= 1e15) {
		snprintf(buf, size, "%.4g", value);
		return;
	}
	snprintf(plain, sizeof(plain), "%.3f", fabs(value));
	point = strchr(plain, '.');
	for (end = point + 3; end > point && *end == '0'; end--)
		*end = 0;
	if (end == point)
		*end = 0;
	snprintf(buf, size, "%s%s%s", value < 0 && strspn(plain, "0.") != strlen(plain) ? "-" : "",
		 ct_term_count(count, (uint64_t)fabs(strtod(plain, NULL))), point);
}

/* Means have the units of what they are means of; a difference may be below zero. */
static void table_mean(char *buf, size_t size, double value,
		       char *print(char buf[CT_TERM_TEXT], uint64_t value))
{
	char text[CT_TERM_TEXT];
	double rounded = fabs(value) + 0.5;

	print(text, rounded < 1.8e19 ? (uint64_t)rounded : UINT64_MAX);
	snprintf(buf, size, "%s%s", value < 0 && rounded >= 1 ? "-" : "", text);
}

/* A cell as people read it, at most @width columns of a text. */
static void table_cell(char buf[CELL_SIZE], enum ct_cell_type type, const struct ct_cell *cell,
		       unsigned int width)
{
	char name[CELL_SIZE];

	if (!ct_cell_known(type, cell)) {
		snprintf(buf, CELL_SIZE, "-");
		return;
	}
	switch (type) {
	case CT_CELL_KERNEL:
		ct_short_kernel_fit(name, sizeof(name), cell->text,
				    width < CT_SHORT_COLUMNS ? width : CT_SHORT_COLUMNS);
		ct_term_clean(buf, CELL_SIZE, name, width);
		break;
	case CT_CELL_TEXT: case CT_CELL_WORDS:
		ct_term_clean(buf, CELL_SIZE, cell->text, width);
		break;
	case CT_CELL_COUNT:
		ct_term_count(buf, cell->u);
		break;
	case CT_CELL_ID:
		snprintf(buf, CELL_SIZE, "%llu", (unsigned long long)cell->u);
		break;
	case CT_CELL_HEX:
		snprintf(buf, CELL_SIZE, "0x%llx", (unsigned long long)cell->u);
		break;
	case CT_CELL_NS:
		ct_term_ns(buf, cell->u);
		break;
	case CT_CELL_TIME:
		ct_term_moment(buf, cell->u);
		break;
	case CT_CELL_BYTES:
		ct_term_bytes(buf, cell->u);
		break;
	case CT_CELL_NS_MEAN:
		table_mean(buf, CELL_SIZE, cell->d, ct_term_ns);
		break;
	case CT_CELL_BYTES_MEAN:
	case CT_CELL_MB:
		table_mean(buf, CELL_SIZE, cell->d, ct_term_bytes);
		break;
	case CT_CELL_NUMBER:
		table_number(buf, CELL_SIZE, cell->d);
		break;
	case CT_CELL_PERCENT:
		snprintf(buf, CELL_SIZE, "%.1f %%", fabs(cell->d) < 0.05 ? 0.0 : cell->d);
		break;
	}
}

/* A column's head; of a name without the unit, which stands in each cell. */
static void table_head(char *buf, size_t size, const struct ct_column *column)
{
	static const char *const units[] = { " (ns)", " (bytes)", " (B)", " (%)", " (MB)" };
	size_t len;

	snprintf(buf, size, "%s", column->head ? column->head : column->name);
	len = strlen(buf);
	for (unsigned int i = 0; !column->head && i < sizeof(units) / sizeof(*units); i++) {
		size_t n = strlen(units[i]);

		if (len > n && !strcmp(buf + len - n, units[i])) {
			buf[len - n] = 0;
			break;
		}
	}
}

/* ------------------------------------------------------------------- layout --- */

static bool table_is_text(const struct ct_table *t, unsigned int column)
{
	return ct_cell_is_text(t->columns[column].type);
}

/* The widths that the cells want; texts may be cut later. */
static void table_measure(struct ct_printer *p, const struct ct_table *t)
{
	size_t rows = p->top && p->top < t->rows ? p->top : t->rows;
	char cell[CELL_SIZE];

	for (unsigned int i = 0; i < t->columns_count; i++) {
		table_head(cell, sizeof(cell), &t->columns[i]);
		p->widths[i] = table_columns(cell);
		p->visible[i] = t->columns[i].drop_order != CT_COLUMN_NOTED;
		if (!p->whole && p->widths[i] < type_width[t->columns[i].type])
			p->widths[i] = type_width[t->columns[i].type];
	}
	for (size_t row = 0; p->whole && row < rows; row++)
		for (unsigned int i = 0; i < t->columns_count; i++) {
			unsigned int width;

			table_cell(cell, t->columns[i].type,
				   &t->cells[row * t->columns_count + i], TEXT_MOST);
			width = table_columns(cell);
			if (width > p->widths[i])
				p->widths[i] = width;
		}
}

/* The width of a line in which no text is wider than @most, 0: than it should stay. */
static uint64_t table_line(const struct ct_printer *p, const struct ct_table *t,
			   unsigned int most)
{
	uint64_t line = 0;

	for (unsigned int i = 0; i < t->columns_count; i++) {
		unsigned int limit = most ? most : t->columns[i].type == CT_CELL_KERNEL ?
				     KERNEL_WANTED : TEXT_WANTED;

		if (!p->visible[i])
			continue;
		line += INDENT;
		line += table_is_text(t, i) && p->widths[i] > limit ? limit : p->widths[i];
	}
	return line;
}

/* Whether the process is the same in all rows, also in those that --top leaves out. */
static bool table_constant(const struct ct_table *t, unsigned int column)
{
	const struct ct_cell *first = t->cells + column, *cell;

	for (size_t row = 1; row < t->rows; row++) {
		cell = first + row * t->columns_count;
		if (cell->some != first->some ||
		    (cell->some && (table_is_text(t, column) ? strcmp(cell->text, first->text) != 0 :
				    cell->u != first->u)))
			return false;
	}
	return t->rows;
}

/* When a column is left out: the highest first; 0: never. */
static unsigned int table_rank(const struct ct_printer *p, const struct ct_table *t, unsigned int column)
{
	const struct ct_column *c = &t->columns[column];
	bool pid = c->type == CT_CELL_ID && !strcasecmp(c->name, "pid");

	if (!c->drop_order)
		return 0;
	if (p->whole && (pid || !strcmp(c->name, "Process")) && table_constant(t, column))
		return 3 * RANK_MOST + c->drop_order;
	/* Which process it is, is no detail where there are two. */
	if (pid && (p->whole || t->several_processes))
		return 0;
	if (c->drop_order & CT_COLUMN_DETAIL(0))
		return RANK_MOST + (c->drop_order & ~CT_COLUMN_DETAIL(0));
	/* Names tell the rows apart: they go after all figures. */
	return table_is_text(t, column) ? c->drop_order : RANK_MOST + c->drop_order;
}

/* Leaves out a column, and with it the one that it makes a pair with: neighbours of one rank. */
static void table_leave_out(struct ct_printer *p, const struct ct_table *t, unsigned int out)
{
	unsigned int end = out;

	p->visible[out] = false;
	while (end + 1 < t->columns_count && t->columns[end + 1].drop_order == t->columns[out].drop_order)
		end++;
	if ((end - out) % 2 == 0 && out && t->columns[out - 1].drop_order == t->columns[out].drop_order &&
	    table_is_text(t, out - 1) == table_is_text(t, out))
		p->visible[out - 1] = false;
}

/* Leaves out columns, then cuts texts, until a line fits. */
static void table_fit(struct ct_printer *p, const struct ct_table *t)
{
	unsigned int ranks[CT_TABLE_COLUMNS], last = 0, most;

	for (unsigned int i = 0; i < t->columns_count; i++)
		ranks[i] = p->width ? table_rank(p, t, i) : 0;
	while (p->width && table_line(p, t, 0) > p->width) {
		unsigned int out = t->columns_count, highest = 0;

		for (unsigned int i = 0; i < t->columns_count; i++)
			if (p->visible[i] && ranks[i] && ranks[i] >= highest) {
				highest = ranks[i];
				out = i;
			}
		if (out == t->columns_count)
			break;
		table_leave_out(p, t, out);
	}
	for (unsigned int i = 0; i < t->columns_count; i++)
		if (p->visible[i])
			last = i;
	if (!p->width) {
		/* No row is known, and nothing stands behind it: it is not cut. */
		if (!p->whole && table_is_text(t, last))
			p->widths[last] = TEXT_MOST;
		return;
	}
	if (!p->whole && table_is_text(t, last)) {
		uint64_t line = table_line(p, t, TEXT_MOST);

		if (line < p->width)
			p->widths[last] += p->width - line;
	}
	for (most = TEXT_MOST; most > TEXT_LEAST && table_line(p, t, most) > p->width; most--)
		;
	for (unsigned int i = 0; i < t->columns_count; i++)
		if (table_is_text(t, i) && p->widths[i] > most)
			p->widths[i] = most;
	/* What is left over because all texts were cut alike. */
	if (table_is_text(t, last) && p->widths[last] == most) {
		uint64_t line = table_line(p, t, TEXT_MOST);

		if (line < p->width)
			p->widths[last] += p->width - line;
	}
}

/* ------------------------------------------------------------------ printing --- */

static void table_spaces(struct ct_printer *p, unsigned int n)
{
	while (n--)
		ct_out_char(&p->out, ' ');
}

/*
 * The cells of a line one by one; spaces are written when a text follows them, so that none
 * stand at the end.
 */
static void table_put(struct ct_printer *p, const struct ct_table *t, unsigned int column,
		      const char *text, unsigned int *gap)
{
	unsigned int width = p->widths[column], used = table_columns(text);
	unsigned int pad = used < width ? width - used : 0;
	bool left = table_is_text(t, column);

	*gap += INDENT + (left ? 0 : pad);
	if (*text) {
		table_spaces(p, *gap);
		ct_out_text(&p->out, text);
		*gap = 0;
	}
	*gap += left ? pad : 0;
}

/* Words, and numbers with their units, in lines that fit; the first begins at column @at, the others at @indent. */
static void table_words(struct ct_printer *p, const char *text, unsigned int at, unsigned int indent)
{
	bool first = true;

	while (*text) {
		unsigned int bytes = strcspn(text, " "), columns = 0, unit = text[bytes] ? ct_term_unit(text + bytes + 1) : 0;

		bytes += unit ? 1 + unit : 0;
		for (unsigned int i = 0; i < bytes; i++)
			columns += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (!first && p->width && at + 1 + columns > p->width) {
			ct_out_char(&p->out, '\n');
			table_spaces(p, indent);
			at = indent;
			first = true;
		}
		if (!first)
			ct_out_char(&p->out, ' ');
		at += columns + !first;
		first = false;
		ct_out_bytes(&p->out, text, bytes);
		text += bytes + (text[bytes] == ' ');
	}
}

/* In capitals up to the first ":" or "(". */
static void table_title(struct ct_printer *p, const struct ct_table *t)
{
	char title[1024];

	ct_term_clean(title, sizeof(title), t->title ? t->title : t->name, TEXT_MOST);
	for (char *c = title; *c && *c != ':' && *c != '('; c++)
		*c = *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c;
	ct_out_text(&p->out, p->colour ? "\033[1m" : "");
	table_words(p, title, 0, INDENT);
	ct_out_text(&p->out, p->colour ? "\033[0m\n" : "\n");
}

static void table_heads(struct ct_printer *p, const struct ct_table *t)
{
	unsigned int gap = 0;
	char head[256];

	for (unsigned int i = 0; i < t->columns_count; i++)
		if (p->visible[i]) {
			table_head(head, sizeof(head), &t->columns[i]);
			table_put(p, t, i, head, &gap);
		}
	ct_out_char(&p->out, '\n');
}

static void table_begin(struct ct_printer *p, const struct ct_table *t)
{
	if (p->tables)
		ct_out_char(&p->out, '\n');
	table_title(p, t);
	table_measure(p, t);
	table_fit(p, t);
}

/* The text of the last column, in as many lines as it takes; @at: where the column begins. */
static void table_wrapped(struct ct_printer *p, const char *text, unsigned int gap, unsigned int at)
{
	table_spaces(p, gap + INDENT);
	table_words(p, text, at, at);
}

static void table_row(struct ct_printer *p, const struct ct_table *t, const struct ct_cell *row)
{
	unsigned int gap = 0, last = 0, at = 0;
	char cell[CELL_SIZE];

	if (!p->rows)
		table_heads(p, t);
	for (unsigned int i = 0; i < t->columns_count; i++)
		last = p->visible[i] ? i : last;
	for (unsigned int i = 0; i < t->columns_count; i++) {
		if (!p->visible[i])
			continue;
		at += INDENT;
		if (i == last && t->columns[i].type == CT_CELL_WORDS) {
			table_cell(cell, t->columns[i].type, row + i, TEXT_MOST);
			table_wrapped(p, cell, gap, at);
			break;
		}
		at += p->widths[i];
		/* A whole name stands in its line, wide as it is: to be read, searched and copied. */
		if (p->full_names && t->columns[i].type == CT_CELL_KERNEL)
			table_cell(cell, CT_CELL_TEXT, row + i, TEXT_MOST);
		else
			table_cell(cell, t->columns[i].type, row + i, p->widths[i]);
		table_put(p, t, i, cell, &gap);
	}
	ct_out_char(&p->out, '\n');
}

/* Does the note explain a column that is left out?  Without rows there are none. */
static bool table_unseen(const struct ct_printer *p, const struct ct_table *t, const char *note)
{
	char head[256];

	for (unsigned int i = 0; i < t->columns_count; i++) {
		size_t n;

		if (p->visible[i] && p->rows)
			continue;
		table_head(head, sizeof(head), &t->columns[i]);
		n = strlen(head);
		if (!strncasecmp(note, head, n) && (!strncmp(note + n, ": ", 2) || !strncmp(note + n, " is ", 4)))
			return true;
	}
	return false;
}

static void table_end(struct ct_printer *p, const struct ct_table *t)
{
	char text[1024], count[CT_TERM_TEXT];

	if (!p->rows)
		ct_out_text(&p->out, "  (none)\n");
	if (p->hidden) {
		snprintf(text, sizeof(text), "  ... and %s more; --top 0 shows all\n",
			 ct_term_count(count, p->hidden));
		ct_out_text(&p->out, text);
	}
	for (unsigned int i = 0; i < t->notes_count; i++) {
		if (table_unseen(p, t, t->notes[i]))
			continue;
		table_spaces(p, INDENT);
		table_words(p, ct_term_clean(text, sizeof(text), t->notes[i], TEXT_MOST), INDENT, 2 * INDENT);
		ct_out_char(&p->out, '\n');
	}
}

const struct ct_format ct_format_table = {
	.name = "table",
	.extension = "txt",
	.prints_notes = true,
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
};
