/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open calls of a tree's thread, and which of them the time goes to. */
#ifndef CT_CLI_CALL_TIME_H
#define CT_CLI_CALL_TIME_H

#include "explain/calls/call_types.h"

/* The time until @now goes to the innermost thing that is open; there is one. */
void ct_calltime_charge(struct ct_call_tree *t, uint64_t now);

/* A call begins, with the node @node or CT_NODE_NONE.  0 or -ENOMEM. */
int ct_calltime_push(struct ct_call_tree *t, const struct ct_trace_event *e, uint32_t node);

/*
 * The innermost call is over, by the event @e.  @lost: that is another call's end, its own is
 * not in the trace.  0 or -ENOMEM.
 */
int ct_calltime_pop(struct ct_call_tree *t, const struct ct_trace_event *e, bool lost);

/* A call of which only the end is known claims its time from the one that it was in. */
void ct_calltime_claim(struct ct_call_tree *t, const struct ct_trace_event *e, uint32_t node);

#endif
