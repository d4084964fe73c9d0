/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks of an HTML report: one of each kind for each thread, and the CPUs' interrupts. */
#ifndef CT_CLI_HTML_TRACKS_H
#define CT_CLI_HTML_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "spans/tracks.h"

/* In the order in which a thread's tracks are drawn. */
enum ct_html_track_kind {
	CT_HTML_NVTX, CT_HTML_API, CT_HTML_IOCTL, CT_HTML_DRIVER, CT_HTML_SWITCH, CT_HTML_GPU,
	CT_HTML_INTERRUPT, CT_HTML_TRACK_KINDS,
};

extern const char *const ct_html_track_kind_word[CT_HTML_TRACK_KINDS];

/* A hostile trace may have any number of threads: records of further tracks are left out. */
#define CT_HTML_TRACKS_MAX	4096u

/* Bins of the zoom levels are 1 << CT_HTML_BIN(level) ns wide. */
#define CT_HTML_LEVELS		20u
#define CT_HTML_BIN(level)	(8 + 2 * (level))

struct ct_html_track {
	uint64_t key;			/* index in the pass, and kind */
	uint32_t pid, tid;
	int32_t cpu;			/* of interrupts, else CT_NO_CPU */
	unsigned int context;		/* CT_F_CONTEXT bits, of interrupts */
	uint32_t gpu, gpu_context;	/* of the GPU */
	uint64_t stream;		/* the same */
	enum ct_html_track_kind kind;
	unsigned int process, thread;	/* the order in which they appear */
	uint64_t count;			/* records of the trace */
	uint32_t depth;			/* rows */
	bool whole;			/* all its records are kept */
	/* How many bins of each level have a record, and the last of them. */
	uint64_t occupied[CT_HTML_LEVELS];
	int64_t bin;			/* of the finest level */
};

/* Of a process, or of a thread: its order. */
struct ct_html_order {
	uint64_t key;
	unsigned int order;		/* from 1 */
};

struct ct_html_tracks {
	CT_KEYED(struct ct_html_track);
	CT_KEYED(struct ct_html_order) order;
	unsigned int processes, threads;
	uint64_t left_out;		/* records of tracks beyond the maximum */
};

/* The kind of track that what @class says of @track is on. */
enum ct_html_track_kind ct_html_track_kind_of(const struct ct_class *class, const struct ct_track *track);

/*
 * The index of the track of @r, a record of @of, which is made with @make.  -1: there is none, -ENOMEM
 * is in @error.
 */
int ct_html_track(struct ct_html_tracks *t, const struct ct_track *of, const struct ct_record *r,
		  enum ct_html_track_kind kind, bool make, int *error);

/* Takes note of a record: for the sampling of zoom levels. */
void ct_html_track_count(struct ct_html_track *t, int64_t begin, uint32_t depth);

/* @order: indices in the order of drawing, of @t->count. */
void ct_html_tracks_sort(const struct ct_html_tracks *t, uint32_t *order);
void ct_html_tracks_free(struct ct_html_tracks *t);

#endif
