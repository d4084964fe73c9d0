// SPDX-License-Identifier: LGPL-2.1-or-later
/* See insert.h. */
#include "export/sqlite/insert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"

#define INSERT_ROWS	4096u		/* kept at most */
#define INSERT_TEXTS	(1u << 20)	/* bytes of texts that are kept, about */

int ct_insert_begin(struct ct_insert *in, struct ct_db *db, const char *table, unsigned int columns,
		    bool sorted)
{
	sqlite3_str *sql;
	char *text;

	*in = (struct ct_insert){ .db = db, .columns = columns, .sorted = sorted };
	in->kept.values = calloc(INSERT_ROWS * (size_t)columns, sizeof(struct ct_value));
	in->given.values = calloc(INSERT_ROWS * (size_t)columns, sizeof(struct ct_value));
	in->order = calloc(INSERT_ROWS, sizeof(*in->order));
	ct_db_wait(db);
	sql = sqlite3_str_new(db->db);
	sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES (?", table);
	for (unsigned int i = 1; i < columns; i++)
		sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!in->kept.values || !in->given.values || !in->order || !text)
		in->error = -ENOMEM;
	if (!in->error)
		in->error = ct_db_error(db, sqlite3_prepare_v3(db->db, text, -1, SQLITE_PREPARE_PERSISTENT,
							       &in->statement, NULL));
	sqlite3_free(text);
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

static int insert_bind(const struct ct_insert *in, int column, const struct ct_value *v)
{
	switch (v->kind) {
	case CT_VALUE_INTEGER:
		return sqlite3_bind_int64(in->statement, column, v->i);
	case CT_VALUE_REAL:
		return sqlite3_bind_double(in->statement, column, v->d);
	case CT_VALUE_TEXT:
		return sqlite3_bind_text(in->statement, column, in->given.texts + v->text, v->length, SQLITE_STATIC);
	}
	return sqlite3_bind_null(in->statement, column);
}

/* In the database's thread. */
static void insert_write(void *arg)
{
	struct ct_insert *in = arg;

	insert_sort(in);
	for (unsigned int i = 0; i < in->given.count && !in->given_error; i++) {
		const struct ct_value *row = &in->given.values[(size_t)in->order[i] * in->columns];
		int status = SQLITE_OK;

		for (unsigned int k = 0; k < in->columns && status == SQLITE_OK; k++)
			status = insert_bind(in, k + 1, &row[k]);
		if (status == SQLITE_OK)
			status = sqlite3_step(in->statement);
		in->given_error = ct_db_error(in->db, status);
		sqlite3_reset(in->statement);
	}
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
	free(in->kept.values);
	free(in->kept.texts);
	free(in->given.values);
	free(in->given.texts);
	free(in->order);
	*in = (struct ct_insert){ .error = in->error };
	return in->error;
}
