// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * csv (RFC 4180, with line ends of Unix) and tsv.  Texts are complete.  Must never send the
 * control characters of a trace to a terminal.
 */
#include "table/printer.h"

/* Characters that are not written as they are. */
enum { QUOTED = 1, SPACE = 2, CONTROL = 4 };

static const unsigned char special[256] = {
	[1 ... 8] = CONTROL,	    ['\t'] = SPACE, ['\n'] = QUOTED | SPACE, [11 ... 12] = CONTROL,
	['\r'] = QUOTED | SPACE | CONTROL,    [14 ... 31] = CONTROL,		     ['"'] = QUOTED,
	[','] = QUOTED,		    [127] = CONTROL,
};

static void separated_text(struct ct_printer *p, const char *text)
{
	bool csv = p->format->delimiter == ',';
	unsigned char change = (csv ? QUOTED : SPACE) | (p->terminal ? CONTROL : 0), found = 0;
	const unsigned char *s = (const unsigned char *)text;
	size_t len = 0;

	for (; s[len]; len++)
		found |= special[s[len]];
	/* The second byte of a C1 control, 0xc2 0x80 to 0xc2 0x9f, is found below. */
	if (!(found & change) && !p->terminal) {
		ct_out_bytes(&p->out, text, len);
		return;
	}
	if (csv && found & QUOTED)
		ct_out_char(&p->out, '"');
	for (size_t i = 0; i < len; i++) {
		bool c1 = i && s[i - 1] == 0xc2 && s[i] >= 0x80 && s[i] < 0xa0;
		char c = (char)s[i];

		if (csv && c == '"')
			ct_out_char(&p->out, '"');
		if (!csv && special[s[i]] & SPACE)
			c = ' ';
		else if (p->terminal && (special[s[i]] & CONTROL || c1))
			c = '?';
		ct_out_char(&p->out, c);
	}
	if (csv && found & QUOTED)
		ct_out_char(&p->out, '"');
}

static void separated_begin(struct ct_printer *p, const struct ct_table *t)
{
	if (p->tables)
		ct_out_char(&p->out, '\n');
	for (unsigned int i = 0; i < t->columns_count; i++) {
		if (i)
			ct_out_char(&p->out, p->format->delimiter);
		separated_text(p, t->columns[i].name);
	}
	ct_out_char(&p->out, '\n');
}

static void separated_row(struct ct_printer *p, const struct ct_table *t, const struct ct_cell *row)
{
	for (unsigned int i = 0; i < t->columns_count; i++) {
		enum ct_cell_type type = t->columns[i].type;

		if (i)
			ct_out_char(&p->out, p->format->delimiter);
		if (!ct_cell_known(type, row + i)) {
			/* An empty line would be no row. */
			if (t->columns_count == 1)
				ct_out_text(&p->out, "\"\"");
		} else if (ct_cell_is_text(type)) {
			separated_text(p, row[i].text);
		} else {
			ct_printer_number(&p->out, type, row + i);
		}
	}
	ct_out_char(&p->out, '\n');
}

static void separated_end(struct ct_printer *p, const struct ct_table *t)
{
	(void)p;
	(void)t;
}

const struct ct_format ct_format_csv = {
	.name = "csv",
	.extension = "csv",
	.delimiter = ',',
	.begin = separated_begin,
	.row = separated_row,
	.end = separated_end,
};

const struct ct_format ct_format_tsv = {
	.name = "tsv",
	.extension = "tsv",
	.delimiter = '\t',
	.begin = separated_begin,
	.row = separated_row,
	.end = separated_end,
};
