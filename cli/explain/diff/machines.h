/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where two traces were made: what differs of machine, versions and environment. */
#ifndef CT_CLI_DIFF_MACHINES_H
#define CT_CLI_DIFF_MACHINES_H

#include "table/table.h"
#include "trace/registry.h"

/* Makes a table, which the caller frees, with a row for each difference.  0 or a negative errno. */
int ct_diff_machines(struct ct_table *t, const struct ct_registry *a, const struct ct_registry *b);

#endif
