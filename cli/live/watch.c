// SPDX-License-Identifier: LGPL-2.1-or-later
/* See watch.h. */
#include "live/watch.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/thread.h"
#include "live/follow.h"

/* Those of the thread that has the first ones. */
static void watch_range(void *arg, const struct ct_live_iteration *i)
{
	struct ct_watch *w = arg;
	struct ct_flight *f = w->flight;

	if (!w->tid) {
		w->pid = f->pid = i->pid;
		w->tid = i->tid;
	}
	if (w->pid != i->pid || w->tid != i->tid)
		return;
	f->found = i->number;
	if (i->number <= f->first)
		f->since = i->begin;
	if (i->number == f->first) {
		f->begin = i->begin;
		fprintf(stderr, "cudatrace: process %u: iteration %llu has begun\n", i->pid, (unsigned long long)i->number);
	}
	if (i->number == f->last + 1) {
		f->end = i->begin;
		__atomic_store_n(&f->over, true, __ATOMIC_RELEASE);
	}
}

/* The thread that makes the copies has not taken what happened before: what happens meanwhile is in that copy. */
static bool watch_waits(const struct ct_watch *w)
{
	return __atomic_load_n(&w->flight->happened, __ATOMIC_ACQUIRE);
}

static void watch_tell(struct ct_watch *w)
{
	struct ct_flight *f = w->flight;

	if (!w->trouble.happened)
		return;
	w->trouble.happened = false;
	if (watch_waits(w))
		return;
	snprintf(f->why, sizeof(f->why), "%s", w->trouble.why);
	__atomic_store_n(&f->happened, true, __ATOMIC_RELEASE);
}

static int watch_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct ct_watch *w = arg;
	int rc = ct_trouble_record(&w->trouble, reg, r);

	(void)old;
	watch_tell(w);
	return rc;
}

static int watch_idle(void *arg, bool *more)
{
	struct ct_watch *w = arg;

	(void)more;
	if (!watch_waits(w))
		ct_trouble_now(&w->trouble, ct_now_ns());
	watch_tell(w);
	return 0;
}

static void *watch_run(void *arg)
{
	struct ct_watch *w = arg;
	const struct ct_follow_sink sink = { .arg = w, .record = watch_record, .idle = watch_idle };
	struct ct_error err = { 0 };

	if (ct_follow(w->flight->rec->dir, &sink, &w->stop, &err))
		ct_complain("--on: %s", err.text);
	return NULL;
}

void ct_watch_start(struct ct_watch *w, struct ct_flight *f)
{
	*w = (struct ct_watch){ .flight = f, .trouble = { .on = f->on } };
	if (!ct_on_any(&f->on) && !f->first)
		return;
	w->trouble.stuck.dir = f->rec->dir;
	if (f->first) {
		w->trouble.iteration = watch_range;
		w->trouble.arg = w;
	}
	ct_trouble_begin(&w->trouble);
	w->running = !ct_thread_start(&w->thread, watch_run, w);
	if (!w->running)
		ct_complain("--on: no thread could be made");
}

void ct_watch_end(struct ct_watch *w)
{
	w->stop = true;
	if (w->running)
		pthread_join(w->thread, NULL);
	w->running = false;
	ct_trouble_end(&w->trouble);
}
