/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rank of a job makes the others wait, for how much of their time, and why: by what it has more of in a step
 * than they.
 */
#ifndef CT_CLI_JOB_WHY_H
#define CT_CLI_JOB_WHY_H

#include "analysis/ranks/job.h"

/* What one rank has more of than the others, by which it comes late. */
enum ct_late {
	CT_LATE_UNKNOWN, CT_LATE_APP, CT_LATE_MEMORY, CT_LATE_MODULES, CT_LATE_TRANSFERS, CT_LATE_OFF_CPU,
	CT_LATE_DRIVER, CT_LATE_KERNELS, CT_LATE_WORK, CT_LATE_COUNT,
};

/* % of the steady state of a rank, from which on it is said for whom it waits. */
#define CT_JOB_SHARE	5.0

#define CT_JOB_OPERATIONS	8u	/* of fewer who comes last is chance */

/*
 * The rank that makes another wait longest, if that is at least @share % of the other's steady state more
 * than the other makes it wait; NULL: none does.
 */
const struct ct_job_rank *ct_job_guilty(const struct ct_job *job, double share);

/*
 * Share of the steady state of the one that waits most for this rank, %: with records of the GPU the time in which
 * that one's GPU did nothing but wait, as the verdict on it has it.
 */
double ct_job_share(const struct ct_job *job, const struct ct_job_rank *r);

/*
 * ns that the one that waits most for this rank waited at least, in its steady state.  Without records of the GPU it is
 * what that one's synchronisations took longer than the GPU can have worked, by what this rank's GPU had to do: the
 * ranks of a job do the same work.
 */
double ct_job_least(const struct ct_job *job, const struct ct_job_rank *r);

/*
 * The share of @victim's steady state that it lost of @ns that its kernels waited, %; and ns in which its GPU did nothing but
 * wait, as the verdict on it has them.  Kernels that wait at the same time, or beside other work, cost less than their sum.
 */
double ct_job_share_of(const struct ct_job *job, const struct ct_job_rank *victim, double ns);
double ct_job_lost(const struct ct_job *job, const struct ct_job_rank *victim, double ns);

/* Why: what it has more of in a step than the other ranks, in *@more ns, of *@own where they have *@others. */
enum ct_late ct_job_why(const struct ct_job *job, const struct ct_job_rank *r, double *more, double *own, double *others);

/* How much of its steady state the rank waits that waits most, %; sets it, and who comes last most often. */
double ct_job_turns(const struct ct_job *job, const struct ct_job_rank **waits, const struct ct_job_rank **last);

/*
 * Is nearly all that a rank makes another one wait in a few iterations?  In how many of *@of; 0: no.  *@every: they come in every so
 * manieth, as far as they are regular; else 0.
 */
uint32_t ct_job_rare(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r, uint32_t *of, uint32_t *every);

/* ns that the rank has in a step of what may be the reason; of the others their mean. */
double ct_job_step(const struct ct_job *job, const struct ct_job_rank *r, enum ct_late why, bool others);

/* Kernels that it has in a step; of the others their mean. */
double ct_job_kernels(const struct ct_job *job, const struct ct_job_rank *r, bool others);

/* "in the application" */
const char *ct_late_word(enum ct_late why);

#endif
