// SPDX-License-Identifier: LGPL-2.1-or-later
/* See range.h. */
#include "analysis/range.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define RANGE_ITERATION	"iteration:"

static bool range_is_number(const char *text, double *ms)
{
	char *end;

	*ms = strtod(text, &end);
	return end != text && !*end && isfinite(*ms) && *ms >= 0 && *ms < 1e15;
}

bool ct_range_needs_phases(const char *text)
{
	double ms;

	return text && !range_is_number(text, &ms);
}

static int range_iteration(const char *text, const struct ct_process_phases *p, bool end, uint64_t *ns,
			   struct ct_error *err)
{
	char *rest;
	unsigned long long n = strtoull(text, &rest, 10);

	if (rest == text || *rest || *text == '-' || !n)
		return ct_fail(err, EINVAL, "'" RANGE_ITERATION "%s': iterations are numbered from 1",
			       text);
	if (!p->iterations_count)
		return ct_fail(err, EINVAL, "process %u has no iterations: %s", p->pid, p->why_none);
	if (n > p->iterations_count)
		return ct_fail(err, EINVAL, "there is no iteration %llu: process %u has %u", n, p->pid,
			       p->iterations_count);
	*ns = end ? p->iterations[n - 1].end : p->iterations[n - 1].begin;
	return 0;
}

static int range_stage(const char *text, const struct ct_process_phases *p, bool end, uint64_t *ns,
		       struct ct_error *err)
{
	int stage = ct_word_index(ct_stage_word, CT_STAGE_COUNT, text);

	if (stage < 0)
		return ct_fail(err, EINVAL,
			       "'%s' is no moment: give ms since the trace began, a stage (startup, init, "
			       "modules, weights, warmup, steady, execution, teardown) or iteration:N", text);
	for (unsigned int i = 0; i < p->stages_count; i++)
		if ((int)p->stages[i].stage == stage) {
			*ns = end ? p->stages[i].end : p->stages[i].begin;
			return 0;
		}
	return ct_fail(err, EINVAL, "process %u has no stage '%s' (cudatrace report stages shows them)",
		       p->pid, text);
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

	if (range_is_number(text, &ms)) {
		*ns = t->reg.start + (uint64_t)(ms * 1e6 + 0.5);
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
