/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the formats share: the printer's state, and how a number is written for programs.
 * Only files of this folder include it.
 */
#ifndef CT_CLI_PRINTER_H
#define CT_CLI_PRINTER_H

#include <stdio.h>

#include "base/out.h"
#include "table/table.h"

struct ct_printer;

struct ct_format {
	const char *name;
	const char *extension;
	bool prints_notes;	/* false: notes of tables go to stderr */
	char delimiter;		/* between cells */
	/* Any of them may be NULL but row.  Errors of writing are kept in ct_printer.out. */
	void (*open)(struct ct_printer *p);
	void (*begin)(struct ct_printer *p, const struct ct_table *t);
	void (*row)(struct ct_printer *p, const struct ct_table *t, const struct ct_cell *row);
	void (*end)(struct ct_printer *p, const struct ct_table *t);
	void (*close)(struct ct_printer *p);
};

extern const struct ct_format ct_format_table, ct_format_csv, ct_format_tsv, ct_format_json;

struct ct_printer {
	const struct ct_format *format;
	FILE *file;
	struct ct_out out;	/* of the file's descriptor */
	unsigned int width;
	uint64_t top;
	bool colour, several, full_names;
	bool terminal;		/* the output is a terminal */
	bool whole;		/* all rows of the table are in it; false: they come one by one */
	uint64_t tables;	/* tables that were begun */
	uint64_t rows;		/* printed rows of this table */
	uint64_t hidden;	/* rows of this table that options->top left out */
	/* table: the columns that are printed, and how wide each is. */
	bool visible[CT_TABLE_COLUMNS];
	unsigned int widths[CT_TABLE_COLUMNS];
	/* json: the names of the columns as they stand in front of the values. */
	struct ct_out keys;
	size_t key_ends[CT_TABLE_COLUMNS];
};

/* Writes a number that is known: integers plain, HEX as 0x1f, doubles with their decimals. */
void ct_printer_number(struct ct_out *out, enum ct_cell_type type, const struct ct_cell *cell);

#endif
