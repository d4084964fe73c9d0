// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See launching.h.  Who gives the next work is not known before it comes.  So each change of what a
 * thread does is kept until then, and gone through backwards for the thread that gives it: once, and once more for each
 * end of a stage or an iteration since.
 */
#include "analysis/threads/launching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Of a process.  Where there are more before the next work, they are summed up for each thread. */
#define LAUNCHING_CHANGES	(1u << 13)

/* What all threads of a process do at a moment. */
struct launching_all {
	uint64_t working, waiting;	/* ns: the latest call and the latest wait began; 0: there is none */
	uint8_t  account;		/* of .working */
	bool     app, off;		/* does any of them do that? */
};

/* A thread began to do something else. */
struct launching_change {
	uint64_t at;		/* ns */
	struct launching_all before;
	struct ct_launching_doing was;
	uint32_t who;		/* index of the thread */
};

/* Each thread is in one of three lists, the latest call first. */
enum { LIST_IDLE = CT_LAUNCHING_COMPARED, LIST_WORKING, LIST_WAITING, LISTS_END };

/* Where several threads launch. */
struct ct_launching_order {
	struct launching_all now;
	uint8_t next[LISTS_END], previous[LISTS_END];
	uint8_t threads[CT_ACCOUNT_COUNT];	/* how many do that */
	struct launching_change *changes;	/* since the sums */
	unsigned int changes_count, changes_room;
};

/* ----------------------------------------------------------------- threads --- */

static bool launching_in_call(unsigned int own)
{
	return own == CT_ACCOUNT_WAIT || own == CT_ACCOUNT_DRIVER || own >= CT_ACCOUNT_CALLS;
}

static void launching_link(struct ct_launching_order *o, const struct ct_launching_doing *doing, unsigned int who)
{
	unsigned int own = doing[who].own, list, at, next;

	list = !launching_in_call(own) ? LIST_IDLE : own == CT_ACCOUNT_WAIT ? LIST_WAITING : LIST_WORKING;
	/* Only one that calls something else inside its call is not the first.  At one ns the first thread is. */
	for (at = list; list != LIST_IDLE && (next = o->next[at]) != list; at = next)
		if (doing[who].called > doing[next].called || (doing[who].called == doing[next].called && who < next))
			break;
	next = o->next[at];
	o->next[at] = o->previous[next] = who;
	o->next[who] = next;
	o->previous[who] = at;
	o->threads[own]++;
}

static void launching_unlink(struct ct_launching_order *o, const struct ct_launching_doing *doing, unsigned int who)
{
	o->next[o->previous[who]] = o->next[who];
	o->previous[o->next[who]] = o->previous[who];
	o->threads[doing[who].own]--;
}

/* The ends of the lists call nothing, at 0. */
static void launching_note(struct ct_launching_order *o, const struct ct_launching_doing *doing)
{
	const struct ct_launching_doing *working = &doing[o->next[LIST_WORKING]];

	o->now.working = working->called;
	o->now.account = working->own;
	o->now.waiting = doing[o->next[LIST_WAITING]].called;
	o->now.app = o->threads[CT_ACCOUNT_APP];
	o->now.off = o->threads[CT_ACCOUNT_OFF_CPU];
}

/* The second thread. */
static int launching_begin_order(struct ct_launching_process *lp)
{
	struct ct_launching_order *o = calloc(1, sizeof(*o));

	lp->order = o;
	if (!o)
		return -ENOMEM;
	for (unsigned int list = LIST_IDLE; list < LISTS_END; list++)
		o->next[list] = o->previous[list] = list;
	launching_link(o, lp->doing, 0);
	return 0;
}

static int launching_add(struct ct_launching_process *lp, uint32_t tid)
{
	/* The main thread has been there since its process began. */
	unsigned int own = tid == lp->phases->pid ? CT_ACCOUNT_APP : CT_ACCOUNT_ABSENT, index = lp->count;

	if (!lp->stages) {
		lp->stages = calloc(CT_STAGE_COUNT, sizeof(*lp->stages));
		lp->doing = calloc(LISTS_END, sizeof(*lp->doing));
	}
	if (!lp->stages || !lp->doing || !ct_room(lp->threads, lp->count, lp->room) ||
	    (index == 1 && launching_begin_order(lp)))
		return -ENOMEM;
	lp->threads[lp->count] = (struct ct_launching_thread){ .tid = tid };
	lp->threads[lp->count++].sums[own] = lp->summed_up - lp->settled;
	if (index >= CT_LAUNCHING_COMPARED)
		return 0;
	lp->doing[index].own = own;
	if (index) {
		launching_link(lp->order, lp->doing, index);
		launching_note(lp->order, lp->doing);
	}
	return 0;
}

/* What the process does, if the next work comes from the thread of @d. */
static unsigned int launching_would(const struct launching_all *all, const struct ct_launching_doing *d)
{
	if (launching_in_call(d->own))
		return d->own;
	if (d->busy)
		return d->own == CT_ACCOUNT_OFF_CPU && !all->app ? CT_ACCOUNT_OFF_CPU : CT_ACCOUNT_APP;
	if (all->working > (d->waits ? 0 : d->last))
		return all->account;
	if (all->waiting > (d->waits ? 0 : d->last))
		return CT_ACCOUNT_WAIT;
	if (all->app)
		return CT_ACCOUNT_APP;
	return d->own == CT_ACCOUNT_ABSENT && all->off ? CT_ACCOUNT_OFF_CPU : d->own;
}

/* Adds what the process would have done from lp->summed_up until @to, which is not after @now, to the sums of a thread. */
static void launching_sum(struct ct_launching_process *lp, unsigned int index, uint64_t to, uint64_t now)
{
	const struct ct_launching_order *o = lp->order;
	struct ct_launching_doing doing = lp->doing[index];
	const struct launching_all *all = &o->now;
	uint64_t *sums = lp->threads[index].sums;
	unsigned int i = o->changes_count;

	for (;;) {
		uint64_t from = i && o->changes[i - 1].at > lp->summed_up ? o->changes[i - 1].at : lp->summed_up;
		uint64_t until = now < to ? now : to;

		if (from < until)
			sums[launching_would(all, &doing)] += until - from;
		if (!i-- || o->changes[i].at <= lp->summed_up)
			return;
		now = o->changes[i].at;
		all = &o->changes[i].before;
		if (o->changes[i].who == index)
			doing = o->changes[i].was;
	}
}

static void launching_set(struct ct_launching_doing *d, unsigned int own, uint64_t now)
{
	if (!launching_in_call(d->own) && launching_in_call(own))
		d->called = now;
	d->own = own;
	d->last = now > d->last ? now : d->last;
	d->waits = d->busy = false;
}

/* ------------------------------------------------------------------- turns --- */

/* The turn of thread @index ends at @to: it was its since the last one ended.  Until @now it is known what each thread did. */
static void launching_settle(struct ct_launching_process *lp, unsigned int index, uint64_t to, uint64_t now)
{
	const struct ct_process_phases *p = lp->phases;
	struct ct_launching_thread *t = &lp->threads[index];
	unsigned int stage = p->stages[lp->stage < p->stages_count ? lp->stage : p->stages_count - 1].stage;
	struct ct_iteration_account *in = NULL;

	if (to <= lp->settled)
		return;
	if (lp->iteration < p->iterations_count && lp->settled >= p->iterations[lp->iteration].begin)
		in = &lp->iterations[lp->iteration];
	t->turn[stage] += to - lp->settled;
	if (lp->count > CT_LAUNCHING_COMPARED) {
		memset(t->sums, 0, sizeof(t->sums));
		t->sums[lp->own] = to - lp->settled;
	} else if (lp->count > 1) {
		launching_sum(lp, index, to, now);
		lp->order->changes_count = to == now ? 0 : lp->order->changes_count;
	} else {
		t->sums[lp->doing->own] += to - lp->summed_up;
	}
	for (unsigned int i = 0; i < CT_ACCOUNT_COUNT; i++) {
		if (!t->sums[i])
			continue;
		lp->stages[stage].ns[i == CT_ACCOUNT_ABSENT ? CT_ACCOUNT_APP : i] += t->sums[i];
		if (in)
			ct_account_iteration(in, i, t->sums[i]);
		t->sums[i] = 0;
	}
	for (unsigned int i = 0; i < lp->count && lp->summed_up > lp->settled; i++)
		memset(lp->threads[i].sums, 0, sizeof(lp->threads[i].sums));
	lp->summed_up = lp->settled = to;
}

/* Until when the stage and the iteration of lp->settled last. */
static void launching_bound(struct ct_launching_process *lp)
{
	const struct ct_process_phases *p = lp->phases;

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

/* The stages and iterations that end until @now: the turn at their ends is that of thread @index. */
static void launching_advance(struct ct_launching_process *lp, unsigned int index, uint64_t now)
{
	while (lp->bound <= now) {
		launching_settle(lp, index, lp->bound, now);
		lp->summed_up = lp->settled = lp->bound;
		launching_bound(lp);
	}
}

/* ----------------------------------------------------------------- changes --- */

/* Room for one more change, at @now. */
static int launching_room(struct ct_launching_process *lp, uint64_t now)
{
	struct ct_launching_order *o = lp->order;

	if (o->changes_count == LAUNCHING_CHANGES) {
		/* What ends meanwhile can't wait for the next work. */
		launching_advance(lp, lp->latest, now);
		for (unsigned int i = 0; i < lp->count; i++)
			launching_sum(lp, i, now, now);
		o->changes_count = 0;
		lp->summed_up = now;
	}
	return ct_room(o->changes, o->changes_count, o->changes_room) ? 0 : -ENOMEM;
}

/* Notes what thread @index did until @now.  Inline: nearly each record of several threads comes here. */
static inline int launching_note_change(struct ct_launching_process *lp, unsigned int index, uint64_t now)
{
	struct ct_launching_order *o = lp->order;

	if ((o->changes_count == o->changes_room || o->changes_count == LAUNCHING_CHANGES) && launching_room(lp, now))
		return -ENOMEM;
	o->changes[o->changes_count++] = (struct launching_change){ now, o->now, lp->doing[index], index };
	return 0;
}

/* One of several threads does @own from @now on. */
static int launching_change(struct ct_launching_process *lp, unsigned int index, unsigned int own, uint64_t now)
{
	struct ct_launching_doing *d = &lp->doing[index];
	struct ct_launching_order *o = lp->order;

	/* When it made its last record only matters where it is in no call. */
	if (own == d->own && launching_in_call(own)) {
		launching_set(d, own, now);
		return 0;
	}
	if (launching_note_change(lp, index, now))
		return -ENOMEM;
	launching_unlink(o, lp->doing, index);
	launching_set(d, own, now);
	launching_link(o, lp->doing, index);
	launching_note(o, lp->doing);
	return 0;
}

/* ------------------------------------------------------------------ events --- */

/* Once for each process: its threads as far as the phases know them. */
static int launching_process(struct ct_launching_process *lp, const struct ct_process_phases *p)
{
	if (lp->phases)
		return 0;
	lp->phases = p;
	lp->settled = lp->summed_up = p->begin;
	for (uint32_t i = 0; i < p->launching_count; i++)
		if (launching_add(lp, p->launching[i]))
			return -ENOMEM;
	for (unsigned int i = 0; i < lp->count; i++)
		if (lp->threads[i].tid == p->pid)
			lp->latest = lp->gave = i;
	launching_bound(lp);
	return 0;
}

static int launching_thread(const struct ct_launching_process *lp, uint32_t tid)
{
	for (unsigned int i = 0; i < lp->count; i++)
		if (lp->threads[i].tid == tid)
			return i;
	return -1;
}

/* A track is new, or its process has ended: its pid, and its tid, may be another one's. */
static int launching_find(struct ct_analysis *a, struct ct_launching_track *t, const struct ct_track *track,
			  uint64_t now)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, track->pid, now);
	struct ct_launching *l = a->state;

	*t = (struct ct_launching_track){ .until = UINT64_MAX, .thread = -1 };
	if (!p || !p->stages_count)
		return 0;
	t->until = p->end;
	t->process = &l->processes[p - a->phases->processes];
	if (launching_process(t->process, p))
		return -ENOMEM;
	t->thread = launching_thread(t->process, track->tid);
	return 0;
}

static int launching_turn(struct ct_launching_process *lp, struct ct_launching_track *t,
			  const struct ct_trace_event *e, uint64_t now)
{
	bool gives = ct_class_is(e->class, CT_IS_WORK) && e->kind != CT_ON_END;
	int rc = 0;

	if (t->thread < 0 && gives) {
		if (launching_add(lp, e->track->tid))
			return -ENOMEM;
		t->thread = lp->count - 1;
	}
	if (t->thread < 0)
		return 0;
	now = now > lp->summed_up ? now : lp->summed_up;
	lp->threads[t->thread].track = e->track;
	if (lp->count == 1) {
		/* Whatever comes next, it gives the next work. */
		launching_advance(lp, 0, now);
		lp->threads->sums[lp->doing->own] += now - lp->summed_up;
		lp->summed_up = now;
		launching_set(lp->doing, t->own, now);
	} else if (lp->count <= CT_LAUNCHING_COMPARED) {
		if (gives) {
			launching_advance(lp, t->thread, now);
			launching_settle(lp, t->thread, now, now);
			lp->gave = t->thread;
		}
		rc = launching_change(lp, t->thread, t->own, now);
	} else {
		launching_advance(lp, lp->latest, now);
		launching_settle(lp, lp->latest, now, now);
	}
	lp->latest = t->thread;
	lp->own = t->own;
	return rc;
}

/* What a sample says of a thread that is between its calls. */
static int launching_sample(struct ct_launching_process *lp, const struct ct_launching_track *t, const struct ct_trace_event *e)
{
	uint64_t state = ct_record_known(e->record, CT_KNOWN_STATE);
	bool gil = state == CT_SAMPLE_GIL && launching_thread(lp, ct_record_known(e->record, CT_KNOWN_HOLDER_TID)) >= 0;
	bool waits = state == CT_SAMPLE_LOCK || gil, busy = !waits && state != CT_SAMPLE_UNKNOWN;
	uint64_t now = e->begin > lp->summed_up ? e->begin : lp->summed_up;
	struct ct_launching_doing *d;

	if (t->thread < 0 || lp->count < 2 || lp->count > CT_LAUNCHING_COMPARED)
		return 0;
	d = &lp->doing[t->thread];
	if (d->waits == waits && d->busy == busy)
		return 0;
	if (launching_note_change(lp, t->thread, now))
		return -ENOMEM;
	d->waits = waits;
	d->busy = busy;
	return 0;
}

static int launching_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	struct ct_launching *l = a->state;
	struct ct_launching_track *t;

	if (!e->track->tid)
		return 0;
	if (!ct_room_at(l->tracks, e->track->index, l->tracks_count))
		return -ENOMEM;
	t = &l->tracks[e->track->index];
	if (now > t->until && launching_find(a, t, e->track, now))
		return -ENOMEM;
	if (ct_class_is_sample(e->class))
		return t->process ? launching_sample(t->process, t, e) : 0;
	t->own = ct_account_after(e, &t->off);
	return t->process ? launching_turn(t->process, t, e, now) : 0;
}

const struct ct_launching_process *ct_launching_several(const struct ct_launching *l, const struct ct_track *track)
{
	const struct ct_launching_track *t = track->index < l->tracks_count ? &l->tracks[track->index] : NULL;

	if (!t || !t->process || t->thread < 0)
		return NULL;
	return t->process->count > 1 && t->process->count <= CT_LAUNCHING_COMPARED ? t->process : NULL;
}

void ct_launching_would(const struct ct_launching_process *lp, uint8_t *accounts)
{
	for (unsigned int i = 0; i < lp->count; i++)
		accounts[i] = launching_would(&lp->order->now, &lp->doing[i]);
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
		struct ct_launching_process *lp = &l->processes[i];

		unsigned int last = lp->count > CT_LAUNCHING_COMPARED ? lp->latest : lp->gave;

		if (!lp->count)
			continue;
		launching_advance(lp, last, lp->phases->end);
		launching_settle(lp, last, lp->phases->end, lp->phases->end);
	}
	return 0;
}

static void launching_free(struct ct_analysis *a)
{
	struct ct_launching *l = a->state;

	for (unsigned int i = 0; l->processes && i < l->processes_count; i++) {
		free(l->processes[i].threads);
		free(l->processes[i].doing);
		if (l->processes[i].order)
			free(l->processes[i].order->changes);
		free(l->processes[i].order);
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
	.samples = true,
	.state_size = sizeof(struct ct_launching),
	.begin = launching_begin,
	.event = launching_event,
	.end = launching_end,
	.free = launching_free,
};
