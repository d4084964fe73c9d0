// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job_verdict.h. */
#include "analysis/ranks/job_verdict.h"

#include <string.h>

#include "analysis/ranks/job_names.h"
#include "analysis/ranks/job_uncovered.h"
#include "trace/stacks/stacks.h"
#include "view/term.h"

#define VERDICT_TURNS	10.0
#define TURNS_MOST	1.5	/* times its share: a rank that comes last more often than that does not do so by turns */
#define OUTSIDE_SHARE	0.1	/* of a steady state: a wait that is told although it is outside of it */
#define VERDICT_STUCK	3	/* collectives that were never complete, at most one for each communicator */

enum ct_late ct_job_guilty_text(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r,
				char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_job_rank *victim = &job->ranks[r->victim];
	char least[48] = "", share[32], each[CT_TERM_TEXT], mine[CT_TERM_TEXT], theirs[CT_TERM_TEXT], operation[160], why_text[320] = "", worst[260] = "", host[80] = "";
	double more, own, others, lost = ct_job_lost(job, victim, r->made_wait_most);
	enum ct_late why = ct_job_why(job, r, &more, &own, &others);
	const char *word = ct_late_word(why);
	const char *them = job->count > 2 ? "the others" : "the other";
	uint32_t of, every, rare = ct_job_rare(a, job, r, &of, &every);
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
			 ct_job_kernels(job, r, false), mine, them, ct_job_kernels(job, r, true), theirs);
	else if (why == CT_LATE_KERNELS)
		snprintf(why_text, sizeof(why_text), ": its GPU works slower, as many kernels take %s in a step, on %s %s", mine, them,
			 theirs);
	else if (why != CT_LATE_UNKNOWN)
		snprintf(why_text, sizeof(why_text), ": in a step it spends %s %s, %s %s", mine, word, them, theirs);
	if (r->worst_operation < c->operations_count)
		snprintf(worst, sizeof(worst), " The longest wait is %s, in %s.", ct_term_ns(mine, r->worst),
			 ct_job_operation_text(a, &c->operations[r->worst_operation], operation, sizeof(operation)));
	if (c->sources)
		snprintf(host, sizeof(host), " (%.64s)", c->sources[ct_collectives_source(c, r->pid)].label);
	ct_term_ns(each, victim->steps ? lost / victim->steps : lost);
	snprintf(share, sizeof(share), "%.1f", ct_job_share(job, r));
	if (!job->measured) {
		double most = ct_job_share(job, r), proven = ct_job_share_of(job, victim, ct_job_least(job, r));

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
		 job->outside_victim->rank, ct_term_ns(ns, job->outside), ct_job_operation_text(a, o, operation, sizeof(operation)));
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

	ct_job_operation_text(a, o, operation, sizeof(operation));
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

const char *ct_job_headline(const struct ct_analysis *a, const struct ct_job *job, char *buf, size_t size)
{
	const struct ct_job_rank *guilty = ct_job_guilty(job, CT_JOB_SHARE);

	if (job->stuck_count && a->collectives->operations[job->stuck[0]].mismatched)
		snprintf(buf, size, "The ranks do not agree on a collective");
	else if (job->stuck_count)
		snprintf(buf, size, "A collective was never complete");
	else if (guilty)
		snprintf(buf, size, "Rank %u makes the others wait", guilty->rank);
	else
		snprintf(buf, size, "No rank alone makes the others wait");
	return buf;
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
	turns = ct_job_turns(job, &waits, &last);
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
	else if (turns >= VERDICT_TURNS && job->measured && last->operations < CT_JOB_OPERATIONS)
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
