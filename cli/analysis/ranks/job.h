/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ranks of a job, side by side in their steady states: what each does in a step, how late it
 * comes to collectives, and how long it makes the others wait.
 *
 * A rank makes the others wait in the collectives to which it came last: for as long as their kernels
 * waited.  Why is told by comparing what the ranks did in the same time.  A step is an iteration of
 * the rank; where none were found, the time of a collective.
 */
#ifndef CT_CLI_JOB_H
#define CT_CLI_JOB_H

#include "analysis/ranks/job_types.h"

/* Its state is a struct ct_job, complete when it has ended. */
extern const struct ct_analyser ct_job_analyser;

/* The same as a rank; NULL: it is none that is compared. */
struct ct_job_rank *ct_job_of(const struct ct_job *job, const struct ct_part *part);

/* Is the operation complete, in the steady state of all who take part? */
bool ct_job_counts(const struct ct_job *job, const struct ct_collectives *c, const struct ct_operation *o);

#endif
