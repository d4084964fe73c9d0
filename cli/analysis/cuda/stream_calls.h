/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a call of libcuda does to a stream: puts work on it, waits for it, makes it. */
#ifndef CT_CLI_STREAM_CALLS_H
#define CT_CLI_STREAM_CALLS_H

#include "analysis/engine.h"

enum ct_stream_call {
	CT_STREAM_NONE,
	CT_STREAM_SUBMIT,
	/* Waits, or asks and learns that there is nothing to wait for. */
	CT_STREAM_CTX_SYNC, CT_STREAM_SYNC, CT_STREAM_EVENT_SYNC,
	CT_STREAM_EVENT_RECORD, CT_STREAM_EVENT_DESTROY,
	CT_STREAM_CAPTURE_BEGIN, CT_STREAM_CAPTURE_END,
	CT_STREAM_CONTEXT,	/* makes a context, or makes one current */
	CT_STREAM_CREATE, CT_STREAM_DESTROY,
};

#define CT_STREAM_NON_BLOCKING	1	/* a flag of cuStreamCreate */

/* By the function's name: call it once for each class. */
enum ct_stream_call ct_stream_call_of(const struct ct_class *class);

/* The stream that a field of the call names, one number for each stream of the process. */
uint64_t ct_call_stream(const struct ct_trace_event *e, enum ct_known field);

/* A copy to pageable or pinned memory of the host that the call waits for. */
bool ct_call_waits(const struct ct_class *class);

#endif
