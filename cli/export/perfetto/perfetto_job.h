/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrows of a Perfetto trace through the ranks of each collective. */
#ifndef CT_CLI_PERFETTO_JOB_H
#define CT_CLI_PERFETTO_JOB_H

#include "base/keyed.h"
#include "ranks/collectives.h"

struct ct_perfetto_number {
	uint64_t key, number;
};

struct ct_perfetto_job {
	/* Of the collectives that all ranks called, from 1: by the op id of the call, or of its kernel's launch. */
	struct { CT_KEYED(struct ct_perfetto_number); } calls, kernels;
};

/* 0 or -ENOMEM.  Free also after an error. */
int ct_perfetto_job(struct ct_perfetto_job *job, const struct ct_trace *t);
void ct_perfetto_job_free(struct ct_perfetto_job *job);

#endif
