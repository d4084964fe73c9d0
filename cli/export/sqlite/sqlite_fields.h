/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of records: a table for each layout, with a column for each field.  Layouts of
 * the ABI have tables of their names (CUDATRACE_FIELDS_LAUNCH), others are numbered.
 */
#ifndef CT_CLI_SQLITE_FIELDS_H
#define CT_CLI_SQLITE_FIELDS_H

#include "export/sqlite/results.h"
#include "export/sqlite/sqlite_strings.h"

/* Anyone may have written the trace: layouts beyond are JSON in CUDATRACE_FIELDS_OTHER. */
#define CT_FIELDS_TABLES	48

struct ct_fields_table {
	char name[64];
	const struct ct_class *class;	/* one of those that have the layout */
	bool ioctl;			/* it has the names of the commands, too */
	char columns[CT_FIELDS_MAX][CT_FIELD_LEN + 4];
	struct ct_insert insert;
};

struct ct_fields {
	struct ct_db *db;
	struct ct_strings *strings;
	struct ct_results *results;
	struct ct_fields_table *tables[CT_FIELDS_TABLES];
	unsigned int count;
	struct ct_class *own[3];	/* of the layouts whose tables are always there */
	struct ct_insert other;
	struct ct_insert kernels;	/* of CUDATRACE_KERNELS */
	CT_KEYED(uint64_t) kernels_known;	/* ids of strings */
};

/* Makes the tables of the layouts that reports need.  0 or a negative errno; end in any case. */
int ct_fields_begin(struct ct_fields *f, struct ct_db *db, struct ct_strings *strings,
		    struct ct_results *results);

/* The table of a class, made if it is new; NULL: it has no fields, or goes to the others.  *@rc: the error. */
struct ct_fields_table *ct_fields_of(struct ct_fields *f, const struct ct_class *class, int *rc);

/* Adds the fields of a record; @t NULL: as JSON.  0 or a negative errno. */
int ct_fields_add(struct ct_fields *f, struct ct_fields_table *t, struct ct_names *names,
		  const struct ct_record *r, int64_t id);
int ct_fields_end(struct ct_fields *f);

/* The index of the column of the field of this name, or -1. */
int ct_fields_column(const struct ct_fields_table *t, const char *name);

#endif
