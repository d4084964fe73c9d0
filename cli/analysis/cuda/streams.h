/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the streams of a process have open, as its calls show it.
 *
 * A call that returned put work on a stream.  The work is known to be done when
 *
 *  - a call has returned that waited for it: for its context, its stream, an event recorded behind
 *    it, or a copy to the host behind it; also one that only asked and was told that it is done;
 *  - a stream was waited for, and one of both is the legacy stream: it and the streams that are
 *    made without CU_STREAM_NON_BLOCKING wait for each other, so that what the other one was
 *    given before is done, too.
 *
 * A wait covers what was submitted before it began.  What is captured into a graph does not run.
 * Of a process that has several contexts it is not recorded which of them a call means.
 */
#ifndef CT_CLI_STREAMS_H
#define CT_CLI_STREAMS_H

#include "analysis/cuda/stream_calls.h"
#include "base/keyed.h"

#define CT_STREAM_UNKNOWN	UINT64_MAX	/* only a wait for the context covers its work */

/* A stream with work that may not be done. */
struct ct_stream_work {
	uint64_t stream;
	uint64_t ended, began;		/* ns: of the last call that put work on it */
	uint64_t launches, done;	/* the numbers of its last launch, and of the last one that is done */
	bool     captured;		/* all of it, into a graph */
};

/* An event that was recorded in a stream. */
struct ct_stream_event {
	uint64_t event, stream;
	uint64_t begin, end;		/* ns: of the call that recorded it */
	uint64_t launches;		/* the number of the stream's last launch before it; 0: not known */
};

/* Of a process. */
struct ct_streams {
	CT_KEYED(struct ct_stream_work) open;
	CT_KEYED(uint64_t) blocking;	/* those that wait for the legacy stream, and it for them */
	CT_KEYED(uint64_t) captures;	/* those that capture */
	CT_KEYED(struct ct_stream_event) events;
	uint64_t launches;		/* of kernels and graphs, so far */
	uint64_t launches_open;		/* of these, not known to be done */
	uint64_t context;		/* the one that is known */
	bool     contexts;		/* it has had several */
};

/* Did the call return, with success? */
static inline bool ct_stream_call_succeeded(const struct ct_trace_event *e)
{
	return e->record && !e->failed && !(e->record->flags & (CT_F_NO_RESULT | CT_F_ABANDONED)) && !e->record->result;
}

/* The call put work on @stream.  0 or -ENOMEM. */
int ct_streams_submitted(struct ct_streams *s, uint64_t stream, const struct ct_trace_event *e);

/**
 * ct_streams_returned() - a call has returned with success
 *
 * Return: 1: work may be done that was open; 0; or -ENOMEM.
 */
int ct_streams_returned(struct ct_streams *s, const struct ct_trace_event *e, enum ct_stream_call call);

/* The GPU ended the launch of this number, so all before it on its stream. */
void ct_streams_ended(struct ct_streams *s, uint64_t stream, uint64_t number);
void ct_streams_free(struct ct_streams *s);

#endif
