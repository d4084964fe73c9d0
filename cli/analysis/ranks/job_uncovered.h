/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a job is not in its trace, in sentences: other ranks, other ways to exchange data, calls that were not seen. */
#ifndef CT_CLI_JOB_UNCOVERED_H
#define CT_CLI_JOB_UNCOVERED_H

#include "analysis/engine.h"

/*
 * By what the ranks of a job may exchange data that is not recorded, in sentences: libraries that are mapped, kernels of
 * a framework; "": nothing is known of such, or the trace is of no job.  At least 400 bytes.
 */
const char *ct_job_uncovered(const struct ct_analysis *a, char *buf, size_t size);

/*
 * Kernels of libnccl that belong to no recorded call, and why that may be, in a sentence; "": there are none.
 */
const char *ct_job_uncalled(const struct ct_analysis *a, char *buf, size_t size);

/* "Of the 4 ranks of communicator 3f2a 2 are in the trace.", "": all are, as far as it is known. */
const char *ct_job_unrecorded(const struct ct_analysis *a, char *buf, size_t size);

#endif
