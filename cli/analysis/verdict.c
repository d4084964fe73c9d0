// SPDX-License-Identifier: LGPL-2.1-or-later
/* See verdict.h. */
#include "analysis/verdict.h"

#include <stdlib.h>

#include "analysis/program/outliers.h"
#include "view/term.h"

#define VERDICT_GPU	50.0	/* % of the time: who waits so long is limited by the GPU */
#define VERDICT_HOST	10.0	/* who waits less is not */

const struct ct_thread_account *ct_verdict_thread(const struct ct_phases *phases,
						  const struct ct_accounting *acc, unsigned int process)
{
	const struct ct_process_phases *p = &phases->processes[process];
	const struct ct_thread_account *best = NULL;

	for (unsigned int i = 0; i < acc->threads_count; i++) {
		const struct ct_thread_account *t = acc->threads[i];

		if (t->process != (int)process)
			continue;
		if (p->iterations_count && t->tid == p->tid)
			return t;
		if (!best || t->launches > best->launches)
			best = t;
	}
	return best;
}

static int verdict_iterations(const struct ct_process_phases *p, const struct ct_stage_span *span,
			      FILE *out)
{
	struct ct_iteration_stats stats = { 0 };
	char a[CT_TERM_TEXT];
	int rc;

	if (!p->iterations_count) {
		fprintf(out, "verdict   %s: %s, no repeating pattern was found\n",
			ct_stage_word[span->stage], ct_term_ns(a, span->end - span->begin));
		return 0;
	}
	rc = ct_iteration_stats(&stats, p);
	if (!rc)
		fprintf(out, "verdict   steady state: %u iterations of %s (median)\n",
			p->iterations_count, ct_term_ns(a, stats.median));
	free(stats.sorted);
	return rc;
}

int ct_verdict_print(const struct ct_phases *phases, const struct ct_accounting *acc,
		     const struct ct_idle *idle, unsigned int process, FILE *out)
{
	const struct ct_process_phases *p = &phases->processes[process];
	const struct ct_thread_account *t = ct_verdict_thread(phases, acc, process);
	const struct ct_stage_span *span = ct_account_span(p, CT_STAGE_STEADY);
	const struct ct_stage_account *s;
	double wait, copies, percent, gpu;
	unsigned int most = CT_ACCOUNT_APP;
	int rc;

	if (!span)
		span = ct_account_span(p, CT_STAGE_EXECUTION);
	if (!span || !ct_account_launches(t) || span->end <= span->begin)
		return 0;
	rc = verdict_iterations(p, span, out);
	if (rc)
		return rc;
	s = &t->stages[span->stage];
	percent = 100.0 / (span->end - span->begin);
	wait = percent * s->ns[CT_ACCOUNT_WAIT];
	copies = percent * s->ns[CT_ACCOUNT_CALLS + CT_CAT_TRANSFER];
	gpu = percent * idle->processes[process].stages[span->stage];
	for (unsigned int i = 0; i < CT_ACCOUNT_COUNT; i++)
		if (i != CT_ACCOUNT_WAIT && s->ns[i] > s->ns[most])
			most = i;
	if (wait >= VERDICT_GPU)
		fprintf(out, "          the host waits for the GPU: %.1f %% of the time in synchronisations\n",
			wait);
	else if (wait + copies < VERDICT_HOST)
		fprintf(out, "          the host limits it: synchronisations waited %.1f %% of the time,\n"
			"          %.1f %% was %s\n", wait, percent * s->ns[most], ct_account_word(most));
	else
		fprintf(out, "          %.1f %% waiting in synchronisations, %.1f %% %s\n", wait,
			percent * s->ns[most], ct_account_word(most));
	if (gpu >= 1)
		fprintf(out, "          the GPU had nothing to do for %s%.1f %% of the time\n",
			idle->measured ? "" : "at least ", gpu);
	return 0;
}
