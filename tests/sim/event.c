// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * event.c - events: recorded, queried, waited for by a stream or the host,
 * and the time between two of them.
 *
 * Times are the model's (queue.c), never the host's. An event inside a
 * capture is a dependency and nothing else: it is not recorded until the
 * program records it outside one.
 */
#include <stdlib.h>

#include "sim.h"

static void event_free(struct sim_object *obj)
{
	sim_capture_set(&((struct sim_event *)obj)->capture, NULL);
	free(obj);
}

CUresult cuEventCreate(CUevent *handle, unsigned int flags)
{
	struct sim_event *event;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!handle || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = flags;
	pthread_mutex_lock(&sim_lock);
	*handle = sim_handle_new(&event->object, SIM_EVENT, event_free);
	pthread_mutex_unlock(&sim_lock);
	if (*handle)
		return CUDA_SUCCESS;
	free(event);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroy(CUevent handle)
{
	struct sim_event *event;

	pthread_mutex_lock(&sim_lock);
	event = sim_handle_find(handle, SIM_EVENT);
	if (event)
		sim_handle_close(&event->object);
	pthread_mutex_unlock(&sim_lock);
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventDestroy(CUevent handle)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return destroy(handle);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return destroy(handle);
}

static CUresult queue_event(enum sim_op_kind kind, struct sim_event *event,
			    struct sim_stream *stream, uint64_t target)
{
	struct sim_op *op = sim_op_new(kind, NULL, 0);

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->event.event = event;
	op->event.target = target;
	sim_get(&event->object);
	return sim_queue(stream, op);
}

static CUresult record(CUevent handle, CUstream stream_handle)
{
	struct sim_event *event;
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&sim_lock);
	event = sim_handle_find(handle, SIM_EVENT);
	stream = sim_stream_find(stream_handle);
	if (event && stream) {
		sim_capture_set(&event->capture, stream->capture);
		if (event->capture) {
			result = CUDA_SUCCESS;
		} else {
			result = queue_event(SIM_OP_RECORD, event, stream,
					     event->recorded + 1);
			if (result == CUDA_SUCCESS)
				event->recorded++;
		}
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return record(event, stream);
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
	return cuEventRecord(event, SIM_PER_THREAD(stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream,
				unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	return record(event, stream);
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream,
				     unsigned int flags)
{
	return cuEventRecordWithFlags(event, SIM_PER_THREAD(stream), flags);
}

/* Waiting for an event of a capture draws the stream into that capture. */
CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle,
			   unsigned int flags)
{
	struct sim_event *event;
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	event = sim_handle_find(handle, SIM_EVENT);
	stream = sim_stream_find(stream_handle);
	if (event && stream) {
		result = CUDA_SUCCESS;
		if (sim_capture_active(event->capture))
			sim_capture_set(&stream->capture, event->capture);
		else if (event->completed < event->recorded)
			result = queue_event(SIM_OP_WAIT_EVENT, event, stream,
					     event->recorded);
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event,
				unsigned int flags)
{
	return cuStreamWaitEvent(SIM_PER_THREAD(stream), event, flags);
}

/* An event that was never recorded counts as done. */
CUresult cuEventQuery(CUevent handle)
{
	struct sim_event *event;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	event = sim_handle_find(handle, SIM_EVENT);
	if (event)
		result = event->completed < event->recorded ?
			 CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuEventSynchronize(CUevent handle)
{
	struct sim_event *event;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	event = sim_handle_find(handle, SIM_EVENT);
	if (event) {
		uint64_t target = event->recorded;
		struct sim_context *ctx;

		sim_get(&event->object);
		while (event->completed < target)
			pthread_cond_wait(&sim_done, &sim_lock);
		sim_put(&event->object);
		ctx = sim_current();
		result = ctx ? ctx->error : CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult elapsed(float *ms, CUevent start_handle, CUevent end_handle)
{
	struct sim_event *start, *end;
	CUresult result = CUDA_SUCCESS;

	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	start = sim_handle_find(start_handle, SIM_EVENT);
	end = sim_handle_find(end_handle, SIM_EVENT);
	if (!start || !end || !start->recorded || !end->recorded ||
	    (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		result = CUDA_ERROR_INVALID_HANDLE;
	else if (start->completed < start->recorded ||
		 end->completed < end->recorded)
		result = CUDA_ERROR_NOT_READY;
	else
		*ms = (double)(int64_t)(end->time_ns - start->time_ns) / 1e6;
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return elapsed(ms, start, end);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return elapsed(ms, start, end);
}
