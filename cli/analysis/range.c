// SPDX-License-Identifier: LGPL-2.1-or-later
/* See range.h. */
#include "analysis/range.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/words.h"

#define RANGE_ITERATION	"iteration:"
#define RANGE_START	"start"
#define RANGE_END	"end"

#define RANGE_MOST	1e15	/* ms */

/* The unit of a time in ms, 0: there is none such.  Pages have a space that does not break. */
static double range_unit(const char *text)
{
	static const struct { const char *word; double ms; } units[] = {
		{ "", 1 }, { "ms", 1 }, { "s", 1e3 }, { "us", 1e-3 }, { "\xc2\xb5s", 1e-3 }, { "ns", 1e-6 },
	};

	while (*text == ' ' || !strncmp(text, "\xc2\xa0", 2))
		text += *text == ' ' ? 1 : 2;
	for (unsigned int i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].word))
			return units[i].ms;
	return 0;
}

/* "1,234.5 ms": digits, with commas before each three of them; then a unit. */
static bool range_is_number(const char *text, double *ms)
{
	char digits[64], *end;
	unsigned int n = 0;
	double unit;

	for (; *text && n < sizeof(digits) - 1; text++) {
		if (*text == ',') {
			if (!n || memchr(digits, '.', n) || strspn(text + 1, "0123456789") != 3)
				return false;
			continue;
		}
		if (!strchr("0123456789.", *text))
			break;
		digits[n++] = *text;
	}
	digits[n] = 0;
	*ms = strtod(digits, &end);
	unit = range_unit(text);
	*ms *= unit;
	return n && end != digits && !*end && unit > 0 && isfinite(*ms) && *ms < RANGE_MOST;
}

static bool range_is_whole(const char *text)
{
	return !strcmp(text, RANGE_START) || !strcmp(text, RANGE_END);
}

bool ct_range_needs_phases(const char *text)
{
	double ms;

	return text && !range_is_number(text, &ms) && !range_is_whole(text);
}

int ct_range_check(const char *text, struct ct_error *err)
{
	struct ct_near near = { .word = text };
	char *rest;

	if (!ct_range_needs_phases(text) || ct_word_index(ct_stage_word, CT_STAGE_COUNT, text) >= 0)
		return 0;
	if (!strncmp(text, RANGE_ITERATION, strlen(RANGE_ITERATION))) {
		text += strlen(RANGE_ITERATION);
		if (*text >= '0' && *text <= '9' && strtoull(text, &rest, 10) && !*rest)
			return 0;
		return ct_fail_usage(err, "'" RANGE_ITERATION "%s': iterations are numbered from 1", text);
	}
	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++)
		ct_near_try(&near, ct_stage_word[i]);
	return ct_fail_usage(err, "'%s' is no moment%s Give ms since the trace began (or 1.5s, 300us), start, end, a "
			     "stage (startup, init, communicators, modules, weights, warmup, steady, execution, "
			     "teardown) or iteration:N",
			     text, *near.best ? ct_near_text(&near) : ".");
}

static int range_iteration(const char *text, const struct ct_process_phases *p, bool end, uint64_t *ns,
			   struct ct_error *err)
{
	unsigned long long n = strtoull(text, NULL, 10);

	if (!p->iterations_count)
		return ct_fail(err, EINVAL, "process %u has no iterations: %s", p->pid, p->why_none);
	if (!n || n > p->iterations_count)
		return ct_fail(err, EINVAL, "there is no iteration %llu: process %u has %u", n, p->pid,
			       p->iterations_count);
	*ns = end ? p->iterations[n - 1].end : p->iterations[n - 1].begin;
	return 0;
}

static int range_stage(const char *text, const struct ct_process_phases *p, bool end, uint64_t *ns,
		       struct ct_error *err)
{
	char has[160] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < p->stages_count; i++) {
		const char *word = ct_stage_word[p->stages[i].stage];

		if (!strcmp(word, text)) {
			*ns = end ? p->stages[i].end : p->stages[i].begin;
			return 0;
		}
		if (used < sizeof(has))
			used += snprintf(has + used, sizeof(has) - used, "%s%s", i ? ", " : "", word);
	}
	return ct_fail(err, EINVAL, "process %u has no stage '%s'; it has %s", p->pid, text, *has ? has : "none");
}

static const struct ct_process_phases *range_process(const struct ct_phases *phases, uint32_t pid)
{
	if (!pid)
		return phases->main < 0 ? NULL : &phases->processes[phases->main];
	for (unsigned int i = 0; i < phases->processes_count; i++)
		if (phases->processes[i].pid == pid && phases->processes[i].stages_count)
			return &phases->processes[i];
	return NULL;
}

int ct_range_parse(const char *text, const struct ct_trace *t, const struct ct_phases *phases,
		   uint32_t pid, bool end, uint64_t *ns, struct ct_error *err)
{
	const struct ct_process_phases *p;
	double ms;

	if (ct_range_check(text, err))
		return -EINVAL;
	if (range_is_number(text, &ms)) {
		*ns = t->reg.start + (uint64_t)(ms * 1e6 + 0.5);
		return 0;
	}
	if (range_is_whole(text)) {
		if (end == !strcmp(text, RANGE_START))
			return ct_fail(err, EINVAL, "--from takes start, and --to takes end");
		*ns = 0;	/* no limit */
		return 0;
	}
	p = range_process(phases, pid);
	if (!p)
		return ct_fail(err, EINVAL, "'%s': %s", text, pid ? "no such process called libcuda" :
			       "no process of the trace launched anything; give --pid, or ms");
	if (!strncmp(text, RANGE_ITERATION, strlen(RANGE_ITERATION)))
		return range_iteration(text + strlen(RANGE_ITERATION), p, end, ns, err);
	return range_stage(text, p, end, ns, err);
}

static void range_clip_stages(struct ct_process_phases *p, uint64_t from, uint64_t to)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < p->stages_count; i++) {
		struct ct_stage_span span = p->stages[i];

		span.begin = span.begin > from ? span.begin : from;
		span.end = span.end < to ? span.end : to;
		if (span.begin < span.end)
			p->stages[kept++] = span;
	}
	p->stages_count = kept;
}

static void range_clip_iterations(struct ct_process_phases *p, uint64_t from, uint64_t to)
{
	uint32_t kept = 0, had = p->iterations_count;

	for (uint32_t i = 0; i < had; i++)
		if (p->iterations[i].begin >= from && p->iterations[i].end <= to)
			p->iterations[kept++] = p->iterations[i];
	p->iterations_count = kept;
	if (kept || !had)
		return;
	snprintf(p->why_none, sizeof(p->why_none), "none lies in the range as a whole");
	/* Without iterations there is no steady state: with an execution beside it, it is one. */
	had = p->stages_count;
	p->stages_count = 0;
	for (unsigned int i = 0; i < had; i++) {
		struct ct_stage_span span = p->stages[i], *last = p->stages_count ? &p->stages[p->stages_count - 1] : NULL;

		if (span.stage == CT_STAGE_STEADY)
			span.stage = CT_STAGE_EXECUTION;
		if (last && last->stage == span.stage)
			last->end = span.end;
		else
			p->stages[p->stages_count++] = span;
	}
}

void ct_range_clip(struct ct_phases *phases, const struct ct_range *range, uint32_t pid)
{
	uint64_t to = range->to ? range->to : ~0ull;

	for (unsigned int i = 0; i < phases->processes_count; i++) {
		struct ct_process_phases *p = &phases->processes[i];

		if (pid && p->pid != pid) {
			p->stages_count = 0;
			p->iterations_count = 0;
			continue;
		}
		range_clip_stages(p, range->from, to);
		range_clip_iterations(p, range->from, to);
		p->begin = p->begin > range->from ? p->begin : range->from;
		p->end = p->end < to ? p->end : to;
		if (p->end < p->begin)
			p->end = p->begin;
	}
	if (phases->main >= 0 && !phases->processes[phases->main].stages_count)
		phases->main = -1;
	for (unsigned int i = 0; i < phases->processes_count && phases->main < 0; i++)
		if (phases->processes[i].stages_count)
			phases->main = i;
}
