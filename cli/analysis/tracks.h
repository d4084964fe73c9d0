/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks of a trace (threads and CPUs' interrupts) with their open calls. */
#ifndef CT_CLI_TRACKS_H
#define CT_CLI_TRACKS_H

#include "analysis/engine.h"
#include "base/hash.h"

struct ct_tracks {
	struct ct_hash by_key;		/* a: index + 1 into list */
	struct ct_track **list;
	unsigned int count, capacity;
	struct ct_track *last;		/* what was looked up last */
	struct ct_hash pids;
	unsigned int processes, threads;
};

/* The track of a record, made if it is new; NULL: no memory. */
struct ct_track *ct_tracks_of(struct ct_tracks *tracks, const struct ct_record *r);

/* Opens a call.  0 or -ENOMEM. */
int ct_track_push(struct ct_track *track, const struct ct_frame *frame);

/* Closes the innermost open call; the frame stays readable until the next push. */
struct ct_frame *ct_track_pop(struct ct_track *track);
void ct_tracks_free(struct ct_tracks *tracks);

#endif
