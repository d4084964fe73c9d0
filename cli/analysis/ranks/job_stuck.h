/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A job that hangs: its collectives that were never complete, and what each rank does instead. */
#ifndef CT_CLI_JOB_STUCK_H
#define CT_CLI_JOB_STUCK_H

#include "analysis/ranks/job_types.h"

/*
 * Sets .stuck: operations that not all ranks called although nothing of their communicator is complete behind them, for
 * longer than ranks have come late; and those in which ranks differ.  Where records are lost, or the
 * recording begins in the middle, earlier ones may lack ranks.  0 or -ENOMEM.
 */
int ct_job_stuck(struct ct_analysis *a, struct ct_job *job);

/* Sets .doing and .ioctl of each rank: what it does at the end of the trace.  0 or -ENOMEM. */
int ct_job_last(struct ct_analysis *a, struct ct_job *job);

#endif
