/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges and marks whose texts come again, digits apart. */
#ifndef CT_CLI_PHASES_RANGES_H
#define CT_CLI_PHASES_RANGES_H

#include "phases/process.h"

struct ct_repeat {
	bool found;
	enum ct_phase_record_kind kind;	/* CT_PHASE_PUSH or CT_PHASE_MARK */
	const struct ct_thread_events *slice;
	uint32_t text;		/* the hash of its text */
	uint32_t depth;		/* how many ranges are around it */
	uint32_t count;
	uint64_t launches;	/* of all threads, while it lasts */
};

/* Return: 0, with @r->found, or -ENOMEM. */
int ct_repeat_find(struct ct_repeat *r, const struct ct_phase_work *w);

/* Makes the process's iterations of @r, without their launches.  0 or -ENOMEM. */
int ct_repeat_cut(const struct ct_repeat *r, struct ct_phase_work *w);

#endif
