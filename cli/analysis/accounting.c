// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See accounting.h.  At each event of a thread, the time since the event before is charged to
 * what the thread was doing; where a stage or an iteration ends in between, it is divided.
 * Memory is bounded by threads and iterations.
 */
#include "analysis/accounting.h"

#include <errno.h>
#include <stdlib.h>

struct ct_account_state {
	uint64_t last;			/* ns: everything before it is charged */
	uint8_t  account;		/* what the thread has been doing since then */
	bool     off;			/* it is off the CPU */
	unsigned int stage;		/* index into the process's stages, of last */
	uint32_t iteration;		/* the first that ends after last */
};

const char *ct_account_word(unsigned int account)
{
	static const char *const words[CT_ACCOUNT_CALLS] = {
		[CT_ACCOUNT_APP] = "application",
		[CT_ACCOUNT_WAIT] = "waiting",
		[CT_ACCOUNT_OFF_CPU] = "off the CPU",
		[CT_ACCOUNT_DRIVER] = "kernel driver",
		[CT_ACCOUNT_ABSENT] = "absent",
	};

	if (account < CT_ACCOUNT_CALLS)
		return words[account];
	account -= CT_ACCOUNT_CALLS;
	return account == CT_CAT_OTHER ? "other calls" : ct_category_word[account];
}

/* ---------------------------------------------------------------- charging --- */

static void account_iteration(struct ct_iteration_account *i, unsigned int account, uint64_t ns)
{
	switch (account) {
	case CT_ACCOUNT_APP: case CT_ACCOUNT_ABSENT:
		i->app += ns;
		break;
	case CT_ACCOUNT_WAIT:
		i->wait += ns;
		break;
	case CT_ACCOUNT_OFF_CPU:
		i->off_cpu += ns;
		break;
	case CT_ACCOUNT_DRIVER:
		i->driver += ns;
		break;
	default:
		i->calls += ns;
	}
}

static void account_charge_iterations(struct ct_accounting *acc, struct ct_account_state *s,
				      const struct ct_thread_account *t,
				      const struct ct_process_phases *p, unsigned int account,
				      uint64_t from, uint64_t to)
{
	struct ct_iteration_account *all = acc->processes[t->process].iterations;

	while (s->iteration < p->iterations_count) {
		const struct ct_iteration *i = &p->iterations[s->iteration];
		uint64_t begin = i->begin > from ? i->begin : from;
		uint64_t end = i->end < to ? i->end : to;

		if (begin < end)
			account_iteration(&all[s->iteration], account, end - begin);
		if (i->end > to)
			break;
		s->iteration++;
	}
}

/* Charges the time from s->last to @to. */
static void account_charge(struct ct_analysis *a, struct ct_account_state *s,
			   struct ct_thread_account *t, uint64_t to)
{
	struct ct_accounting *acc = a->state;
	const struct ct_process_phases *p;
	uint64_t at = s->last;

	if (t->process < 0 || to <= at)
		return;
	p = &a->phases->processes[t->process];
	if (t->tid == p->tid && p->iterations_count)
		account_charge_iterations(acc, s, t, p, s->account, at, to);
	while (at < to && s->stage < p->stages_count) {
		const struct ct_stage_span *span = &p->stages[s->stage];
		uint64_t begin = span->begin > at ? span->begin : at;
		uint64_t end = span->end < to ? span->end : to;

		if (begin < end)
			t->stages[span->stage].ns[s->account] += end - begin;
		at = end > at ? end : at;
		if (span->end > to)
			break;
		s->stage++;
	}
	s->last = to;
}

/* What a thread does, by its open calls. */
static unsigned int account_of(const struct ct_track *track, bool off)
{
	const struct ct_frame *top = track->depth ? &track->frames[track->depth - 1] : NULL;

	if (track->nested[CT_CAT_SYNC])
		return CT_ACCOUNT_WAIT;
	if (off)
		return CT_ACCOUNT_OFF_CPU;
	if (!top)
		return CT_ACCOUNT_APP;
	if (top->class->layer != CT_LAYER_USER || top->category == CT_CAT_IOCTL ||
	    top->category == CT_CAT_SYSCALL)
		return CT_ACCOUNT_DRIVER;
	return CT_ACCOUNT_CALLS + top->category;
}

/* The same once @e has begun. */
static unsigned int account_inside(const struct ct_track *track, const struct ct_trace_event *e)
{
	if (track->nested[CT_CAT_SYNC] || e->category == CT_CAT_SYNC)
		return CT_ACCOUNT_WAIT;
	if (e->kernel || e->category == CT_CAT_IOCTL || e->category == CT_CAT_SYSCALL)
		return CT_ACCOUNT_DRIVER;
	return CT_ACCOUNT_CALLS + e->category;
}

/* ------------------------------------------------------------------ threads --- */

static int account_find_process(const struct ct_phases *phases, uint32_t pid, uint64_t ts)
{
	const struct ct_process_phases *p = ct_phases_process(phases, pid, ts);

	return p && p->stages_count ? p - phases->processes : -1;
}

static int account_grow(struct ct_accounting *acc, unsigned int index)
{
	unsigned int capacity = acc->capacity ? acc->capacity : 16;
	struct ct_account_state *states;
	struct ct_thread_account **threads;

	if (index < acc->capacity)
		return 0;
	while (capacity <= index)
		capacity *= 2;
	states = realloc(acc->states, capacity * sizeof(*states));
	if (states)
		acc->states = states;
	threads = realloc(acc->threads, capacity * sizeof(*threads));
	if (threads)
		acc->threads = threads;
	if (!states || !threads)
		return -ENOMEM;
	for (unsigned int i = acc->capacity; i < capacity; i++) {
		states[i] = (struct ct_account_state){ 0 };
		threads[i] = NULL;
	}
	acc->capacity = capacity;
	return 0;
}

static struct ct_thread_account *account_thread(struct ct_analysis *a, const struct ct_track *track,
						uint64_t ts)
{
	struct ct_accounting *acc = a->state;
	struct ct_thread_account *t;
	struct ct_account_state *s;

	if (track->index < acc->capacity && acc->threads[track->index])
		return acc->threads[track->index];
	if (account_grow(acc, track->index))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->pid = track->pid;
	t->tid = track->tid;
	t->first = ts;
	t->process = account_find_process(a->phases, t->pid, ts);
	acc->threads[track->index] = t;
	if (track->index >= acc->threads_count)
		acc->threads_count = track->index + 1;
	s = &acc->states[track->index];
	/* The main thread has been there since its process began. */
	s->account = t->tid == t->pid ? CT_ACCOUNT_APP : CT_ACCOUNT_ABSENT;
	s->last = t->process < 0 ? ts : a->phases->processes[t->process].begin;
	return t;
}

/* Counts a call in the stage and the iteration in which it begins, which are those of now. */
static void account_count(struct ct_analysis *a, const struct ct_account_state *s,
			  struct ct_thread_account *t, const struct ct_trace_event *e)
{
	struct ct_accounting *acc = a->state;
	bool launch = (e->class->category == CT_CAT_KERNEL || e->class->category == CT_CAT_GRAPH) &&
		      e->class->op == CT_OP_LAUNCH;
	bool submit = e->class->category == CT_CAT_TRANSFER &&
		      (e->class->op == CT_OP_COPY || e->class->op == CT_OP_SET);
	const struct ct_process_phases *p;

	t->launches += launch;
	t->submissions += launch || submit;
	if (t->process < 0 || !e->api)
		return;
	p = &a->phases->processes[t->process];
	if (s->stage < p->stages_count) {
		struct ct_stage_account *stage = &t->stages[p->stages[s->stage].stage];

		stage->calls++;
		stage->launches += launch;
		stage->copies += submit;
		stage->syncs += e->category == CT_CAT_SYNC;
	}
	if (t->tid == p->tid && s->iteration < p->iterations_count &&
	    e->begin >= p->iterations[s->iteration].begin) {
		struct ct_iteration_account *i = &acc->processes[t->process].iterations[s->iteration];

		i->calls_count++;
		i->syncs += e->category == CT_CAT_SYNC;
	}
}

static int account_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_accounting *acc = a->state;
	struct ct_thread_account *t;
	struct ct_account_state *s;
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;

	if (!e->track->tid)
		return 0;
	t = account_thread(a, e->track, now);
	if (!t)
		return -ENOMEM;
	s = &acc->states[e->track->index];
	/* A record of a process that took over this pid. */
	if (t->process >= 0 && now > a->phases->processes[t->process].end) {
		account_charge(a, s, t, a->phases->processes[t->process].end);
		t->process = account_find_process(a->phases, t->pid, now);
		s->stage = s->iteration = 0;
		s->last = now;
	}
	if (e->kind == CT_ON_UNRETURNED) {
		s->account = account_of(e->track, s->off);
		return 0;
	}
	account_charge(a, s, t, now);
	if (now > t->last)
		t->last = now;
	if (e->class->category == CT_CAT_SWITCH) {
		s->off = e->kind == CT_ON_BEGIN;
		s->account = account_of(e->track, s->off);
		return 0;
	}
	if (e->kind != CT_ON_END && e->class->call)
		account_count(a, s, t, e);
	s->account = e->kind == CT_ON_BEGIN ? account_inside(e->track, e) :
					      account_of(e->track, s->off);
	return 0;
}

/* -------------------------------------------------------------- begin, end --- */

static int account_begin(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;
	unsigned int count = a->phases->processes_count;

	acc->processes = calloc(count + 1, sizeof(*acc->processes));
	if (!acc->processes)
		return -ENOMEM;
	acc->processes_count = count;
	for (unsigned int i = 0; i < count; i++) {
		acc->processes[i].iterations = calloc(a->phases->processes[i].iterations_count + 1,
						      sizeof(struct ct_iteration_account));
		if (!acc->processes[i].iterations)
			return -ENOMEM;
	}
	return 0;
}

/* What comes after a thread's last record. */
static int account_end(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;

	for (unsigned int i = 0; i < acc->threads_count; i++) {
		struct ct_thread_account *t = acc->threads[i];
		struct ct_account_state *s = &acc->states[i];

		if (!t || t->process < 0)
			continue;
		if (s->account == CT_ACCOUNT_APP && t->tid != t->pid)
			s->account = CT_ACCOUNT_ABSENT;
		account_charge(a, s, t, a->phases->processes[t->process].end);
	}
	return 0;
}

static void account_free(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;

	for (unsigned int i = 0; i < acc->threads_count; i++)
		free(acc->threads[i]);
	for (unsigned int i = 0; acc->processes && i < acc->processes_count; i++)
		free(acc->processes[i].iterations);
	free(acc->processes);
	free(acc->threads);
	free(acc->states);
}

const struct ct_analyser ct_accounting_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.phases = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_accounting),
	.begin = account_begin,
	.event = account_event,
	.end = account_end,
	.free = account_free,
};
