/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Iterations while a program is being recorded: the pattern of launches and waits, as cli/phases/ finds it in a
 * trace, is looked for in what came until now; from then on each anchor begins an iteration.
 */
#ifndef CT_CLI_LIVE_ITERATIONS_H
#define CT_CLI_LIVE_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/record.h"
#include "trace/registry.h"

struct ct_live_iteration {
	uint32_t pid, tid;
	uint64_t number;	/* from 1 */
	uint64_t begin;		/* ns */
	uint64_t before;	/* ns: how long the one before took; 0: there is none */
	uint64_t median;	/* ns, of the last ones before that; 0: there are too few */
};

struct ct_live_iterations {
	/* An iteration has begun.  Those from before the pattern was known come then, in order. */
	void (*begun)(void *arg, const struct ct_live_iteration *i);
	void *arg;
	uint64_t start;			/* of the trace, ns */
	struct live_thread *threads;
	unsigned int count;
};

/* A record that was written, in the order of its stream. */
void ct_live_iterations_add(struct ct_live_iterations *w, const struct ct_registry *reg, const struct ct_record *r);
/* No record comes any more: what was found last counts. */
void ct_live_iterations_end(struct ct_live_iterations *w);
void ct_live_iterations_free(struct ct_live_iterations *w);

#endif
