/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views: readable forms of the tables, the tables of nsys whose content they have, and
 * reports that SQL can compute.  A view takes no space and no time until it is asked.
 */
#ifndef CT_CLI_SQLITE_VIEWS_H
#define CT_CLI_SQLITE_VIEWS_H

#include "export/sqlite/records.h"

/* Makes the views on records and their fields; @s: what the pass found.  0 or a negative errno. */
int ct_views_create(struct ct_db *db, const struct ct_records *s);

/* Makes those of reports. */
int ct_report_views_create(struct ct_db *db, const struct ct_records *s, const struct ct_trace *t);

#endif
