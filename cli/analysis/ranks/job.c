// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job.h.  Must never blame a rank for time that no kernel waited. */
#include "analysis/ranks/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/memory/memory.h"
#include "analysis/program/outliers.h"
#include "analysis/ranks/job_names.h"
#include "analysis/ranks/job_stuck.h"
#include "base/grow.h"

#define RANKS_MAX	4096u	/* that are compared: each is with each other one */

/* ------------------------------------------------------------------ the calls --- */

static bool job_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_MEMORY | CT_IS_CODE);
}

/* Calls that allocate, free or load code: what the driver does inside them is theirs. */
static int job_span(struct ct_analysis *a, const struct ct_span *s)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, s->pid, s->begin);
	enum ct_stage stage = p ? ct_phases_stage(p, s->begin) : CT_STAGE_COUNT;
	struct ct_job *job = a->state;
	struct ct_job_calls *calls;

	if ((s->flags & CT_SPAN_NESTED) || !ct_stage_is_main(stage))
		return 0;
	calls = ct_keyed_put(&job->calls, p - a->phases->processes);
	if (!calls)
		return -ENOMEM;
	*(ct_class_is(s->class, CT_IS_MEMORY) ? &calls->memory : &calls->modules) += s->duration;
	return 0;
}

/* ----------------------------------------------------------------- the ranks --- */

static int job_by_rank(const void *a, const void *b)
{
	const struct ct_job_rank *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* What the rank did in its steady state, by the records. */
static void job_sums(struct ct_analysis *a, struct ct_job_rank *r)
{
	const struct ct_accounting *accounting = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_process_account *account = &accounting->processes[r->process];
	const struct ct_stage_account *stages = account->launching ? account->stages : NULL;
	const struct ct_gpu_busy *busy = ct_analysis_state(a, &ct_gpu_busy_analyser);
	const struct ct_gpu_busy_device *gpu = &busy->processes[r->process].any;
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_job_calls *calls = ct_keyed_get(&((struct ct_job *)a->state)->calls, r->process);
	const struct ct_memory_process *held = ct_memory_of(ct_analysis_state(a, &ct_memory_analyser), r->pid,
							    a->phases->processes[r->process].generation);

	r->measured = ct_gpu_covers(ct_analysis_state(a, &ct_gpu_coverage_analyser), r->pid, r->from, r->to);
	r->sums.peak = held ? held->sums[CT_MEMORY_GPU].peak : 0;
	r->sums.memory = calls ? calls->memory : 0;
	r->sums.modules = calls ? calls->modules : 0;
	/* One of several ranks of its process has a GPU, and perhaps a thread, of its own. */
	for (unsigned int i = 0; (uint32_t)r->who != CT_ONE_RANK && i < busy->processes[r->process].count; i++)
		if (busy->processes[r->process].devices[i].gpu == r->gpu)
			gpu = &busy->processes[r->process].devices[i];
	for (unsigned int i = 0; r->tid && i < accounting->threads_count; i++)
		if (accounting->threads[i]->tid == r->tid && accounting->threads[i]->process == (int)r->process &&
		    ct_account_launches(accounting->threads[i]))
			stages = accounting->threads[i]->stages;
	for (unsigned int stage = CT_STAGE_STEADY; stage <= CT_STAGE_EXECUTION; stage++) {
		const struct ct_gpu_busy_stage *s = &gpu->stages[stage];

		r->sums.busy += s->busy;
		r->sums.idle += idle->measured ? 0 : idle->processes[r->process].stages[stage];
		r->sums.alone += s->waiting;
		r->sums.compute += s->work[CT_WORK_KERNELS] + s->work[CT_WORK_GRAPHS] - s->collectives;
		r->sums.kernels += s->count[CT_WORK_KERNELS] + s->count[CT_WORK_GRAPHS] - s->collectives_count;
		if (!stages)
			continue;
		r->sums.application += stages[stage].ns[CT_ACCOUNT_APP];
		r->sums.synchronisation += stages[stage].ns[CT_ACCOUNT_WAIT];
		r->sums.off_cpu += stages[stage].ns[CT_ACCOUNT_OFF_CPU];
		r->sums.driver += stages[stage].ns[CT_ACCOUNT_DRIVER];
		r->sums.copies += stages[stage].ns[CT_ACCOUNT_CALLS + CT_CAT_TRANSFER];
	}
}

/* Of summaries each rank has a process of its own, which may have the same pid. */
static const struct ct_process_phases *job_summary(struct ct_analysis *a, const struct ct_process_phases *p, uint32_t rank)
{
	const struct ct_summaries *all = a->trace->summaries;

	for (unsigned int i = 0; i < all->processes_count; i++)
		if (all->processes[i].pid == p->pid && all->processes[i].rank == (int32_t)rank)
			return &a->phases->processes[i];
	return p;
}

static int job_rank(struct ct_analysis *a, struct ct_job_rank *r, uint32_t rank, uint64_t ts)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, r->pid, ts);
	struct ct_iteration_stats stats;

	r->rank = rank;
	r->worst_operation = SIZE_MAX;
	if (!p)
		return 0;
	if (a->trace->summaries && (uint32_t)r->who != CT_ONE_RANK)
		p = job_summary(a, p, rank);
	r->process = p - a->phases->processes;
	ct_phases_main(p, &r->from, &r->to);
	r->iterations = p->iterations_count - ct_phases_warmup(p);
	if (r->iterations) {
		if (ct_iteration_stats(&stats, p, false))
			return -ENOMEM;
		r->step = stats.median;
		r->steps = r->iterations;
		free(stats.sorted);
	}
	if (a->trace->summaries)
		r->sums = a->trace->summaries->processes[r->process].sums;
	else
		job_sums(a, r);
	r->gpu_waiting = r->sums.alone;
	return 0;
}

struct ct_job_rank *ct_job_of(const struct ct_job *job, const struct ct_part *part)
{
	int index = ct_job_index(job, part);

	return index < 0 ? NULL : &job->ranks[index];
}

/* The GPU and the thread of one of several ranks of a process. */
static void job_own(struct ct_job_rank *r, const struct ct_part *part)
{
	if (part->of == CT_ONE_RANK)
		return;
	if (part->gpu_end && r->gpu < 0)
		r->gpu = part->gpu;
	if (!r->tid)
		r->tid = part->tid;
	else if (r->tid != part->tid)
		r->tid = UINT32_MAX;
}

/* A thread that calls for several ranks is none's own. */
static uint32_t job_own_thread(const struct ct_job *job, const struct ct_job_rank *r)
{
	if (r->tid == UINT32_MAX)
		return 0;
	for (unsigned int i = 0; r->tid && i < job->count; i++)
		if (&job->ranks[i] != r && job->ranks[i].pid == r->pid && job->ranks[i].calls_by == r->calls_by)
			return 0;
	return r->tid;
}

/*
 * The rank of a process in the job: what its launcher said, else that in its largest communicator; of one that is
 * several ranks those in that.
 */
static int job_ranks(struct ct_analysis *a, struct ct_job *job)
{
	const struct ct_collectives *c = a->collectives;
	unsigned int room = 0;
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < c->parts_count && !rc; i++) {
		const struct ct_part *part = &c->parts[i];
		struct ct_job_index *index = ct_keyed_get(&job->index, ct_part_who(part));

		if (!index && job->count == RANKS_MAX)
			continue;
		if (!index) {
			index = ct_room(job->ranks, job->count, room) ? ct_keyed_put(&job->index, ct_part_who(part)) : NULL;
			if (!index)
				return -ENOMEM;
			index->rank = job->count;
			job->ranks[job->count++] = (struct ct_job_rank){
				.pid = part->pid, .who = ct_part_who(part), .gpu = -1, .rank = ct_job_rank_of(a, part), .from = part->begin,
			};
		}
		job_own(&job->ranks[index->rank], part);
	}
	for (unsigned int i = 0; i < job->count; i++)
		job->ranks[i].calls_by = job->ranks[i].tid;
	for (unsigned int i = 0; i < job->count && !rc; i++) {
		struct ct_job_rank *r = &job->ranks[i];

		r->tid = job_own_thread(job, r);
		rc = job_rank(a, r, r->rank, r->from);
	}
	n = job->count;
	if (rc || !n)
		return rc;
	qsort(job->ranks, n, sizeof(*job->ranks), job_by_rank);
	for (size_t i = 0; i < n && !rc; i++) {
		ct_keyed_get(&job->index, job->ranks[i].who)->rank = i;
		job->ranks[i].victims = calloc(n + 1, sizeof(uint64_t));
		rc = job->ranks[i].victims ? 0 : -ENOMEM;
	}
	job->several = n > 1;
	return rc;
}

/* ------------------------------------------------------------- the operations --- */

bool ct_job_counts(const struct ct_job *job, const struct ct_collectives *c, const struct ct_operation *o)
{
	if (!o->complete)
		return false;
	for (uint32_t i = 0; i < o->count; i++) {
		const struct ct_part *part = &c->parts[o->first + i];
		const struct ct_job_rank *r = ct_job_of(job, part);

		if (!r || ct_part_arrived(part) < r->from || ct_part_arrived(part) > r->to)
			return false;
	}
	return true;
}

/*
 * Without the kernels: the time between the calls is how long one waits, at most.  A host may call
 * several collectives ahead, so that these times overlap.
 */
static uint64_t job_between(struct ct_job_rank *r, uint32_t communicator, const struct ct_part *part,
			    const struct ct_part *last)
{
	uint64_t from = ct_part_arrived(part), to = ct_part_arrived(last);

	if (r->waited_for != communicator || from >= r->waited_to)
		r->waited_to = from;
	r->waited_for = communicator;
	if (to <= r->waited_to)
		return 0;
	from = r->waited_to;
	r->waited_to = to;
	return to - from;
}

/* Another one outside of the steady states. */
static void job_outside(struct ct_job *job, const struct ct_collectives *c, size_t index)
{
	const struct ct_operation *o = &c->operations[index];

	for (uint32_t i = 0; o->complete && o->measured && i < o->count; i++) {
		const struct ct_part *part = &c->parts[o->first + i];
		const struct ct_job_rank *r = ct_job_of(job, part);

		if (!r || o->first + i == o->last || part->waiting <= job->outside)
			continue;
		job->outside = part->waiting;
		job->outside_operation = index;
		job->outside_victim = r;
	}
}

static int job_operation(struct ct_job *job, const struct ct_collectives *c, size_t index)
{
	const struct ct_operation *o = &c->operations[index];
	const struct ct_part *last = &c->parts[o->last];
	struct ct_job_rank *late = ct_job_of(job, last);
	uint64_t most = 0, waits, behind = ct_part_arrived(last) - o->arrived, unsure;
	int rc = 0;

	if (o->expected < 2)
		return 0;
	if (!ct_job_counts(job, c, o)) {
		job_outside(job, c, index);
		return 0;
	}
	/* Who comes last by less than the clocks of hosts are exact to is not known. */
	late->late_count += o->unsure != UINT64_MAX && behind >= o->unsure ? o->weight : 0;
	for (uint32_t i = 0; i < o->count && !rc; i++) {
		const struct ct_part *part = &c->parts[o->first + i];
		struct ct_job_rank *r = ct_job_of(job, part);

		r->operations += o->weight;
		r->waiting += part->waiting * o->weight;
		r->moving += part->moving * o->weight;
		behind = o->unsure == UINT64_MAX ? 0 : ct_part_arrived(part) - o->arrived;
		rc = ct_histogram_add(&r->lateness, behind < o->unsure ? 0 : behind);
		unsure = ct_collectives_unsure(c, part->pid, last->pid);
		r->unsure = unsure > r->unsure ? unsure : r->unsure;
		if (r == late)
			continue;
		waits = job->measured ? part->waiting : job_between(r, o->communicator, part, last);
		waits = waits < unsure ? 0 : waits;
		late->made_wait += waits * o->weight;
		late->victims[r - job->ranks] += waits * o->weight;
		most = waits > most ? waits : most;
	}
	if (most > late->worst) {
		late->worst = most;
		late->worst_operation = index;
		late->worst_part = last;
	}
	return rc;
}

/* times a rank's step: another one's that is longer is not the same, as where few iterations of a job that hangs were found */
#define STEPS_ALIKE	1.5

static bool job_alike(const struct ct_job *job)
{
	double least = 0, most = 0;

	for (unsigned int i = 0; i < job->count; i++) {
		/* The first steps of a rank may be far longer than all others: the median is of those that come again. */
		double step = job->ranks[i].steps ? job->ranks[i].step : 0;

		least = step && (!least || step < least) ? step : least;
		most = step > most ? step : most;
	}
	return most <= STEPS_ALIKE * least;
}

static int job_end(struct ct_analysis *a)
{
	const struct ct_collectives *c = a->collectives;
	struct ct_job *job = a->state;
	int rc;

	if (!c->parts_count)
		return 0;
	job->measured = c->measured;
	rc = job_ranks(a, job);
	for (size_t i = 0; i < c->operations_count && !rc; i++)
		rc = job_operation(job, c, i);
	for (unsigned int i = 0; i < job->count && !rc; i++) {
		struct ct_job_rank *r = &job->ranks[i];

		/* By the kernels of this trace alone nothing is known of waiting: it is their share of what they had alone. */
		if (a->trace->summaries) {
			r->measured = r->sums.compute || r->waiting || r->moving;
			r->gpu_waiting = r->waiting ? (double)r->sums.alone * r->waiting / (r->waiting + r->moving) : 0;
		}
		if (!r->iterations && r->operations) {
			r->steps = r->operations;
			r->step = (double)(r->to - r->from) / r->steps;
		}
		for (unsigned int k = 0; k < job->count; k++)
			if (r->victims[k] > r->made_wait_most) {
				r->made_wait_most = r->victims[k];
				r->victim = k;
			}
	}
	job->alike = job_alike(job);
	rc = rc ? rc : ct_job_stuck(a, job);
	return rc || !job->stuck_count ? rc : ct_job_last(a, job);
}

static void job_free(struct ct_analysis *a)
{
	struct ct_job *job = a->state;

	for (unsigned int i = 0; i < job->count; i++) {
		ct_histogram_free(&job->ranks[i].lateness);
		free(job->ranks[i].victims);
	}
	ct_keyed_free(&job->calls);
	ct_keyed_free(&job->index);
	free(job->ranks);
	free(job->stuck);
}

static const struct ct_analyser *const needs[] = {
	&ct_accounting_analyser, &ct_gpu_busy_analyser, &ct_gpu_coverage_analyser, &ct_idle_analyser, &ct_memory_analyser, NULL
};

const struct ct_analyser ct_job_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = job_wants,
	.unfiltered = true,
	.span = job_span,
	.phases = true,
	.collectives = true,
	.state_size = sizeof(struct ct_job),
	.needs = needs,
	.end = job_end,
	.free = job_free,
};
