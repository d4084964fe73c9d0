// SPDX-License-Identifier: LGPL-2.1-or-later
/* See db.h. */
#include "export/sqlite/db.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int ct_db_error(struct ct_db *d, int status)
{
	int code = d->db ? sqlite3_system_errno(d->db) : 0;

	switch (status & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return ct_fail(d->err, ENOSPC, "%s", strerror(ENOSPC));
	case SQLITE_TOOBIG:
		return ct_fail(d->err, EFBIG, "a text or the file is too large for SQLite");
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		code = code ? code : EIO;
		return ct_fail(d->err, code, "%s", strerror(code));
	}
	return ct_fail(d->err, EIO, "SQLite: %s", d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(status));
}

int ct_db_exec(struct ct_db *d, const char *sql)
{
	return ct_db_error(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

int ct_db_execf(struct ct_db *d, const char *format, ...)
{
	va_list list;
	char *sql;
	int rc;

	va_start(list, format);
	sql = sqlite3_vmprintf(format, list);
	va_end(list);
	if (!sql)
		return -ENOMEM;
	rc = ct_db_exec(d, sql);
	sqlite3_free(sql);
	return rc;
}

int ct_db_open(struct ct_db *d, const char *path, struct ct_error *err)
{
	int status;

	*d = (struct ct_db){ .err = err };
	status = sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (status != SQLITE_OK)
		return ct_db_error(d, status);
	return ct_db_exec(d, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			     "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			     "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; BEGIN");
}

int ct_db_close(struct ct_db *d)
{
	int status = d->db ? sqlite3_close(d->db) : SQLITE_OK;
	int rc = ct_db_error(d, status);

	if (rc)
		sqlite3_close_v2(d->db);
	d->db = NULL;
	return rc;
}
