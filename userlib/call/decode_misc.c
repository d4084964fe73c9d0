// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of calls about contexts, streams, events and graphs; the rules are in
 * decode.h.
 */
#include "call/decode_table.h"

CT_EXTRACTOR(init)		/* (flags) */
{
	struct ct_init *o = payload;

	(void)after;
	o->flags = (u32)f->arg[0];
}

CT_EXTRACTOR(handle)		/* (handle, ...) */
{
	struct ct_handle *o = payload;

	(void)after;
	o->handle = f->arg[0];
}

CT_EXTRACTOR(handle_out)	/* (handle *, ...) */
{
	struct ct_handle *o = payload;

	o->handle = ct_out(f, 0, after);
}

static void context(void *payload, u64 context, u64 flags, u64 device)
{
	struct ct_context *o = payload;

	o->context = context;
	o->flags = (u32)flags;
	o->device = (s32)device;
}

CT_EXTRACTOR(ctx_create)	/* (context *, flags, device) */
{
	context(payload, ct_out(f, 0, after), f->arg[1], f->arg[2]);
}

CT_EXTRACTOR(ctx_create_v3)	/* (context *, params *, count, flags, device) */
{
	context(payload, ct_out(f, 0, after), f->arg[3], f->arg[4]);
}

CT_EXTRACTOR(ctx_create_v4)	/* (context *, params *, flags, device) */
{
	context(payload, ct_out(f, 0, after), f->arg[2], f->arg[3]);
}

CT_EXTRACTOR(ctx_retain)	/* (context *, device) */
{
	context(payload, ct_out(f, 0, after), 0, f->arg[1]);
}

CT_EXTRACTOR(ctx_device)	/* (device) */
{
	(void)after;
	context(payload, 0, 0, f->arg[0]);
}

CT_EXTRACTOR(ctx_device_flags)	/* (device, flags) */
{
	(void)after;
	context(payload, 0, f->arg[1], f->arg[0]);
}

static void stream(void *payload, u64 stream, u64 flags, u64 priority)
{
	struct ct_stream *o = payload;

	o->stream = stream;
	o->flags = (u32)flags;
	o->priority = (s32)priority;
}

CT_EXTRACTOR(stream_new)	/* (stream *, flags) */
{
	stream(payload, ct_out(f, 0, after), f->arg[1], 0);
}

CT_EXTRACTOR(stream_priority)	/* (stream *, flags, priority) */
{
	stream(payload, ct_out(f, 0, after), f->arg[1], f->arg[2]);
}

CT_EXTRACTOR(stream_green)	/* (stream *, context, flags, priority) */
{
	stream(payload, ct_out(f, 0, after), f->arg[2], f->arg[3]);
}

static void event(void *payload, u64 event, u64 stream)
{
	struct ct_event *o = payload;

	o->event = event;
	o->stream = stream;
}

CT_EXTRACTOR(event)		/* (event, stream, ...) */
{
	(void)after;
	event(payload, f->arg[0], f->arg[1]);
}

CT_EXTRACTOR(event_second)	/* (stream or context, event, ...) */
{
	(void)after;
	event(payload, f->arg[1], f->arg[0]);
}

CT_EXTRACTOR(event_new)		/* (event *, flags) */
{
	struct ct_event_new *o = payload;

	o->event = ct_out(f, 0, after);
	o->flags = (u32)f->arg[1];
}

CT_EXTRACTOR(elapsed)		/* (float ms *, start, end) */
{
	const float *ms = (const float *)f->arg[0];
	struct ct_elapsed *o = payload;

	o->start = f->arg[1];
	o->end = f->arg[2];
	o->elapsed_ns = ct_done(f, after) && ms && *ms > 0 ?
			(u64)((double)*ms * 1e6) : 0;
}

static void graph(void *payload, u64 graph, u64 stream)
{
	struct ct_graph *o = payload;

	o->graph = graph;
	o->stream = stream;
}

CT_EXTRACTOR(graph_new)		/* (graph *, ...) */
{
	graph(payload, ct_out(f, 0, after), 0);
}

CT_EXTRACTOR(graph_stream)	/* (graph, stream) */
{
	(void)after;
	graph(payload, f->arg[0], f->arg[1]);
}

CT_EXTRACTOR(end_capture)	/* (stream, graph *) */
{
	graph(payload, ct_out(f, 1, after), f->arg[0]);
}
