/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views: readable forms of the tables, the tables of nsys whose content they have, and the two
 * reports that list every record.  A view takes no space and no time until it is asked.
 */
#ifndef CT_CLI_SQLITE_VIEWS_H
#define CT_CLI_SQLITE_VIEWS_H

#include "export/sqlite/sqlite_records.h"

/* Makes the views; @s: what the pass over the records found.  0 or a negative errno. */
int ct_views_create(struct ct_db *db, const struct ct_records *s);

#endif
