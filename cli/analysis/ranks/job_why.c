// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job_why.h.  Must never blame a rank for time that no kernel waited. */
#include "analysis/ranks/job_why.h"

#include <stdlib.h>
#include <string.h>

double ct_job_lost(const struct ct_job *job, const struct ct_job_rank *victim, double ns)
{
	return job->measured && victim->waiting > victim->gpu_waiting ? ns * victim->gpu_waiting / victim->waiting : ns;
}

double ct_job_share_of(const struct ct_job *job, const struct ct_job_rank *victim, double ns)
{
	return victim->to > victim->from ? 100.0 * ct_job_lost(job, victim, ns) / (victim->to - victim->from) : 0;
}

double ct_job_share(const struct ct_job *job, const struct ct_job_rank *r)
{
	return ct_job_share_of(job, &job->ranks[r->victim], r->made_wait_most);
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

double ct_job_kernels(const struct ct_job *job, const struct ct_job_rank *r, bool others)
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

enum ct_late ct_job_why(const struct ct_job *job, const struct ct_job_rank *r, double *more, double *own,
			    double *others)
{
	enum ct_late why = CT_LATE_UNKNOWN;

	*more = *own = *others = 0;
	for (enum ct_late i = job->alike ? CT_LATE_APP : CT_LATE_COUNT; i <= CT_LATE_KERNELS; i++) {
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
	if (why == CT_LATE_KERNELS && ct_job_kernels(job, r, false) > MORE_KERNELS * ct_job_kernels(job, r, true))
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
		double net = least > back ? ct_job_share_of(job, victim, least - back) : 0;

		if (!r->made_wait_most || net < most || r->operations < CT_JOB_OPERATIONS ||
		    ct_job_why(job, r, &more, &own, &others) == CT_LATE_UNKNOWN)
			continue;
		most = net;
		found = r;
	}
	return found;
}

double ct_job_turns(const struct ct_job *job, const struct ct_job_rank **waits, const struct ct_job_rank **last)
{
	double most = 0;

	*waits = *last = NULL;
	for (unsigned int i = 0; i < job->count; i++) {
		const struct ct_job_rank *r = &job->ranks[i];
		uint64_t ns = 0;

		for (unsigned int k = 0; k < job->count; k++)
			ns += job->ranks[k].victims[i];
		if (ct_job_share_of(job, r, ns) <= most)
			continue;
		most = ct_job_share_of(job, r, ns);
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

		if (o->expected < 2 || !o->complete || ct_job_of(job, &c->parts[o->last]) != r || !ct_job_counts(job, c, o))
			continue;
		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];
			int64_t step = ct_job_of(job, part) == victim ? ct_phases_iteration(p, part->begin) : -1;

			if (step < 0)
				continue;
			waits[step] += part->waiting * o->weight;
			sum += part->waiting * o->weight;
		}
	}
	return sum;
}

uint32_t ct_job_rare(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r, uint32_t *of, uint32_t *every)
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
