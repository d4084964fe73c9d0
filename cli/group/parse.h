/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A grouping from a user's words. */
#ifndef CT_CLI_GROUP_PARSE_H
#define CT_CLI_GROUP_PARSE_H

#include "base/error.h"
#include "group/spec.h"

/**
 * ct_group_parse() - a grouping from a user's words
 * @by: keys with commas between them: "kernel,stream"
 * @of, @measure: NULL: what fits the first key; the duration
 *
 * Return: 0, or -EINVAL with a line in @err that has the words there are.
 */
int ct_group_parse(struct ct_group_spec *spec, const char *by, const char *of, const char *measure,
		   struct ct_error *err);

#endif
