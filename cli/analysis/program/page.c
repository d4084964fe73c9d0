// SPDX-License-Identifier: LGPL-2.1-or-later
/* See page.h. */
#include "analysis/program/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "view/term.h"

#define PAGE_INDENT	10	/* of what is continued */
#define PAGE_TEXT	120	/* wider text is hard to read */

void ct_page_begin(struct ct_page *page, unsigned int columns, bool colour)
{
	columns = columns ? columns : CT_PAGE_COLUMNS;
	page->columns = columns < CT_PAGE_LEAST ? CT_PAGE_LEAST : columns > CT_PAGE_MOST ? CT_PAGE_MOST : columns;
	page->colour = colour;
}

unsigned int ct_page_left(const struct ct_page *page)
{
	unsigned int limit = page->limit ? page->limit : CT_PAGE_LINES;

	return limit > page->count ? limit - page->count : 0;
}

static void page_line(struct ct_page *page, const char *line)
{
	char *to = page->lines[page->count];

	if (!ct_page_left(page))
		return;
	ct_term_clean(to, sizeof(page->lines[0]), line, page->columns);
	page->styles[page->count++] = page->style;
}

/* One line, broken where it is too long.  Bytes count as columns here: good enough to break. */
static void page_wrap(struct ct_page *page, char *line)
{
	unsigned int indent = 0, width = page->columns < PAGE_TEXT ? page->columns : PAGE_TEXT;
	char piece[CT_PAGE_MOST + 8];

	while (strlen(line) + indent > (*line == ' ' && !indent ? page->columns : width)) {
		unsigned int cut = width - indent;

		/* A number stays with its "%". */
		while (cut > 20 && (line[cut] != ' ' || line[cut + 1] == '%'))
			cut--;
		if (cut == 20)
			break;
		snprintf(piece, sizeof(piece), "%*s%.*s", indent, "", cut, line);
		page_line(page, piece);
		line += cut + 1;
		indent = PAGE_INDENT;
	}
	if (!indent) {
		page_line(page, line);
		return;
	}
	snprintf(piece, sizeof(piece), "%*s%s", indent, "", line);
	page_line(page, piece);
}

static void page_vadd(struct ct_page *page, const char *format, va_list args)
{
	char *text, *line, *next;

	if (vasprintf(&text, format, args) < 0)
		return;
	for (line = text; line && (*line || line == text); line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		page_wrap(page, line);
	}
	free(text);
}

void ct_page_add(struct ct_page *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	page_vadd(page, format, args);
	va_end(args);
}

void ct_page_head(struct ct_page *page, const char *format, ...)
{
	enum ct_page_style style = page->style;
	va_list args;

	page->style = CT_PAGE_HEAD;
	page_line(page, "");
	va_start(args, format);
	page_vadd(page, format, args);
	va_end(args);
	page->style = style;
}

/* The bytes of the first CT_PAGE_LABEL columns: a label is ASCII. */
static unsigned int page_label(const char *line)
{
	return strnlen(line, CT_PAGE_LABEL);
}

void ct_page_print(const struct ct_page *page, FILE *out)
{
	static const char *const begins[] = {
		[CT_PAGE_PLAIN] = "", [CT_PAGE_HEAD] = CT_TERM_BOLD, [CT_PAGE_LABELS] = CT_TERM_DIM,
		[CT_PAGE_VERDICT] = CT_TERM_DIM, [CT_PAGE_WARNING] = CT_TERM_YELLOW,
	};

	for (unsigned int i = 0; i < page->count; i++) {
		const char *line = page->lines[i];
		unsigned int style = page->styles[i], label = page_label(line);

		if (!page->colour || style == CT_PAGE_PLAIN || !*line)
			fprintf(out, "%s\n", line);
		else if (style == CT_PAGE_LABELS || style == CT_PAGE_VERDICT)
			fprintf(out, "%s%.*s%s%s%s%s\n", begins[style], label, line, CT_TERM_PLAIN,
				style == CT_PAGE_VERDICT ? CT_TERM_BOLD : "", line + label,
				style == CT_PAGE_VERDICT ? CT_TERM_PLAIN : "");
		else
			fprintf(out, "%s%s%s\n", begins[style], line, CT_TERM_PLAIN);
	}
}
