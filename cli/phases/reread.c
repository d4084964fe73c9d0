// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walking over what a thread did, see reread.h.  What was not kept is read again from the
 * thread's streams, in the order of the records' ends: nothing is kept of it.
 */
#include "phases/reread.h"

#include <errno.h>
#include <stdlib.h>

struct reread_source {
	struct ct_cursor cursor;
	struct ct_phase_poll poll;
	uint64_t end;			/* of the record, ns */
	struct ct_phase_record record;
	bool more;
};

static void reread_next(const struct ct_phase_records *h, const struct ct_phase_thread *thread,
		       struct reread_source *s)
{
	struct ct_record r;

	while ((s->more = ct_cursor_next(&s->cursor, &r))) {
		enum ct_phase_record_kind kind = h->kinds[r.class->id];

		s->end = r.end;
		if (kind >= CT_PHASE_SET && r.pid == thread->pid && r.tid == thread->tid && !(r.flags & CT_F_BEGIN) &&
		    ct_phase_polled(&s->poll, &h->trace->reg, &r, kind, &s->record) && s->record.kind >= CT_PHASE_COPY)
			return;
	}
}

static int reread_read(const struct ct_phase_records *h, const struct ct_phase_thread *thread,
		      uint64_t from, uint64_t to, ct_phase_record_fn fn, void *arg)
{
	const struct ct_trace *t = h->trace;
	struct reread_source *sources = calloc(t->streams_count + 1, sizeof(*sources));
	unsigned int count = 0;
	int rc = 0;

	if (!sources)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (s->kind == CT_STREAM_CPU ? !thread->in_cpu_streams :
		    s->pid != thread->pid || (s->tid && s->tid != thread->tid))
			continue;
		ct_cursor_init(&sources[count].cursor, t, i);
		reread_next(h, thread, &sources[count++]);
	}
	while (!rc) {
		struct reread_source *next = NULL;

		for (unsigned int i = 0; i < count; i++)
			if (sources[i].more && (!next || sources[i].end < next->end))
				next = &sources[i];
		if (!next)
			break;
		if (next->record.at >= from && next->record.at < to)
			rc = fn(arg, &next->record);
		reread_next(h, thread, next);
	}
	free(sources);
	return rc;
}

int ct_phase_records_walk(const struct ct_phase_records *h, const struct ct_phase_thread *thread,
		       uint64_t from, uint64_t to, ct_phase_record_fn fn, void *arg)
{
	int rc = 0;

	if (thread->more_count)
		return reread_read(h, thread, from, to, fn, arg);
	for (uint32_t i = ct_phase_records_find(thread, from); i < thread->count && !rc; i++) {
		if (thread->list[i].at >= to)
			break;
		rc = fn(arg, &thread->list[i]);
	}
	return rc;
}

int ct_phase_records_launches(const struct ct_phase_records *h, uint32_t pid, ct_phase_record_fn fn,
			   void *arg)
{
	const struct ct_trace *t = h->trace;
	struct ct_phase_record e;
	struct ct_cursor c;
	struct ct_record r;
	int rc = 0;

	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (s->kind == CT_STREAM_STATE || (s->kind == CT_STREAM_THREAD && s->pid != pid))
			continue;
		ct_cursor_init(&c, t, i);
		while (!rc && ct_cursor_next(&c, &r)) {
			uint8_t kind = h->kinds[r.class->id];

			if ((kind != CT_PHASE_LAUNCH && kind != CT_PHASE_GRAPH) || r.pid != pid ||
			    r.flags & CT_F_BEGIN)
				continue;
			ct_phase_record_make(&t->reg, &r, kind, &e);
			rc = fn(arg, &e);
		}
	}
	return rc;
}
