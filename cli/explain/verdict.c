// SPDX-License-Identifier: LGPL-2.1-or-later
/* See verdict.h. */
#include "explain/verdict.h"

#include <stdlib.h>

#include "view/term.h"

#define MUCH	30.0	/* % of the wall time: enough to be the limit */
#define MOST	50.0
#define LITTLE	10.0

const char *ct_limit_word(enum ct_limit limit)
{
	static const char *const words[] = {
		[CT_LIMIT_UNKNOWN] = "not known", [CT_LIMIT_HOST] = "the host", [CT_LIMIT_GPU] = "the GPU",
		[CT_LIMIT_SYNC] = "synchronisation (host and GPU take turns)", [CT_LIMIT_TRANSFERS] = "transfers",
		[CT_LIMIT_DRIVER] = "the kernel driver", [CT_LIMIT_OFF_CPU] = "the launching thread is off the CPU",
		[CT_LIMIT_MIXED] = "several things together",
	};

	return words[limit];
}

static double verdict_share(const struct ct_explain *x, enum ct_scope scope, uint64_t ns)
{
	return x->wall[scope] ? 100.0 * ns / x->wall[scope] : 0;
}

struct shares {
	double wait, transfer, launch, driver, off, app, idle, most_idle;
	uint64_t syncs;
};

static struct shares verdict_shares(const struct ct_explain *x)
{
	const struct ct_scope_facts *facts = &x->facts->scopes[CT_SCOPE_STEADY];
	struct shares s = { 0 };

#define ACCOUNT(account) verdict_share(x, CT_SCOPE_STEADY, ct_explain_account(x, CT_SCOPE_STEADY, account))
	s.wait = ACCOUNT(CT_ACCOUNT_WAIT);
	s.transfer = ACCOUNT(CT_ACCOUNT_CALLS + CT_CAT_TRANSFER);
	s.launch = ACCOUNT(CT_ACCOUNT_CALLS + CT_CAT_KERNEL) + ACCOUNT(CT_ACCOUNT_CALLS + CT_CAT_GRAPH);
	s.driver = ACCOUNT(CT_ACCOUNT_DRIVER);
	s.off = ACCOUNT(CT_ACCOUNT_OFF_CPU);
	s.app = ACCOUNT(CT_ACCOUNT_APP);
#undef ACCOUNT
	s.idle = verdict_share(x, CT_SCOPE_STEADY, x->idle->stages[CT_STAGE_STEADY] +
			       x->idle->stages[CT_STAGE_EXECUTION]);
	s.most_idle = s.idle + verdict_share(x, CT_SCOPE_STEADY,
					     x->idle->submitting_ns[CT_STAGE_STEADY] +
					     x->idle->submitting_ns[CT_STAGE_EXECUTION]);
	for (unsigned int i = 0; i < facts->count; i++)
		if (facts->list[i].class->category == CT_CAT_SYNC)
			s.syncs += facts->list[i].count;
	return s;
}

static enum ct_limit verdict_limit(const struct ct_explain *x, const struct shares *s)
{
	if (!x->thread)
		return CT_LIMIT_UNKNOWN;
	if (s->wait >= MOST)
		return s->most_idle >= LITTLE ? CT_LIMIT_SYNC : CT_LIMIT_GPU;
	if (s->off >= MUCH)
		return CT_LIMIT_OFF_CPU;
	if (s->transfer >= MUCH && s->transfer > s->app)
		return CT_LIMIT_TRANSFERS;
	if (s->driver >= MUCH && s->driver > s->app)
		return CT_LIMIT_DRIVER;
	/* Without a synchronisation nothing says whether the GPU keeps up. */
	if (s->syncs * 2 < x->iterations)
		return CT_LIMIT_UNKNOWN;
	if (s->wait < LITTLE)
		return CT_LIMIT_HOST;
	return s->most_idle >= LITTLE ? CT_LIMIT_SYNC : CT_LIMIT_MIXED;
}

static int verdict_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median duration of the iterations; 0: there are none, or no memory. */
static uint64_t verdict_median(const struct ct_process_phases *p)
{
	uint64_t *all = malloc((p->iterations_count + 1) * sizeof(*all)), median = 0;

	if (all && p->iterations_count) {
		for (uint32_t i = 0; i < p->iterations_count; i++)
			all[i] = p->iterations[i].end - p->iterations[i].begin;
		qsort(all, p->iterations_count, sizeof(*all), verdict_compare);
		median = all[p->iterations_count / 2];
	}
	free(all);
	return median;
}

enum ct_limit ct_verdict_steady(const struct ct_explain *x, char *buf, size_t size)
{
	struct shares s = verdict_shares(x);
	enum ct_limit limit = verdict_limit(x, &s);
	char what[160], off[64] = "", ns[CT_TERM_TEXT], wall[CT_TERM_TEXT];

	if (!x->wall[CT_SCOPE_STEADY]) {
		snprintf(buf, size, "The process launched nothing.");
		return CT_LIMIT_UNKNOWN;
	}
	if (x->process->iterations_count)
		snprintf(what, sizeof(what), "steady state, %u iterations of %s (median)",
			 x->process->iterations_count, ct_term_ns(ns, verdict_median(x->process)));
	else
		snprintf(what, sizeof(what), "execution, %s without a repeating pattern",
			 ct_term_ns(wall, x->wall[CT_SCOPE_STEADY]));
	if (x->trace->has_kernel)
		snprintf(off, sizeof(off), "off the CPU for %.1f %% ", s.off);
	snprintf(buf, size,
		 "%s: limited by %s. The launching thread waits in synchronisations for %.1f %% of the time, launches "
		 "for %.1f %%, copies for %.1f %%, is in the kernel driver for %.1f %%, %sand in the application for "
		 "%.1f %%; the GPU has nothing to do for %s%.1f %%.",
		 what, ct_limit_word(limit), s.wait, s.launch, s.transfer, s.driver, off, s.app,
		 x->idle_measured ? "" : "at least ", s.idle);
	return limit;
}

void ct_verdict_startup(const struct ct_explain *x, char *buf, size_t size)
{
	const struct ct_stage_span *longest = NULL;
	uint64_t all = x->process->end - x->process->begin;
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT];

	*buf = 0;
	for (unsigned int i = 0; i < x->process->stages_count; i++) {
		const struct ct_stage_span *s = &x->process->stages[i];

		if (ct_scope_of(x->process, s->begin, NULL) == CT_SCOPE_STARTUP &&
		    (!longest || s->end - s->begin > longest->end - longest->begin))
			longest = s;
	}
	if (!longest || !x->wall[CT_SCOPE_STARTUP])
		return;
	snprintf(buf, size, "startup: %s, %.0f %% of the process's time, most of it %s (%s).",
		 ct_term_ns(a, x->wall[CT_SCOPE_STARTUP]), all ? 100.0 * x->wall[CT_SCOPE_STARTUP] / all : 0,
		 ct_stage_text[longest->stage], ct_term_ns(b, longest->end - longest->begin));
}
