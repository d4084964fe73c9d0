// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * When communicators were made, see makings.h.  The call that makes one is most of it as a rule.  In a group
 * (ncclGroupStart) it only says what to make, and the end of the group makes it.  A communicator that does not block
 * is made by a thread of libnccl: the program asks (ncclCommGetAsyncError) until it is ready.  One that was not
 * asked for while it was made cost the program no wait: of it the call counts alone.
 */
#include "phases/makings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

/* Something of a communicator, by a hash of its handle. */
struct making_event {
	uint32_t comm;
	enum { MAKING_CALL, MAKING_ASKED, MAKING_READY } what;
	uint64_t begin, end;
};

struct making_events {
	struct making_event *list;
	uint32_t count, room;
};

static int making_add(struct making_events *s, const struct ct_phase_record *h, uint32_t comm, int what)
{
	if (!ct_room(s->list, s->count, s->room))
		return -ENOMEM;
	s->list[s->count++] = (struct making_event){
		.comm = comm, .what = what, .begin = h->at, .end = ct_phase_record_end(h),
	};
	return 0;
}

/* What one thread did. */
static int making_slice(struct making_events *s, const struct ct_thread_events *slice)
{
	uint32_t depth = 0;
	bool makes = false;
	int rc = 0;

	for (uint32_t i = 0; i < slice->count && !rc; i++) {
		const struct ct_phase_record *h = &slice->list[i];

		switch (h->kind) {
		case CT_PHASE_COMMUNICATOR:
			makes = depth > 0;
			rc = making_add(s, h, h->sig, MAKING_CALL);
			break;
		case CT_PHASE_COMMUNICATOR_STATE:
			rc = making_add(s, h, h->sig, h->flags & CT_PHASE_IN_PROGRESS ? MAKING_ASKED : MAKING_READY);
			break;
		case CT_PHASE_GROUP_BEGIN:
			depth++;
			break;
		case CT_PHASE_GROUP_END:
			depth -= depth > 0;
			if (depth || !makes)
				break;
			makes = false;
			rc = making_add(s, h, 0, MAKING_CALL);
			break;
		default:
			break;
		}
	}
	return rc;
}

static int making_by_comm(const void *a, const void *b)
{
	const struct making_event *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* Extends calls until their communicators are ready, and keeps only calls. */
static void making_extend(struct making_events *s)
{
	struct making_event *call = NULL;
	uint32_t kept = 0;
	bool asked = false;

	qsort(s->list, s->count, sizeof(*s->list), making_by_comm);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct making_event e = s->list[i];

		if (e.what == MAKING_CALL) {
			call = &s->list[kept++];
			*call = e;
			asked = false;
		} else if (!call || call->comm != e.comm || !e.comm) {
			call = NULL;	/* who made it is not in the trace */
		} else if (e.what == MAKING_ASKED || asked) {
			uint64_t end = e.what == MAKING_ASKED ? e.end : e.begin;

			call->end = end > call->end ? end : call->end;
			asked = true;
			/* What is said of it later is another matter: it is finalised, for example. */
			if (e.what == MAKING_READY)
				call = NULL;
		}
	}
	s->count = kept;
}

static int making_by_begin(const void *a, const void *b)
{
	const struct making_event *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int ct_makings_find(struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;
	struct making_events s = { 0 };
	int rc = 0;

	for (unsigned int i = 0; i < w->slices_count && !rc; i++)
		rc = making_slice(&s, &w->slices[i]);
	if (!rc && s.count) {
		making_extend(&s);
		qsort(s.list, s.count, sizeof(*s.list), making_by_begin);
		p->makings = calloc(s.count, sizeof(*p->makings));
		rc = p->makings ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < s.count && !rc; i++) {
		struct ct_making *last = p->makings_count ? &p->makings[p->makings_count - 1] : NULL;

		if (last && s.list[i].begin <= last->end)
			last->end = s.list[i].end > last->end ? s.list[i].end : last->end;
		else
			p->makings[p->makings_count++] = (struct ct_making){ s.list[i].begin, s.list[i].end };
	}
	free(s.list);
	return rc;
}
