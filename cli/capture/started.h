/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that came from a program that was started here with bounds (--keep), and may outlive it: a server that puts itself into
 * the background, a launcher's workers.  They have its environment, with a mark that nobody else knows (ct_launch_mark): the trace's
 * uuid, which everybody may read, would let any user keep a recording of root's going.
 */
#ifndef CT_CLI_STARTED_H
#define CT_CLI_STARTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ct_started {
	uint64_t look;		/* ns: when to look for them again */
	bool said;		/* that it goes on */
	unsigned int unsure;	/* looks at which it was not known */
};

/* Is it one of them?  False also where this user may not look at it. */
bool ct_started_is(pid_t pid);

/* The program has ended.  Does one of them run, and is the recording to go on?  Says so the first time. */
bool ct_started_goes_on(struct ct_started *s);

#endif
