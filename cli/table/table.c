// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables: rows, the copies of their texts, notes.  Must never lose an error: after the first
 * one rows are dropped, and ct_table_end() returns it.
 */
#include "table/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts are copied into blocks of this size; a longer text has a block of its own. */
#define BLOCK_SIZE	65536

#define TABLE_LIMIT_LEAST	1024	/* rows: below a limit is not worth its sorting */

struct ct_text_block {
	struct ct_text_block *next;
	size_t used, size;
	char bytes[];
};

/* Where there is no memory for a row, callers write into this one; nobody reads it. */
static struct ct_cell spare_row[CT_TABLE_COLUMNS];

static void table_fail(struct ct_table *t, int error)
{
	if (!t->error)
		t->error = error;
}

void ct_table_begin(struct ct_table *t, const char *name, const char *title,
		    const struct ct_column *columns, unsigned int columns_count)
{
	*t = (struct ct_table){ .name = name, .columns = columns, .columns_count = columns_count };
	/* Columns are constants of the program: this is a mistake in it. */
	if (!columns_count || columns_count > CT_TABLE_COLUMNS)
		abort();
	t->title = strdup(title ? title : name);
	t->row = calloc(columns_count, sizeof(*t->row));
	if (!t->row)
		t->row = spare_row;
	if (!t->title || t->row == spare_row)
		table_fail(t, -ENOMEM);
}

void ct_table_stream(struct ct_table *t, ct_row_fn *emit, void *arg)
{
	t->emit = emit;
	t->emit_arg = arg;
}

/* The texts of a row that was emitted: the oldest block is used again. */
static void table_drop_texts(struct ct_table *t)
{
	struct ct_text_block *block = t->texts;

	while (block && block->next) {
		t->texts = block->next;
		free(block);
		block = t->texts;
	}
	if (block)
		block->used = 0;
}

static int table_keep_row(struct ct_table *t)
{
	if (t->rows == t->capacity) {
		size_t capacity = t->capacity ? t->capacity * 2 : 16, cells;
		struct ct_cell *more;

		if (__builtin_mul_overflow(capacity, t->columns_count, &cells))
			return -ENOMEM;
		more = reallocarray(t->cells, cells, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->cells = more;
		t->capacity = capacity;
	}
	memcpy(t->cells + t->rows * t->columns_count, t->row,
	       t->columns_count * sizeof(*t->row));
	t->rows++;
	return 0;
}

void ct_table_limit(struct ct_table *t, unsigned int column, bool descending, uint64_t most)
{
	t->most = most;
	t->most_column = column;
	t->most_descending = descending;
}

/* Sorts the rows and drops those beyond the limit, with their texts. */
static int table_prune(struct ct_table *t)
{
	struct ct_text_block *block = t->texts, *next;
	int rc = ct_table_sort(t, t->most_column, t->most_descending);

	if (rc)
		return rc;
	t->left_out += t->rows - t->most;
	t->rows = t->most;
	t->texts = NULL;
	for (size_t i = 0; i < t->rows * t->columns_count; i++)
		if (ct_cell_is_text(t->columns[i % t->columns_count].type) && t->cells[i].some)
			t->cells[i] = ct_text(t, t->cells[i].text);
	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	return t->error;
}

static void table_complete(struct ct_table *t)
{
	int rc = 0;

	if (!t->row_open)
		return;
	t->row_open = false;
	if (!t->error) {
		rc = t->emit ? t->emit(t->emit_arg, t, t->row) : table_keep_row(t);
		if (!rc && t->most && t->rows >= TABLE_LIMIT_LEAST && t->rows / 2 >= t->most)
			rc = table_prune(t);
		if (rc)
			table_fail(t, rc);
	}
	if (t->emit || t->error)
		table_drop_texts(t);
}

struct ct_cell *ct_table_row(struct ct_table *t)
{
	table_complete(t);
	memset(t->row, 0, t->columns_count * sizeof(*t->row));
	t->row_open = true;
	return t->row;
}

int ct_table_end(struct ct_table *t)
{
	table_complete(t);
	return t->error;
}

void ct_table_note(struct ct_table *t, const char *format, ...)
{
	char **notes = reallocarray(t->notes, t->notes_count + 1, sizeof(*notes)), *note;
	va_list args;
	int len;

	if (!notes) {
		table_fail(t, -ENOMEM);
		return;
	}
	t->notes = notes;
	va_start(args, format);
	len = vasprintf(&note, format, args);
	va_end(args);
	if (len < 0)
		table_fail(t, -ENOMEM);
	else
		t->notes[t->notes_count++] = note;
}

void ct_table_free(struct ct_table *t)
{
	struct ct_text_block *next;

	for (struct ct_text_block *block = t->texts; block; block = next) {
		next = block->next;
		free(block);
	}
	for (unsigned int i = 0; i < t->notes_count; i++)
		free(t->notes[i]);
	free(t->notes);
	free(t->title);
	free(t->cells);
	if (t->row != spare_row)
		free(t->row);
	*t = (struct ct_table){ 0 };
}

/* ------------------------------------------------------------------- texts --- */

/* Room for @size bytes, or NULL: the table has an error. */
static char *table_space(struct ct_table *t, size_t size)
{
	struct ct_text_block *block = t->texts;
	char *at;

	if (t->error)
		return NULL;
	if (!block || block->size - block->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		block = malloc(sizeof(*block) + room);
		if (!block) {
			table_fail(t, -ENOMEM);
			return NULL;
		}
		block->size = room;
		block->used = 0;
		block->next = t->texts;
		t->texts = block;
	}
	at = block->bytes + block->used;
	block->used += size;
	return at;
}

struct ct_cell ct_text(struct ct_table *t, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = text ? table_space(t, size) : NULL;

	if (copy)
		memcpy(copy, text, size);
	return ct_const(copy);
}

struct ct_cell ct_format(struct ct_table *t, const char *format, ...)
{
	va_list args, again;
	char *copy = NULL;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len < 0)
		table_fail(t, -EINVAL);
	else
		copy = table_space(t, (size_t)len + 1);
	if (copy)
		vsnprintf(copy, (size_t)len + 1, format, again);
	va_end(again);
	va_end(args);
	return ct_const(copy);
}

bool ct_cell_known(enum ct_cell_type type, const struct ct_cell *cell)
{
	if (!cell->some)
		return false;
	if (ct_cell_is_text(type))
		return cell->text != NULL;
	return !ct_cell_is_double(type) || isfinite(cell->d);
}

/* -------------------------------------------------------------------- sort --- */

struct table_order {
	const struct ct_table *table;
	unsigned int column;
	bool descending;
};

static int table_compare_cells(enum ct_cell_type type, const struct ct_cell *a,
			       const struct ct_cell *b)
{
	if (ct_cell_is_text(type))
		return strcmp(a->text, b->text);
	if (ct_cell_is_double(type))
		return (a->d > b->d) - (a->d < b->d);
	return (a->u > b->u) - (a->u < b->u);
}

static int table_compare(const void *x, const void *y, void *arg)
{
	size_t i = *(const size_t *)x, j = *(const size_t *)y;
	const struct table_order *order = arg;
	const struct ct_table *t = order->table;
	enum ct_cell_type type = t->columns[order->column].type;
	const struct ct_cell *a = t->cells + i * t->columns_count + order->column;
	const struct ct_cell *b = t->cells + j * t->columns_count + order->column;
	bool known_a = ct_cell_known(type, a), known_b = ct_cell_known(type, b);
	int way = 0;

	if (known_a != known_b)
		return known_a ? -1 : 1;
	if (known_a)
		way = table_compare_cells(type, a, b);
	if (way)
		return order->descending ? -way : way;
	return (i > j) - (i < j);
}

int ct_table_sort(struct ct_table *t, unsigned int column, bool descending)
{
	struct table_order order = { .table = t, .column = column, .descending = descending };
	size_t row_size = t->columns_count * sizeof(*t->cells), *rows;
	struct ct_cell *cells;

	table_complete(t);
	if (t->error)
		return t->error;
	if (column >= t->columns_count)
		return -EINVAL;
	if (t->rows < 2)
		return 0;
	rows = reallocarray(NULL, t->rows, sizeof(*rows));
	cells = reallocarray(NULL, t->rows, row_size);
	if (!rows || !cells) {
		free(rows);
		free(cells);
		table_fail(t, -ENOMEM);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->rows; i++)
		rows[i] = i;
	qsort_r(rows, t->rows, sizeof(*rows), table_compare, &order);
	for (size_t i = 0; i < t->rows; i++)
		memcpy(cells + i * t->columns_count, t->cells + rows[i] * t->columns_count,
		       row_size);
	free(rows);
	free(t->cells);
	t->cells = cells;
	t->capacity = t->rows;
	return 0;
}

int ct_table_column(const struct ct_column *columns, unsigned int count, const char *name)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcasecmp(columns[i].name, name))
			return i;
	for (unsigned int i = 0; i < count; i++)
		if (columns[i].head && !strcasecmp(columns[i].head, name))
			return i;
	return -1;
}
