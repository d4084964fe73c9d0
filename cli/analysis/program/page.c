// SPDX-License-Identifier: LGPL-2.1-or-later
/* See page.h. */
#include "analysis/program/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "view/term.h"

#define PAGE_INDENT	10	/* of what is continued */

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
	ct_term_clean(to, sizeof(page->lines[0]), line, CT_PAGE_COLUMNS);
	page->count++;
}

/* One line, broken where it is too long.  Bytes count as columns here: good enough to break. */
static void page_wrap(struct ct_page *page, char *line)
{
	char piece[CT_PAGE_COLUMNS + 8];
	unsigned int indent = 0;

	while (strlen(line) + indent > CT_PAGE_COLUMNS) {
		unsigned int cut = CT_PAGE_COLUMNS - indent;

		while (cut > 20 && line[cut] != ' ')
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

void ct_page_add(struct ct_page *page, const char *format, ...)
{
	char *text, *line, *next;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return;
	for (line = text; line && (*line || line == text); line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		page_wrap(page, line);
	}
	free(text);
}

void ct_page_print(const struct ct_page *page, FILE *out)
{
	for (unsigned int i = 0; i < page->count; i++)
		fprintf(out, "%s\n", page->lines[i]);
}
