/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats in which tables are printed.  A format is a file and a row of a table in
 * format.c.  Texts of a trace are made safe for a terminal in the format "table".
 */
#ifndef CT_CLI_FORMAT_H
#define CT_CLI_FORMAT_H

#include <stdio.h>

#include "table/table.h"

struct ct_printer;

/* "table", "csv", "tsv" or "json"; NULL: there is no such format. */
const struct ct_format *ct_format_find(const char *name);
const char *ct_format_names(void);		/* "table, csv, tsv, json" */
const char *ct_format_extension(const struct ct_format *format);	/* "txt", "csv", ... */

struct ct_print_options {
	unsigned int width;	/* columns of the terminal; 0: not limited */
	uint64_t top;		/* rows of each table, 0: all */
	bool colour;
	bool full_names;	/* of kernels, however long */
	unsigned int page;	/* columns of a page of text; 0: those of no terminal */
};

/**
 * ct_printer_open() - begin to print tables to @out
 * @out: a file with a descriptor; what was written to it before comes first.  What is written
 *	to it between two tables stands between them
 * @options: may be NULL: no limits, no colour
 * @several: more than one table may come: json is then an object of arrays by the tables'
 *	names instead of one array, and csv and tsv have an empty line between tables
 *
 * Return: the printer, or NULL: no memory.
 */
struct ct_printer *ct_printer_open(const struct ct_format *format, FILE *out,
				   const struct ct_print_options *options, bool several);

/*
 * Prints a whole table that was ended.  Return: 0 or the first error of writing, which
 * ct_printer_close() returns as well.
 */
int ct_printer_table(struct ct_printer *p, const struct ct_table *t);

/*
 * Prints a table row by row, for those that are too long to keep: the first begins the table,
 * the second is a ct_row_fn (@arg: the printer), the last ends the table and prints its notes.
 * Each returns 0 or the first error of writing, so that nothing is computed for a closed pipe.
 * Widths in the format "table" are then by the columns' types.
 */
int ct_printer_begin(struct ct_printer *p, const struct ct_table *t);
int ct_printer_row(void *arg, const struct ct_table *t, const struct ct_cell *row);
int ct_printer_end(struct ct_printer *p, const struct ct_table *t);

/* Ends the output and frees.  Return: 0 or the first error of writing, as a negative errno. */
int ct_printer_close(struct ct_printer *p);

#endif
