/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A result: typed columns and rows.  Who makes a table knows nothing of how it is printed,
 * who prints it (format.h) knows nothing of what it means.
 *
 *	static const struct ct_column columns[] = {
 *		{ "Total Time (ns)", "total", CT_CELL_NS, 0 },
 *		{ "Name", "name", CT_CELL_TEXT, 0 },
 *	};
 *	ct_table_begin(&t, "cuda_api_sum", "CUDA API calls", columns, 2);
 *	cells = ct_table_row(&t);
 *	cells[0] = ct_u64(1234);
 *	cells[1] = ct_text(&t, name);
 *	...
 *	rc = ct_table_end(&t);
 */
#ifndef CT_CLI_TABLE_H
#define CT_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a column holds.  In tables for people a time has a unit that fits, bytes too, and
 * counts have thousands separators.  In csv, tsv and json: plain numbers in the unit that the
 * column's name says (ns, bytes, %), means and percents with one decimal as nsys prints them.
 */
enum ct_cell_type {
	CT_CELL_TEXT,
	CT_CELL_WORDS,		/* a text; in the last column of a table for people it goes on in lines below */
	CT_CELL_KERNEL,		/* a text: the name of a C++ function; short in tables for people */
	CT_CELL_COUNT,		/* u64 */
	CT_CELL_ID,		/* u64, never with separators: a pid, an op id */
	CT_CELL_HEX,		/* u64, as 0x1f */
	CT_CELL_NS,		/* u64: a duration */
	CT_CELL_TIME,		/* u64: a moment, in ns since the trace began; for people in ms */
	CT_CELL_BYTES,		/* u64 */
	CT_CELL_NS_MEAN,	/* double, ns */
	CT_CELL_BYTES_MEAN,	/* double, bytes */
	CT_CELL_NUMBER,		/* double, with at most three decimals */
	CT_CELL_PERCENT,	/* double, with one decimal */
	CT_CELL_MB,		/* double, bytes; in csv, tsv and json in MB (10^6), three decimals */
};

#define CT_COLUMN_NOTED	UINT32_MAX	/* a drop order: tables for people have it in a note instead */
/* A drop order of a text that only adds to others: it goes when a figure of this order would. */
#define CT_COLUMN_DETAIL(order)	(1u << 31 | (order))

struct ct_column {
	const char *name;	/* in csv, tsv and json: with its unit, as nsys calls it */
	const char *head;	/* in tables for people; NULL: name */
	enum ct_cell_type type;
	/*
	 * Columns with the highest number are left out first where a line is too narrow; 0: never.
	 * Where all rows are of one process, Pid and Process go first, and Pid stays where there are two.
	 * Other names go last.  Neighbours of one number are pairs, counted from the last: they go together.
	 */
	unsigned int drop_order;
};

struct ct_cell {
	bool some;		/* false: nothing is known; "" in csv and tsv, null in json */
	union {
		uint64_t u;
		double d;
		const char *text;
	};
};

/* A table has at most this many columns. */
#define CT_TABLE_COLUMNS	64

struct ct_table;

/* Gets each row as soon as it is complete; a table with it keeps no rows.  0 or a negative errno. */
typedef int ct_row_fn(void *arg, const struct ct_table *t, const struct ct_cell *row);

struct ct_text_block;

struct ct_table {
	const char *name;	/* "cuda_api_sum"; one of several of a report: "memory_leaks" */
	char *title;		/* a line for people */
	const struct ct_column *columns;
	unsigned int columns_count;
	struct ct_cell *cells;	/* rows * columns_count */
	size_t rows, capacity;
	uint64_t left_out;	/* rows that ct_table_limit() dropped */
	char **notes;		/* lines below the table for people; on stderr with other formats */
	unsigned int notes_count;
	bool several_processes;	/* of the trace; where no row is known it keeps the column Pid */
	int error;		/* the first negative errno; what comes after it is dropped */
	/* Internal: the row that is being filled, the copies of texts, the receiver of rows. */
	struct ct_cell *row;
	bool row_open;
	struct ct_text_block *texts;
	ct_row_fn *emit;
	void *emit_arg;
	uint64_t most;		/* rows that are kept, 0: all; by this order */
	unsigned int most_column;
	bool most_descending;
};

/* Begins an empty table.  @name and @columns must outlive it, @title is copied. */
void ct_table_begin(struct ct_table *t, const char *name, const char *title,
		    const struct ct_column *columns, unsigned int columns_count);

/* Rows go to @emit from now on; before the first row. */
void ct_table_stream(struct ct_table *t, ct_row_fn *emit, void *arg);

/**
 * ct_table_limit() - keep only the first rows of an order
 * @most: so many; others are dropped while rows come, so that memory is bounded
 *
 * Before the first row.  ct_table_sort() by the same order gives the table its order in the end.
 */
void ct_table_limit(struct ct_table *t, unsigned int column, bool descending, uint64_t most);

/**
 * ct_table_row() - begin a row
 *
 * Completes the row before it.  The cells are valid until the next row and know nothing at
 * first.
 *
 * Return: @t->columns_count cells; never NULL, also after an error.
 */
struct ct_cell *ct_table_row(struct ct_table *t);

/* Completes the last row.  Return: 0 or the table's first error. */
int ct_table_end(struct ct_table *t);

/*
 * Adds a note (a line without its end).  One that begins with a column's head and ": " or " is " explains that
 * column: a table for people that leaves the column out has no such note.
 */
void ct_table_note(struct ct_table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void ct_table_free(struct ct_table *t);

/**
 * ct_table_sort() - order the rows
 * @column: by this column; texts by their bytes
 * @descending: the largest first; rows whose cell knows nothing come last in both orders
 *
 * Rows that are equal keep their order.
 */
int ct_table_sort(struct ct_table *t, unsigned int column, bool descending);

/* The index of the column with this name or head (case does not matter), or -1. */
int ct_table_column(const struct ct_column *columns, unsigned int count, const char *name);

static inline bool ct_cell_is_text(enum ct_cell_type type)
{
	return type == CT_CELL_TEXT || type == CT_CELL_WORDS || type == CT_CELL_KERNEL;
}

static inline bool ct_cell_is_double(enum ct_cell_type type)
{
	return type >= CT_CELL_NS_MEAN;
}

/* Whether @cell knows something; infinities and what is not a number do not count. */
bool ct_cell_known(enum ct_cell_type type, const struct ct_cell *cell);

static inline struct ct_cell ct_u64(uint64_t value)
{
	return (struct ct_cell){ .some = true, .u = value };
}

static inline struct ct_cell ct_double(double value)
{
	return (struct ct_cell){ .some = true, .d = value };
}

/* ns from @from to @ts, below 0 where that was before. */
static inline struct ct_cell ct_since(uint64_t ts, uint64_t from)
{
	return ct_double(ts >= from ? (double)(ts - from) : -(double)(from - ts));
}

/* A text that outlives the table; NULL: nothing is known. */
static inline struct ct_cell ct_const(const char *text)
{
	return (struct ct_cell){ .some = text != NULL, .text = text };
}

/* A copy of @text, or of a formatted text, that lives as long as the table. */
struct ct_cell ct_text(struct ct_table *t, const char *text);
struct ct_cell ct_format(struct ct_table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
