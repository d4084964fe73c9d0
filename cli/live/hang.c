// SPDX-License-Identifier: LGPL-2.1-or-later
/* See hang.h.  Must never end a recording: what goes wrong here is only said. */
#include "live/hang.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "live/follow.h"
#include "ranks/collectives.h"

#define HANG_LOOK_S	1	/* between two looks, until there are calls of libnccl */
#define HANG_TOLD	64u	/* warnings, at most */

static int hang_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct ct_hang *h = arg;

	(void)reg;
	(void)old;
	return ct_stuck_record(&h->stuck, r);
}

static int hang_idle(void *arg, bool *more)
{
	struct ct_hang *h = arg;
	char text[256];
	uint64_t since;

	(void)more;
	while (h->told < HANG_TOLD && ct_stuck_next(&h->stuck, ct_now_ns(), h->limit, &since, text, sizeof(text)))
		h->told += fprintf(stderr, "cudatrace: STUCK: %s\n", text) > 0;
	return 0;
}

/* Are there calls of libnccl in the recording? */
static bool hang_there(const struct ct_hang *h)
{
	struct ct_registry reg = { 0 };
	bool there = !ct_registry_read(&reg, h->dir, NULL) && ct_collectives_there(&reg);

	ct_registry_free(&reg);
	return there;
}

static void *hang_run(void *arg)
{
	struct ct_hang *h = arg;
	const struct ct_follow_sink sink = { .arg = h, .record = hang_record, .idle = hang_idle };
	struct ct_error err = { 0 };
	struct timespec until;

	do {
		/* Who sets the date back does not stop the looking. */
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += HANG_LOOK_S;
		while (!h->stop && sem_clockwait(&h->end, CLOCK_MONOTONIC, &until) && errno == EINTR)
			;
	} while (!h->stop && !hang_there(h));
	if (!h->stop && ct_follow(h->dir, &sink, &h->stop, &err))
		ct_complain("--stuck: %s", err.text);
	return NULL;
}

void ct_hang_start(struct ct_hang *h, const char *dir, uint64_t limit)
{
	*h = (struct ct_hang){ .dir = dir, .limit = limit, .stuck = { .dir = dir } };
	h->running = limit && !sem_init(&h->end, 0, 0) && !ct_thread_start(&h->thread, hang_run, h);
}

void ct_hang_end(struct ct_hang *h)
{
	h->stop = true;
	if (h->running) {
		sem_post(&h->end);
		pthread_join(h->thread, NULL);
		sem_destroy(&h->end);
	}
	h->running = false;
	ct_stuck_free(&h->stuck);
}
