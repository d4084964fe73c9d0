// SPDX-License-Identifier: LGPL-2.1-or-later
/* See insert.h. */
#include "export/sqlite/insert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"

#define INSERT_ROWS	4096u		/* kept at most */
#define INSERT_TEXTS	(1u << 20)	/* bytes of texts that are kept, about */

/* ---------------------------------------------------- the virtual table --- */

struct insert_table {
	sqlite3_vtab base;
	struct ct_insert *in;
};

struct insert_cursor {
	sqlite3_vtab_cursor base;
	unsigned int row;
};

static int insert_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **made,
			  char **error)
{
	struct insert_table *t = sqlite3_malloc(sizeof(*t));
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int status = SQLITE_NOMEM;

	(void)argc, (void)argv, (void)error;
	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (unsigned int i = 0; i < ((struct ct_insert *)arg)->columns; i++)
		sqlite3_str_appendf(sql, i ? ",c%u" : "c%u", i);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (t && text) {
		*t = (struct insert_table){ .in = arg };
		status = sqlite3_declare_vtab(db, text);
	}
	sqlite3_free(text);
	if (status == SQLITE_OK)
		*made = &t->base;
	else
		sqlite3_free(t);
	return status;
}

static int insert_disconnect(sqlite3_vtab *t)
{
	sqlite3_free(t);
	return SQLITE_OK;
}

static int insert_best_index(sqlite3_vtab *t, sqlite3_index_info *info)
{
	(void)t;
	info->estimatedRows = INSERT_ROWS;
	return SQLITE_OK;
}

static int insert_open(sqlite3_vtab *t, sqlite3_vtab_cursor **made)
{
	struct insert_cursor *c = sqlite3_malloc(sizeof(*c));

	(void)t;
	if (!c)
		return SQLITE_NOMEM;
	*c = (struct insert_cursor){ 0 };
	*made = &c->base;
	return SQLITE_OK;
}

static int insert_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int insert_filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
			 sqlite3_value **argv)
{
	(void)index, (void)text, (void)argc, (void)argv;
	((struct insert_cursor *)cursor)->row = 0;
	return SQLITE_OK;
}

static int insert_next(sqlite3_vtab_cursor *cursor)
{
	((struct insert_cursor *)cursor)->row++;
	return SQLITE_OK;
}

static const struct ct_insert *insert_of(const sqlite3_vtab_cursor *cursor)
{
	return ((struct insert_table *)cursor->pVtab)->in;
}

static int insert_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct insert_cursor *)cursor)->row >= insert_of(cursor)->given.count;
}

static int insert_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct ct_insert *in = insert_of(cursor);
	size_t row = in->order[((struct insert_cursor *)cursor)->row];
	const struct ct_value *v = &in->given.values[row * in->columns + column];

	switch (v->kind) {
	case CT_VALUE_INTEGER:
		sqlite3_result_int64(result, v->i);
		break;
	case CT_VALUE_REAL:
		sqlite3_result_double(result, v->d);
		break;
	case CT_VALUE_TEXT:
		sqlite3_result_text(result, in->given.texts + v->text, v->length, SQLITE_STATIC);
		break;
	}
	return SQLITE_OK;
}

static int insert_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ((struct insert_cursor *)cursor)->row;
	return SQLITE_OK;
}

static const sqlite3_module insert_module = {
	.xCreate = insert_connect,
	.xConnect = insert_connect,
	.xBestIndex = insert_best_index,
	.xDisconnect = insert_disconnect,
	.xDestroy = insert_disconnect,
	.xOpen = insert_open,
	.xClose = insert_close,
	.xFilter = insert_filter,
	.xNext = insert_next,
	.xEof = insert_eof,
	.xColumn = insert_column,
	.xRowid = insert_rowid,
};

/* ------------------------------------------------------------------ rows --- */

int ct_insert_begin(struct ct_insert *in, struct ct_db *db, const char *table, unsigned int columns,
		    bool sorted)
{
	char *sql, module[32];
	int status;

	*in = (struct ct_insert){ .db = db, .columns = columns, .sorted = sorted, .number = db->modules++ };
	in->kept.values = calloc(INSERT_ROWS * (size_t)columns, sizeof(struct ct_value));
	in->given.values = calloc(INSERT_ROWS * (size_t)columns, sizeof(struct ct_value));
	in->order = calloc(INSERT_ROWS, sizeof(*in->order));
	if (!in->kept.values || !in->given.values || !in->order)
		return in->error = -ENOMEM;
	ct_db_wait(db);
	sqlite3_snprintf(sizeof(module), module, "rows_%u", in->number);
	status = sqlite3_create_module(db->db, module, &insert_module, in);
	in->error = ct_db_error(db, status);
	if (!in->error)
		in->error = ct_db_execf(db, "CREATE VIRTUAL TABLE temp.\"%w\" USING %s", module, module);
	sql = in->error ? NULL : sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM temp.%s", table, module);
	if (!in->error && !sql)
		in->error = -ENOMEM;
	if (!in->error)
		in->error = ct_db_error(db, sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
							       &in->statement, NULL));
	sqlite3_free(sql);
	return in->error;
}

/*
 * By the first column.  Rows come nearly sorted, but those below zero come downwards: they are
 * put in front first.
 */
static void insert_sort(struct ct_insert *in)
{
	const struct ct_insert_rows *rows = &in->given;
	unsigned int negative = 0, count;

	for (unsigned int i = rows->count; i-- && in->sorted;)
		if (rows->values[(size_t)i * in->columns].i < 0)
			in->order[negative++] = i;
	count = negative;
	for (unsigned int i = 0; i < rows->count; i++) {
		int64_t key = rows->values[(size_t)i * in->columns].i;
		unsigned int at = count;

		if (in->sorted && key < 0)
			continue;
		for (; in->sorted && at > negative &&
		       rows->values[(size_t)in->order[at - 1] * in->columns].i > key; at--)
			in->order[at] = in->order[at - 1];
		in->order[at] = i;
		count++;
	}
}

/* In the database's thread. */
static void insert_write(void *arg)
{
	struct ct_insert *in = arg;
	int status;

	insert_sort(in);
	status = sqlite3_step(in->statement);
	in->given_error = ct_db_error(in->db, status);
	sqlite3_reset(in->statement);
}

static void insert_flush(struct ct_insert *in)
{
	struct ct_insert_rows rows = in->kept;

	if (!rows.count || in->error)
		return;
	ct_db_wait(in->db);
	in->error = in->given_error;
	if (in->error)
		return;
	in->kept = in->given;
	in->kept.count = 0;
	in->kept.texts_used = 0;
	in->given = rows;
	ct_db_give(in->db, insert_write, in);
}

struct ct_value *ct_insert_row(struct ct_insert *in)
{
	struct ct_value *row;

	if (in->kept.count == INSERT_ROWS || in->kept.texts_used >= INSERT_TEXTS)
		insert_flush(in);
	if (in->error)
		in->kept.count = 0;
	row = &in->kept.values[(size_t)in->kept.count++ * in->columns];
	memset(row, 0, in->columns * sizeof(*row));
	return row;
}

void ct_insert_text(struct ct_insert *in, struct ct_value *value, const char *text, size_t length)
{
	struct ct_insert_rows *rows = &in->kept;
	size_t most = 3 * length;	/* if each byte becomes U+FFFD */
	char *to;

	if (in->error)
		return;
	if (rows->texts_room - rows->texts_used < most) {
		size_t room = rows->texts_used + most + INSERT_TEXTS;
		char *more = realloc(rows->texts, room);

		if (!more) {
			in->error = -ENOMEM;
			return;
		}
		rows->texts = more;
		rows->texts_room = room;
	}
	to = rows->texts + rows->texts_used;
	for (size_t i = 0, n; i < length; i += n) {
		unsigned char c = text[i];

		n = c && c < 0x80 ? 1 : ct_utf8(text + i, length - i);
		if (n)
			to = mempcpy(to, text + i, n);
		else
			to = mempcpy(to, "\xef\xbf\xbd", 3);
		n = n ? n : 1;
	}
	value->kind = CT_VALUE_TEXT;
	value->text = rows->texts_used;
	value->length = to - (rows->texts + rows->texts_used);
	rows->texts_used = to - rows->texts;
}

int ct_insert_end(struct ct_insert *in)
{
	if (!in->db)
		return in->error;
	if (in->statement)
		insert_flush(in);
	ct_db_wait(in->db);
	in->error = in->error ? in->error : in->given_error;
	sqlite3_finalize(in->statement);
	if (in->statement && !in->error)
		in->error = ct_db_execf(in->db, "DROP TABLE temp.rows_%u", in->number);
	free(in->kept.values);
	free(in->kept.texts);
	free(in->given.values);
	free(in->given.texts);
	free(in->order);
	*in = (struct ct_insert){ .error = in->error };
	return in->error;
}
