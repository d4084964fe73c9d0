/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranks that wait in a call, of a job whose communicators were made before the recording.
 *
 * Nothing in a call says which ranks such a communicator has, nor which number the call has.  So what is told is which rank is in which
 * call for how long since which collective; and who has not called what they wait for only where the ranks are just as many as
 * the communicator has, the times of their last calls agree on which belong together, and so do the calls that they are in.
 */
#ifndef CT_CLI_STUCK_BEFORE_H
#define CT_CLI_STUCK_BEFORE_H

#include <stddef.h>

#include "base/keyed.h"
#include "trace/record.h"

struct ct_stuck_process;
struct ct_stuck_member;

struct ct_stuck_before {
	CT_KEYED(struct ct_stuck_process) processes;
	CT_KEYED(struct ct_stuck_member) members;
	uint64_t calls;		/* so far */
	uint64_t told;		/* so many there were at the last ct_stuck_before_told() */
	uint64_t looked, looked_calls;	/* ns: the last look, and the calls then */
	uint64_t pause;			/* ns: until the next one */
	bool     found;			/* what it found, and when that began */
	uint64_t since;
	char     text[256];
};

/* Takes note of a collective, a send or a receive of a communicator that was made before; 0 or -ENOMEM. */
int ct_stuck_before_record(struct ct_stuck_before *b, const struct ct_record *r);

/**
 * ct_stuck_before_find() - what ranks wait for
 * @dir: of the recording
 * @lives, @rank: as struct ct_stuck has them
 * @now: ns, of the records' clock
 * @limit: ns: who is in a call for less does not count
 *
 * Return: what is to be said, valid until the next call; NULL: nothing.
 */
const char *ct_stuck_before_find(struct ct_stuck_before *b, const char *dir, bool (*lives)(uint32_t pid), int32_t (*rank)(uint32_t pid),
				 uint64_t now, uint64_t limit);

/* Was that told before?  Then no collective was called since.  From now on it was. */
bool ct_stuck_before_told(struct ct_stuck_before *b);
void ct_stuck_before_free(struct ct_stuck_before *b);

#endif
