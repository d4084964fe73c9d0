/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A page of text: at most CT_PAGE_LINES lines, none wider than the terminal, whatever is put on
 * it.  Begin with a page that is all zeros and ct_page_begin().
 */
#ifndef CT_CLI_PAGE_H
#define CT_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#define CT_PAGE_LINES	50
#define CT_PAGE_COLUMNS	80	/* where no terminal says how many */
#define CT_PAGE_LEAST	60	/* a narrower terminal breaks lines itself */
#define CT_PAGE_MOST	200
#define CT_PAGE_LABEL	10	/* columns of "command   " */

/* How lines look on a terminal with colours. */
enum ct_page_style {
	CT_PAGE_PLAIN,
	CT_PAGE_HEAD,		/* of a section: bold */
	CT_PAGE_LABELS,		/* the first CT_PAGE_LABEL columns are dim */
	CT_PAGE_VERDICT,	/* the same, and what follows is bold */
	CT_PAGE_WARNING,
};

struct ct_page {
	char lines[CT_PAGE_LINES][CT_PAGE_MOST * 4 + 8];
	unsigned char styles[CT_PAGE_LINES];
	unsigned int count;
	unsigned int columns;
	unsigned int limit;	/* lines; 0: CT_PAGE_LINES.  For a part of it that may be long */
	enum ct_page_style style;	/* of lines that are added */
	bool colour;
};

/* @columns: of the terminal, 0: there is none. */
void ct_page_begin(struct ct_page *page, unsigned int columns, bool colour);

/* Lines that are still free. */
unsigned int ct_page_left(const struct ct_page *page);

/* Adds lines; a longer one is broken at spaces.  What does not fit is dropped. */
void ct_page_add(struct ct_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds an empty line and the head of a section. */
void ct_page_head(struct ct_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ct_page_print(const struct ct_page *page, FILE *out);

#endif
