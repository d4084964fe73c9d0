/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of a trace below a directory, one a day: they have another name until all of them
 * are complete.
 */
#ifndef CT_CLI_PARQUET_DAYS_H
#define CT_CLI_PARQUET_DAYS_H

#include "base/error.h"
#include "export/parquet/parquet_file.h"
#include "trace/registry.h"

#define CT_DAY_NS	86400000000000ull
#define CT_DAYS_MAX	400	/* more than a year, or a clock that is wrong */

struct ct_day {
	uint32_t day;			/* days since 1970 */
	struct ct_parquet_file file;
	char *path, *partial;		/* when it is complete, and until then */
};

struct ct_days {
	const char *dir, *ending;
	char host[80], uuid[40];
	struct ct_day *list;
	unsigned int count;
};

/* Names of the files of a trace, which end with .@ending.  @dir is to be there when the first one is made. */
void ct_days_init(struct ct_days *d, const char *dir, const char *ending, const struct ct_registry *reg);

/* The file of a day, which is made if it is a new one; NULL with a line in @err. */
struct ct_day *ct_days_get(struct ct_days *d, uint32_t day, struct ct_error *err);

/*
 * All files are complete: gives them their names, and removes the trace's files of other days,
 * which an earlier export left.
 */
int ct_days_publish(struct ct_days *d, struct ct_error *err);

/* Removes what was not published. */
void ct_days_free(struct ct_days *d);

#endif
