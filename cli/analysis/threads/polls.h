/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that ask again and again whether the GPU is done (cuEventQuery, cuStreamQuery), instead of waiting for it.
 *
 * While the answer is that it is not, the GPU has work, whatever the thread does until it asks: it computes, sleeps or
 * only asks.  So the time before such a question costs nothing.
 */
#ifndef CT_CLI_POLLS_H
#define CT_CLI_POLLS_H

#include "analysis/engine.h"
#include "base/keyed.h"

/* A thread, in the stages in which its process works. */
struct ct_polls_thread {
	uint64_t key;			/* internal */
	uint64_t app;			/* ns between its calls, before a call that said that the GPU is not done */
	uint64_t calls;			/* ns in calls that said that the GPU is not done */
	uint64_t count;			/* of them */
	uint64_t waits;			/* so many times it did not go on for them: it gave the GPU work before and behind */
};

struct ct_polls {
	CT_KEYED(struct ct_polls_thread) threads;
	struct ct_polls_track *tracks;	/* internal, by the tracks' index */
	unsigned int room;
};

/* An event of the trace, each end and instant in their order.  0 or -ENOMEM. */
int ct_polls_note(struct ct_polls *polls, const struct ct_phases *phases, const struct ct_trace_event *e);
void ct_polls_free(struct ct_polls *polls);

/* What thread @tid of the process with this index did; NULL: it never asked in vain. */
const struct ct_polls_thread *ct_polls_of(const struct ct_polls *polls, unsigned int process, uint32_t tid);

#endif
