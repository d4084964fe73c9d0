/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page that an HTML report is written into. */
#ifndef CT_CLI_HTML_TEMPLATE_H
#define CT_CLI_HTML_TEMPLATE_H

#include <stddef.h>

#include "base/error.h"

/* The page between its marks: before the title, the manifest and the data, and after them. */
struct ct_html_template {
	struct { const char *text; size_t len; } parts[4];
};

/* 0; -ENOTSUP: this build has no page, with a line in @err. */
int ct_html_template(struct ct_html_template *t, struct ct_error *err);

#endif
