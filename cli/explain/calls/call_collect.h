/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collects what happened inside calls, once it is known which ones are meant (call_find.h).
 */
#ifndef CT_CLI_CALL_COLLECT_H
#define CT_CLI_CALL_COLLECT_H

#include "explain/calls/call_types.h"

/* Its state is a struct ct_call_trees.  ct_engine_options.arg: the struct ct_call_found. */
extern const struct ct_analyser ct_call_collect;

#endif
