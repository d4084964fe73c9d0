/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which end belongs to which begin of a range (NVTX, or cudatrace's own header). */
#ifndef CT_CLI_SQLITE_RANGES_H
#define CT_CLI_SQLITE_RANGES_H

#include "base/hash.h"
#include "export/rows.h"
#include "export/sqlite/insert.h"

struct ct_ranges {
	struct ct_insert insert;
	struct ct_hash by_tid;			/* a: index + 1 of the thread */
	struct ct_ranges_thread *threads;
	size_t count, room;
};

int ct_ranges_begin(struct ct_ranges *s, struct ct_db *db);

/* Takes note of a record with the id @id, at @ts.  0 or -ENOMEM. */
int ct_ranges_record(struct ct_ranges *s, const struct ct_row *row, int64_t id, int64_t ts);
int ct_ranges_end(struct ct_ranges *s);

#endif
