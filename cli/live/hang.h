/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record --stuck: warns while a job runs when ranks wait for one that does not call a collective. */
#ifndef CT_CLI_HANG_H
#define CT_CLI_HANG_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "live/stuck.h"

struct ct_hang {
	const char *dir;
	uint64_t limit;			/* ns */
	struct ct_stuck stuck;
	unsigned int told;		/* warnings so far */
	pthread_t thread;
	bool running;
	sem_t end;			/* posted once: a program's end does not wait for the next look */
	volatile bool stop;
};

/*
 * Begins in a thread of its own, which reads nothing before the recording in @dir has calls of libnccl.  It prints
 * a line on stderr for each collective that waits longer than @limit ns, once.  0: never.
 */
void ct_hang_start(struct ct_hang *h, const char *dir, uint64_t limit);
void ct_hang_end(struct ct_hang *h);

#endif
