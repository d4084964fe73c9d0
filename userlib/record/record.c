// SPDX-License-Identifier: LGPL-2.1-or-later
/* See record.h. */
#include "record/record.h"

#include "backend/backend.h"
#include "base/process.h"

/* Makes the stream's memory valid, if it can be. */
static cold bool record_renew(struct ct_thread *t)
{
	bool ok = false;
	u64 mask;

	if (!ct_backend->changed(&t->producer))
		return false;
	mask = ct_signals_block();
	ct_thread_changes(t);
	if (t->life == ct_process->life) {
		ct_packet_leave(t, 0);
		ct_packet_none(t);
		ok = ct_backend->renew(&t->producer);
		ct_thread_update(t);
	}
	ct_thread_changed(t);
	ct_signals_restore(mask);
	return ok;
}

/* A good moment for more memory, if it is wanted. */
static void record_grow(struct ct_thread *t)
{
	struct ct_producer *s = &t->producer;
	u64 mask;

	if (!s->grows || !ct_producer_valid(s))
		return;
	mask = ct_signals_block();
	ct_thread_changes(t);
	/* A handler that came before may have called CUDA, and taken it. */
	if (s->grows && ct_producer_valid(s) && t->life == ct_process->life) {
		if (t->packet->ts_end > t->last)
			t->last = t->packet->ts_end;
		ct_packet_leave(t, 0);
		if (ct_producer_map(s, s->step + 1)) {
			/* The old packet is gone. */
			t->packet = &ct_no_packet;
			ct_packet_none(t);
		}
		s->grows = s->begins = false;
		ct_thread_update(t);
	}
	ct_thread_changed(t);
	ct_signals_restore(mask);
}

bool ct_record_begin(struct ct_thread *t, struct ct_record *e)
{
	record_grow(t);
	/* With memory, the open calls say it all. */
	if (ct_producer_valid(&t->producer) || record_renew(t))
		return false;
	return ct_backend->begin(e);
}

void ct_record(struct ct_thread *t, const struct ct_record *e)
{
	const struct ct_backend *b = ct_load(&ct_backend);
	struct ct_record late = *e;

	if (b->mark && !ct_producer_valid(&t->producer)) {
		if (e->flags & CT_F_HAS_BEGIN || !record_renew(t)) {
			b->mark(e);
			return;
		}
		/* Before the memory was there, there is no time in it. */
		late.end = 0;
	} else if (b->mark && e->flags & CT_F_HAS_BEGIN) {
		/* The end of a call whose begin the backend has goes to where that went. */
		b->mark(e);
		return;
	}
	/* The session may have closed the memory just now. */
	if (!ct_packet_record(t, &late))
		b->mark(e);
}
