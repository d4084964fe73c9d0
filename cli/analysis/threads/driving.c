// SPDX-License-Identifier: LGPL-2.1-or-later
/* See driving.h.  Memory is bounded by threads. */
#include "analysis/threads/driving.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/stacks/stacks.h"

/* What a thread may do, the least telling first: the highest one is what the others wait for. */
enum driving_does {
	DOES_LOCK,		/* it waits for another thread */
	DOES_GPU,		/* it waits for the GPU */
	DOES_OUTSIDE,		/* until a time, or for what is outside the process */
	DOES_SYSTEM,		/* in the kernel for itself: files, devices */
	DOES_GIL,		/* it waits for Python's lock */
	DOES_RUN,
	DOES_CALL,		/* of CUDA, no wait */
};

struct driving_thread {
	bool gives;		/* it has given the GPU work */
	/* Its sample of this round: the time, what it did, where. */
	uint64_t at;
	uint8_t does;
	uint32_t where;
	/* Its last sample of a round that is over. */
	uint64_t before;
	bool waited;
	uint32_t instead;
};

/* The threads that have a sample in this round, by their tracks' index. */
struct driving_process {
	uint64_t pid;
	unsigned int *round;
	unsigned int count, room;
};

static const uint8_t driving_states[CT_SAMPLE_STATES] = {
	[CT_SAMPLE_UNKNOWN] = DOES_SYSTEM, [CT_SAMPLE_RUNNING] = DOES_RUN, [CT_SAMPLE_SLEEP] = DOES_OUTSIDE,
	[CT_SAMPLE_LOCK] = DOES_LOCK, [CT_SAMPLE_FILE] = DOES_SYSTEM, [CT_SAMPLE_SOCKET] = DOES_OUTSIDE,
	[CT_SAMPLE_PIPE] = DOES_OUTSIDE, [CT_SAMPLE_CHILD] = DOES_OUTSIDE, [CT_SAMPLE_POLL] = DOES_OUTSIDE,
	[CT_SAMPLE_DEVICE] = DOES_SYSTEM, [CT_SAMPLE_OTHER] = DOES_SYSTEM,
	[CT_SAMPLE_GIL] = DOES_GIL,
};

bool ct_driving_waited(const struct ct_driving *d, const struct ct_track *track, uint64_t at, uint32_t *instead)
{
	const struct driving_thread *t = track->index < d->threads_count ? &d->threads[track->index] : NULL;

	if (!t || t->before != at || !t->waited)
		return false;
	*instead = t->instead;
	return true;
}

/*
 * Whether t tells more of what the process does.  Where all wait for a lock, that is where the program's own code waits: threads of
 * a pool without Python code, whose samples have no stack, wait for something to do.
 */
static bool driving_tells_more(const struct driving_thread *t, const struct driving_thread *than)
{
	return !than || t->does > than->does || (t->does == than->does && t->where && !than->where);
}

/* Every thread of the process has had its sample: what the others wait for is known. */
static void driving_close(struct ct_driving *d, struct driving_process *p)
{
	const struct driving_thread *most = NULL;

	for (unsigned int i = 0; i < p->count; i++) {
		const struct driving_thread *t = &d->threads[p->round[i]];

		if (t->gives && driving_tells_more(t, most))
			most = t;
	}
	for (unsigned int i = 0; i < p->count; i++) {
		struct driving_thread *t = &d->threads[p->round[i]];

		t->waited = (t->does == DOES_LOCK || t->does == DOES_GIL) && most && driving_tells_more(most, t);
		t->instead = t->waited ? most->where : 0;
		t->before = t->at;
		t->at = 0;
	}
	p->count = 0;
}

static int driving_sample(struct ct_driving *d, const struct ct_trace_event *e, struct driving_thread *t)
{
	struct driving_process *p = ct_keyed_put(&d->processes, e->track->pid);
	const struct ct_frame *call = ct_track_call(e->track);
	uint64_t state = ct_record_known(e->record, CT_KNOWN_STATE);

	if (!p)
		return -ENOMEM;
	if (t->at)
		driving_close(d, p);
	if (!ct_room(p->round, p->count, p->room))
		return -ENOMEM;
	p->round[p->count++] = e->track->index;
	t->at = e->begin;
	t->where = call ? call->stack : ct_sample_counts(e->record, e->point->stack);
	if (call)
		t->does = ct_class_is(call->class, CT_IS_WAIT) ? DOES_GPU : DOES_CALL;
	else
		t->does = state < CT_SAMPLE_STATES ? driving_states[state] : DOES_SYSTEM;
	return 0;
}

static int driving_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_driving *d = a->state;
	struct driving_thread *t;

	if (!d->sampled || !e->track->tid)
		return 0;
	if (!ct_room_at(d->threads, e->track->index, d->threads_count))
		return -ENOMEM;
	t = &d->threads[e->track->index];
	if (ct_class_is_sample(e->class))
		return driving_sample(d, e, t);
	t->gives = true;
	return 0;
}

static bool driving_wants(const struct ct_class *class)
{
	return ct_class_is_sample(class) || ct_class_is(class, CT_IS_WORK);
}

static int driving_begin(struct ct_analysis *a)
{
	((struct ct_driving *)a->state)->sampled = ct_registry_info(&a->trace->reg, "samples") != NULL;
	return 0;
}

static int driving_end(struct ct_analysis *a)
{
	struct ct_driving *d = a->state;

	for (size_t i = 0; i < d->processes.count; i++)
		driving_close(d, &d->processes.list[i]);
	return 0;
}

static void driving_free(struct ct_analysis *a)
{
	struct ct_driving *d = a->state;

	for (size_t i = 0; i < d->processes.count; i++)
		free(d->processes.list[i].round);
	ct_keyed_free(&d->processes);
	free(d->threads);
}

const struct ct_analyser ct_driving_analyser = {
	.on = CT_ON_BEGIN | CT_ON_INSTANT,
	.wants = driving_wants,
	.samples = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_driving),
	.begin = driving_begin,
	.event = driving_event,
	.end = driving_end,
	.free = driving_free,
};
