// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * csv (RFC 4180, with line ends of Unix) and tsv.  Texts are complete.  Must never send the
 * control characters of a trace to a terminal.
 */
#include "table/printer.h"

/* Characters that are not written as they are. */
enum { PLAIN, QUOTED = 1, SPACE = 2, CONTROL = 4 };

static const unsigned char special[256] = {
	[1 ... 8] = CONTROL,	    ['\t'] = SPACE, ['\n'] = QUOTED | SPACE, [11 ... 12] = CONTROL,
	['\r'] = QUOTED | SPACE,    [14 ... 31] = CONTROL,		     ['"'] = QUOTED,
	[','] = QUOTED,		    [127] = CONTROL,
};

/* For a terminal: a control character becomes '?'.  C1 controls are 0xc2 0x80 to 0xc2 0x9f. */
static void separated_char(struct ct_printer *p, const unsigned char *at)
{
	bool c1 = *at >= 0x80 && *at < 0xa0 && at[-1] == 0xc2;

	ct_out_char(&p->out, p->terminal && (special[*at] == CONTROL || c1) ? '?' : (char)*at);
}

static void separated_text(struct ct_printer *p, const char *text)
{
	unsigned char found = p->terminal ? CONTROL : PLAIN;
	bool csv = p->format->delimiter == ',';
	const unsigned char *s = (const unsigned char *)text;
	size_t len = 0;

	for (; s[len]; len++)
		found |= special[s[len]];
	if (!(found & (csv ? CONTROL | QUOTED : CONTROL | SPACE)) ||
	    (!p->terminal && !(found & (csv ? QUOTED : SPACE)))) {
		ct_out_bytes(&p->out, text, len);
		return;
	}
	if (csv && found & QUOTED)
		ct_out_char(&p->out, '"');
	for (size_t i = 0; i < len; i++) {
		if (csv && s[i] == '"')
			ct_out_char(&p->out, '"');
		if (!csv && special[s[i]] & SPACE)
			ct_out_char(&p->out, ' ');
		else if (i)
			separated_char(p, s + i);
		else
			ct_out_char(&p->out, p->terminal && special[*s] == CONTROL ? '?' : *s);
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
