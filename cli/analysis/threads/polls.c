// SPDX-License-Identifier: LGPL-2.1-or-later
/* See polls.h. */
#include "analysis/threads/polls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

struct ct_polls_track {
	uint64_t last;			/* ns: the end of its last call; 0: there was none */
	bool     asks;			/* it asked in vain since it gave the GPU work */
};

static uint64_t polls_key(unsigned int process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

int ct_polls_note(struct ct_polls *polls, const struct ct_phases *phases, const struct ct_trace_event *e)
{
	struct ct_polls_thread *t;
	const struct ct_process_phases *p;
	struct ct_polls_track *track;
	uint64_t last;
	bool begins;

	/* Of calls inside others the outer one counts. */
	if (!e->track->tid || e->track->depth || !ct_class_is(e->class, CT_IS_API))
		return 0;
	if (!ct_room_at(polls->tracks, e->track->index, polls->room))
		return -ENOMEM;
	track = &polls->tracks[e->track->index];
	last = track->last;
	track->last = e->end;
	if (ct_class_is(e->class, CT_IS_WORK))
		track->asks = false;
	if (!ct_record_not_ready(e->record))
		return 0;
	begins = !track->asks;
	track->asks = true;
	p = ct_phases_process(phases, e->track->pid, e->begin);
	if (!p || !ct_stage_is_main(ct_phases_stage(p, e->begin)))
		return 0;
	t = ct_keyed_put(&polls->threads, polls_key(p - phases->processes, e->track->tid));
	if (!t)
		return -ENOMEM;
	t->count++;
	t->waits += begins;
	t->calls += e->timed ? e->duration : 0;
	if (last && e->begin > last && ct_stage_is_main(ct_phases_stage(p, last)))
		t->app += e->begin - last;
	return 0;
}

void ct_polls_free(struct ct_polls *polls)
{
	ct_keyed_free(&polls->threads);
	free(polls->tracks);
}

const struct ct_polls_thread *ct_polls_of(const struct ct_polls *polls, unsigned int process, uint32_t tid)
{
	return ct_keyed_get(&polls->threads, polls_key(process, tid));
}
