// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The formats, and the printer that hands tables to them.  Must never hide an error of
 * writing: ct_printer_close() returns the first one.
 */
#include "table/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/printer.h"
#include "view/term.h"

static const struct ct_format *const formats[] = {
	&ct_format_table,
	&ct_format_csv,
	&ct_format_tsv,
	&ct_format_json,
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

const struct ct_format *ct_format_find(const char *name)
{
	for (unsigned int i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *ct_format_names(void)
{
	static char names[FORMATS * 16];

	if (!*names)
		for (unsigned int i = 0; i < FORMATS; i++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 i ? ", " : "", formats[i]->name);
	return names;
}

const char *ct_format_extension(const struct ct_format *format)
{
	return format->extension;
}

/* What was written to the FILE itself comes first. */
static void format_sync(struct ct_printer *p)
{
	if (fflush(p->file) && !p->out.error)
		p->out.error = errno ? -errno : -EIO;
}

struct ct_printer *ct_printer_open(const struct ct_format *format, FILE *out,
				   const struct ct_print_options *options, bool several)
{
	struct ct_printer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (ct_out_open(&p->out, fileno(out))) {
		free(p);
		return NULL;
	}
	p->format = format;
	p->file = out;
	p->several = several;
	p->terminal = isatty(fileno(out));
	if (options) {
		p->width = options->width;
		p->top = options->top;
		p->colour = options->colour;
		p->full_names = options->full_names;
	}
	format_sync(p);
	if (format->open)
		format->open(p);
	return p;
}

static int format_begin(struct ct_printer *p, const struct ct_table *t, bool whole)
{
	format_sync(p);
	p->whole = whole;
	p->rows = p->hidden = 0;
	p->format->begin(p, t);
	p->tables++;
	return p->out.error;
}

int ct_printer_begin(struct ct_printer *p, const struct ct_table *t)
{
	return format_begin(p, t, false);
}

int ct_printer_row(void *arg, const struct ct_table *t, const struct ct_cell *row)
{
	struct ct_printer *p = arg;

	if (p->top && p->rows >= p->top) {
		p->hidden++;
		return p->out.error;
	}
	p->format->row(p, t, row);
	p->rows++;
	return p->out.error;
}

int ct_printer_end(struct ct_printer *p, const struct ct_table *t)
{
	p->format->end(p, t);
	/* So that what the caller prints next with stdio comes after it. */
	ct_out_flush(&p->out);
	for (unsigned int i = 0; !p->format->prints_notes && i < t->notes_count; i++) {
		char line[1024];

		fprintf(stderr, "cudatrace: %s: %s\n", t->name,
			ct_term_clean(line, sizeof(line), t->notes[i], sizeof(line)));
	}
	return p->out.error;
}

int ct_printer_table(struct ct_printer *p, const struct ct_table *t)
{
	format_begin(p, t, true);
	for (size_t i = 0; i < t->rows && !p->out.error; i++)
		ct_printer_row(p, t, t->cells + i * t->columns_count);
	p->hidden += t->left_out;
	return ct_printer_end(p, t);
}

int ct_printer_close(struct ct_printer *p)
{
	int rc;

	if (p->format->close)
		p->format->close(p);
	rc = ct_out_close(&p->out);
	free(p->keys.buffer);
	free(p);
	return rc;
}
