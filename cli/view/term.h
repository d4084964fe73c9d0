/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The properties of the output.  A terminal has colour and a width; a pipe or a file
 * gets plain text.
 */
#ifndef CT_CLI_TERM_H
#define CT_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Only where ct_term_colour() says so. */
#define CT_TERM_PLAIN	"\033[0m"
#define CT_TERM_BOLD	"\033[1m"
#define CT_TERM_DIM	"\033[2m"
#define CT_TERM_GREEN	"\033[32m"
#define CT_TERM_YELLOW	"\033[33m"
#define CT_TERM_CYAN	"\033[36m"

/* Colours may be used on @out: it is a terminal, and NO_COLOR isn't set. */
bool ct_term_colour(FILE *out);

/* Columns: of the terminal, else of $COLUMNS, else @otherwise. */
unsigned int ct_term_width(FILE *out, unsigned int otherwise);

/* "1,234,567"; "1.23 ms"; "4.00 MiB"; a moment, "1,234.567 ms".  Each returns @buf. */
#define CT_TERM_TEXT	32
char *ct_term_count(char buf[CT_TERM_TEXT], uint64_t n);
char *ct_term_ns(char buf[CT_TERM_TEXT], uint64_t ns);
char *ct_term_bytes(char buf[CT_TERM_TEXT], uint64_t bytes);
char *ct_term_moment(char buf[CT_TERM_TEXT], uint64_t ns);

/*
 * @text made safe for a terminal: control characters become '?', and a text that is
 * longer than @width columns is cut with a "~".  @buf holds @size bytes.
 */
char *ct_term_clean(char *buf, unsigned int size, const char *text, unsigned int width);

/*
 * Prints @text, made safe, in lines of at most @width columns, each but the first behind @indent blanks; the first begins at
 * column @at already.  A number stays with its unit.
 */
void ct_term_wrap(FILE *out, const char *text, unsigned int width, unsigned int indent, unsigned int at);

/* The length of the "%" or the unit that @text begins with, 0: there is none.  A number stays in a line with it. */
unsigned int ct_term_unit(const char *text);

#endif
