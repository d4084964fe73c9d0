/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON that may stand inside a <script> of a page, whatever the texts are. */
#ifndef CT_CLI_HTML_JSON_H
#define CT_CLI_HTML_JSON_H

#include "base/out.h"

/*
 * A string with its quotes.  Characters that mean something to HTML are escaped, and bytes
 * that are no UTF-8 become U+FFFD.
 */
void ct_html_string_json(struct ct_out *out, const char *text, size_t len);

/* @key (with its punctuation) and a value; a text that is NULL is null. */
void ct_html_text(struct ct_out *out, const char *key, const char *text);
void ct_html_u64(struct ct_out *out, const char *key, uint64_t value);
void ct_html_s64(struct ct_out *out, const char *key, int64_t value);
void ct_html_bool(struct ct_out *out, const char *key, bool value);

/* null where it is no number. */
void ct_html_double(struct ct_out *out, const char *key, double value);

/* A text inside HTML, outside a script. */
void ct_html_escape(struct ct_out *out, const char *text);

#endif
