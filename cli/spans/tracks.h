/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks of a trace (threads and CPUs' interrupts) with their open calls. */
#ifndef CT_CLI_TRACKS_H
#define CT_CLI_TRACKS_H

#include "base/keyed.h"
#include "trace/merge.h"

/*
 * No program has as many threads, or calls inside each other, but anyone may have written the
 * trace: threads beyond share one track without a number, and calls beyond are not kept.
 */
#define CT_TRACKS_MAX		65536u
#define CT_TRACK_DEPTH_MAX	1024u
#define CT_TRACKS_RECENT	16u	/* a power of two */

/* An open call of a track. */
struct ct_frame {
	uint64_t op_id, begin;
	uint64_t inner;			/* ns in calls inside it, as far as they ended */
	const struct ct_class *class;
	uint32_t stack;			/* as in struct ct_span */
	uint8_t  category;		/* that it counts for */
	bool     ioctl;			/* of the driver, as the kernel or the program sees it */
};

/* A range that was pushed and not popped; its text stays mapped. */
struct ct_open_range {
	uint64_t begin;			/* ns */
	uint64_t number, parent;	/* as in struct ct_span */
	const uint8_t *fields;
	const struct ct_class *class;
	uint32_t pid, tid;
	int32_t  cpu;
	uint16_t text_len;
	uint8_t  flags;			/* of the record */
};

/* What runs one after the other: a thread, or a CPU's interrupts (tid 0). */
struct ct_track {
	unsigned int index;		/* 0, 1, 2 ... in the order in which tracks appear */
	uint32_t pid, tid;
	struct ct_frame *frames;	/* its open calls, the outermost first */
	uint32_t depth, capacity;
	uint16_t nested[CT_CAT_COUNT];	/* how many of them are in each category */
	uint16_t ioctls[2];		/* and are ioctls: the program's, the kernel's */
	uint64_t key;
	struct ct_open_range *ranges;	/* its open ranges, the outermost first */
	uint32_t ranges_depth, ranges_room;
	uint64_t ranges_deeper;		/* open ranges inside them that are not kept */
};

struct ct_track_of {
	uint64_t key;			/* ct_track_key() */
	struct ct_track *track;
};

struct ct_tracks {
	CT_KEYED(struct ct_track_of);	/* in the order in which they appear */
	struct ct_track *recent[CT_TRACKS_RECENT];	/* looked up lately, by the key */
	CT_KEYED(uint64_t) pids;
	unsigned int threads;
	bool left_out;			/* there are more threads than CT_TRACKS_MAX */
};

/* The track of a record, made if it is new; NULL: no memory. */
struct ct_track *ct_tracks_of(struct ct_tracks *tracks, const struct ct_record *r);

/* Opens a call; one that is too deep is not kept.  0 or -ENOMEM. */
int ct_track_push(struct ct_track *track, const struct ct_frame *frame);

/* Closes the innermost open call; the frame stays readable until the next push. */
struct ct_frame *ct_track_pop(struct ct_track *track);

/* The outermost call of the program that its thread is in; NULL: it is in none. */
const struct ct_frame *ct_track_call(const struct ct_track *track);
void ct_tracks_free(struct ct_tracks *tracks);

#endif
