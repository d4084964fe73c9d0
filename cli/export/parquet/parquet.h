/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces as Parquet files below a directory, for DuckDB, ClickHouse, Spark: a row a record,
 * with the columns of export/columns.h and some that are the same in all rows of a trace.
 */
#ifndef CT_CLI_PARQUET_H
#define CT_CLI_PARQUET_H

#include "export/export.h"

/**
 * ct_parquet_export() - add a trace to a directory
 *
 * Writes DIRECTORY/day=2026-11-23/host=NAME/UUID.parquet, one for each day (UTC) of the trace.
 * Files of other traces stay.  Those of this trace are replaced, when all of the new ones are
 * complete.  Lines of its stacks are a table of their own: export/parquet/frames.h.
 *
 * Return: 0; -ENOMEM; -ENOTSUP: built without zstd; the error of a system call.
 */
int ct_parquet_export(const struct ct_export *x, struct ct_error *err);

#endif
