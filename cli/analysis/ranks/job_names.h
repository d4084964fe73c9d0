/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks and collectives of a job in words, as its launcher or its largest communicator numbers them. */
#ifndef CT_CLI_JOB_NAMES_H
#define CT_CLI_JOB_NAMES_H

#include "analysis/engine.h"
#include "ranks/collectives.h"

/*
 * The rank in the job of who is @rank in a communicator, or makes a call: groups of processes have communicators with
 * numbers of their own.  -1: that process was not recorded.
 */
int64_t ct_job_rank_in(const struct ct_analysis *a, uint32_t communicator, uint32_t rank);
uint32_t ct_job_rank_of(const struct ct_analysis *a, const struct ct_part *p);

/* The ranks in the job that are in a communicator, as far as they were recorded: "0-3, 8". */
const char *ct_job_members(const struct ct_analysis *a, uint32_t communicator, char *buf, size_t size);

/* The ranks of a communicator that did not call an operation: "1, 3"; "" where it is not known. */
const char *ct_job_missing(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size);

/* What differs among the ranks that called it: "ranks 0-1 call AllReduce of 262,144 float32; rank 2 calls ..."; "" */
const char *ct_job_mismatch(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size);

/* "AllReduce 218 of communicator 3f2a (1.00 MiB)", "Send 3 from rank 2 to rank 1 (...)" */
const char *ct_job_operation_text(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size);

#endif
