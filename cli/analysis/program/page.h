/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page of text: at most PAGE_LINES lines of PAGE_COLUMNS columns, whatever is put on it. */
#ifndef CT_CLI_PAGE_H
#define CT_CLI_PAGE_H

#include <stdio.h>

#define CT_PAGE_LINES	50
#define CT_PAGE_COLUMNS	80

struct ct_page {
	char lines[CT_PAGE_LINES][CT_PAGE_COLUMNS * 4 + 8];
	unsigned int count;
	unsigned int limit;	/* lines; 0: CT_PAGE_LINES.  For a part of it that may be long */
};

/* Lines that are still free. */
unsigned int ct_page_left(const struct ct_page *page);

/* Adds lines; a longer one is broken at spaces.  What does not fit is dropped. */
void ct_page_add(struct ct_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ct_page_print(const struct ct_page *page, FILE *out);

#endif
