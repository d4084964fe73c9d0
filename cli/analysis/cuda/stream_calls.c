// SPDX-License-Identifier: LGPL-2.1-or-later
/* See stream_calls.h. */
#include "analysis/cuda/stream_calls.h"

#include <string.h>

#define STREAM_LEGACY		1		/* CU_STREAM_LEGACY: the same as 0 */
#define STREAM_PER_THREAD	2		/* CU_STREAM_PER_THREAD: each thread has its own */

static const struct { const char *name; enum ct_stream_call call; } stream_calls[] = {
	{ "cuCtxSynchronize", CT_STREAM_CTX_SYNC },
	{ "cuStreamSynchronize", CT_STREAM_SYNC },
	{ "cuStreamQuery", CT_STREAM_SYNC },
	{ "cuEventSynchronize", CT_STREAM_EVENT_SYNC },
	{ "cuEventQuery", CT_STREAM_EVENT_SYNC },
	{ "cuEventRecord", CT_STREAM_EVENT_RECORD },
	{ "cuEventRecordWithFlags", CT_STREAM_EVENT_RECORD },
	{ "cuEventDestroy", CT_STREAM_EVENT_DESTROY },
	{ "cuStreamBeginCapture", CT_STREAM_CAPTURE_BEGIN },
	{ "cuStreamBeginCaptureToGraph", CT_STREAM_CAPTURE_BEGIN },
	{ "cuStreamEndCapture", CT_STREAM_CAPTURE_END },
	{ "cuStreamCreate", CT_STREAM_CREATE },
	{ "cuStreamCreateWithPriority", CT_STREAM_CREATE },
	{ "cuStreamDestroy", CT_STREAM_DESTROY },
	{ "cuCtxCreate", CT_STREAM_CONTEXT },
	{ "cuCtxSetCurrent", CT_STREAM_CONTEXT },
	{ "cuCtxPushCurrent", CT_STREAM_CONTEXT },
	{ "cuDevicePrimaryCtxRetain", CT_STREAM_CONTEXT },
};

/* Calls that put work on a stream. */
static bool stream_submits(const struct ct_class *class)
{
	if (ct_class_is(class, CT_IS_LAUNCH))
		return true;
	switch (class->category) {
	case CT_CAT_TRANSFER:
		return true;
	case CT_CAT_MEMORY:
		return strstr(class->name, "Async") != NULL;
	case CT_CAT_STREAM: case CT_CAT_OTHER:
		return strstr(class->name, "HostFunc") || strstr(class->name, "MemOp") ||
		       strstr(class->name, "Value32") || strstr(class->name, "Value64") ||
		       strstr(class->name, "Async");
	}
	return false;
}

enum ct_stream_call ct_stream_call_of(const struct ct_class *class)
{
	if (!ct_class_is(class, CT_IS_CUDA))
		return CT_STREAM_NONE;
	for (unsigned int i = 0; i < sizeof(stream_calls) / sizeof(*stream_calls); i++)
		if (!strcmp(class->name, stream_calls[i].name))
			return stream_calls[i].call;
	return stream_submits(class) ? CT_STREAM_SUBMIT : CT_STREAM_NONE;
}

uint64_t ct_call_stream(const struct ct_trace_event *e, enum ct_known field)
{
	uint64_t stream = ct_record_known(e->record, field);
	size_t len = strlen(e->class->symbol);
	const char *suffix = len > 5 ? e->class->symbol + len - 5 : "";

	if (stream == STREAM_LEGACY)
		return 0;
	/* These entry points take 0 for the thread's own stream. */
	if (!stream && (!strcmp(suffix, "_ptsz") || !strcmp(suffix, "_ptds")))
		stream = STREAM_PER_THREAD;
	return stream == STREAM_PER_THREAD ? ct_mix(STREAM_PER_THREAD, e->track->tid) : stream;
}

bool ct_call_waits(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_COPY) &&
	       !strncmp(class->name, "cuMemcpyDtoH", 12) && !strstr(class->name, "Async");
}
