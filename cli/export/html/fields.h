/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The classes of an HTML report, with the arguments of their records as columns. */
#ifndef CT_CLI_HTML_FIELDS_H
#define CT_CLI_HTML_FIELDS_H

#include "export/html/columns.h"

/* Makes the columns and writes manifest.classes.  0 or a negative errno. */
int ct_html_fields(struct ct_html_columns *c, struct ct_out *out);

#endif
