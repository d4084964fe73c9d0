/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record --on and --capture-range iteration: looks at each call of a recording as it is written. */
#ifndef CT_CLI_WATCH_H
#define CT_CLI_WATCH_H

#include <pthread.h>
#include <stdbool.h>

#include "capture/flight.h"
#include "live/trouble.h"

struct ct_watch {
	struct ct_flight *flight;
	struct ct_trouble trouble;
	uint32_t pid, tid;		/* whose iterations are kept */
	pthread_t thread;
	bool running;
	volatile bool stop;
};

/* Begins in a thread of its own, if @f asks for it: it tells @f what happened. */
void ct_watch_start(struct ct_watch *w, struct ct_flight *f);
void ct_watch_end(struct ct_watch *w);

#endif
