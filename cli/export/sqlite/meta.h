/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of the trace as a whole: the machine, the command, when it began. */
#ifndef CT_CLI_SQLITE_META_H
#define CT_CLI_SQLITE_META_H

#include "export/sqlite/db.h"
#include "trace/reader.h"

/* Fills CUDATRACE_META, META_DATA_EXPORT and the TARGET_INFO_ tables.  0 or a negative errno. */
int ct_meta_write(struct ct_db *db, const struct ct_trace *t);

#endif
