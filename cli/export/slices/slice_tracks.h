/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracks of a trace: rows of a timeline, each with slices that nest.
 *
 * A thread has a track for what it calls, one below it for what the driver does for it (its
 * ioctls, and with the module the kernel's functions), and one above for its own ranges.
 * Interrupts have a track for each CPU, the GPU's work one for each stream of a
 * context of a process.  What
 * overlaps and does not nest goes to a further track of the same kind.
 */
#ifndef CT_CLI_SLICE_TRACKS_H
#define CT_CLI_SLICE_TRACKS_H

#include "spans/tracks.h"

enum ct_slice_track_kind {
	CT_SLICE_TRACK_RANGES, CT_SLICE_TRACK_CALLS, CT_SLICE_TRACK_DRIVER, CT_SLICE_TRACK_GPU, CT_SLICE_TRACK_INTERRUPTS,
	CT_SLICE_TRACK_OTHERS,		/* one track for threads beyond CT_SLICE_TRACKS_MAX */
};

/* No program has as many, but anyone may have written the trace. */
#define CT_SLICE_TRACKS_MAX	65536u
#define CT_SLICE_TRACKS_ALIKE	64u		/* of one kind and thread, for what overlaps */

/* A slice that is open on a track. */
struct ct_open_slice {
	uint64_t op_id;			/* 0: a range */
	uint64_t begin, end;		/* ns; end: UINT64_MAX where it is not known yet */
	bool     ioctl;
	const struct ct_class *class;
};

/* An arrow that starts from an open slice. */
struct ct_slice_arrow {
	uint64_t op_id;			/* the slice's */
	uint64_t to;			/* that of the slice at its other end */
};

#define CT_SLICE_TRACK_ARROWS	4096u		/* from open slices of a track; further ones are left out */

struct ct_slice_track {
	enum ct_slice_track_kind kind;
	uint32_t index;			/* 0, 1, 2 ... in the order of their first slices */
	uint32_t number;		/* 0; 1, 2 ... where slices overlap */
	uint32_t pid, tid;		/* of interrupts: 0 and the CPU */
	uint64_t stream;		/* of the GPU's */
	uint32_t gpu, context;		/* the same */
	char     name[64];
	struct ct_open_slice *slices;	/* open ones, the outermost first */
	uint32_t depth, capacity;
	uint32_t ioctls;		/* of them, how many are ioctls */
	struct ct_slice_arrow *arrows;	/* those of the innermost slice last */
	uint32_t arrows_count, arrows_capacity;
	uint64_t id;			/* the format's own */
	struct ct_slice_track *next;		/* of the same kind and thread */
};

struct ct_slice_track_of {
	uint64_t key;			/* kind, and index of the track or CPU */
	struct ct_slice_track *track;		/* the first of its kind and thread */
};

struct ct_slice_tracks {
	CT_KEYED(struct ct_slice_track_of) by_key;
	struct ct_slice_track **list;
	uint32_t count, capacity;
};

/* The kind of track that what @class says of @track is on. */
enum ct_slice_track_kind ct_slice_track_kind_of(const struct ct_class *class, const struct ct_track *track);

/* The first track of a kind for a thread, a CPU or a stream; NULL: there is none yet. */
struct ct_slice_track *ct_slice_tracks_get(const struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					   const struct ct_track *track);

/* The same with an open slice of this op_id, which may be further inside; NULL: there is none. */
struct ct_slice_track *ct_slice_tracks_find(const struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					    const struct ct_track *track, uint64_t op_id);

/* The same as ct_slice_tracks_get(), made for the record @r if there is none; NULL: no memory. */
struct ct_slice_track *ct_slice_tracks_make(struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					    const struct ct_track *track, const struct ct_record *r);

/* One more beside @track, the last of its kind and thread; NULL: no memory. */
struct ct_slice_track *ct_slice_tracks_beside(struct ct_slice_tracks *tracks, struct ct_slice_track *track);

/* Opens a slice; 0 or -ENOMEM. */
int ct_slice_track_push(struct ct_slice_track *track, const struct ct_open_slice *slice);

/* Closes the innermost slice, which stays readable until the next push. */
const struct ct_open_slice *ct_slice_track_pop(struct ct_slice_track *track);

/* An arrow starts from the innermost slice; 0, 1: it is left out, or -ENOMEM. */
int ct_slice_track_arrow(struct ct_slice_track *track, uint64_t to);

/* How many arrows started from the slice that was popped; they are the last ones, and are gone. */
uint32_t ct_slice_track_drop_arrows(struct ct_slice_track *track, uint64_t op_id);

void ct_slice_tracks_free(struct ct_slice_tracks *tracks);

#endif
