// SPDX-License-Identifier: LGPL-2.1-or-later
/* See watch.h. */
#include "live/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "live/follow.h"
#include "trace/names.h"
#include "trace/registry.h"
#include "view/term.h"

static bool watch_is_call(const struct ct_record *r)
{
	return r->class->layer == CT_LAYER_USER && r->class->call &&
	       !(r->flags & (CT_F_BEGIN | CT_F_INSTANT | CT_F_ABANDONED));
}

/* Those of the thread that has the first ones. */
static void watch_range(struct ct_watch *w, const struct ct_live_iteration *i)
{
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

static void watch_iteration(void *arg, const struct ct_live_iteration *i)
{
	struct ct_watch *w = arg;
	struct ct_flight *f = w->flight;
	char time[CT_TERM_TEXT], median[CT_TERM_TEXT];

	if (f->first)
		watch_range(w, i);
	if (f->happened || f->on_slow_iteration <= 0 || !i->median || (double)i->before < f->on_slow_iteration * (double)i->median)
		return;
	snprintf(f->why, sizeof(f->why), "iteration %llu took %s, %.1f times the median of %s", (unsigned long long)i->number - 1,
		 ct_term_ns(time, i->before), (double)i->before / (double)i->median, ct_term_ns(median, i->median));
	__atomic_store_n(&f->happened, true, __ATOMIC_RELEASE);
}

static int watch_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct ct_watch *w = arg;
	struct ct_flight *f = w->flight;
	char time[CT_TERM_TEXT], name[64];
	const char *result;

	(void)old;
	if (w->iterations.begun && r->class->layer == CT_LAYER_USER)
		ct_live_iterations_add(&w->iterations, reg, r);
	if (f->happened || r->class->layer != CT_LAYER_USER || !r->class->call)
		return 0;
	if (f->on_error && ct_record_failed(r)) {
		result = ct_name_result(r);
		snprintf(f->why, sizeof(f->why), "%.60s = %s", ct_term_clean(name, sizeof(name), r->class->name, 60),
			 result ? result : "an error");
	} else if (f->on_slow && watch_is_call(r) && r->duration >= f->on_slow) {
		snprintf(f->why, sizeof(f->why), "%.60s took %s", ct_term_clean(name, sizeof(name), r->class->name, 60),
			 ct_term_ns(time, r->duration));
	} else {
		return 0;
	}
	__atomic_store_n(&f->happened, true, __ATOMIC_RELEASE);
	return 0;
}

static int watch_idle(void *arg, bool *more)
{
	(void)arg;
	(void)more;
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
	*w = (struct ct_watch){ .flight = f };
	if (!f->on_error && !f->on_slow && f->on_slow_iteration <= 0 && !f->first)
		return;
	if (f->first || f->on_slow_iteration > 0)
		w->iterations = (struct ct_live_iterations){ .begun = watch_iteration, .arg = w };
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
	if (w->iterations.begun)
		ct_live_iterations_end(&w->iterations);
	ct_live_iterations_free(&w->iterations);
}
