// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See launching.h.  Who gives the next work is not known before it comes.  So each thread keeps
 * what the process did if it is the one; when work is given, its sums since the work before count
 * and those of the others are dropped.  At the end of a stage or an iteration the thread with the
 * last record counts.  Memory is bounded by threads, time by the threads of a process that launch.
 */
#include "analysis/threads/launching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* More threads of a process are not compared: the one with the last record has its turn. */
#define LAUNCHING_COMPARED	64u

struct launching_track {
	bool    seen, off;
	uint8_t own;
	int     process;	/* index into the phases' processes, -1: none */
	int     thread;		/* of the process, -1: it gives no work */
};

/* ----------------------------------------------------------------- threads --- */

static int launching_add(struct ct_launching_process *lp, const struct ct_process_phases *p,
			 uint32_t tid, uint64_t since)
{
	struct ct_launching_thread *t;

	if (!lp->stages)
		lp->stages = calloc(CT_STAGE_COUNT, sizeof(*lp->stages));
	if (!lp->stages)
		return -ENOMEM;
	if (!ct_room(lp->threads, lp->count, lp->capacity))
		return -ENOMEM;
	t = &lp->threads[lp->count++];
	*t = (struct ct_launching_thread){
		.tid = tid, .charged = since,
		/* The main thread has been there since its process began. */
		.own = tid == p->pid ? CT_ACCOUNT_APP : CT_ACCOUNT_ABSENT,
	};
	t->would = t->own;
	return 0;
}

static bool launching_in_call(const struct ct_launching_thread *t)
{
	return t->own == CT_ACCOUNT_WAIT || t->own == CT_ACCOUNT_DRIVER || t->own >= CT_ACCOUNT_CALLS;
}

static void launching_charge(struct ct_launching_thread *t, uint64_t now)
{
	if (now <= t->charged)
		return;
	t->done[t->would] += now - t->charged;
	t->charged = now;
}

/* From @now on; what it would until then is charged only where that changes. */
static void launching_would(struct ct_launching_thread *t, unsigned int account, uint64_t now)
{
	if (t->would == account)
		return;
	launching_charge(t, now);
	t->would = account;
}

/* What the process does from @now on, for each thread that the next work may come from. */
static void launching_compare(struct ct_launching_process *lp, uint64_t now)
{
	const struct ct_launching_thread *working = NULL, *waiting = NULL;
	bool app = false, off = false;

	if (lp->count > LAUNCHING_COMPARED) {
		for (unsigned int i = 0; i < lp->count; i++)
			lp->threads[i].would = lp->threads[i].own;
		return;
	}
	for (unsigned int i = 0; i < lp->count; i++) {
		const struct ct_launching_thread *t = &lp->threads[i];

		app |= t->own == CT_ACCOUNT_APP;
		off |= t->own == CT_ACCOUNT_OFF_CPU;
		if (t->own == CT_ACCOUNT_WAIT)
			waiting = !waiting || t->called > waiting->called ? t : waiting;
		else if (launching_in_call(t))
			working = !working || t->called > working->called ? t : working;
	}
	for (unsigned int i = 0; i < lp->count; i++) {
		struct ct_launching_thread *t = &lp->threads[i];
		unsigned int would = t->own;

		if (launching_in_call(t))
			;
		else if (working && working->called > t->last)
			would = working->own;
		else if (waiting && waiting->called > t->last)
			would = CT_ACCOUNT_WAIT;
		else if (t->own != CT_ACCOUNT_APP && app)
			would = CT_ACCOUNT_APP;
		else if (t->own == CT_ACCOUNT_ABSENT && off)
			would = CT_ACCOUNT_OFF_CPU;
		launching_would(t, would, now);
	}
}

/* ------------------------------------------------------------------- turns --- */

/* The turn of thread @index ends: it was its since the last one ended. */
static void launching_settle(struct ct_launching_process *lp, const struct ct_process_phases *p,
			     unsigned int index, uint64_t now)
{
	struct ct_launching_thread *t = &lp->threads[index];
	unsigned int stage = p->stages[lp->stage < p->stages_count ? lp->stage : p->stages_count - 1].stage;
	struct ct_iteration_account *in = NULL;

	if (now <= lp->settled)
		return;
	if (lp->iteration < p->iterations_count && lp->settled >= p->iterations[lp->iteration].begin)
		in = &lp->iterations[lp->iteration];
	t->turn[stage] += now - lp->settled;
	if (lp->count > LAUNCHING_COMPARED) {
		lp->stages[stage].ns[t->own == CT_ACCOUNT_ABSENT ? CT_ACCOUNT_APP : t->own] += now - lp->settled;
		if (in)
			ct_account_iteration(in, t->own, now - lp->settled);
		lp->settled = now;
		return;
	}
	for (unsigned int i = 0; i < lp->count; i++)
		launching_charge(&lp->threads[i], now);
	for (unsigned int i = 0; i < CT_ACCOUNT_COUNT; i++) {
		uint64_t ns = t->done[i] - t->settled[i];

		if (!ns)
			continue;
		lp->stages[stage].ns[i == CT_ACCOUNT_ABSENT ? CT_ACCOUNT_APP : i] += ns;
		if (in)
			ct_account_iteration(in, i, ns);
	}
	for (unsigned int i = 0; i < lp->count; i++)
		memcpy(lp->threads[i].settled, lp->threads[i].done, sizeof(lp->threads[i].done));
	lp->settled = now;
}

/* Until when the stage and the iteration of lp->settled last. */
static void launching_bound(struct ct_launching_process *lp, const struct ct_process_phases *p)
{
	while (lp->stage + 1 < p->stages_count && p->stages[lp->stage].end <= lp->settled)
		lp->stage++;
	while (lp->iteration < p->iterations_count && p->iterations[lp->iteration].end <= lp->settled)
		lp->iteration++;
	lp->bound = p->stages[lp->stage].end > lp->settled ? p->stages[lp->stage].end : UINT64_MAX;
	if (lp->iteration < p->iterations_count) {
		const struct ct_iteration *i = &p->iterations[lp->iteration];
		uint64_t next = i->begin > lp->settled ? i->begin : i->end;

		lp->bound = next < lp->bound ? next : lp->bound;
	}
}

/* Everything until @now belongs to the stage and iteration that it is in. */
static void launching_advance(struct ct_launching_process *lp, const struct ct_process_phases *p, uint64_t now)
{
	while (lp->bound <= now) {
		uint64_t bound = lp->bound;

		launching_settle(lp, p, lp->latest, bound);
		lp->settled = bound;
		launching_bound(lp, p);
	}
}

/* ------------------------------------------------------------------ events --- */

/* Once for each process: its threads as far as the phases know them. */
static int launching_process(struct ct_analysis *a, unsigned int index)
{
	struct ct_launching *l = a->state;
	struct ct_launching_process *lp = &l->processes[index];
	const struct ct_process_phases *p = &a->phases->processes[index];

	if (lp->bound)
		return 0;
	for (uint32_t i = 0; i < p->launching_count; i++)
		if (launching_add(lp, p, p->launching[i], p->begin))
			return -ENOMEM;
	for (unsigned int i = 0; i < lp->count; i++)
		if (lp->threads[i].tid == p->pid)
			lp->latest = i;
	lp->settled = p->begin;
	launching_bound(lp, p);
	return 0;
}

static int launching_thread(const struct ct_launching_process *lp, uint32_t tid)
{
	for (unsigned int i = 0; i < lp->count; i++)
		if (lp->threads[i].tid == tid)
			return i;
	return -1;
}

static int launching_find(struct ct_analysis *a, struct launching_track *t, const struct ct_track *track, uint64_t now)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, track->pid, now);
	struct ct_launching *l = a->state;

	*t = (struct launching_track){ .seen = true, .process = -1, .thread = -1 };
	if (!p || !p->stages_count)
		return 0;
	t->process = p - a->phases->processes;
	if (launching_process(a, t->process))
		return -ENOMEM;
	t->thread = launching_thread(&l->processes[t->process], track->tid);
	return 0;
}

static struct launching_track *launching_track(struct ct_launching *l, unsigned int index)
{
	return ct_room_at(l->tracks, index, l->tracks_count) ? &l->tracks[index] : NULL;
}

static int launching_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	bool gives = ct_class_is(e->class, CT_IS_WORK) && e->kind != CT_ON_END;
	struct ct_launching *l = a->state;
	const struct ct_process_phases *p;
	struct ct_launching_process *lp;
	struct ct_launching_thread *thread;
	struct launching_track *t;
	bool called;

	if (!e->track->tid)
		return 0;
	t = launching_track(l, e->track->index);
	if (!t)
		return -ENOMEM;
	/* After its process ended a pid, and a tid, may be another one's. */
	if ((!t->seen || (t->process >= 0 && now > a->phases->processes[t->process].end)) &&
	    launching_find(a, t, e->track, now))
		return -ENOMEM;
	t->own = ct_account_after(e, &t->off);
	if (t->process < 0)
		return 0;
	p = &a->phases->processes[t->process];
	lp = &l->processes[t->process];
	if (t->thread < 0 && gives) {
		if (launching_add(lp, p, e->track->tid, lp->count ? now : p->begin))
			return -ENOMEM;
		t->thread = lp->count - 1;
	}
	if (t->thread < 0)
		return 0;
	launching_advance(lp, p, now);
	thread = &lp->threads[t->thread];
	thread->track = e->track;
	if (lp->count > LAUNCHING_COMPARED)
		launching_settle(lp, p, lp->latest, now);
	if (lp->count == 1 || lp->count > LAUNCHING_COMPARED)
		launching_charge(thread, now);
	else if (gives)
		launching_settle(lp, p, t->thread, now);
	called = launching_in_call(thread);
	thread->own = t->own;
	if (lp->count == 1)
		thread->would = t->own;
	if (!called && launching_in_call(thread))
		thread->called = now;
	thread->last = now > thread->last ? now : thread->last;
	lp->latest = t->thread;
	if (lp->count > 1)
		launching_compare(lp, now);
	return 0;
}

unsigned int ct_launching_account(const struct ct_launching *l, const struct ct_track *track)
{
	return track->index < l->tracks_count ? l->tracks[track->index].own : CT_ACCOUNT_APP;
}

const struct ct_launching_process *ct_launching_several(const struct ct_launching *l, const struct ct_track *track)
{
	const struct launching_track *t = track->index < l->tracks_count ? &l->tracks[track->index] : NULL;
	const struct ct_launching_process *lp;

	if (!t || !t->seen || t->process < 0 || t->thread < 0)
		return NULL;
	lp = &l->processes[t->process];
	return lp->count > 1 && lp->count <= LAUNCHING_COMPARED ? lp : NULL;
}

/* -------------------------------------------------------------- begin, end --- */

static int launching_begin(struct ct_analysis *a)
{
	struct ct_launching *l = a->state;
	unsigned int count = a->phases->processes_count;

	l->processes = calloc(count + 1, sizeof(*l->processes));
	if (!l->processes)
		return -ENOMEM;
	l->processes_count = count;
	for (unsigned int i = 0; i < count; i++) {
		l->processes[i].iterations = calloc(a->phases->processes[i].iterations_count + 1,
						    sizeof(*l->processes[i].iterations));
		if (!l->processes[i].iterations)
			return -ENOMEM;
	}
	return 0;
}

static int launching_end(struct ct_analysis *a)
{
	struct ct_launching *l = a->state;

	for (unsigned int i = 0; i < l->processes_count; i++) {
		const struct ct_process_phases *p = &a->phases->processes[i];
		struct ct_launching_process *lp = &l->processes[i];

		if (!lp->count)
			continue;
		launching_advance(lp, p, p->end);
		launching_settle(lp, p, lp->latest, p->end);
	}
	return 0;
}

static void launching_free(struct ct_analysis *a)
{
	struct ct_launching *l = a->state;

	for (unsigned int i = 0; l->processes && i < l->processes_count; i++) {
		free(l->processes[i].threads);
		free(l->processes[i].stages);
		free(l->processes[i].iterations);
	}
	free(l->processes);
	free(l->tracks);
}

const struct ct_analyser ct_launching_analyser = {
	/* Until when a call that never returned lasted is not known: the next record ends it. */
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_launching),
	.begin = launching_begin,
	.event = launching_event,
	.end = launching_end,
	.free = launching_free,
};
