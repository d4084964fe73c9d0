/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each thread was in at a moment, what it did last before and next after. */
#ifndef CT_CLI_CALL_AT_H
#define CT_CLI_CALL_AT_H

#include <stdio.h>

#include "base/error.h"
#include "explain/calls/call_request.h"
#include "trace/reader.h"

/* As ct_explain_calls() with CT_CALL_AT. */
int ct_call_at(const struct ct_trace *t, const struct ct_call_request *q, FILE *out,
	       struct ct_error *err);

#endif
