// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See accounting.h.  At each event of a thread, the time since the event before is charged to
 * what the thread was doing; where a stage or an iteration ends in between, it is divided.
 * Memory is bounded by threads and iterations.
 */
#include "analysis/threads/accounting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cuda/stream_calls.h"
#include "base/grow.h"

/* What a track does now. */
struct ct_account_state {
	struct ct_thread_account *thread;	/* NULL: nothing was seen of it */
	uint64_t last;			/* ns: everything before it is charged */
	uint8_t  account;		/* what the thread has been doing since then */
	unsigned int stage;		/* index into the process's stages, of last */
	uint32_t iteration;		/* the first that ends after last */
	/*
	 * Until .bound nothing of these changes: the stage's account, and the iteration's (NULL:
	 * last lies in none).
	 */
	uint64_t bound;			/* ns; 0: look again */
	struct ct_stage_account *in_stage;
	struct ct_iteration_account *in_iteration;
};

/* ---------------------------------------------------------------- charging --- */

/* Charges the time from s->last to @to. */
static void account_charge(struct ct_analysis *a, struct ct_account_state *s,
			   struct ct_thread_account *t, uint64_t to)
{
	const struct ct_process_phases *p;
	uint64_t at = s->last;

	if (t->process < 0 || to <= at)
		return;
	p = &a->phases->processes[t->process];
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

/* The stages that end at @now or before are over; the last one holds its last moment. */
static void account_advance(struct ct_account_state *s, const struct ct_process_phases *p, uint64_t now)
{
	while (s->stage + 1 < p->stages_count && p->stages[s->stage].end <= now)
		s->stage++;
	while (s->iteration < p->iterations_count && p->iterations[s->iteration].end <= now)
		s->iteration++;
}

/* What holds for the moments behind s->last, and until when. */
static void account_look(struct ct_analysis *a, struct ct_account_state *s)
{
	struct ct_accounting *acc = a->state;
	struct ct_thread_account *t = s->thread;
	const struct ct_process_phases *p;

	s->bound = 0;
	s->in_iteration = NULL;
	if (t->process < 0)
		return;
	p = &a->phases->processes[t->process];
	if (s->stage >= p->stages_count || s->last < p->stages[s->stage].begin)
		return;
	s->in_stage = &t->stages[p->stages[s->stage].stage];
	s->bound = p->stages[s->stage].end;
	if (s->iteration >= p->iterations_count)
		return;
	if (s->last >= p->iterations[s->iteration].begin) {
		s->in_iteration = &acc->processes[t->process].iterations[s->iteration];
		if (p->iterations[s->iteration].end < s->bound)
			s->bound = p->iterations[s->iteration].end;
	} else if (p->iterations[s->iteration].begin < s->bound) {
		s->bound = p->iterations[s->iteration].begin;
	}
}

/* ------------------------------------------------------------------ threads --- */

static int account_find_process(const struct ct_phases *phases, uint32_t pid, uint64_t ts)
{
	const struct ct_process_phases *p = ct_phases_process(phases, pid, ts);

	return p && p->stages_count ? p - phases->processes : -1;
}

static struct ct_account_state *account_state(struct ct_accounting *acc, unsigned int index)
{
	return ct_room_at(acc->states, index, acc->states_count) ? &acc->states[index] : NULL;
}

/* The track's thread, of the process that has its pid at @ts; it is new. */
static int account_thread(struct ct_analysis *a, struct ct_account_state *s,
			  const struct ct_track *track, uint64_t ts)
{
	struct ct_accounting *acc = a->state;
	struct ct_thread_account *t;

	if (!ct_room(acc->threads, acc->threads_count, acc->threads_capacity))
		return -ENOMEM;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	acc->threads[acc->threads_count++] = t;
	t->pid = track->pid;
	t->tid = track->tid;
	t->first = t->last = ts;
	t->process = account_find_process(a->phases, t->pid, ts);
	/* The main thread has been there since its process began. */
	*s = (struct ct_account_state){
		.thread = t,
		.account = t->tid == t->pid ? CT_ACCOUNT_APP : CT_ACCOUNT_ABSENT,
		.last = t->process < 0 ? ts : a->phases->processes[t->process].begin,
	};
	return 0;
}

/* What comes after a thread's last record. */
static void account_finish(struct ct_analysis *a, struct ct_account_state *s)
{
	struct ct_thread_account *t = s->thread;

	if (t->process < 0)
		return;
	/* A call that is still open may last until the process ends.  Otherwise: who knows. */
	if (t->tid != t->pid && (s->account == CT_ACCOUNT_APP || s->account == CT_ACCOUNT_OFF_CPU))
		s->account = CT_ACCOUNT_ABSENT;
	account_charge(a, s, t, a->phases->processes[t->process].end);
}

/* Counts a call in the stage and the iteration in which it begins, which are those of now. */
static void account_count(struct ct_analysis *a, const struct ct_account_state *s,
			  const struct ct_trace_event *e)
{
	struct ct_thread_account *t = s->thread;
	const struct ct_class *class = e->class;
	bool launch = ct_class_is(class, CT_IS_LAUNCH), copy = ct_class_is(class, CT_IS_TRANSFER);
	const struct ct_process_phases *p;

	if (!e->api)
		return;
	t->launches += launch;
	t->submissions += launch || copy;
	if (t->process < 0)
		return;
	p = &a->phases->processes[t->process];
	if (p->stages_count) {
		/* A call that begins as its process ends is one of the last stage. */
		unsigned int last = p->stages_count - 1, index = s->stage < last ? s->stage : last;
		struct ct_stage_account *stage = &t->stages[p->stages[index].stage];

		stage->calls++;
		stage->launches += launch;
		stage->copies += copy;
		stage->sets += ct_class_is(class, CT_IS_SET);
		stage->waited += copy && ct_call_waits(class);
		stage->graphs += ct_class_is(class, CT_IS_GRAPH_LAUNCH);
		stage->syncs += e->category == CT_CAT_SYNC;
	}
	if (s->in_iteration) {
		s->in_iteration->calls_count++;
		s->in_iteration->syncs += e->category == CT_CAT_SYNC;
	}
}

/* Where a stage or an iteration may have ended, a thread is new, or its process is over. */
static int account_change(struct ct_analysis *a, struct ct_account_state *s,
			  const struct ct_trace_event *e, uint64_t now)
{
	struct ct_thread_account *t;
	int rc = 0;

	if (s->thread && s->thread->process >= 0 &&
	    now > a->phases->processes[s->thread->process].end) {
		/* The process has ended; the record is of another one that has its pid. */
		account_finish(a, s);
		s->thread = NULL;
	}
	if (!s->thread)
		rc = account_thread(a, s, e->track, now);
	if (rc)
		return rc;
	t = s->thread;
	account_charge(a, s, t, now);
	if (t->process >= 0)
		account_advance(s, &a->phases->processes[t->process], now);
	account_look(a, s);
	return 0;
}

static int account_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	uint64_t now = e->kind == CT_ON_BEGIN ? e->begin : e->end;
	struct ct_accounting *acc = a->state;
	struct ct_account_state *s;
	int rc;

	if (!e->track->tid)
		return 0;
	s = account_state(acc, e->track->index);
	if (!s)
		return -ENOMEM;
	if (now < s->bound && now >= s->last) {
		s->in_stage->ns[s->account] += now - s->last;
		s->last = now;
	} else {
		rc = account_change(a, s, e, now);
		if (rc)
			return rc;
	}
	if (now > s->thread->last)
		s->thread->last = now;
	s->account = ct_launching_account(acc->model, e->track);
	if (e->kind != CT_ON_END && e->class->call)
		account_count(a, s, e);
	return e->kind == CT_ON_BEGIN ? 0 : ct_polls_note(&acc->polls, a->phases, e);
}

/* -------------------------------------------------------------- begin, end --- */

static int account_begin(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;
	unsigned int count = a->phases->processes_count;

	acc->model = ct_analysis_state(a, &ct_launching_analyser);
	acc->processes = calloc(count + 1, sizeof(*acc->processes));
	if (!acc->processes)
		return -ENOMEM;
	acc->processes_count = count;
	for (unsigned int i = 0; i < count; i++) {
		acc->processes[i].iterations = acc->model->processes[i].iterations;
		acc->processes[i].model = &acc->model->processes[i];
	}
	return 0;
}

static void account_launching(const struct ct_analysis *a, struct ct_accounting *acc)
{
	for (unsigned int i = 0; i < acc->threads_count; i++) {
		const struct ct_thread_account *t = acc->threads[i], **best;
		const struct ct_process_phases *p;

		if (t->process < 0)
			continue;
		p = &a->phases->processes[t->process];
		best = &acc->processes[t->process].launching;
		if (*best && p->iterations_count && (*best)->tid == p->tid)
			continue;
		if ((p->iterations_count && t->tid == p->tid) ||
		    (t->submissions && (!*best || t->submissions > (*best)->submissions)))
			*best = t;
	}
}

static uint64_t account_turn(const struct ct_launching_thread *t)
{
	return CT_STAGES_MAIN(t->turn);
}

/* Is @x before @y, which comes earlier in the list? */
static bool account_turn_before(const struct ct_launching_thread *x, const struct ct_launching_thread *y)
{
	return account_turn(x) > account_turn(y) || (account_turn(x) == account_turn(y) && x->tid < y->tid);
}

const struct ct_launching_thread *ct_account_turn(const struct ct_process_account *p, unsigned int i, uint64_t *ns)
{
	const struct ct_launching_thread *before = NULL, *best = NULL;

	for (unsigned int n = 0; n <= i; n++) {
		best = NULL;
		for (unsigned int k = 0; k < p->model->count; k++) {
			const struct ct_launching_thread *t = &p->model->threads[k];

			if (t != before && (!before || account_turn_before(before, t)) &&
			    (!best || account_turn_before(t, best)))
				best = t;
		}
		if (!best)
			return NULL;
		before = best;
	}
	*ns = account_turn(best);
	return best;
}

/* Those of all threads, ns. */
static uint64_t account_all_turns(const struct ct_process_account *p)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < p->model->count; i++)
		all += account_turn(&p->model->threads[i]);
	return all;
}

static bool account_has_turns(const struct ct_launching_thread *t, uint64_t all)
{
	return all && account_turn(t) * 100 >= all;
}

unsigned int ct_account_turns(const struct ct_process_account *p)
{
	uint64_t all = account_all_turns(p);
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->model->count; i++)
		n += account_has_turns(&p->model->threads[i], all);
	return n;
}

bool ct_account_has_turns(const struct ct_process_account *p, uint32_t tid)
{
	uint64_t all = account_all_turns(p);

	for (unsigned int i = 0; i < p->model->count; i++)
		if (p->model->threads[i].tid == tid && account_has_turns(&p->model->threads[i], all))
			return true;
	return false;
}

void ct_account_covered(const struct ct_process_account *p, const struct ct_process_phases *phases,
			struct ct_account_covered *c)
{
	struct ct_coverage coverage;

	ct_phases_coverage(phases, &coverage);
	*c = (struct ct_account_covered){ .covered = coverage.covered };
	for (uint32_t i = ct_phases_warmup(phases); p->iterations && i < phases->iterations_count; i++) {
		c->app += p->iterations[i].app;
		c->wait += p->iterations[i].wait;
	}
}

static uint64_t account_called(const struct ct_stage_account *s)
{
	uint64_t ns = s->ns[CT_ACCOUNT_WAIT] + s->ns[CT_ACCOUNT_DRIVER];

	for (unsigned int i = CT_ACCOUNT_CALLS; i < CT_ACCOUNT_COUNT; i++)
		ns += s->ns[i];
	return ns;
}

static bool account_gives_work(const struct ct_launching_process *lp, uint32_t tid)
{
	for (unsigned int i = 0; i < lp->count; i++)
		if (lp->threads[i].tid == tid)
			return true;
	return false;
}

/* Who works before the warm-up: cuInit is rarely called by the thread that launches in the end. */
static void account_workers(struct ct_accounting *acc)
{
	for (unsigned int i = 0; i < acc->threads_count; i++) {
		const struct ct_thread_account *t = acc->threads[i];

		for (unsigned int k = 0; t->process >= 0 && k < CT_STAGE_WARMUP; k++) {
			const struct ct_thread_account **best = &acc->processes[t->process].workers[k];
			uint64_t called = account_called(&t->stages[k]);

			if (called && (!*best || called > account_called(&(*best)->stages[k])))
				*best = t;
		}
	}
	for (unsigned int i = 0; i < acc->processes_count; i++) {
		struct ct_stage_account *stages = acc->model->processes[i].stages;

		for (unsigned int k = 0; stages && k < CT_STAGE_WARMUP; k++) {
			const struct ct_thread_account *worker = acc->processes[i].workers[k];

			if (!worker || account_gives_work(&acc->model->processes[i], worker->tid))
				continue;
			memcpy(stages[k].ns, worker->stages[k].ns, sizeof(stages[k].ns));
			stages[k].ns[CT_ACCOUNT_APP] += stages[k].ns[CT_ACCOUNT_ABSENT];
			stages[k].ns[CT_ACCOUNT_ABSENT] = 0;
		}
	}
}

/* What the processes did, by stages. */
static void account_processes(struct ct_accounting *acc)
{
	static const struct ct_stage_account none[CT_STAGE_COUNT];

	for (unsigned int i = 0; i < acc->processes_count; i++)
		acc->processes[i].stages = acc->processes[i].model->stages ? acc->processes[i].model->stages : none;
	for (unsigned int i = 0; i < acc->threads_count; i++) {
		const struct ct_thread_account *t = acc->threads[i];
		struct ct_stage_account *stages = t->process < 0 ? NULL : acc->model->processes[t->process].stages;

		for (unsigned int k = 0; stages && k < CT_STAGE_COUNT; k++) {
			stages[k].launches += t->stages[k].launches;
			stages[k].copies += t->stages[k].copies;
			stages[k].sets += t->stages[k].sets;
			stages[k].graphs += t->stages[k].graphs;
			stages[k].waited += t->stages[k].waited;
			stages[k].syncs += t->stages[k].syncs;
			stages[k].calls += t->stages[k].calls;
		}
	}
}

static int account_end(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;

	for (unsigned int i = 0; i < acc->states_count; i++)
		if (acc->states[i].thread)
			account_finish(a, &acc->states[i]);
	account_launching(a, acc);
	account_processes(acc);
	account_workers(acc);
	return 0;
}

static void account_free(struct ct_analysis *a)
{
	struct ct_accounting *acc = a->state;

	for (unsigned int i = 0; i < acc->threads_count; i++)
		free(acc->threads[i]);
	ct_polls_free(&acc->polls);
	free(acc->processes);
	free(acc->threads);
	free(acc->states);
}

static const struct ct_analyser *const needs[] = { &ct_launching_analyser, NULL };

const struct ct_analyser ct_accounting_analyser = {
	/* Until when a call that never returned lasted is not known: the next record ends it. */
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.unfiltered = true,
	.needs = needs,
	.state_size = sizeof(struct ct_accounting),
	.begin = account_begin,
	.event = account_event,
	.end = account_end,
	.free = account_free,
};
