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

/* ------------------------------------------------------------ the thread --- */

static void *db_thread(void *arg)
{
	struct ct_db *d = arg;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		while (!d->work && !d->leave)
			pthread_cond_wait(&d->changed, &d->lock);
		if (!d->work)
			break;
		pthread_mutex_unlock(&d->lock);
		d->work(d->work_arg);
		pthread_mutex_lock(&d->lock);
		d->work = NULL;
		pthread_cond_broadcast(&d->changed);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

void ct_db_wait(struct ct_db *d)
{
	if (!d->worker)
		return;
	pthread_mutex_lock(&d->lock);
	while (d->work)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

void ct_db_give(struct ct_db *d, void (*work)(void *arg), void *arg)
{
	if (!d->worker) {
		work(arg);
		return;
	}
	ct_db_wait(d);
	pthread_mutex_lock(&d->lock);
	d->work = work;
	d->work_arg = arg;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static void db_thread_begin(struct ct_db *d)
{
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	d->worker = !pthread_create(&d->thread, NULL, db_thread, d);
}

static void db_thread_end(struct ct_db *d)
{
	if (d->worker) {
		ct_db_wait(d);
		pthread_mutex_lock(&d->lock);
		d->leave = true;
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
		pthread_join(d->thread, NULL);
	}
	d->worker = false;
	pthread_cond_destroy(&d->changed);
	pthread_mutex_destroy(&d->lock);
}

/* ---------------------------------------------------------- the database --- */

int ct_db_exec(struct ct_db *d, const char *sql)
{
	ct_db_wait(d);
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
	const char *slash = strrchr(path, '/');
	int status;

	*d = (struct ct_db){ .err = err };
	db_thread_begin(d);
	/* One thread at a time uses SQLite: locks and counters of memory would only cost time. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	/* Sorting for an index takes much space: where the database goes, there has to be some. */
	sqlite3_free(sqlite3_temp_directory);
	sqlite3_temp_directory = slash ? sqlite3_mprintf("%.*s", (int)(slash - path) + 1, path) :
					 sqlite3_mprintf(".");
	status = sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (status != SQLITE_OK)
		return ct_db_error(d, status);
	return ct_db_exec(d, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			     "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			     "PRAGMA cache_size = -65536; BEGIN");
}

int ct_db_close(struct ct_db *d)
{
	int status, rc;

	db_thread_end(d);
	status = d->db ? sqlite3_close(d->db) : SQLITE_OK;
	rc = ct_db_error(d, status);
	if (rc)
		sqlite3_close_v2(d->db);
	d->db = NULL;
	return rc;
}
