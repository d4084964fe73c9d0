/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as one flat table in CSV (RFC 4180, with line ends of Unix): a row a record. */
#ifndef CT_CLI_CSV_H
#define CT_CLI_CSV_H

#include "export/export.h"

/**
 * ct_csv_export() - write the whole trace
 *
 * The first line has the names of the columns (export/columns.h).  An empty field is not known,
 * or does not apply; bools are 1 and 0; time is UTC.  It is valid UTF-8.
 *
 * Return: 0; -ENOMEM; the error of write().
 */
int ct_csv_export(const struct ct_export *x, struct ct_error *err);

#endif
