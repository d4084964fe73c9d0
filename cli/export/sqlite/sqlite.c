// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sqlite.h.  Must never leave a file that looks complete and is not. */
#include "export/sqlite/sqlite.h"

#include <errno.h>
#include <unistd.h>

#include "export/sqlite/analysis.h"
#include "export/sqlite/meta.h"
#include "export/sqlite/sqlite_records.h"
#include "export/sqlite/schema.h"
#include "export/sqlite/views.h"

static int sqlite_records(struct ct_db *db, const struct ct_trace *t)
{
	struct ct_strings strings;
	struct ct_records records = { 0 };
	int rc = ct_strings_begin(&strings, db), ended;

	rc = rc ? rc : ct_records_write(&records, t, db, &strings);
	rc = rc ? rc : ct_views_create(db, &records);
	ended = ct_records_end(&records);
	rc = rc ? rc : ended;
	ended = ct_strings_end(&strings);
	return rc ? rc : ended;
}

static int sqlite_write(struct ct_db *db, const struct ct_trace *t)
{
	struct ct_sqlite_analysis analysis;
	int rc;

	ct_sqlite_analysis_begin(&analysis, t);
	rc = ct_schema_create(db);
	rc = rc ? rc : ct_meta_write(db, t);
	rc = rc ? rc : sqlite_records(db, t);
	rc = rc ? rc : ct_sqlite_analysis_write(&analysis, db);
	ct_sqlite_analysis_end(&analysis);
	rc = rc ? rc : ct_schema_index(db);
	return rc ? rc : ct_db_exec(db, "COMMIT");
}

int ct_sqlite_export(const struct ct_export *x, struct ct_error *err)
{
	struct ct_db db;
	int rc = ct_db_open(&db, x->path, err), closed;

	rc = rc ? rc : sqlite_write(&db, x->trace);
	closed = ct_db_close(&db);
	rc = rc ? rc : closed;
	/* SQLite may have written a part, which is no database. */
	if (rc && truncate(x->path, 0))
		return rc;
	return rc;
}
