// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job_stuck.h. */
#include "analysis/ranks/job_stuck.h"

#include <errno.h>
#include <stdlib.h>

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

int ct_job_last(struct ct_analysis *a, struct ct_job *job)
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

	/* What ranks do not agree on is wrong by itself; others may hang because of it. */
	if (x->mismatched != y->mismatched)
		return x->mismatched ? -1 : 1;
	/* Sends and receives hang because of the collectives, more often than the other way round. */
	if (x->pair != y->pair)
		return x->pair ? 1 : -1;
	return x->arrived < y->arrived ? -1 : x->arrived > y->arrived;
}

int ct_job_stuck(struct ct_analysis *a, struct ct_job *job)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_operation *row = NULL, *candidate = NULL;
	uint64_t skew = 0, end;

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
			end = c->communicators[row->communicator].left ? : a->totals->last;
			if (candidate && end > candidate->arrived && end - candidate->arrived > STUCK_LEAST &&
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
	/* The oldest of a kind first: others may follow from it. */
	qsort_r(job->stuck, job->stuck_count, sizeof(*job->stuck), job_by_arrival, (void *)c);
	return 0;
}
