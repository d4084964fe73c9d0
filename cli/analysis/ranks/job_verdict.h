/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is to be said of a job, in sentences. */
#ifndef CT_CLI_JOB_VERDICT_H
#define CT_CLI_JOB_VERDICT_H

#include "analysis/ranks/job_why.h"

/*
 * In words: "rank 1 makes 3 others wait for 9.8 ms in each iteration (40.1 %): it spends 31.0 ms in the
 * application, the others 1.0 ms."
 */
enum ct_late ct_job_guilty_text(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r,
				char *buf, size_t size);

/* The same in a few words, without a full stop: "Rank 1 makes the others wait". */
const char *ct_job_headline(const struct ct_analysis *a, const struct ct_job *job, char *buf, size_t size);

/*
 * What is to be said of the job as a whole, sentence by sentence: collectives that were never complete, and
 * who makes the others wait.  False: there is no sentence @i.
 */
bool ct_job_verdict(const struct ct_analysis *a, const struct ct_job *job, unsigned int i, char *buf, size_t size);

#endif
