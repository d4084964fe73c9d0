// SPDX-License-Identifier: LGPL-2.1-or-later
/* See trouble.h. */
#include "live/trouble.h"

#include <stdio.h>

#include "trace/names.h"
#include "view/term.h"

static void trouble_iteration(void *arg, const struct ct_live_iteration *i)
{
	struct ct_trouble *t = arg;
	char time[CT_TERM_TEXT], median[CT_TERM_TEXT];

	if (t->iteration)
		t->iteration(t->arg, i);
	if (t->happened || t->on.slow_iteration <= 0 || !i->median || i->begin < t->from ||
	    (double)i->before < t->on.slow_iteration * (double)i->median)
		return;
	snprintf(t->why, sizeof(t->why), "iteration %llu took %s, %.1f times the median of %s", (unsigned long long)i->number - 1,
		 ct_term_ns(time, i->before), (double)i->before / (double)i->median, ct_term_ns(median, i->median));
	t->since = i->begin - i->before;
	t->happened = true;
}

void ct_trouble_begin(struct ct_trouble *t)
{
	if (t->iteration || t->on.slow_iteration > 0)
		t->iterations = (struct ct_live_iterations){ .begun = trouble_iteration, .arg = t };
}

static void trouble_call(struct ct_trouble *t, const struct ct_record *r)
{
	char time[CT_TERM_TEXT], name[64];
	const char *result;

	if (t->on.error && ct_record_failed(r)) {
		result = ct_name_result(r);
		snprintf(t->why, sizeof(t->why), "%.60s = %s", ct_term_clean(name, sizeof(name), r->class->name, 60),
			 result ? result : "an error");
	} else if (t->on.slow && ct_record_timed(r) && r->duration >= t->on.slow) {
		snprintf(t->why, sizeof(t->why), "%.60s took %s", ct_term_clean(name, sizeof(name), r->class->name, 60),
			 ct_term_ns(time, r->duration));
	} else {
		return;
	}
	t->since = ct_record_begin(r);
	t->happened = true;
}

int ct_trouble_record(struct ct_trouble *t, const struct ct_registry *reg, const struct ct_record *r)
{
	if (r->class->layer != CT_LAYER_USER)
		return 0;
	if (t->iterations.begun)
		ct_live_iterations_add(&t->iterations, reg, r);
	if (!t->happened && r->class->call && r->end >= t->from)
		trouble_call(t, r);
	return t->on.stuck ? ct_stuck_record(&t->stuck, r) : 0;
}

void ct_trouble_now(struct ct_trouble *t, uint64_t now)
{
	if (!t->happened && t->on.stuck)
		t->happened = ct_stuck_next(&t->stuck, now, t->on.stuck, &t->since, t->why, sizeof(t->why));
}

void ct_trouble_end(struct ct_trouble *t)
{
	if (t->iterations.begun)
		ct_live_iterations_end(&t->iterations);
	ct_live_iterations_free(&t->iterations);
	ct_stuck_free(&t->stuck);
}
