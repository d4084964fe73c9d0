/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record --functions, --types, --no-queries: which calls are recorded.  The preload library leaves out the others. */
#ifndef CT_CLI_CHOSEN_H
#define CT_CLI_CHOSEN_H

#include <stdbool.h>

#include "base/error.h"
#include "write/write_registry.h"

struct ct_chosen {
	const char *functions;		/* patterns with commas between them; NULL: all */
	const char *types;		/* categories; NULL: all */
	bool no_queries;
	bool runtime;			/* functions of libcudart are recorded, too */
};

#define CT_CHOSEN_TYPES	"init, context, module, memory, transfer, kernel, sync, stream, event, graph, query, collective, runtime, userspace"

/*
 * Tells the library by its environment, CUDATRACE_ONLY, that of this process.
 *
 * Return: 0; 1: there is more to say, in @err; a negative errno: it can't be recorded so, and @err says why.
 */
int ct_chosen_set(const struct ct_chosen *c, struct ct_error *err);

/* What the trace says of it, if it is not all. */
void ct_chosen_info(const struct ct_chosen *c, struct ct_registry_writer *w);

#endif
