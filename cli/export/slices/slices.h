/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as a timeline: slices on tracks, arrows between them, counters.  For every format that
 * a timeline's viewer opens.
 *
 * Every slice that begins ends, on the same track, and slices of a track nest:
 *
 *  - a call whose end was lost, or that never returned, ends where its thread is seen outside it,
 *    at the latest with the trace; that end is marked;
 *  - a call whose begin was lost is given when its end comes, with both times;
 *  - a range (range_push, range_pop) is a slice that bears its text, and what the GPU did bears
 *    the kernel's short name.  A pop without a push is an instant.
 *
 * The tracer's own records are left out, but for names of processes.
 */
#ifndef CT_CLI_SLICES_H
#define CT_CLI_SLICES_H

#include "export/slices/counters.h"
#include "export/slices/slice_metrics.h"
#include "export/slices/slice_tracks.h"
#include "trace/names.h"

struct ct_slice {
	struct ct_slice_track *track;
	const struct ct_class *class;
	const char *name;		/* not ended by a NUL */
	size_t name_len;
	uint64_t ts;			/* ns: now; of a slice whose begin was lost: its end */
	/*
	 * When the slice began, ns.  The record of a call that was recorded at entry may count its
	 * duration from a little later on: that is measured, and for formats to say.
	 */
	uint64_t begin;
	uint64_t measured;		/* ns: of an end whose record says another duration; else 0 */
	/*
	 * What was recorded.  Of the begin of a call whose record is its whole (known) all of it;
	 * else what was known then.  NULL: an end that was not recorded.
	 */
	const struct ct_point *point;
	bool     known;			/* a begin: it will last until point->record.end */
	bool     unfinished;		/* a begin or end: it never returned, or its end was lost */
	bool     at_end;		/* an end that is the trace's */
	uint64_t op_id;			/* 0: not a call */
	/* Arrows from calls to what the GPU did for them, by the call's op_id; 0: none. */
	uint64_t flow_out, flow_in;
	/* A begin: the track from whose innermost slice an arrow comes. */
	const struct ct_slice_track *from;
	/* An end: arrows that started here, with the op_ids of the slices to which they go. */
	const struct ct_slice_arrow *arrows;
	uint32_t arrows_count;
};

/* What a format does.  Each returns 0 or a negative errno, which ends the pass. */
struct ct_slices_sink {
	/* Before all others.  @gpu: there may be arrows to the GPU. */
	int (*start)(void *arg, struct ct_names *names, bool gpu);
	/* A process has a name.  Maybe several times; those without come last, with @len 0. */
	int (*process)(void *arg, uint32_t pid, const char *name, size_t len);
	int (*track)(void *arg, struct ct_slice_track *track);	/* before its first slice */
	int (*begin)(void *arg, const struct ct_slice *s);
	int (*end)(void *arg, const struct ct_slice *s);
	int (*whole)(void *arg, const struct ct_slice *s);	/* its begin was lost */
	int (*instant)(void *arg, const struct ct_slice *s);
	int (*sample)(void *arg, const struct ct_slice *s);	/* of a thread, without a track; may be NULL */
	int (*counter)(void *arg, enum ct_slice_counter which, uint32_t pid, uint64_t ts,
		       uint64_t value);
	int (*metric)(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value);
};

/**
 * ct_slices() - one pass over a trace
 *
 * Memory is bounded by what is open at a moment.
 *
 * Return: 0; -ENOMEM; what a function of @sink returned.
 */
int ct_slices(const struct ct_trace *t, const struct ct_slices_sink *sink, void *arg);

#endif
