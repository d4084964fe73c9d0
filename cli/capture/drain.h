/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drain thread: it writes the packets that threads have filled to their streams, so
 * that the threads need not do it.  struct ct_subbufs in cudatrace.h has the protocol.
 * Only for a trace that is made without the module.
 *
 * The threads may be another user's, and hostile: none of their memory is mapped, and
 * only their own streams are written, at their ends.
 */
#ifndef CT_CLI_DRAIN_H
#define CT_CLI_DRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/keep.h"
#include "module/uapi/cudatrace.h"

struct ct_drain {
	int dirfd;
	int fd;				/* of the recorder's page; -1: threads write their packets themselves */
	struct ct_recorder_page *page;	/* only for futex(): it may be cut short */
	struct ct_drained_thread *threads;
	unsigned int threads_count;
	uint32_t threads_known;		/* ct_recorder_page.threads when it last looked for threads */
	uint8_t *copy;
	pthread_t thread;
	bool running;
	bool stop;			/* by another thread */
	uint64_t alive;			/* ns: when it said so last */
	bool away;			/* it did not for longer than processes that were attached to wait; for another thread */
	struct ct_keep *keep;		/* the directory is kept within its bounds; NULL: it has none */
};

#define CT_DRAIN_INIT \
	{ \
		.dirfd = -1, .fd = -1 \
	}

/*
 * From here on, programs that start leave writing to the drain thread.  Does nothing on a
 * machine with one CPU, nor where an error prevents it: that costs time, but no records.
 * @always: on such a machine, too: processes that were attached to leave by themselves when
 * the recorder has gone, which they see in its page
 */
void ct_drain_open(struct ct_drain *s, int dirfd, bool always);

/*
 * The directory is kept within bounds. Before a program begins, which may write nothing until it was said how much:
 * its first packet would be lost, with the name of the process.
 */
void ct_drain_keeps(struct ct_drain *s, struct ct_keep *keep);

/* Starts the drain thread. */
void ct_drain_start(struct ct_drain *s);

/* Ends the drain thread, after a last look for packets, and closes everything. */
void ct_drain_close(struct ct_drain *s);

#endif
