// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * capture.c - stream capture: ops that go into a graph instead of a queue.
 *
 * The graph keeps ops in the order in which they were captured, over all the
 * streams that joined; that order satisfies every dependency, so no edges are
 * kept. It must never hold an op that refers to an event or a stream.
 */
#include <stdlib.h>

#include "sim.h"

struct sim_capture {
	unsigned int refs;
	unsigned long long id;
	enum { ACTIVE, INVALIDATED, ENDED } state;
	CUstreamCaptureMode mode;
	pthread_t thread;		/* that began it */
	struct sim_stream *origin;	/* compared, never followed */
	struct sim_graph *graph;
	bool lent;			/* the program's graph, to which it captures */
};

static unsigned long long last_id;
static __thread CUstreamCaptureMode thread_mode;

void sim_capture_set(struct sim_capture **at, struct sim_capture *capture)
{
	struct sim_capture *before = *at;

	if (capture)
		capture->refs++;
	*at = capture;
	if (before && --before->refs == 0) {
		if (before->graph && before->lent)
			sim_put(&before->graph->object);
		else if (before->graph)
			sim_handle_close(&before->graph->object);
		free(before);
	}
}

bool sim_capture_active(const struct sim_capture *capture)
{
	return capture && capture->state == ACTIVE;
}

CUresult sim_capture_op(struct sim_stream *stream, struct sim_op *op)
{
	struct sim_capture *capture = stream->capture;

	if (capture->state != ACTIVE) {
		sim_op_free(op);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	if (op->kind == SIM_OP_WAIT_EVENT) {
		/* An event from outside the capture, as CUDA refuses it. */
		sim_op_free(op);
		capture->state = INVALIDATED;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	sim_graph_append(capture->graph, op);
	return CUDA_SUCCESS;
}

CUresult sim_capture_forbids(struct sim_stream *stream)
{
	struct sim_context *ctx = stream->context;
	struct sim_stream *other;

	if (stream->capture) {
		stream->capture->state = INVALIDATED;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	if (stream != ctx->legacy)
		return CUDA_SUCCESS;
	for (other = ctx->streams; other; other = other->next_in_context)
		if (other->capture && !(other->flags & CU_STREAM_NON_BLOCKING)) {
			other->capture->state = INVALIDATED;
			return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
		}
	return CUDA_SUCCESS;
}

/* As CUDA's modes say: a capture begun in global mode forbids such calls to
 * all threads, one begun in thread-local mode to its own thread; a thread that
 * is itself in a weaker mode is let through. */
CUresult sim_capture_forbids_unsafe(struct sim_context *ctx)
{
	struct sim_stream *stream;

	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (stream = ctx->streams; stream; stream = stream->next_in_context) {
		struct sim_capture *capture = stream->capture;
		bool own;

		if (!capture || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
			continue;
		own = pthread_equal(capture->thread, pthread_self());
		if (!own &&
		    (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
		     thread_mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
			continue;
		capture->state = INVALIDATED;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return CUDA_SUCCESS;
}

/* @to: NULL for a graph of its own. */
static CUresult begin(CUstream handle, CUgraph *to, int mode)
{
	struct sim_graph *graph = NULL;
	struct sim_capture *capture;
	struct sim_stream *stream;
	CUresult result = CUDA_SUCCESS;

	if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
	    mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (!stream) {
		result = CUDA_ERROR_INVALID_HANDLE;
		goto out;
	}
	if (stream == stream->context->legacy) {
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		goto out;
	}
	if (stream->capture) {
		result = CUDA_ERROR_ILLEGAL_STATE;
		goto out;
	}
	if (to) {
		graph = sim_handle_find(*to, SIM_GRAPH);
		if (!graph) {
			result = CUDA_ERROR_INVALID_VALUE;
			goto out;
		}
	}
	capture = calloc(1, sizeof(*capture));
	if (capture && graph) {
		sim_get(&graph->object);
		capture->graph = graph;
		capture->lent = true;
	} else if (capture) {
		capture->graph = sim_graph_new(SIM_GRAPH);
	}
	if (!capture || !capture->graph) {
		free(capture);
		result = CUDA_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	capture->id = ++last_id;
	capture->mode = mode;
	capture->thread = pthread_self();
	capture->origin = stream;
	sim_capture_set(&stream->capture, capture);
out:
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuStreamBeginCapture(CUstream stream)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return begin(stream, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
	return cuStreamBeginCapture(SIM_PER_THREAD(stream));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return begin(stream, NULL, mode);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
	return cuStreamBeginCapture_v2(SIM_PER_THREAD(stream), mode);
}

/* The ops before the capture are those that it depends on, as everywhere here. */
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
				     const CUgraphNode *nodes,
				     const CUgraphEdgeData *edges, size_t count,
				     CUstreamCaptureMode mode)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)nodes;
	(void)edges;
	(void)count;
	return begin(stream, &graph, mode);
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
					  const CUgraphNode *nodes,
					  const CUgraphEdgeData *edges,
					  size_t count, CUstreamCaptureMode mode)
{
	return cuStreamBeginCaptureToGraph(SIM_PER_THREAD(stream), graph, nodes,
					   edges, count, mode);
}

/* Ends @capture in every stream that joined it; its graph is the caller's. */
static CUresult end(struct sim_capture *capture, struct sim_context *ctx,
		    CUgraph *graph)
{
	CUresult result = capture->state == ACTIVE ?
		CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct sim_capture *held = NULL;
	struct sim_stream *stream;

	sim_capture_set(&held, capture);
	capture->state = ENDED;
	for (stream = ctx->streams; stream; stream = stream->next_in_context)
		if (stream->capture == capture)
			sim_capture_set(&stream->capture, NULL);
	*graph = NULL;
	if (result == CUDA_SUCCESS) {
		*graph = capture->graph->object.handle;
		if (capture->lent)
			sim_put(&capture->graph->object);
		capture->graph = NULL;
	}
	sim_capture_set(&held, NULL);
	return result;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
	struct sim_stream *stream;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (!stream)
		result = CUDA_ERROR_INVALID_HANDLE;
	else if (!stream->capture)
		result = CUDA_ERROR_ILLEGAL_STATE;
	else if (stream->capture->origin != stream)
		result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	else
		result = end(stream->capture, stream->context, graph);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	return cuStreamEndCapture(SIM_PER_THREAD(stream), graph);
}

static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status,
			     cuuint64_t *id, CUgraph *graph)
{
	struct sim_stream *stream;

	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	if (stream && stream->capture) {
		*status = stream->capture->state == ACTIVE ?
			  CU_STREAM_CAPTURE_STATUS_ACTIVE :
			  CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		if (id)
			*id = stream->capture->id;
		if (graph)
			*graph = stream->capture->graph->object.handle;
	}
	pthread_mutex_unlock(&sim_lock);
	return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return capture_info(stream, status, NULL, NULL);
}

CUresult cuStreamIsCapturing_ptsz(CUstream stream,
				  CUstreamCaptureStatus *status)
{
	return cuStreamIsCapturing(SIM_PER_THREAD(stream), status);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
				cuuint64_t *id)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return capture_info(stream, status, id, NULL);
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream,
				     CUstreamCaptureStatus *status,
				     cuuint64_t *id)
{
	return cuStreamGetCaptureInfo(SIM_PER_THREAD(stream), status, id);
}

/* Edges are not kept: every op depends on those before it. */
CUresult cuStreamGetCaptureInfo_v2(CUstream stream,
				   CUstreamCaptureStatus *status,
				   cuuint64_t *id, CUgraph *graph,
				   const CUgraphNode **nodes, size_t *count)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (nodes)
		*nodes = NULL;
	if (count)
		*count = 0;
	return capture_info(stream, status, id, graph);
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream,
					CUstreamCaptureStatus *status,
					cuuint64_t *id, CUgraph *graph,
					const CUgraphNode **nodes,
					size_t *count)
{
	return cuStreamGetCaptureInfo_v2(SIM_PER_THREAD(stream), status, id,
					 graph, nodes, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream,
				   CUstreamCaptureStatus *status,
				   cuuint64_t *id, CUgraph *graph,
				   const CUgraphNode **nodes,
				   const CUgraphEdgeData **edges, size_t *count)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (nodes)
		*nodes = NULL;
	if (edges)
		*edges = NULL;
	if (count)
		*count = 0;
	return capture_info(stream, status, id, graph);
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream,
					CUstreamCaptureStatus *status,
					cuuint64_t *id, CUgraph *graph,
					const CUgraphNode **nodes,
					const CUgraphEdgeData **edges,
					size_t *count)
{
	return cuStreamGetCaptureInfo_v3(SIM_PER_THREAD(stream), status, id,
					 graph, nodes, edges, count);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = thread_mode;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
	    *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}
