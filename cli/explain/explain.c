// SPDX-License-Identifier: LGPL-2.1-or-later
/* See explain.h.  Must never name a cause that no record shows. */
#include "explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/ranks/job.h"
#include "analysis/stacks/hot.h"
#include "analysis/stacks/source_text.h"
#include "explain/finding_causes.h"
#include "explain/findings.h"
#include "explain/findings_text.h"
#include "explain/rules.h"

/* Steady state before startup, what gains most before what gains less, parts behind their finding. */
static int explain_compare(const void *a, const void *b)
{
	const struct ct_finding *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope == CT_SCOPE_STEADY ? -1 : 1;
	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->part != y->part)
		return x->part ? 1 : -1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

#define EXPLAIN_LINES	3	/* of a finding */

/* "train.py:12: loss = step(batch)", of the line that costs most. */
static int explain_source(struct ct_explain *x, struct ct_sources *sources, const struct ct_hot *hot, char **source)
{
	char line[256], text[200], both[460];
	struct ct_stack_frame f;

	if (!ct_stack_frame(&x->trace->reg, hot->lines.list[0].node, &f) ||
	    !*ct_source_text(sources, &x->trace->reg, &f, text, sizeof(text)))
		return 0;
	ct_stack_line(&f, line, sizeof(line));
	snprintf(both, sizeof(both), "%.*s: %s", (int)strcspn(line, " "), line, text);
	*source = strdup(both);
	return *source ? 0 : -ENOMEM;
}

/* Which lines of the program cost most of what the findings from @first on say. */
static void explain_lines(struct ct_explain *x, unsigned int first)
{
	const struct ct_stack_costs *costs = ct_explain_state(x, &ct_stack_scopes_analyser);
	struct ct_sources sources = { 0 };

	for (unsigned int i = first; i < x->count && ct_stacks_recorded(x->trace); i++) {
		struct ct_finding *f = &x->list[i];
		struct ct_hot hot;
		char text[800];

		if (!f->rule->lines)
			continue;
		if (ct_hot_lines(&hot, costs, &x->trace->reg, CT_STACK_PART(x->index, f->scope == CT_SCOPE_STEADY),
				 f->rule->lines))
			x->error = -ENOMEM;
		if (*ct_hot_text(&hot, &x->trace->reg, f->rule->lines, EXPLAIN_LINES, text, sizeof(text))) {
			f->lines = strdup(text);
			x->error = f->lines && !explain_source(x, &sources, &hot, &f->source) ? x->error : -ENOMEM;
		}
		ct_keyed_free(&hot.lines);
	}
	ct_sources_free(&sources);
}

void ct_explain_analysers(struct ct_analysers *analysers)
{
	ct_analysers_add(analysers, &ct_accounting_analyser);
	ct_analysers_add(analysers, &ct_idle_analyser);
	ct_analysers_add(analysers, &ct_facts_analyser);
	ct_analysers_add(analysers, &ct_gpu_busy_analyser);
	ct_analysers_add(analysers, &ct_gpu_coverage_analyser);
	ct_analysers_add(analysers, &ct_stack_scopes_analyser);
	ct_analysers_add(analysers, &ct_job_analyser);
	for (unsigned int i = 0; i < ct_rules_count; i++)
		if (ct_rules[i].collects)
			ct_analysers_add(analysers, ct_rules[i].collects);
}

int ct_explain_judge(struct ct_explain *x, const struct ct_trace *t, const struct ct_engine *e)
{
	static const struct ct_phases nothing = { .main = -1 };
	int rc = 0;

	*x = (struct ct_explain){ .trace = t, .analysis = ct_engine_result(e, &ct_facts_analyser) };
	/* Of a part of the calls nothing can be said. */
	x->phases = t->filter && t->filter->partial ? &nothing : x->analysis->phases;
	for (unsigned int i = 0; i < x->phases->processes_count; i++)
		if (x->phases->processes[i].stages_count) {
			x->first = x->count;
			ct_explain_choose(x, i);
			for (unsigned int k = 0; k < ct_rules_count; k++)
				/* Summaries have what ranks are compared by, and nothing else. */
				if (ct_rules[k].judge && (!t->summaries || ct_rules[k].collects == &ct_job_analyser))
					ct_rules[k].judge(x, &ct_rules[k]);
			explain_lines(x, x->first);
			ct_explain_causes(x, x->first);
		}
	rc = x->error;
	if (!rc && x->count)
		qsort(x->list, x->count, sizeof(*x->list), explain_compare);
	return rc;
}

void ct_explain_free(struct ct_explain *x)
{
	for (unsigned int i = 0; i < x->count; i++) {
		free(x->list[i].what);
		free(x->list[i].advice);
		free(x->list[i].lines);
		free(x->list[i].source);
	}
	free(x->list);
	for (unsigned int i = 0; i < x->unseen_count; i++)
		free(x->unseen[i]);
	free(x->unseen);
}

int ct_explain_tables(const struct ct_trace *t, const struct ct_engine *e, struct ct_table *verdicts,
		      struct ct_table *findings)
{
	struct ct_explain x;
	int rc = ct_explain_judge(&x, t, e);

	if (!rc)
		rc = ct_findings_tables(&x, verdicts, findings);
	ct_explain_free(&x);
	return rc;
}

int ct_explain_print(const struct ct_trace *t, const struct ct_explain_request *request, FILE *out,
		     struct ct_error *err)
{
	struct ct_analysers analysers = { 0 };
	struct ct_explain x;
	struct ct_engine *e;
	int rc;

	ct_explain_analysers(&analysers);
	e = ct_engine_run(t, analysers.list, analysers.count, &request->engine, err);
	if (!e)
		return -err->code;
	rc = ct_explain_judge(&x, t, e);
	if (!rc && !request->format)
		ct_findings_text(&x, &request->print, out);
	else if (!rc)
		rc = ct_findings_print(&x, request->format, &request->print, out);
	ct_explain_free(&x);
	ct_engine_free(e);
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	return rc && rc != -EPIPE ? ct_fail(err, -rc, "%s", strerror(-rc)) : rc;
}
