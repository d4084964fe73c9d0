/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of the program that stacks of a trace have, as a table of their own: each line below its
 * caller, a row a line.  A record's column "stack" is the id of its innermost line.
 */
#ifndef CT_CLI_PARQUET_FRAMES_H
#define CT_CLI_PARQUET_FRAMES_H

#include "export/parquet/days.h"

/*
 * The folder of the directory in which they are, and how their files end: readers of records take what ends with
 * .parquet (DuckDB, ClickHouse), or what does not begin with _ (Spark, pandas).
 */
#define CT_FRAMES_FOLDER	"_frames"
#define CT_FRAMES_ENDING	"frames"

/*
 * Writes DIRECTORY/_frames/day=2026-11-23/host=NAME/UUID.frames, of the day on which the trace began; those of an
 * earlier export go.  Without stacks there is none.  0, -ENOMEM or the error of a system call.
 */
int ct_parquet_frames(const char *dir, const struct ct_registry *reg, struct ct_error *err);

#endif
