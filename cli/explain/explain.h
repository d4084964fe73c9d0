/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace explain: what limits a program, and what to try, most costly first. */
#ifndef CT_CLI_EXPLAIN_H
#define CT_CLI_EXPLAIN_H

#include "analysis/engine.h"

struct ct_explain_request {
	const struct ct_format *format;	/* NULL: text for people */
	struct ct_print_options print;
	struct ct_engine_options engine;
};

/* Prints the verdict and the findings.  0 or a negative errno with a line in @err. */
int ct_explain_print(const struct ct_trace *t, const struct ct_explain_request *request, FILE *out,
		     struct ct_error *err);

#endif
