// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job.h.  Must never blame a rank for time that no kernel waited. */
#include "analysis/ranks/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/memory/memory.h"
#include "analysis/program/outliers.h"
#include "base/grow.h"
#include "decode/nccl.h"
#include "trace/stacks/stacks.h"
#include "view/term.h"

#define RANKS_MAX	4096u	/* that are compared: each is with each other one */
#define VERDICT_TURNS	10.0
#define TURNS_MOST	1.5	/* times its share: a rank that comes last more often than that does not do so by turns */
#define OUTSIDE_SHARE	0.1	/* of a steady state: a wait that is told although it is outside of it */
#define VERDICT_STUCK	3	/* collectives that were never complete, at most one for each communicator */
#define OPERATIONS_LEAST 8	/* of fewer who comes last is chance */
#define MISSING_SHOWN	8	/* ranks that are named */

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

static struct ct_job_rank *job_of(const struct ct_job *job, const struct ct_part *part)
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

/* Is it in the steady state of all who take part? */
static bool job_counts(const struct ct_job *job, const struct ct_collectives *c, const struct ct_operation *o)
{
	if (!o->complete)
		return false;
	for (uint32_t i = 0; i < o->count; i++) {
		const struct ct_part *part = &c->parts[o->first + i];
		const struct ct_job_rank *r = job_of(job, part);

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
		const struct ct_job_rank *r = job_of(job, part);

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
	struct ct_job_rank *late = job_of(job, last);
	uint64_t most = 0, waits, behind = ct_part_arrived(last) - o->arrived, unsure;
	int rc = 0;

	if (o->expected < 2)
		return 0;
	if (!job_counts(job, c, o)) {
		job_outside(job, c, index);
		return 0;
	}
	/* Who comes last by less than the clocks of hosts are exact to is not known. */
	late->late_count += o->unsure != UINT64_MAX && behind >= o->unsure ? o->weight : 0;
	for (uint32_t i = 0; i < o->count && !rc; i++) {
		const struct ct_part *part = &c->parts[o->first + i];
		struct ct_job_rank *r = job_of(job, part);

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

/* Which rank a process, or a thread of it, is; of several the first. */
struct job_process {
	uint64_t pid, tid;	/* tid 0: all others */
	struct ct_job_rank *rank;
};

struct job_last {
	struct ct_analysis *a;
	struct ct_job *job;
	CT_KEYED(struct job_process) processes;
};

static unsigned int job_last_wants(void *arg, const struct ct_class *class)
{
	(void)arg;
	return (ct_class_is(class, CT_IS_API) && !ct_class_is(class, CT_IS_QUERY)) || ct_class_is(class, CT_IS_IOCTL) ? CT_WANTS_SPANS : 0;
}

/* The last ioctl of a process, by its begin. */
static int job_last_ioctl(struct ct_job_rank *r, const struct ct_span *s)
{
	const struct ct_record *record = s->record && s->record->fields ? s->record : s->entry;

	if (!record || s->begin < r->ioctl.begin)
		return 0;
	r->ioctl = (struct ct_job_ioctl){
		.cmd = ct_record_known(record, CT_KNOWN_CMD), .device = ct_record_known(record, CT_KNOWN_DEVICE),
		.code = ct_record_known(record, CT_KNOWN_CODE), .have = ct_record_known(record, CT_KNOWN_HAVE),
		.begin = s->begin, .end = s->flags & CT_SPAN_UNFINISHED ? 0 : s->end,
	};
	return 0;
}

/* What has not returned counts most; else the last call of the thread that makes the iterations. */
static int job_last_span(void *arg, const struct ct_span *s, unsigned int orders)
{
	struct job_last *l = arg;
	const struct job_process *own = ct_keyed_get_pair(&l->processes, s->pid, s->tid);
	const struct job_process *process = own ? own : ct_keyed_get_pair(&l->processes, s->pid, 0);
	struct ct_job_rank *r = process ? process->rank : NULL;
	bool open = s->flags & CT_SPAN_UNFINISHED;

	(void)orders;
	if (r && ct_class_is(s->class, CT_IS_IOCTL))
		return job_last_ioctl(r, s);
	if (!r || s->depth || (r->doing && !r->doing_end && !open))
		return 0;
	if (!open && !own && l->a->phases->processes[r->process].tid && s->tid != l->a->phases->processes[r->process].tid)
		return 0;
	if (r->doing && !r->doing_end && r->doing_begin > s->begin)
		return 0;
	r->doing = s->class;
	r->doing_begin = s->begin;
	r->doing_end = open ? 0 : s->end;
	r->doing_stack = s->stack;
	return 0;
}

static int job_last(struct ct_analysis *a, struct ct_job *job)
{
	struct job_last last = { .a = a, .job = job };
	struct ct_spans spans = {
		.trace = a->trace, .span = job_last_span, .wants = job_last_wants,
		.arg = &last, .orders = CT_SPANS_BY_END,
	};
	int rc;

	for (unsigned int i = 0; a->trace->summaries && i < job->count; i++) {
		const struct ct_summary_process *p = &a->trace->summaries->processes[job->ranks[i].process];

		job->ranks[i].doing = p->doing;
		job->ranks[i].doing_begin = p->doing_begin;
		job->ranks[i].doing_end = p->doing_end;
	}
	if (a->trace->summaries)
		return 0;
	for (unsigned int i = job->count; i-- > 0;) {
		struct job_process *process = ct_keyed_put_pair(&last.processes, job->ranks[i].pid, job->ranks[i].tid);

		if (!process)
			return -ENOMEM;
		process->rank = &job->ranks[i];
	}
	rc = ct_spans_run(&spans);
	ct_spans_free(&spans);
	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *first = ct_keyed_get_pair(&last.processes, job->ranks[i].pid, job->ranks[i].tid)->rank;

		job->ranks[i].doing = first->doing;
		job->ranks[i].doing_begin = first->doing_begin;
		job->ranks[i].doing_end = first->doing_end;
		job->ranks[i].doing_stack = first->doing_stack;
		job->ranks[i].ioctl = first->ioctl;
	}
	ct_keyed_free(&last.processes);
	return rc;
}

/* Do two operations follow each other: the collectives of a communicator, what one rank sends another? */
static bool job_same_row(const struct ct_collectives *c, const struct ct_operation *x, const struct ct_operation *y)
{
	const struct ct_part *p = &c->parts[x->first], *q = &c->parts[y->first];

	return x->communicator == y->communicator && x->pair == y->pair &&
	       (!x->pair || (p->class == q->class && p->rank == q->rank && p->root == q->root));
}

#define STUCK_LEAST	100000000ull	/* ns: what began later before the trace's end may go on */
#define STUCK_SKEWS	3		/* times the longest time that ranks came after each other */

static int job_by_arrival(const void *a, const void *b, void *arg)
{
	const struct ct_collectives *c = arg;
	const struct ct_operation *x = &c->operations[*(const size_t *)a], *y = &c->operations[*(const size_t *)b];

	/* Sends and receives hang because of the collectives, more often than the other way round. */
	if (x->pair != y->pair)
		return x->pair ? 1 : -1;
	return x->arrived < y->arrived ? -1 : x->arrived > y->arrived;
}

/*
 * Those that not all ranks called although nothing of their communicator is complete behind them, for
 * longer than ranks have come late; and those in which ranks differ.  Where records are lost, or the
 * recording begins in the middle, earlier ones may lack ranks.
 */
static int job_stuck(struct ct_analysis *a, struct ct_job *job)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_operation *row = NULL, *candidate = NULL;
	uint64_t skew = 0, end = a->totals->last;

	job->stuck = calloc(2ul * c->communicators_count + 2, sizeof(*job->stuck));
	if (!job->stuck)
		return -ENOMEM;
	for (size_t i = 0; i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];
		uint64_t behind = ct_part_arrived(&c->parts[o->last]) - o->arrived;

		if (o->complete && !o->mismatched && behind > skew)
			skew = behind;
	}
	for (size_t i = 0; i <= c->operations_count; i++) {
		const struct ct_operation *o = i < c->operations_count ? &c->operations[i] : NULL;

		if (row && (!o || !job_same_row(c, row, o))) {
			if (candidate && end - candidate->arrived > STUCK_LEAST &&
			    end - candidate->arrived > STUCK_SKEWS * skew && job->stuck_count < c->communicators_count)
				job->stuck[job->stuck_count++] = candidate - c->operations;
			candidate = NULL;
		}
		if (!o)
			break;
		if (o->complete && !o->mismatched)
			candidate = NULL;
		else if (!candidate && (o->mismatched || o->hangs))
			candidate = o;
		if (o->mismatched && candidate == o && job->stuck_count < c->communicators_count) {
			job->stuck[job->stuck_count++] = i;
			candidate = NULL;
		}
		row = o;
	}
	/* The oldest first: others may follow from it. */
	qsort_r(job->stuck, job->stuck_count, sizeof(*job->stuck), job_by_arrival, (void *)c);
	return 0;
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
	rc = rc ? rc : job_stuck(a, job);
	return rc || !job->stuck_count ? rc : job_last(a, job);
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

/* -------------------------------------------------------------------- why --- */

/*
 * Of @ns that its kernels waited for another rank: ns in which its GPU did nothing but wait, as the
 * verdict on it has them.  Kernels that wait at the same time, or beside other work, cost less than their sum.
 */
static double job_lost(const struct ct_job *job, const struct ct_job_rank *victim, double ns)
{
	return job->measured && victim->waiting > victim->gpu_waiting ? ns * victim->gpu_waiting / victim->waiting : ns;
}

static double job_share(const struct ct_job *job, const struct ct_job_rank *victim, double ns)
{
	return victim->to > victim->from ? 100.0 * job_lost(job, victim, ns) / (victim->to - victim->from) : 0;
}

double ct_job_share(const struct ct_job *job, const struct ct_job_rank *r)
{
	return job_share(job, &job->ranks[r->victim], r->made_wait_most);
}

double ct_job_least(const struct ct_job *job, const struct ct_job_rank *r)
{
	const struct ct_job_rank *victim = &job->ranks[r->victim];
	double waited, worked;

	if (job->measured)
		return r->made_wait_most;
	if (!r->steps || !victim->steps)
		return 0;
	waited = victim->sums.synchronisation / victim->steps;
	worked = (double)(int64_t)(r->to - r->from - r->sums.idle) / r->steps;
	waited = waited > worked ? (waited - worked) * victim->steps : 0;
	return waited < r->made_wait_most ? waited : r->made_wait_most;
}

double ct_job_step(const struct ct_job *job, const struct ct_job_rank *r, enum ct_late why, bool others)
{
	double sum = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *x = &job->ranks[i];
		uint64_t ns = 0;

		if ((x == r) == others || !x->steps)
			continue;
		switch (why) {
		case CT_LATE_APP: ns = x->sums.application; break;
		case CT_LATE_MEMORY: ns = x->sums.memory; break;
		case CT_LATE_MODULES: ns = x->sums.modules; break;
		case CT_LATE_TRANSFERS: ns = x->sums.copies; break;
		case CT_LATE_OFF_CPU: ns = x->sums.off_cpu; break;
		case CT_LATE_DRIVER: ns = x->sums.driver; break;
		case CT_LATE_KERNELS:
		case CT_LATE_WORK: ns = x->sums.compute; break;
		default: break;
		}
		sum += ns / x->steps;
		n++;
	}
	return n ? sum / n : 0;
}

static double job_kernels(const struct ct_job *job, const struct ct_job_rank *r, bool others)
{
	double sum = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *x = &job->ranks[i];

		if ((x == r) == others || !x->steps)
			continue;
		sum += x->sums.kernels / x->steps;
		n++;
	}
	return n ? sum / n : 0;
}

#define MORE_KERNELS	1.1	/* so many times as many: it has more work, and not slower kernels */

/* Why: what it has more of in a step than the other ranks, in *@more ns, of *@own where they have *@others. */
static enum ct_late job_why(const struct ct_job *job, const struct ct_job_rank *r, double *more, double *own,
			    double *others)
{
	enum ct_late why = CT_LATE_UNKNOWN;

	*more = *own = *others = 0;
	for (enum ct_late i = CT_LATE_APP; i <= CT_LATE_KERNELS; i++) {
		double mine = ct_job_step(job, r, i, false), theirs = ct_job_step(job, r, i, true);

		if (mine - theirs <= *more)
			continue;
		*more = mine - theirs;
		*own = mine;
		*others = theirs;
		why = i;
	}
	/* What explains less than a third of it is not why: in a pipeline some stage always comes last. */
	if (r->steps && *more < r->made_wait_most / r->steps / 3)
		return CT_LATE_UNKNOWN;
	if (why == CT_LATE_KERNELS && job_kernels(job, r, false) > MORE_KERNELS * job_kernels(job, r, true))
		return CT_LATE_WORK;
	return why;
}

/*
 * What ranks wait for each other by turns is nobody's, and so is what no account of the rank explains.  A bound of
 * what they wait at most is no evidence.
 */
const struct ct_job_rank *ct_job_guilty(const struct ct_job *job, double share)
{
	const struct ct_job_rank *found = NULL;
	double most = share, more, own, others;

	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *r = &job->ranks[i], *victim = &job->ranks[r->victim];
		uint64_t back = victim->victims[i];
		double least = ct_job_least(job, r);
		double net = least > back ? job_share(job, victim, least - back) : 0;

		if (!r->made_wait_most || net < most || r->operations < OPERATIONS_LEAST ||
		    job_why(job, r, &more, &own, &others) == CT_LATE_UNKNOWN)
			continue;
		most = net;
		found = r;
	}
	return found;
}

/* How much of its steady state the rank waits that waits most, %; sets it, and who comes last most often. */
static double job_turns(const struct ct_job *job, const struct ct_job_rank **waits, const struct ct_job_rank **last)
{
	double most = 0;

	*waits = *last = NULL;
	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *r = &job->ranks[i];
		uint64_t ns = 0;

		for (unsigned int k = 0; k < job->count; k++)
			ns += job->ranks[k].victims[i];
		if (job_share(job, r, ns) <= most)
			continue;
		most = job_share(job, r, ns);
		*waits = r;
	}
	for (unsigned int i = 0; i < job->count; i++)
		if (job->ranks[i].operations && (!*last || job->ranks[i].late_count > (*last)->late_count))
			*last = &job->ranks[i];
	return *last ? most : 0;
}

const char *ct_late_word(enum ct_late why)
{
	static const char *const words[CT_LATE_COUNT] = {
		[CT_LATE_UNKNOWN] = "", [CT_LATE_APP] = "in the application",
		[CT_LATE_MEMORY] = "allocating and freeing memory", [CT_LATE_MODULES] = "loading code",
		[CT_LATE_TRANSFERS] = "in copies", [CT_LATE_OFF_CPU] = "off the CPU",
		[CT_LATE_DRIVER] = "in the kernel driver", [CT_LATE_KERNELS] = "in kernels of its GPU",
		[CT_LATE_WORK] = "in kernels of its GPU",
	};

	return words[why];
}

/* -------------------------------------------------------------------- words --- */

/* Of a process that no launcher calls a rank: that in its largest communicator. */
static int64_t job_rank_of_pid(const struct ct_analysis *a, uint32_t pid)
{
	const struct ct_own_rank *own = ct_keyed_get(&a->collectives->own, pid);
	int32_t rank = ct_processes_rank(a->processes, pid);

	if (own && own->several)
		return -1;
	return rank >= 0 ? rank : own ? (int64_t)own->rank : -1;
}

int64_t ct_job_rank_in(const struct ct_analysis *a, uint32_t communicator, uint32_t rank)
{
	uint32_t pid = ct_collectives_member(a->collectives, communicator, rank);
	const struct ct_own_rank *own = ct_keyed_get(&a->collectives->own, pid);

	if (!pid)
		return -1;
	return own && own->several ? (int64_t)rank : job_rank_of_pid(a, pid);
}

uint32_t ct_job_rank_of(const struct ct_analysis *a, const struct ct_part *p)
{
	int64_t rank = p->of != CT_ONE_RANK ? (int64_t)p->of : job_rank_of_pid(a, p->pid);

	return rank < 0 ? p->rank : (uint32_t)rank;
}

/* Behind @used: "3", or where it is not known which process that is: "1 of it", where the communicator's numbers are its own. */
static size_t job_put_rank(const struct ct_analysis *a, uint32_t communicator, uint32_t rank, bool first, char *buf, size_t used, size_t size)
{
	const struct ct_comm *of = &a->collectives->communicators[communicator];
	int64_t known = ct_job_rank_in(a, communicator, rank);
	bool same = known >= 0;

	for (uint32_t i = 0; known < 0 && i < of->members_count && !same; i++)
		same = ct_job_rank_in(a, communicator, of->members[i].rank) == (int64_t)of->members[i].rank;
	if (used < size)
		used += snprintf(buf + used, size - used, "%s%u%s", first ? "" : ", ", known < 0 ? rank : (uint32_t)known, same ? "" : " of it");
	return used;
}

static int job_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* "0-3, 8" of ranks, which are sorted. */
static size_t job_put_ranges(uint32_t *ranks, uint32_t n, char *buf, size_t used, size_t size)
{
	if (n)
		qsort(ranks, n, sizeof(*ranks), job_by_number);
	for (uint32_t i = 0, same; i < n && used < size; i += same) {
		for (same = 1; i + same < n && ranks[i + same] == ranks[i] + same; same++)
			;
		if (used + 28 >= size)
			return used + snprintf(buf + used, size - used, ", ...");
		used += snprintf(buf + used, size - used, same > 1 ? "%s%u-%u" : "%s%u", i ? ", " : "", ranks[i], ranks[i] + same - 1);
	}
	return used;
}

const char *ct_job_members(const struct ct_analysis *a, uint32_t communicator, char *buf, size_t size)
{
	const struct ct_comm *of = &a->collectives->communicators[communicator];
	uint32_t *ranks = malloc((of->members_count + 1ul) * sizeof(*ranks));
	uint32_t n = 0;

	*buf = 0;
	for (uint32_t i = 0; ranks && i < of->members_count; i++) {
		int64_t rank = ct_job_rank_in(a, communicator, of->members[i].rank);

		if (rank >= 0)
			ranks[n++] = (uint32_t)rank;
	}
	job_put_ranges(ranks, n, buf, 0, size);
	free(ranks);
	return buf;
}

const char *ct_job_missing(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_comm *of = &c->communicators[o->communicator];
	const struct ct_part *first = &c->parts[o->first];
	/* What ranks did that are not in the trace is not known. */
	uint32_t count = of->members_count ? of->members_count : o->expected;
	unsigned int shown = 0;
	size_t used = 0;

	*buf = 0;
	if (o->pair) {
		if (!o->complete && first->root >= 0)
			job_put_rank(a, o->communicator, first->root, true, buf, 0, size);
		return buf;
	}
	for (uint32_t i = 0; i < count && used < size; i++) {
		uint32_t rank = of->members_count ? of->members[i].rank : i;

		if (ct_operation_called(c, o, rank))
			continue;
		if (shown++ == MISSING_SHOWN) {
			snprintf(buf + used, size - used, " ...");
			break;
		}
		used = job_put_rank(a, o->communicator, rank, shown == 1, buf, used, size);
	}
	return buf;
}

/* "AllReduce 218 of communicator 3f2a (1.00 MiB)", "Send 3 from rank 2 to rank 1 (...)" */
static const char *job_operation_text(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_part *p = &c->parts[o->first];
	char bytes[CT_TERM_TEXT], ends[2][24];
	bool sends = ct_class_is(p->class, CT_IS_SEND);

	ct_term_bytes(bytes, ct_operation_size(c, o));
	if (!o->pair || p->root < 0) {
		snprintf(buf, size, "%s %u of communicator %04llx (%s)", ct_part_name(p), o->number,
			 (unsigned long long)c->communicators[o->communicator].id >> 48, bytes);
		return buf;
	}
	snprintf(ends[!sends], sizeof(ends[0]), "%u", ct_job_rank_of(a, p));
	job_put_rank(a, o->communicator, p->root, true, ends[sends], 0, sizeof(ends[0]));
	snprintf(buf, size, "%s %u from rank %s to rank %s (communicator %04llx, %s)", ct_part_name(p), o->number, ends[0], ends[1],
		 (unsigned long long)c->communicators[o->communicator].id >> 48, bytes);
	return buf;
}

const char *ct_job_unrecorded(const struct ct_analysis *a, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_comm *most = NULL;

	*buf = 0;
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		const struct ct_comm *comm = &c->communicators[i];

		if (comm->members_count && comm->members_count < comm->ranks && (!most || comm->ranks > most->ranks))
			most = comm;
	}
	if (most)
		snprintf(buf, size, "Of the %u ranks of communicator %04llx %u %s in the trace.", most->ranks,
			 (unsigned long long)most->id >> 48, most->members_count, most->members_count == 1 ? "is" : "are");
	return buf;
}

static bool job_is(const struct ct_analysis *a)
{
	const struct ct_ranks *ranks = &a->processes->ranks;

	for (size_t i = 0; i < ranks->list.count; i++)
		if (ranks->list.list[i].size > 1)
			return true;
	return a->collectives->parts_count || a->collectives->communicators_count;
}

/* Communicators were made and never used: the ranks talk by other ways. */
static bool job_is_silent(const struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count && !c->parts_count; i++)
		if (c->communicators[i].ranks > 1)
			return true;
	return false;
}

const char *ct_job_uncovered(const struct ct_analysis *a, char *buf, size_t size)
{
	static const char *const by[] = { "libmpi", "libnvshmem" };
	const struct ct_registry *reg = &a->trace->reg;
	char names[2][64] = { "", "" };
	size_t used = 0;

	*buf = 0;
	if (job_is_silent(a->collectives)) {
		snprintf(buf, size, "Communicators of libnccl were made, but none of its collectives was called. A framework may exchange small data in "
			 "kernels of its own over the GPUs' memory, as XLA does: that is not covered. ");
		used = strlen(buf);
	}
	for (unsigned int i = 0; i < reg->infos_count && job_is(a); i++) {
		const char *file = strcmp(reg->infos[i].key, "library") ? NULL : strrchr(reg->infos[i].text, '/');

		for (unsigned int k = 0; file && k < 2; k++)
			if (!strncmp(file + 1, by[k], strlen(by[k])) && !*names[k])
				ct_term_clean(names[k], sizeof(names[k]), file + 1, 40);
	}
	if (*names[0] || *names[1])
		snprintf(buf + used, size - used, "%s%s%s %s mapped: what ranks exchange by %s is not covered.", names[0], *names[0] && *names[1] ? " and " : "",
			 names[1], *names[0] && *names[1] ? "are" : "is", *names[0] && *names[1] ? "them" : "it");
	else if (used)
		buf[used - 1] = 0;
	return buf;
}

#define UNCALLED_SHOWN	4u	/* operations */

static int uncalled_compare(const void *a, const void *b)
{
	const struct ct_uncalled *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->count > y->count ? -1 : x->count < y->count;
}

/* One for each operation: libnccl has a kernel for each datatype and algorithm. */
static unsigned int uncalled_sum(const struct ct_analysis *a, struct ct_uncalled *sums, unsigned int room)
{
	const struct ct_registry *reg = &a->trace->reg;
	const struct ct_collectives *c = a->collectives;
	unsigned int count = 0, k;

	for (size_t i = 0; i < c->uncalled.count; i++) {
		const struct ct_uncalled *u = &c->uncalled.list[i];
		int length, other;
		const char *name = ct_collectives_kernel(reg->strings[u->kernel], &length);

		for (k = 0; k < count; k++) {
			const char *known = ct_collectives_kernel(reg->strings[sums[k].kernel], &other);

			if (other == length && !strncmp(name, known, length))
				break;
		}
		if (k == room)
			continue;
		if (k == count)
			sums[count++] = (struct ct_uncalled){ .kernel = u->kernel };
		sums[k].count += u->count;
		sums[k].ns += u->ns;
	}
	qsort(sums, count, sizeof(*sums), uncalled_compare);
	return count;
}

const char *ct_job_uncalled(const struct ct_analysis *a, char *buf, size_t size)
{
	const struct ct_registry *reg = &a->trace->reg;
	struct ct_uncalled sums[16];
	unsigned int count = a->trace->summaries ? 0 : uncalled_sum(a, sums, 16);
	const char *inside = ct_registry_info(reg, "nccl_inside");
	char number[CT_TERM_TEXT], ns[CT_TERM_TEXT], file[128];
	size_t used = 0;

	*buf = 0;
	for (unsigned int i = 0; i < count && i < UNCALLED_SHOWN && used < size; i++) {
		int length;
		const char *name = ct_collectives_kernel(reg->strings[sums[i].kernel], &length);

		used += snprintf(buf + used, size - used, "%s%.*s (%s kernel%s%s%s)", !i ? "" : i + 1 == count ? " and " : ", ",
				 length > 40 ? 40 : length, name, ct_term_count(number, sums[i].count), sums[i].count == 1 ? "" : "s",
				 sums[i].ns ? ", " : "", sums[i].ns ? ct_term_ns(ns, sums[i].ns) : "");
	}
	if (used && used < size)
		used += snprintf(buf + used, size - used, "%s of NCCL ran without a recorded call, as in CUDA graphs and where libnccl is linked "
				 "statically: how long ranks wait in them is not known, and a GPU that waits counts as busy.",
				 count > UNCALLED_SHOWN ? ", ..." : "");
	if (used && used < size && inside)
		snprintf(buf + used, size - used, " There is a libnccl in %s: what that calls of it directly is not recorded.",
			 ct_term_clean(file, sizeof(file), inside, 100));
	return buf;
}

/* "ranks 0-2 call AllReduce of 262,144 float32, sum" */
static size_t job_call(const struct ct_analysis *a, const struct ct_part *p, uint32_t *ranks, uint32_t n, char *buf, size_t used, size_t size)
{
	char count[CT_TERM_TEXT], root[32], list[64];
	const char *type = nccl_type_name(p->datatype), *reduction = nccl_reduction_name(p->reduction);

	job_put_ranges(ranks, n, list, 0, sizeof(list));
	used += snprintf(buf + used, size - used, "rank%s %s call%s %s of %s %s%s%s", n > 1 ? "s" : "", list, n > 1 ? "" : "s", ct_part_name(p),
			 ct_term_count(count, p->count), type ? type : "elements of an unknown type", reduction ? ", " : "",
			 reduction ? reduction : "");
	if (p->root < 0 || used >= size)
		return used;
	job_put_rank(a, p->communicator, p->root, true, root, 0, sizeof(root));
	return used + snprintf(buf + used, size - used, ct_class_is(p->class, CT_IS_SEND) ? " to rank %s" :
			       ct_class_is(p->class, CT_IS_RECEIVE) ? " from rank %s" : ", root %s", root);
}

#define CALLS_SHOWN	4	/* that differ */

const char *ct_job_mismatch(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_part *parts = &a->collectives->parts[o->first];
	uint32_t *ranks = o->mismatched ? malloc(o->count * sizeof(*ranks)) : NULL;
	unsigned int calls = 0;
	size_t used = 0;

	*buf = 0;
	for (uint32_t i = 0; ranks && i < o->count && used < size && calls < CALLS_SHOWN; i++) {
		uint32_t n = 0, k = 0;

		/* Those that call the same stand with the first of them. */
		while (k < i && (!ct_part_same_call(&parts[k], &parts[i]) || parts[k].class != parts[i].class))
			k++;
		if (k < i)
			continue;
		for (k = i; k < o->count; k++)
			if (ct_part_same_call(&parts[k], &parts[i]) && parts[k].class == parts[i].class)
				ranks[n++] = ct_job_rank_of(a, &parts[k]);
		used += snprintf(buf + used, size - used, "%s", calls++ ? "; " : "");
		if (used < size)
			used = job_call(a, &parts[i], ranks, n, buf, used, size);
	}
	free(ranks);
	return buf;
}

#define RARE_STEPS	10u	/* iterations: of fewer it is not said that few of them matter */
#define RARE_PART	5u	/* of the iterations at most one in so many */
#define RARE_SHARE	0.9	/* of the waiting they have */

static int job_by_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* ns that the one that waits most for this rank waited, by its iterations; their sum. */
static uint64_t job_waits(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r, uint64_t *waits)
{
	const struct ct_job_rank *victim = &job->ranks[r->victim];
	const struct ct_process_phases *p = &a->phases->processes[victim->process];
	const struct ct_collectives *c = a->collectives;
	uint64_t sum = 0;

	for (size_t i = 0; i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];

		if (o->expected < 2 || !o->complete || job_of(job, &c->parts[o->last]) != r || !job_counts(job, c, o))
			continue;
		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];
			int64_t step = job_of(job, part) == victim ? ct_phases_iteration(p, part->begin) : -1;

			if (step < 0)
				continue;
			waits[step] += part->waiting * o->weight;
			sum += part->waiting * o->weight;
		}
	}
	return sum;
}

/*
 * Is nearly all that a rank makes another one wait in a few iterations?  In how many of *@of; 0: no.  *@every: they come in every so
 * manieth, as far as they are regular; else 0.
 */
static uint32_t job_rare(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r, uint32_t *of, uint32_t *every)
{
	const struct ct_process_phases *p = &a->phases->processes[job->ranks[r->victim].process];
	uint32_t n = p->iterations_count, count = 0, warmup = ct_phases_warmup(p), at = 0, before = 0;
	uint64_t *waits = job->measured && n - warmup >= RARE_STEPS ? calloc(2ul * n, sizeof(*waits)) : NULL, sum, most = 0;
	bool regular = true;

	*of = n - warmup;
	*every = 0;
	if (!waits)
		return 0;
	sum = job_waits(a, job, r, waits);
	memcpy(waits + n, waits, n * sizeof(*waits));
	qsort(waits + n, n, sizeof(*waits), job_by_ns);
	while (count < n && most < RARE_SHARE * sum)
		most += waits[n + count++];
	for (uint32_t i = 0; count && i < n; i++) {
		if (waits[i] < waits[n + count - 1])
			continue;
		if (at > 1 && i - before != *every)
			regular = false;
		*every = i - before;
		before = i;
		at++;
	}
	if (!regular || at < 3)
		*every = 0;
	free(waits);
	return sum * 2 >= r->made_wait_most && count * RARE_PART <= *of ? count : 0;
}

enum ct_late ct_job_guilty_text(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r,
				char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_job_rank *victim = &job->ranks[r->victim];
	char least[48] = "", share[32], each[CT_TERM_TEXT], mine[CT_TERM_TEXT], theirs[CT_TERM_TEXT], operation[160], why_text[320] = "", worst[260] = "", host[80] = "";
	double more, own, others, lost = job_lost(job, victim, r->made_wait_most);
	enum ct_late why = job_why(job, r, &more, &own, &others);
	const char *word = ct_late_word(why);
	const char *them = job->count > 2 ? "the others" : "the other";
	uint32_t of, every, rare = job_rare(a, job, r, &of, &every);
	char step[80];
	unsigned int waiting = 0;

	for (unsigned int i = 0; i < job->count; i++)
		waiting += r->victims[i] > 0;
	if (rare && every)
		snprintf(step, sizeof(step), "each iteration in the mean, nearly all of it in every %uth", every);
	else if (rare)
		snprintf(step, sizeof(step), "each iteration in the mean, nearly all of it in %u of %u", rare, of);
	else
		snprintf(step, sizeof(step), "each %s", victim->iterations ? "iteration" : "collective");
	ct_term_ns(mine, own);
	ct_term_ns(theirs, others);
	if (why == CT_LATE_WORK)
		snprintf(why_text, sizeof(why_text), ": it has more work, %.0f kernels in a step that take %s, %s %.0f that take %s",
			 job_kernels(job, r, false), mine, them, job_kernels(job, r, true), theirs);
	else if (why == CT_LATE_KERNELS)
		snprintf(why_text, sizeof(why_text), ": its GPU works slower, as many kernels take %s in a step, on %s %s", mine, them,
			 theirs);
	else if (why != CT_LATE_UNKNOWN)
		snprintf(why_text, sizeof(why_text), ": in a step it spends %s %s, %s %s", mine, word, them, theirs);
	if (r->worst_operation < c->operations_count)
		snprintf(worst, sizeof(worst), " The longest wait is %s, in %s.", ct_term_ns(mine, r->worst),
			 job_operation_text(a, &c->operations[r->worst_operation], operation, sizeof(operation)));
	if (c->sources)
		snprintf(host, sizeof(host), " (%.64s)", c->sources[ct_collectives_source(c, r->pid)].label);
	ct_term_ns(each, victim->steps ? lost / victim->steps : lost);
	snprintf(share, sizeof(share), "%.1f", ct_job_share(job, r));
	if (!job->measured) {
		double most = ct_job_share(job, r), proven = job_share(job, victim, ct_job_least(job, r));

		ct_term_ns(mine, victim->steps ? ct_job_least(job, r) / victim->steps : 0);
		if (strcmp(mine, each))
			snprintf(least, sizeof(least), "%s to ", mine);
		if (most - proven >= 0.1)
			snprintf(share, sizeof(share), "%.1f to %.1f", proven, most);
	}
	snprintf(buf, size, "Rank %u%s makes %u other rank%s wait for %s%s in %s (%s %%%s)%s.%s", r->rank, host, waiting,
		 waiting == 1 ? "" : "s", least, each, step, share, waiting > 1 ? ", the one that waits most" : "", why_text, worst);
	return why;
}

/* " In AllReduce 1 of ..., outside of ..." or "" */
static const char *job_outside_text(const struct ct_analysis *a, const struct ct_job *job, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_operation *o = &c->operations[job->outside_operation];
	char operation[160], ns[CT_TERM_TEXT];

	*buf = 0;
	if (!job->outside || job->outside < OUTSIDE_SHARE * (job->outside_victim->to - job->outside_victim->from))
		return buf;
	snprintf(buf, size, " Outside of it rank %u made rank %u wait for %s, in %s.", ct_job_rank_of(a, &c->parts[o->last]),
		 job->outside_victim->rank, ct_term_ns(ns, job->outside), job_operation_text(a, o, operation, sizeof(operation)));
	return buf;
}

/* ", its last ioctl is NV_ESC_RM_CONTROL ..., 1.2 s before the trace's end" */
static size_t job_ioctl(const struct ct_analysis *a, const struct ct_job_rank *r, char *buf, size_t used, size_t size)
{
	const struct ct_job_ioctl *i = &r->ioctl;
	uint64_t since = i->end ? i->end : i->begin, end = a->totals->last;
	const char *name = ct_name_ioctl(i->cmd, i->device), *code = NULL;
	char ns[CT_TERM_TEXT], number[16];

	if (!i->begin)
		return used;
	if (i->have & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS))
		code = ct_name_code(i->code, i->have);
	snprintf(number, sizeof(number), "0x%x", i->cmd);
	ct_term_ns(ns, end > since ? end - since : 0);
	used += snprintf(buf + used, size - used, i->end ? ", its last ioctl is %s%s%s, %s before the end" : ", in the ioctl %s%s%s for %s",
			 name ? name : number, code ? " " : "", code ? code : "", ns);
	return used;
}

/* Behind an r or R: "ank 1 is in cuStreamSynchronize for 12.3 ms", "... called cuLaunchKernel last, ..." */
static size_t job_doing(const struct ct_analysis *a, const struct ct_job_rank *r, char *buf, size_t size)
{
	char ns[CT_TERM_TEXT], line[200];
	struct ct_stack_frame frame;
	uint64_t end = a->totals->last;
	int n;

	if (!r->doing)
		return snprintf(buf, size, "ank %u made no call", r->rank);
	if (!r->doing_end)
		n = snprintf(buf, size, "ank %u is in %s for %s", r->rank, r->doing->name,
			     ct_term_ns(ns, end > r->doing_begin ? end - r->doing_begin : 0));
	else
		n = snprintf(buf, size, "ank %u called %s last, %s before the trace's end", r->rank, r->doing->name,
			     ct_term_ns(ns, end > r->doing_end ? end - r->doing_end : 0));
	if (n >= 0 && (size_t)n < size && r->doing_stack && ct_stack_frame(&a->trace->reg, r->doing_stack, &frame))
		n += snprintf(buf + n, size - n, ", from %s", ct_stack_words(&frame, line, sizeof(line)));
	return n < 0 || (size_t)n >= size ? (size_t)n : job_ioctl(a, r, buf, n, size);
}

#define DOING_SHOWN	4	/* ranks */

/* Is it a rank for which a collective that hangs waits? */
static bool job_is_missing(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r)
{
	const struct ct_collectives *c = a->collectives;

	for (unsigned int i = 0; i < job->stuck_count; i++) {
		const struct ct_operation *o = &c->operations[job->stuck[i]];
		const struct ct_comm *of = &c->communicators[o->communicator];

		if (o->pair && ct_job_rank_in(a, o->communicator, c->parts[o->first].root) == (int64_t)r->rank)
			return true;
		for (uint32_t k = 0; !o->pair && o->hangs && k < of->members_count; k++)
			if (of->members[k].pid == r->pid && !ct_operation_called(c, o, of->members[k].rank) &&
			    ((uint32_t)r->who == CT_ONE_RANK || of->members[k].rank == r->rank))
				return true;
	}
	return false;
}

/* What the ranks do: first those that did not come; of many others how many do the same. */
static size_t job_doing_all(const struct ct_analysis *a, const struct ct_job *job, char *buf, size_t used, size_t size)
{
	const struct ct_job_rank *alike = NULL;
	unsigned int shown = 0, same = 0, missing = 0;
	char ns[CT_TERM_TEXT];
	uint64_t end = a->totals->last, latest = 0;

	for (unsigned int k = 0; k < job->count; k++)
		missing += job_is_missing(a, job, &job->ranks[k]);
	for (unsigned int pass = 0; pass < 2; pass++)
		for (unsigned int k = 0; k < job->count && used < size; k++) {
			const struct ct_job_rank *r = &job->ranks[k];
			bool many = job->count > DOING_SHOWN;

			if (job_is_missing(a, job, r) != !pass)
				continue;
			if (pass && many && r->doing && !r->doing_end && (!alike || alike->doing == r->doing)) {
				alike = r;
				latest = r->doing_begin > latest ? r->doing_begin : latest;
				same++;
				continue;
			}
			if (shown == DOING_SHOWN)
				continue;
			used += snprintf(buf + used, size - used, shown++ ? "; r" : " R");
			if (used < size)
				used += job_doing(a, r, buf + used, size - used);
		}
	if (same && used < size)
		used += snprintf(buf + used, size - used, "%s%u %s%s in %s, for %s at least", shown ? "; " : " ", same, missing ? "other " : "",
				 same == 1 ? "rank is" : "ranks are", alike->doing->name, ct_term_ns(ns, end > latest ? end - latest : 0));
	return used;
}

/* What is wrong with operation @i of .stuck: who did not call it, and what the ranks do instead. */
static void job_stuck_text(const struct ct_analysis *a, const struct ct_job *job, unsigned int i, bool last, char *buf,
			   size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_operation *o = &c->operations[job->stuck[i]];
	char operation[160], missing[96], mismatch[400];
	const char *lost = "";
	bool stuck = false;
	size_t used;

	job_operation_text(a, o, operation, sizeof(operation));
	ct_job_mismatch(a, o, mismatch, sizeof(mismatch));
	if (a->trace->lost)
		lost = " (or its record is lost)";
	if (*mismatch)
		used = snprintf(buf, size, "The ranks do not agree on %s: %s.", operation, mismatch);
	else
		used = snprintf(buf, size, "%s was never complete: rank %s did not call it%s.", operation,
				ct_job_missing(a, o, missing, sizeof(missing)), lost);
	/* What the ranks do is told once.  Those that went on are not stuck. */
	for (unsigned int k = 0; k < job->count && last; k++)
		stuck |= (job->ranks[k].doing && !job->ranks[k].doing_end) || !o->complete;
	if (stuck && used < size)
		used = job_doing_all(a, job, buf, used, size);
	if (stuck && used < size)
		snprintf(buf + used, size - used, ".");
}

/* --pid leaves out what the other processes did. */
static bool job_all_ranks(const struct ct_analysis *a, const struct ct_job *job)
{
	for (unsigned int i = 0; i < job->count; i++)
		if (!a->phases->processes[job->ranks[i].process].stages_count)
			return false;
	return true;
}

/* Does no rank come last much more often than the others? */
static bool job_by_turns(const struct ct_job *job, const struct ct_job_rank *last)
{
	unsigned int ranks = 0;

	for (unsigned int i = 0; i < job->count; i++)
		ranks += job->ranks[i].operations > 0;
	return ranks > 1 && last->late_count * ranks < TURNS_MOST * last->operations;
}

static void job_turns_text(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *waits,
			   const struct ct_job_rank *last, double turns, char *buf, size_t size)
{
	enum ct_late most = CT_LATE_UNKNOWN;
	char ns[CT_TERM_TEXT], spends[120] = "", outside[320];
	double longest = 0;

	for (enum ct_late i = CT_LATE_APP; i < CT_LATE_KERNELS; i++) {
		double all = ct_job_step(job, NULL, i, true);

		if (all <= longest)
			continue;
		longest = all;
		most = i;
	}
	if (waits->steps && longest >= turns / 100 * (waits->to - waits->from) / waits->steps / 4)
		snprintf(spends, sizeof(spends), " In a step a rank spends %s %s (mean).", ct_term_ns(ns, longest), ct_late_word(most));
	snprintf(buf, size, "The ranks wait for each other by turns: rank %u waits most, for %.1f %% of its steady state, and no rank "
		 "comes last to more than %.0f %% of the collectives.%s%s", waits->rank, turns, 100.0 * last->late_count / last->operations,
		 spends, job_outside_text(a, job, outside, sizeof(outside)));
}

bool ct_job_verdict(const struct ct_analysis *a, const struct ct_job *job, unsigned int i, char *buf, size_t size)
{
	unsigned int stuck = job->stuck_count < VERDICT_STUCK ? job->stuck_count : VERDICT_STUCK;
	const struct ct_job_rank *guilty, *waits, *last;
	char late[CT_TERM_TEXT], outside[320];
	bool unrecorded;
	double turns;

	/* Collectives without their calls. */
	if (!a->collectives->parts_count)
		return !i && *ct_job_uncalled(a, buf, size);
	/* Of those that are not there nothing is known. */
	unrecorded = *ct_job_unrecorded(a, outside, sizeof(outside));
	if (unrecorded && !i--) {
		snprintf(buf, size, "%s How long ranks wait for those is not known%s.", outside, job->measured ? ", and a GPU that waits for them counts as busy" : "");
		return true;
	}
	if (!job->count || (!job->several && !job->stuck_count) || i > stuck)
		return false;
	if (i < stuck) {
		job_stuck_text(a, job, i, i + 1 == stuck, buf, size);
		return true;
	}
	guilty = ct_job_guilty(job, CT_JOB_SHARE);
	turns = job_turns(job, &waits, &last);
	if (guilty)
		ct_job_guilty_text(a, job, guilty, buf, size);
	/* Who waits for whom is known of all ranks alone, and not of a job that hangs. */
	else if (stuck || !job_all_ranks(a, job))
		return false;
	else if (turns >= VERDICT_TURNS && !job->measured)
		snprintf(buf, size, "Whether ranks wait for each other is not known without records of the GPU (record --gpu). By the times "
			 "of the calls rank %u comes last to %.0f %% of the collectives, %s after the first one (median); rank %u waits for "
			 "at most %.1f %% of its steady state, and may not wait at all.", last->rank, 100.0 * last->late_count / last->operations,
			 ct_term_ns(late, ct_histogram_median(&job->ranks[last - job->ranks].lateness)), waits->rank, turns);
	else if (turns >= VERDICT_TURNS && job->measured && last->operations < OPERATIONS_LEAST)
		snprintf(buf, size, "Rank %u waits for other ranks for %.1f %% of its steady state, in %llu collectives: too few to say whose doing it is.",
			 waits->rank, turns, (unsigned long long)last->operations);
	else if (turns >= VERDICT_TURNS && job->measured && job_by_turns(job, last))
		job_turns_text(a, job, waits, last, turns, buf, size);
	else if (turns >= VERDICT_TURNS && job->measured)
		snprintf(buf, size, "Rank %u waits for other ranks for %.1f %% of its steady state. Rank %u comes last to "
			 "%.0f %% of the collectives, but does nothing that takes that much longer in a step than on the others.",
			 waits->rank, turns, last->rank, 100.0 * last->late_count / last->operations);
	else
		snprintf(buf, size, "No %srank makes another wait for more than %.0f %% of its steady state%s.%s", unrecorded ? "recorded " : "", CT_JOB_SHARE,
			 job->measured ? "" : ", by the times of the calls: how long kernels waited is known with --gpu only",
			 job_outside_text(a, job, outside, sizeof(outside)));
	return true;
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
