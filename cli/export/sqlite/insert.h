/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling a table.  Rows are kept until there are many; then the database's thread inserts them. */
#ifndef CT_CLI_SQLITE_INSERT_H
#define CT_CLI_SQLITE_INSERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/sqlite/db.h"

enum ct_value_kind {
	CT_VALUE_NULL,
	CT_VALUE_INTEGER,
	CT_VALUE_REAL,
	CT_VALUE_TEXT,
};

struct ct_value {
	uint8_t  kind;
	uint32_t length;	/* of a text, in bytes */
	union {
		int64_t i;
		double d;
		size_t text;	/* where it is among the kept texts */
	};
};

/* Rows that go into the table together. */
struct ct_insert_rows {
	unsigned int count;
	struct ct_value *values;
	char *texts;
	size_t texts_used, texts_room;
};

struct ct_insert {
	struct ct_db *db;
	unsigned int columns;
	bool sorted;
	struct ct_insert_rows kept, given;	/* being filled; those that SQLite gets */
	uint32_t *order;	/* of the given rows */
	sqlite3_stmt *statement;
	int error;		/* the first negative errno; what comes after it is dropped */
	int given_error;	/* that of the database's thread */
};

/**
 * ct_insert_begin() - begin to fill a table of @columns columns
 * @sorted: the first column is an integer in each row; those rows that are kept together come
 *	into the table sorted by it
 *
 * Return: 0 or a negative errno.  End it in any case.
 */
int ct_insert_begin(struct ct_insert *in, struct ct_db *db, const char *table, unsigned int columns,
		    bool sorted);

/* Begins a row: its values, NULL all of them, valid until the next row.  Never NULL. */
struct ct_value *ct_insert_row(struct ct_insert *in);

/* Sets a value of the last row to a text.  Bytes that are not UTF-8, and NULs, become U+FFFD. */
void ct_insert_text(struct ct_insert *in, struct ct_value *value, const char *text, size_t length);

/* Completes the table.  0 or the first error. */
int ct_insert_end(struct ct_insert *in);

static inline void ct_value_int(struct ct_value *value, int64_t i)
{
	value->kind = CT_VALUE_INTEGER;
	value->i = i;
}

static inline void ct_value_real(struct ct_value *value, double d)
{
	value->kind = CT_VALUE_REAL;
	value->d = d;
}

#endif
