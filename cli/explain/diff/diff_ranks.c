// SPDX-License-Identifier: LGPL-2.1-or-later
/* See diff_ranks.h. */
#include "explain/diff/diff_ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "view/term.h"

#define RANKS_MANY	16	/* of more the rows are in the order of their changes */
#define RANKS_SHARE	0.05	/* of a step: by less nothing is said */

enum { K_RANK, K_PID_A, K_PID_B, K_STEP_A, K_STEP_B, K_WAITING_A, K_WAITING_B, K_MAKES_A, K_MAKES_B, K_CHANGE, K_VERDICT,
       K_COLUMNS };

static const struct ct_column columns[K_COLUMNS] = {
	[K_RANK] = { "Rank", "rank", CT_CELL_ID, 0 },
	[K_PID_A] = { "Pid A", "pid A", CT_CELL_ID, 3 },
	[K_PID_B] = { "Pid B", "pid B", CT_CELL_ID, 3 },
	[K_STEP_A] = { "Step A (ns)", "step A", CT_CELL_NS_MEAN, 0 },
	[K_STEP_B] = { "Step B (ns)", "step B", CT_CELL_NS_MEAN, 0 },
	[K_WAITING_A] = { "Waiting A (ns/step)", "waiting A", CT_CELL_NS_MEAN, 1 },
	[K_WAITING_B] = { "Waiting B (ns/step)", "waiting B", CT_CELL_NS_MEAN, 1 },
	[K_MAKES_A] = { "Makes Others Wait A (ns/step)", "makes wait A", CT_CELL_NS_MEAN, 2 },
	[K_MAKES_B] = { "Makes Others Wait B (ns/step)", "makes wait B", CT_CELL_NS_MEAN, 2 },
	[K_CHANGE] = { "Change (ns/step)", "change", CT_CELL_NS_MEAN, 0 },
	[K_VERDICT] = { "Verdict", "verdict", CT_CELL_TEXT, 0 },
};

static const struct ct_job_rank *ranks_of(const struct ct_job *job, uint32_t rank)
{
	for (unsigned int i = 0; i < job->count; i++)
		if (job->ranks[i].rank == rank)
			return &job->ranks[i];
	return NULL;
}

/* ns in a step that another rank waits for this one, the one that waits most. */
static double ranks_makes(const struct ct_job_rank *r)
{
	return r && r->steps ? r->made_wait_most / r->steps : 0;
}

static double ranks_waits(const struct ct_job_rank *r)
{
	return r && r->steps ? r->waiting / r->steps : 0;
}

/* The rank that makes others wait so much more, or less, that it counts. */
static void ranks_changed(struct ct_diff_ranks *r)
{
	double most = 0;

	for (unsigned int i = 0; i < r->jobs[1]->count; i++) {
		const struct ct_job_rank *b = &r->jobs[1]->ranks[i], *a = ranks_of(r->jobs[0], b->rank);
		double change = fabs(ranks_makes(b) - ranks_makes(a));

		if (!a || !a->steps || !b->steps || change <= most || change < RANKS_SHARE * fmax(a->step, b->step))
			continue;
		most = change;
		r->changed[0] = a;
		r->changed[1] = b;
		r->pids[0] = a->pid;
		r->pids[1] = b->pid;
	}
}

int ct_diff_ranks_find(struct ct_diff_ranks *r, const struct ct_trace *const traces[2],
		       const struct ct_phases *const phases[2], struct ct_error *err)
{
	const struct ct_analyser *job = &ct_job_analyser;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };

	*r = (struct ct_diff_ranks){ .of = { phases[0], phases[1] } };
	for (unsigned int s = 0; s < 2; s++)
		if (!ct_collectives_there(&traces[s]->reg) || traces[s]->filter)
			return 0;
	for (unsigned int s = 0; s < 2; s++) {
		/* Of summaries the phases are known. */
		if (!r->of[s] && !traces[s]->summaries) {
			if (ct_phases_find(&r->phases[s], traces[s]))
				return ct_fail(err, ENOMEM, "no memory");
			r->of[s] = &r->phases[s];
		}
		options.phases = r->of[s];
		r->engines[s] = ct_engine_run(traces[s], &job, 1, &options, err);
		if (!r->engines[s])
			return err->code ? -err->code : -ENOMEM;
	}
	for (unsigned int s = 0; s < 2; s++) {
		const struct ct_job *found = ct_engine_result(r->engines[s], job)->state;

		r->jobs[s] = found->several ? found : NULL;
	}
	if (r->jobs[0] && r->jobs[1])
		ranks_changed(r);
	return 0;
}

/* What the rank spends more, or less, on: in a step. */
static enum ct_late ranks_why(const struct ct_diff_ranks *r, double *before, double *now)
{
	const struct ct_job_rank *a = r->changed[0], *b = r->changed[1];
	double made = ranks_makes(b) - ranks_makes(a), most = 0;
	enum ct_late why = CT_LATE_UNKNOWN;

	for (enum ct_late i = CT_LATE_APP; i <= CT_LATE_KERNELS; i++) {
		double x = ct_job_step(r->jobs[0], a, i, false), y = ct_job_step(r->jobs[1], b, i, false);
		double change = made > 0 ? y - x : x - y;

		if (change <= most)
			continue;
		most = change;
		*before = x;
		*now = y;
		why = i;
	}
	/* What explains less than a quarter of it is not why. */
	return most < fabs(made) / 4 ? CT_LATE_UNKNOWN : why;
}

static void ranks_note(struct ct_table *t, const struct ct_diff_ranks *r)
{
	char each[CT_TERM_TEXT], was[CT_TERM_TEXT], is[CT_TERM_TEXT];
	double made, before = 0, now = 0;
	enum ct_late why;

	if (!r->changed[1]) {
		ct_table_note(t, "No rank makes the others wait for more, or less, than before by %.0f %% of a step.", 100 * RANKS_SHARE);
		return;
	}
	made = ranks_makes(r->changed[1]) - ranks_makes(r->changed[0]);
	why = ranks_why(r, &before, &now);
	ct_term_ns(each, fabs(made));
	if (why == CT_LATE_UNKNOWN)
		ct_table_note(t, "Rank %u makes the others wait for %s %s in a step than before.", r->changed[1]->rank, each,
			      made > 0 ? "more" : "less");
	else
		ct_table_note(t, "Rank %u makes the others wait for %s %s in a step than before: it spends %s %s, before %s.",
			      r->changed[1]->rank, each, made > 0 ? "more" : "less", ct_term_ns(is, now), ct_late_word(why),
			      ct_term_ns(was, before));
	/* Nothing follows. */
	if (!r->of[0] || !r->of[1])
		return;
	ct_table_note(t, "What follows is of that rank: what the others' calls take longer or shorter is that they wait for it.");
}

/* A row: the rank in both jobs. */
struct ranks_row {
	const struct ct_job_rank *a, *b;	/* a: NULL where it is new */
	double change;
};

static int ranks_compare(const void *x, const void *y)
{
	const struct ranks_row *a = x, *b = y;
	double first = fabs(a->change), second = fabs(b->change);

	return first != second ? (first > second ? -1 : 1) : a->b->rank < b->b->rank ? -1 : a->b->rank > b->b->rank;
}

int ct_diff_ranks_table(struct ct_table *t, const struct ct_diff_ranks *r)
{
	struct ranks_row *list;
	int rows = 0;

	ct_table_begin(t, "diff_ranks", "Ranks: a step of the steady state of each, and how long it makes another wait",
		       columns, K_COLUMNS);
	if (!r->jobs[0] || !r->jobs[1])
		return 0;
	list = calloc(r->jobs[1]->count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->jobs[1]->count; i++) {
		const struct ct_job_rank *b = &r->jobs[1]->ranks[i], *a = ranks_of(r->jobs[0], b->rank);

		list[i] = (struct ranks_row){ a, b, a ? ranks_makes(b) - ranks_makes(a) : 0 };
	}
	if (r->jobs[1]->count > RANKS_MANY)
		qsort(list, r->jobs[1]->count, sizeof(*list), ranks_compare);
	for (unsigned int i = 0; i < r->jobs[1]->count; i++) {
		const struct ct_job_rank *b = list[i].b, *a = list[i].a;
		struct ct_cell *row = ct_table_row(t);
		double change = list[i].change;
		double step = fmax(a ? a->step : 0, b->step);

		rows++;
		row[K_RANK] = ct_u64(b->rank);
		row[K_PID_B] = ct_u64(b->pid);
		row[K_STEP_B] = ct_double(b->step);
		row[K_WAITING_B] = ct_double(ranks_waits(b));
		row[K_MAKES_B] = ct_double(ranks_makes(b));
		if (!a) {
			row[K_VERDICT] = ct_const("new");
			continue;
		}
		row[K_PID_A] = ct_u64(a->pid);
		row[K_STEP_A] = ct_double(a->step);
		row[K_WAITING_A] = ct_double(ranks_waits(a));
		row[K_MAKES_A] = ct_double(ranks_makes(a));
		row[K_CHANGE] = ct_double(change);
		row[K_VERDICT] = ct_const(change > RANKS_SHARE * step ? "makes others wait" :
					  change < -RANKS_SHARE * step ? "makes others wait less" :
					  ranks_waits(b) - ranks_waits(a) > RANKS_SHARE * step ? "waits more" :
					  ranks_waits(a) - ranks_waits(b) > RANKS_SHARE * step ? "waits less" : "same");
	}
	free(list);
	ranks_note(t, r);
	return rows;
}

void ct_diff_ranks_free(struct ct_diff_ranks *r)
{
	for (unsigned int s = 0; s < 2; s++) {
		ct_engine_free(r->engines[s]);
		ct_phases_free(&r->phases[s]);
	}
}
