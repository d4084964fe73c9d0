/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collectives that some ranks of a job have called and others have not, while it runs.  Memory is bounded by
 * communicators and ranks: the communicator that was used longest ago makes room for a new one.
 */
#ifndef CT_CLI_STUCK_H
#define CT_CLI_STUCK_H

#include <stddef.h>

#include "base/keyed.h"
#include "live/stuck_before.h"
#include "trace/about/ranks.h"
#include "trace/record.h"

struct ct_stuck_communicator;

struct ct_stuck {
	CT_KEYED(struct ct_stuck_communicator) communicators;
	struct ct_stuck_before before;	/* communicators that were made before the recording */
	bool (*lives)(uint32_t pid);	/* of a process that has ended nothing waits; NULL: not asked */
	const char *dir;		/* of the recording, which says what launchers call the processes; NULL: not asked */
	int32_t (*rank)(uint32_t pid);	/* what a launcher calls it, where no recording says it; -1: nothing.  NULL: not asked */
	/* Internal: what launchers call the processes, as read when so many were known. */
	struct ct_registry reg;
	struct ct_ranks names;
	uint32_t known, read;
};

/* Takes note of a record; 0 or -ENOMEM. */
int ct_stuck_record(struct ct_stuck *s, const struct ct_record *r);

/**
 * ct_stuck_find() - the communicator @i that waits
 * @now: ns, of the records' clock
 * @limit: ns: younger collectives do not count
 * @buf: set to what is to be said: "AllReduce 44 of communicator 4576: rank 1 has not called it 52.5 s after rank 0"
 *
 * Return: false: there is none.  The last one is what is known of communicators that were made before: stuck_before.h.
 */
bool ct_stuck_find(struct ct_stuck *s, unsigned int i, uint64_t now, uint64_t limit, char *buf, size_t size);

/* One that was not given before: each collective once.  *since: ns, when its first rank called it. */
bool ct_stuck_next(struct ct_stuck *s, uint64_t now, uint64_t limit, uint64_t *since, char *buf, size_t size);
void ct_stuck_free(struct ct_stuck *s);

#endif
