/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options that say which calls of a program the library records, and how: the same in record and in session attach.
 *
 *	static const struct argp_child children[] = { { &ct_which_calls_argp, 0, NULL, 0 }, { 0 } };
 *
 * In the parser of the command: case ARGP_KEY_INIT: state->child_inputs[0] = &env->calls.
 *
 * The library is told by this process's environment: what is started here has it, and what is attached to is given it.
 */
#ifndef CT_CLI_WHICH_CALLS_H
#define CT_CLI_WHICH_CALLS_H

#include <argp.h>

#include "capture/capture_range.h"
#include "capture/chosen.h"

struct ct_which_calls {
	struct ct_chosen chosen;	/* --functions, --types, --no-queries, --runtime */
	struct ct_capture_range range;	/* --capture-range */
	bool time_queries;		/* --time-queries */
	const char *given;		/* one of these options that was given, as "--types"; NULL: none was */
};

extern const struct argp ct_which_calls_argp;

#endif
