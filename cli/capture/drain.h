/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stores the packets that threads have filled, so that they need not do it themselves:
 * struct ct_subbufs in cudatrace.h says how both agree.  For a trace that is made of
 * files alone.
 *
 * The threads may be another user's, and hostile: nothing of theirs is mapped, and only
 * their own streams are written, at their ends.
 */
#ifndef CT_CLI_DRAIN_H
#define CT_CLI_DRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "module/uapi/cudatrace.h"

struct ct_drain {
	int dirfd;
	int fd;				/* of the recorder's page; -1: threads store themselves */
	struct ct_recorder_page *page;	/* only for futex(): it may be cut short */
	struct ct_drained_thread *threads;
	unsigned int threads_count;
	uint32_t threads_seen;		/* began to fill slots when it looked for them */
	uint8_t *copy;
	pthread_t thread;
	bool running;
	volatile bool stop;
};

#define CT_DRAIN_INIT \
	{ \
		.dirfd = -1, .fd = -1 \
	}

/*
 * From here on programs that begin leave it to us.  Not done where we might run on their
 * CPU alone, nor where it can't be done, which costs time but no records.
 */
void ct_drain_open(struct ct_drain *s, int dirfd);

/* Begins to store, in a thread of its own. */
void ct_drain_start(struct ct_drain *s);

/* The programs have ended, or are left alone: stores what there is, and closes all. */
void ct_drain_close(struct ct_drain *s);

#endif
