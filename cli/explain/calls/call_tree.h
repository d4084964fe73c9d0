/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call through the layers: what happened inside it, on its thread and elsewhere, and
 * where its time went.
 */
#ifndef CT_CLI_CALL_TREE_H
#define CT_CLI_CALL_TREE_H

#include <stdio.h>

#include "base/error.h"
#include "explain/calls/call_request.h"
#include "trace/reader.h"

/**
 * ct_explain_calls() - print the trees of calls, or what ran at a moment
 *
 * Makes two passes over the trace.  Memory is bounded: of a call with very many calls inside,
 * the small ones are summed up by function.
 *
 * Return: 0, or a negative errno with a line in @err: -ENOENT there is no such call, or none
 * that the filter lets pass.
 */
int ct_explain_calls(const struct ct_trace *t, const struct ct_call_request *q, FILE *out,
		     struct ct_error *err);

#endif
