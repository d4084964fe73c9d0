/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recordings of this machine that go to trace directories (record, --keep, --pid and the like): what they record
 * from a moment on, of each process, by its number on this machine.
 *
 * Directories are read one after the other, by who asks: so nobody waits for a lock, and what following costs is seen.
 */
#ifndef CT_CLI_ELSEWHERE_H
#define CT_CLI_ELSEWHERE_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/way.h"
#include "live/follow.h"

struct ct_elsewhere_dir;

struct ct_elsewhere {
	const struct ct_follow_sink *sink;
	struct ct_elsewhere_dir **dirs;
	unsigned int count, room;
	unsigned int look;		/* number of the last one */
};

/* @sink: used until the end; idle() is not called.  pid of records, and of left_out(), is that of this machine. */
void ct_elsewhere_begin(struct ct_elsewhere *e, const struct ct_follow_sink *sink);

/*
 * A look at all processes of this machine: for each one that is recorded into a directory ct_elsewhere_process().
 * It returns NULL, or why it can't be followed, in a few words.
 */
void ct_elsewhere_look_begin(struct ct_elsewhere *e);
const char *ct_elsewhere_process(struct ct_elsewhere *e, pid_t pid, const struct ct_way *w);
void ct_elsewhere_look_end(struct ct_elsewhere *e);

/* Gives what is new.  True: there may be more of it now. */
bool ct_elsewhere_read(struct ct_elsewhere *e);

void ct_elsewhere_end(struct ct_elsewhere *e);

#endif
