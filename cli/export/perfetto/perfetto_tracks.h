/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks of a Perfetto trace: processes, threads, what is below them, counters. */
#ifndef CT_CLI_PERFETTO_TRACKS_H
#define CT_CLI_PERFETTO_TRACKS_H

#include "export/perfetto/packets.h"
#include "export/slices/slices.h"

struct ct_perfetto_uuid {
	uint64_t kind, id;		/* of tracks; which of them */
	uint64_t uuid;
};

struct ct_perfetto_tracks {
	const struct ct_trace *trace;
	struct ct_packets *packets;
	CT_KEYED(struct ct_perfetto_uuid) known;
	uint64_t uuids;			/* the last one; starts where no other file has its own */
	struct ct_proto track, part;
};

/* Each writes a packet where the track is new.  0, -ENOMEM or the error of write(). */
int ct_perfetto_process(struct ct_perfetto_tracks *t, uint32_t pid, const char *name, size_t len);
int ct_perfetto_track(struct ct_perfetto_tracks *t, struct ct_slice_track *track);	/* sets track->id */

/* Its uuid; 0: the packets' error, or no memory. */
uint64_t ct_perfetto_counter(struct ct_perfetto_tracks *t, enum ct_slice_counter which, uint32_t pid);

/* The same of what a GPU of the machine is like, below a track of the GPU's. */
uint64_t ct_perfetto_metric(struct ct_perfetto_tracks *t, enum ct_slice_metric which, uint32_t gpu);

/* What is known of the recording as a whole: command, driver, whether the GPU was simulated. */
int ct_perfetto_attributes(struct ct_perfetto_tracks *t);
void ct_perfetto_tracks_free(struct ct_perfetto_tracks *t);

#endif
