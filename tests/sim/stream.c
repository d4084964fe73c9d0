// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stream.c - stream handles: made, found (the three default streams too),
 * asked about, waited for and destroyed.
 *
 * What a stream does with its work is queue.c's. Destroying a stream never
 * waits: its thread finishes what is queued and goes.
 */
#include <stdlib.h>

#include "sim.h"

static unsigned long long last_id;
static unsigned long last_thread;
static __thread unsigned long this_thread;

static void stream_free(struct sim_object *obj)
{
	struct sim_stream *stream = (struct sim_stream *)obj;

	pthread_cond_destroy(&stream->wake);
	sim_put(&stream->context->object);
	free(stream);
}

struct sim_stream *sim_stream_new(struct sim_context *ctx, unsigned int flags,
				  int priority)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	if (!sim_handle_new(&stream->object, SIM_STREAM, stream_free)) {
		free(stream);
		return NULL;
	}
	pthread_cond_init(&stream->wake, NULL);
	stream->context = ctx;
	sim_get(&ctx->object);
	stream->flags = flags;
	stream->priority = priority;
	stream->id = ++last_id;
	stream->next_in_context = ctx->streams;
	ctx->streams = stream;
	return stream;
}

void sim_stream_close(struct sim_stream *stream)
{
	struct sim_context *ctx = stream->context;
	struct sim_stream **at = &ctx->streams;

	while (*at != stream)
		at = &(*at)->next_in_context;
	*at = stream->next_in_context;
	if (ctx->legacy == stream)
		ctx->legacy = NULL;
	sim_capture_set(&stream->capture, NULL);
	stream->closing = true;
	pthread_cond_signal(&stream->wake);
	sim_handle_close(&stream->object);
}

/* Each thread has one default stream a context when it asks for its own. */
static struct sim_stream *per_thread(struct sim_context *ctx)
{
	struct sim_stream *stream;

	if (!this_thread)
		this_thread = ++last_thread;
	for (stream = ctx->streams; stream; stream = stream->next_in_context)
		if (stream->owner == this_thread)
			return stream;
	stream = sim_stream_new(ctx, CU_STREAM_DEFAULT, 0);
	if (stream)
		stream->owner = this_thread;
	return stream;
}

struct sim_stream *sim_stream_find(CUstream handle)
{
	struct sim_context *ctx = sim_current();

	if (handle == NULL || handle == CU_STREAM_LEGACY) {
		if (ctx && !ctx->legacy)
			ctx->legacy = sim_stream_new(ctx, CU_STREAM_DEFAULT, 0);
		return ctx ? ctx->legacy : NULL;
	}
	if (handle == CU_STREAM_PER_THREAD)
		return ctx ? per_thread(ctx) : NULL;
	return sim_handle_find(handle, SIM_STREAM);
}

static CUresult create(CUstream *handle, unsigned int flags, int priority)
{
	struct sim_stream *stream;

	if (!handle || flags & ~CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_new(sim_current(), flags, priority);
	if (stream)
		*handle = stream->object.handle;
	pthread_mutex_unlock(&sim_lock);
	return stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamCreate(CUstream *handle, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return create(handle, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned int flags,
				    int priority)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (priority > 0)
		priority = 0;
	if (priority < -5)
		priority = -5;
	return create(handle, flags, priority);
}

static CUresult destroy(CUstream handle)
{
	struct sim_stream *stream;

	pthread_mutex_lock(&sim_lock);
	stream = sim_handle_find(handle, SIM_STREAM);
	if (stream)
		sim_stream_close(stream);
	pthread_mutex_unlock(&sim_lock);
	return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamDestroy(CUstream handle)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return destroy(handle);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return destroy(handle);
}

CUresult cuStreamSynchronize(CUstream handle)
{
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream)
		result = sim_capture_forbids(stream);
	if (result == CUDA_SUCCESS) {
		/* The legacy stream stands for all that it orders. */
		if (stream == stream->context->legacy) {
			struct sim_stream *other;
again:
			for (other = stream->context->streams; other;
			     other = other->next_in_context)
				if (!(other->flags & CU_STREAM_NON_BLOCKING) &&
				    other->completed < other->queued) {
					sim_stream_wait(other);
					goto again;
				}
		}
		result = sim_stream_wait(stream);
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuStreamSynchronize_ptsz(CUstream handle)
{
	return cuStreamSynchronize(SIM_PER_THREAD(handle));
}

CUresult cuStreamQuery(CUstream handle)
{
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream)
		result = sim_capture_forbids(stream);
	if (result == CUDA_SUCCESS && stream->completed < stream->queued)
		result = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuStreamQuery_ptsz(CUstream handle)
{
	return cuStreamQuery(SIM_PER_THREAD(handle));
}

/* A getter: what @give assigns, under the lock, from a stream that exists. */
#define STREAM_GETTER(handle, out, give)			\
	({							\
		struct sim_stream *stream;			\
								\
		if (!(out))					\
			return CUDA_ERROR_INVALID_VALUE;	\
		pthread_mutex_lock(&sim_lock);			\
		stream = sim_stream_find(handle);		\
		if (stream)					\
			*(out) = (give);			\
		pthread_mutex_unlock(&sim_lock);		\
		stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; \
	})

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return STREAM_GETTER(handle, ctx, stream->context->object.handle);
}

CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext *ctx)
{
	return cuStreamGetCtx(SIM_PER_THREAD(handle), ctx);
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return STREAM_GETTER(handle, flags, stream->flags);
}

CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned int *flags)
{
	return cuStreamGetFlags(SIM_PER_THREAD(handle), flags);
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return STREAM_GETTER(handle, priority, stream->priority);
}

CUresult cuStreamGetPriority_ptsz(CUstream handle, int *priority)
{
	return cuStreamGetPriority(SIM_PER_THREAD(handle), priority);
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return STREAM_GETTER(handle, id, stream->id);
}

CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long *id)
{
	return cuStreamGetId(SIM_PER_THREAD(handle), id);
}
