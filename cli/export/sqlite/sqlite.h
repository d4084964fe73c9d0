/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as an SQLite database: the tables that Nsight Systems' export has too, where the content
 * is the same, and all records with their fields, results of the reports and findings in tables
 * of our own.
 */
#ifndef CT_CLI_SQLITE_H
#define CT_CLI_SQLITE_H

#include "export/export.h"

/* Fills the empty file @x->path.  0, or a negative errno with a line in @err; then the file is empty. */
int ct_sqlite_export(const struct ct_export *x, struct ct_error *err);

#endif
