/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tells when something happens that a flight recorder is to be copied for (struct ct_on), by the records
 * of calls: the same for record --keep, which reads a trace directory, and for the module's session.
 */
#ifndef CT_CLI_TROUBLE_H
#define CT_CLI_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/on.h"
#include "live/live_iterations.h"
#include "live/stuck.h"

struct ct_trouble {
	struct ct_on on;
	uint64_t from;			/* ns: what happened before is learnt from, and not told */
	/* Who else wants to know of iterations; NULL: nobody. */
	void (*iteration)(void *arg, const struct ct_live_iteration *i);
	void *arg;

	struct ct_live_iterations iterations;
	struct ct_stuck stuck;
	bool happened;
	char why[256];			/* what, once it did */
	uint64_t since;			/* ns: when it began */
};

void ct_trouble_begin(struct ct_trouble *t);

/* The next record of its thread.  0 or -ENOMEM. */
int ct_trouble_record(struct ct_trouble *t, const struct ct_registry *reg, const struct ct_record *r);

/* All records until @now (ns) were given: what should have come, and has not? */
void ct_trouble_now(struct ct_trouble *t, uint64_t now);

/* No record comes any more. */
void ct_trouble_end(struct ct_trouble *t);

#endif
