/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that used libcuda and whose calls are not in the trace.
 */
#ifndef CT_CLI_UNSEEN_PROCESSES_H
#define CT_CLI_UNSEEN_PROCESSES_H

#include <stdbool.h>

#include "analysis/calls.h"

#define CT_INJECTED_INFO	"injected"	/* the recorder's: it had --inject */

/*
 * The recorder's info lines of one: "PID NAME".  Without our library, or with it, but no call
 * came through it.
 */
#define CT_UNSEEN_INFO		"unseen"
#define CT_UNSEEN_ELSEWHERE	"elsewhere"	/* in a root without the trace's directory or ours */
#define CT_UNSEEN_READ_ONLY	"unseen_read_only"	/* that directory may not be written there */
#define CT_UNSEEN_IDLE		"unseen_idle"	/* no sign of a call: the driver is not open */
#define CT_UNSEEN_LOADED_INFO	"unseen_loaded"
#define CT_UNSEEN_NAMESPACE	"unseen_namespace"	/* likewise; it has several link namespaces */

/* The library's, of calls that it knows that it does not see: "slots", "namespace". */
#define CT_UNSEEN_SOME_INFO	"unseen_some"

/* Why a trace has no call at all, as far as that is known. */
const char *ct_unseen_nothing(const struct ct_trace *t);

/* Was a range to be recorded that never began (record --capture-range)? */
bool ct_unseen_range(const struct ct_trace *t);

/* A line for each, and one with what to do.  Prints nothing if there are none. */
void ct_unseen_print(const struct ct_trace *t, const struct ct_calls *calls, FILE *out);

#endif
