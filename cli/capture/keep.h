/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record --keep: a trace directory that holds the newest records only.
 *
 * Threads append to their streams as ever.  The recorder drops the oldest packets of all
 * streams: it clears a packet's magic, then gives the file's blocks back (a hole at the front
 * of the file).  The registry, the state stream and the streams of states and clocks of the GPU
 * stay whole.  Finishing the trace moves what is kept to the front of each file.
 *
 * The directory never holds more than it was given, also where the recorder is late or killed:
 * threads that write by themselves may only use what the recorder's page allows
 * (struct ct_recorder_page).
 */
#ifndef CT_CLI_KEEP_H
#define CT_CLI_KEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "write/state.h"

#define CT_KEEP_LEAST	(16ull << 20)	/* bytes */

/* What is asked for; 0: no such bound. */
struct ct_keep_asked {
	uint64_t ns, bytes;
};

struct ct_keep {
	struct ct_keep_asked asked;	/* bytes is never 0 once it is open */
	const volatile uint64_t *since;	/* ns: what ended before is dropped, too; NULL: nothing more */
	int dirfd;
	struct ct_state *state;
	struct ct_keep_stream *streams;
	unsigned int count;
	uint64_t total;			/* bytes in the directory at the last look */
	uint64_t written;		/* by threads, as the page said before that look */
	uint64_t own;			/* bytes that the recorder wrote since */
	uint64_t due;			/* ns: the next look at the latest */
	uint64_t stream_long;		/* bytes of a stream that gets no more */
	bool full;			/* what can't be dropped needs all of it; it was said */
};

/* "60s", "10min", "2G", "60s,2G".  0 or -EINVAL. */
int ct_keep_parse(const char *text, struct ct_keep_asked *asked);

/**
 * ct_keep_open() - begin to keep @dirfd within bounds
 * @state: of the recording; it gets what is dropped and still needed
 *
 * Where no bytes are given, half of what is free on the file system.
 *
 * Return: 0; -EOPNOTSUPP: the file system can't give back the front of a file; -ENOSPC.
 */
int ct_keep_open(struct ct_keep *k, const struct ct_keep_asked *asked, int dirfd, struct ct_state *state,
		 struct ct_error *err);
void ct_keep_close(struct ct_keep *k);

/*
 * Is it time for ct_keep_trim()?  @written: as the recorder's page says; @next: bytes that the
 * recorder is about to write.
 */
bool ct_keep_is_due(const struct ct_keep *k, uint64_t written, uint64_t next);

/*
 * Drops what is too old or too much.  Return: how far "written" of the recorder's page may go
 * from now on.
 */
uint64_t ct_keep_trim(struct ct_keep *k, uint64_t written);

/* May the recorder write @bytes?  Counts them. */
bool ct_keep_takes(struct ct_keep *k, uint64_t bytes);

/* Moves what is kept to the front of the files of a trace that nobody writes any more. */
int ct_keep_compact(const char *dir, struct ct_error *err);

#endif
