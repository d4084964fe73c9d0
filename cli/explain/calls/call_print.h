/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the trees of calls, as text or as tables. */
#ifndef CT_CLI_CALL_PRINT_H
#define CT_CLI_CALL_PRINT_H

#include <stdio.h>

#include "explain/calls/call_types.h"

/* @a: of ct_call_collect, which ended.  0 or a negative errno. */
int ct_call_print(const struct ct_analysis *a, const struct ct_call_request *q, FILE *out);

#endif
