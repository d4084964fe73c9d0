/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments of a call as a JSON object, for every format that is JSON. */
#ifndef CT_CLI_JSON_DETAILS_H
#define CT_CLI_JSON_DETAILS_H

#include "base/out.h"
#include "trace/names.h"

/* All fields of @r, or with @begin those that are known when the call begins. */
void ct_json_details(struct ct_out *out, struct ct_names *names, const struct ct_record *r,
		     bool begin);

/* A string: @word, or @value in hexadecimal where it has no name (@word is NULL). */
void ct_json_word_or_hex(struct ct_out *out, const char *word, uint64_t value);

#endif
