/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A database that is written once, from nothing; and its errors.  A thread of its own does long
 * work (ct_db_give()); what else is done with the database waits for it.
 */
#ifndef CT_CLI_SQLITE_DB_H
#define CT_CLI_SQLITE_DB_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

struct ct_db {
	sqlite3 *db;
	struct ct_error *err;
	/* The thread; without one (.worker false) work is done at once. */
	pthread_t thread;
	bool worker, leave;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(void *arg);	/* what it does, NULL: nothing */
	void *work_arg;
};

/*
 * Opens the empty file @path.  There is no journal: a file that was not closed without an
 * error is of no use.  0, or a negative errno with a line in @err; close it in any case.
 */
int ct_db_open(struct ct_db *d, const char *path, struct ct_error *err);

/* Has @work(@arg) done by the thread, after the work before. */
void ct_db_give(struct ct_db *d, void (*work)(void *arg), void *arg);

/* Waits until nothing is being done: before the database, or what work is done on, is used. */
void ct_db_wait(struct ct_db *d);

/*
 * const char NAME[]: the statements of the file cli/export/sqlite/FILE.sql, which is built into the
 * command.  The path is from the top folder, where the compiler runs; files.mk knows which
 * object depends on which file.
 */
#define CT_DB_SQL(name, file)							\
	asm(".pushsection .rodata\n" #name ":\n"				\
	    ".incbin \"cli/export/sqlite/" file ".sql\"\n.byte 0\n.popsection\n");	\
	extern const char name[]

/* Runs statements.  0, or a negative errno with a line in the error of ct_db_open(). */
int ct_db_exec(struct ct_db *d, const char *sql);

/* The same for a text that is made; printf-like as sqlite3_mprintf() (%w in a name, %Q a text). */
int ct_db_execf(struct ct_db *d, const char *format, ...);

/* The errno of what SQLite returned (SQLITE_OK: 0), with a line in the error. */
int ct_db_error(struct ct_db *d, int status);

/* 0 or the error of writing what was left. */
int ct_db_close(struct ct_db *d);

#endif
