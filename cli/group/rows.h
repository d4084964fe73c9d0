/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of a grouping. */
#ifndef CT_CLI_GROUP_ROWS_H
#define CT_CLI_GROUP_ROWS_H

#include "group/group.h"

/* The title of the table and its columns, *@count of them, which live as long as @g. */
const struct ct_column *ct_group_columns(struct ct_grouping *g, unsigned int *count);
void ct_group_title(const struct ct_grouping *g, char *buf, size_t size);

/* Fills a table of these columns, and adds notes on what was left out.  0 or -ENOMEM. */
int ct_group_rows(struct ct_grouping *g, struct ct_table *t);

#endif
