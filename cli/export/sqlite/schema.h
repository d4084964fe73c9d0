/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables that every database has. */
#ifndef CT_CLI_SQLITE_SCHEMA_H
#define CT_CLI_SQLITE_SCHEMA_H

#include <stdint.h>

#include "export/sqlite/db.h"

/* Bits of CUDATRACE_RECORDS.flags: X(ID, value, word, what it says). */
#define CT_RECORD_FLAGS(X)						\
	X(FAILED, 1, "failed", "it returned, and not with success")	\
	X(UNFINISHED, 2, "unfinished", "it never returned, or its end was lost") \
	X(ABANDONED, 4, "abandoned", "it was left by longjmp or an exception: its time is not known") \
	X(BEGIN_LOST, 8, "begin lost", "the record of its begin was lost") \
	X(NESTED, 16, "nested", "it is inside a call of its category")	\
	X(INNER_IOCTL, 32, "inner ioctl", "it is inside an ioctl that is seen from the same side") \
	X(SOFTIRQ, 64, "softirq", "it ran in a softirq (with hardirq: in an NMI)") \
	X(HARDIRQ, 128, "hardirq", "it ran in a hardware interrupt (with softirq: in an NMI)") \
	X(TRUNCATED, 256, "truncated", "its text was cut")
#define CT_RECORD_FLAG_ROW(id, value, word, text)	CT_RECORD_##id = value,
enum ct_record_flag { CT_RECORD_FLAGS(CT_RECORD_FLAG_ROW) };
#undef CT_RECORD_FLAG_ROW

/* Makes the tables, and fills those that only explain numbers.  0 or a negative errno. */
int ct_schema_create(struct ct_db *db);

/* CUPTI's number for a direction of a record (enum ct_direction). */
unsigned int ct_schema_copy_kind(uint64_t direction);

/* Makes the indices, when the tables are filled. */
int ct_schema_index(struct ct_db *db);

#endif
