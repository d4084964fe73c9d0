/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as one HTML file: a page with its data in it.  data.md describes the data. */
#ifndef CT_CLI_HTML_H
#define CT_CLI_HTML_H

#include "export/export.h"

/**
 * ct_html_export() - write the report
 *
 * Return: 0; -ENOMEM; -ENOTSUP: this build lacks the page or zlib, with a line in @err; the error
 * of write().
 */
int ct_html_export(const struct ct_export *x, struct ct_error *err);

#endif
