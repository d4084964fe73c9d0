// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See streams.h.  Must never take work for done that may not be.  Memory is bounded: work on further
 * streams is that of an unknown one, and further events are not known.
 */
#include "analysis/cuda/streams.h"

#include <errno.h>

#define STREAMS_MAX	4096u		/* of a process, with open work at a moment */
#define EVENTS_MAX	65536u		/* of a process */

/* Forgets a stream or an event, if it is known. */
#define streams_forget(set, key)						\
do {										\
	CT_KEYED_TYPE(set) known = ct_keyed_get(set, key);			\
										\
	if (known)								\
		ct_keyed_remove(set, known);					\
} while (0)

static void streams_done(struct ct_streams *s, struct ct_stream_work *work, uint64_t number)
{
	if (number <= work->done)
		return;
	s->launches_open -= number - work->done;
	work->done = number;
}

static void streams_drop(struct ct_streams *s, struct ct_stream_work *work)
{
	streams_done(s, work, work->launches);
	ct_keyed_remove(&s->open, work);
}

static void streams_drop_one(struct ct_streams *s, uint64_t stream, uint64_t until)
{
	struct ct_stream_work *work = ct_keyed_get(&s->open, stream);

	if (work && work->ended <= until)
		streams_drop(s, work);
}

/* What the other side of the stream was given until @until is done: see streams.h. */
static void streams_drop_others(struct ct_streams *s, uint64_t stream, uint64_t until)
{
	if (stream && ct_keyed_get(&s->blocking, stream))
		streams_drop_one(s, 0, until);
	for (size_t i = 0; !stream && i < s->blocking.count && s->open.count; i++)
		streams_drop_one(s, s->blocking.list[i], until);
}

/* What @stream was given until @until is done. */
static void streams_waited(struct ct_streams *s, uint64_t stream, uint64_t until)
{
	const struct ct_stream_work *work = ct_keyed_get(&s->open, stream);

	if (!work || work->ended > until || (!stream && s->contexts))
		return;
	if (!work->captured)
		streams_drop_others(s, stream, work->began);
	streams_drop_one(s, stream, until);
}

static void streams_waited_all(struct ct_streams *s, uint64_t until)
{
	for (size_t i = s->contexts ? 0 : s->open.count; i-- > 0;)
		if (s->open.list[i].ended <= until)
			streams_drop(s, &s->open.list[i]);
}

int ct_streams_submitted(struct ct_streams *s, uint64_t stream, const struct ct_trace_event *e)
{
	bool captured = ct_keyed_get(&s->captures, stream) != NULL;
	struct ct_stream_work *work = ct_keyed_get(&s->open, stream);
	bool known = work;

	if (!work)
		work = ct_keyed_put(&s->open, s->open.count < STREAMS_MAX ? stream : CT_STREAM_UNKNOWN);
	if (!work)
		return -ENOMEM;
	/* So the numbers of a stream grow, also when it was forgotten meanwhile. */
	if (!known && !work->ended)
		work->launches = work->done = s->launches;
	work->ended = e->end > work->ended ? e->end : work->ended;
	work->began = e->begin > work->began ? e->begin : work->began;
	work->captured = captured && (!known || work->captured);
	if (captured || work->stream == CT_STREAM_UNKNOWN || !ct_class_is(e->class, CT_IS_LAUNCH))
		return 0;
	s->launches++;
	s->launches_open++;
	work->launches++;
	return 0;
}

void ct_streams_ended(struct ct_streams *s, uint64_t stream, uint64_t number)
{
	struct ct_stream_work *work = ct_keyed_get(&s->open, stream);

	if (work)
		streams_done(s, work, number);
}

static int streams_record(struct ct_streams *s, const struct ct_trace_event *e)
{
	uint64_t handle = ct_record_known(e->record, CT_KNOWN_EVENT), stream = ct_call_stream(e, CT_KNOWN_STREAM);
	const struct ct_stream_work *work = ct_keyed_get(&s->open, stream);
	struct ct_stream_event *event = ct_keyed_get(&s->events, handle);

	if (!event && s->events.count >= EVENTS_MAX)
		return 0;
	event = event ? event : ct_keyed_put(&s->events, handle);
	if (!event)
		return -ENOMEM;
	*event = (struct ct_stream_event){
		.event = handle, .stream = stream, .begin = e->begin, .end = e->end,
		/* Launched while it was recorded: is that before or behind it? */
		.launches = work && work->ended <= e->begin ? work->launches : 0,
	};
	return 0;
}

static void streams_event_done(struct ct_streams *s, const struct ct_trace_event *e)
{
	const struct ct_stream_event *event = ct_keyed_get(&s->events, ct_record_known(e->record, CT_KNOWN_HANDLE));

	/* An event that is recorded again while it is waited for: which of them is meant? */
	if (!event || event->end > e->begin)
		return;
	ct_streams_ended(s, event->stream, event->launches);
	streams_waited(s, event->stream, event->begin);
}

static void streams_context(struct ct_streams *s, const struct ct_record *r)
{
	uint64_t context = ct_record_known(r, CT_KNOWN_CUDA_CONTEXT);

	if (!context)
		context = ct_record_known(r, CT_KNOWN_HANDLE);
	s->contexts |= context && s->context && context != s->context;
	s->context = context ? context : s->context;
}

static int streams_created(struct ct_streams *s, const struct ct_record *r)
{
	uint64_t stream = ct_record_known(r, CT_KNOWN_STREAM);

	if (!(ct_record_known(r, CT_KNOWN_FLAGS) & CT_STREAM_NON_BLOCKING) && stream)
		return ct_keyed_put(&s->blocking, stream) ? 0 : -ENOMEM;
	streams_forget(&s->blocking, stream);
	return 0;
}

/* What was captured into a graph does not run. */
static int streams_capture_ended(struct ct_streams *s, uint64_t stream)
{
	struct ct_stream_work *work = ct_keyed_get(&s->open, stream);

	streams_forget(&s->captures, stream);
	if (!work || !work->captured)
		return 0;
	streams_drop(s, work);
	return 1;
}

int ct_streams_returned(struct ct_streams *s, const struct ct_trace_event *e, enum ct_stream_call call)
{
	switch (call) {
	case CT_STREAM_SUBMIT:
		if (!ct_call_waits(e->class))
			return ct_streams_submitted(s, ct_call_stream(e, CT_KNOWN_STREAM), e);
		streams_waited(s, ct_call_stream(e, CT_KNOWN_STREAM), e->begin);
		return 1;
	case CT_STREAM_CTX_SYNC:
		streams_waited_all(s, e->begin);
		return 1;
	case CT_STREAM_SYNC:
		streams_waited(s, ct_call_stream(e, CT_KNOWN_HANDLE), e->begin);
		return 1;
	case CT_STREAM_EVENT_SYNC:
		streams_event_done(s, e);
		return 1;
	case CT_STREAM_EVENT_RECORD:
		return streams_record(s, e);
	case CT_STREAM_EVENT_DESTROY:
		streams_forget(&s->events, ct_record_known(e->record, CT_KNOWN_HANDLE));
		return 0;
	case CT_STREAM_CAPTURE_BEGIN:
		return ct_keyed_put(&s->captures, ct_call_stream(e, CT_KNOWN_HANDLE)) ? 0 : -ENOMEM;
	case CT_STREAM_CAPTURE_END:
		return streams_capture_ended(s, ct_call_stream(e, CT_KNOWN_STREAM));
	case CT_STREAM_CREATE:
		return streams_created(s, e->record);
	case CT_STREAM_DESTROY:
		streams_forget(&s->blocking, ct_record_known(e->record, CT_KNOWN_HANDLE));
		return 0;
	case CT_STREAM_CONTEXT:
		streams_context(s, e->record);
		return 0;
	case CT_STREAM_NONE:
		break;
	}
	return 0;
}

void ct_streams_free(struct ct_streams *s)
{
	ct_keyed_free(&s->open);
	ct_keyed_free(&s->blocking);
	ct_keyed_free(&s->captures);
	ct_keyed_free(&s->events);
}
