/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace directory, opened for reading: its registry, its streams, the calls
 * that were in flight when their threads died, and the losses.  Reading changes
 * nothing in the directory; an unfinished trace is read as it is.
 */
#ifndef CT_CLI_READER_H
#define CT_CLI_READER_H

#include "base/error.h"
#include "trace/registry.h"
#include "trace/stream.h"

/* A call of an in-flight page that has no record. */
struct ct_inflight {
	uint64_t begin, op;
	uint32_t pid, tid;
	uint16_t class;
	uint8_t  level;
	int stream;		/* index of its thread's stream, -1: there is none */
	uint64_t raw;		/* begin by the clock of its source, if it has one */
	const struct ct_source *source;
};

/* A stream whose records are not in the trace. */
struct ct_unread {
	char name[64];
	bool lost;		/* its file is missing or empty; else it is there, and is none of ours */
	char why[176];		/* "is empty", "not a regular file ..." */
};

struct ct_point;

/* Which points passes over a trace get.  Each pass has a state of its own. */
struct ct_points_filter {
	void *(*begin)(const struct ct_points_filter *f, const struct ct_registry *reg);	/* NULL: no memory */
	/* 1: it counts; 0: it does not; -ENOMEM. */
	int (*passes)(void *state, const struct ct_point *p);
	void (*end)(void *state);
	uint64_t from, to;	/* ns: what counts began in this range; to 0: no end */
	uint32_t pid;		/* ... and is of this process; 0: of any */
	bool partial;		/* of what a process did then, only a part counts */
};

struct ct_summaries;

struct ct_trace {
	char *dir;
	struct ct_registry reg;
	struct ct_source *sources;	/* the traces that are read as one: several.h; NULL: it is one */
	unsigned int sources_count;
	struct ct_stream_file *streams;
	unsigned int streams_count;
	struct ct_inflight *inflight;
	unsigned int inflight_count;
	struct ct_unread *unread;
	unsigned int unread_count;
	uint64_t records;
	uint64_t end;		/* ns, the last packet's end; at least reg.start */
	uint64_t lost;		/* records, in total */
	uint64_t lost_here;	/* those that .lost-UID count, and no thread's packet */
	uint64_t lost_reported; /* how many of them CT_LOST_STREAM counts */
	uint64_t packets_lost;	/* overwritten before they were copied, cut short, or damaged */
	uint64_t packets_bad;	/* of them, those that are damaged and were left out */
	bool has_metadata;
	bool unfinished;	/* it is to be finished: capture/finish.h */
	bool has_kernel;	/* the module recorded: there are CPU streams */
	bool has_gpu;		/* there are records of what the GPU did */
	bool simulated;		/* info gpu simulated */
	const struct ct_points_filter *filter;	/* NULL: all points count */
	/* Told how many records a packet has that was read; NULL: nobody asks. */
	void (*progress)(void *arg, uint64_t records);
	void *progress_arg;
	/* It was made of summaries of traces and has no records: ranks/rank_summary.h.  NULL: it has them. */
	const struct ct_summaries *summaries;
	void (*summaries_free)(struct ct_trace *t);
};

/* Stands above every figure of such a trace. */
#define CT_SIMULATED_LABEL						\
	"*** SIMULATED GPU: these figures are of a simulated libcuda, not of a device ***"

/**
 * ct_trace_open() - open directory @dir
 *
 * Close with ct_trace_close(), also after an error.
 *
 * A packet that is damaged is left out: packets_bad counts them, and each stream says what is wrong
 * with its first one.  A file that cannot be read as a stream is left out, too: .unread names it.
 *
 * Return: 0 or a negative errno with a line in @err that names file, offset and
 * cure.
 */
int ct_trace_open(struct ct_trace *t, const char *dir, struct ct_error *err);
void ct_trace_close(struct ct_trace *t);

/**
 * ct_trace_share() - an open trace for another thread
 * @view: set to the same trace, with memory of its own for what a pass notes
 *
 * Passes over @t and @view may go on at the same time.  Free with ct_trace_unshare(), also after
 * an error, before @t is closed.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_trace_share(struct ct_trace *view, const struct ct_trace *t);
void ct_trace_unshare(struct ct_trace *view);

/* All records of a stream in the order of the file (that of their ends). */
struct ct_cursor {
	const struct ct_trace *trace;
	const struct ct_stream_file *stream;
	uint32_t packet, offset;
	struct ct_packet_view view;
	uint64_t given;		/* file offset up to which memory was given back */
};

void ct_cursor_init(struct ct_cursor *c, const struct ct_trace *t, unsigned int stream);

/* Return: 1: @r is set; 0: the end. */
int ct_cursor_next(struct ct_cursor *c, struct ct_record *r);

#endif
