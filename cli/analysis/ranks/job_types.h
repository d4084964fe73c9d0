/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of a job and of each of its ranks. */
#ifndef CT_CLI_JOB_TYPES_H
#define CT_CLI_JOB_TYPES_H

#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/threads/accounting.h"
#include "group/histogram.h"
#include "ranks/rank_summary.h"

/* As its record has it; ns: .begin 0: there is none, .end 0: it has not returned. */
struct ct_job_ioctl {
	uint32_t cmd, device, code, have;
	uint64_t begin, end;
};

struct ct_job_rank {
	uint32_t pid, rank;
	uint64_t who;			/* ct_part_who() of its calls */
	int32_t  gpu;			/* of its collectives' kernels; -1: not known */
	uint32_t tid;			/* that calls its collectives, and those of no other rank; 0: there is none such */
	uint32_t calls_by;		/* internal */
	unsigned int process;		/* index into the phases */
	uint64_t from, to;		/* ns: its steady state, or its execution */
	double   steps;			/* how many; 0: none */
	double   step;			/* ns: median of its iterations; else .to - .from by .steps */
	uint32_t iterations;		/* 0: steps are collectives */
	uint64_t operations;		/* in that time, with all ranks */
	bool     measured;		/* the trace has what its GPU did in that time: not so at the end of a killed one */
	uint64_t waiting, moving;	/* ns, of its collectives' kernels */
	uint64_t late_count;		/* operations to which it came last */
	uint64_t made_wait;		/* ns of the others, in these; the sum over them */
	uint64_t made_wait_most;	/* ns: of the one other that waited most */
	uint32_t victim;		/* index of that one */
	struct ct_histogram lateness;	/* ns behind the first, of each operation */
	const struct ct_part *worst_part;	/* its own part of the worst */
	uint64_t worst;			/* ns that it made another wait most, in ... */
	size_t   worst_operation;
	struct ct_rank_sums sums;	/* what the process and its GPU did */
	uint64_t gpu_waiting;		/* ns: the GPU only waited */
	uint64_t unsure;		/* ns: how exactly its times are compared with the others'; UINT64_MAX: not at all */
	uint64_t waited_to;		/* internal: ns, and in which communicator */
	uint32_t waited_for;
	uint64_t *victims;		/* ns that each other rank waited for it */
	/* Only where some operation is stuck: a call that has not returned, else its last one. */
	const struct ct_class *doing;
	uint64_t doing_begin, doing_end;	/* ns; end 0: it has not returned */
	uint32_t doing_stack;		/* a node; 0: not known */
	struct ct_job_ioctl ioctl;	/* the last one of its process */
};

/* Calls of a process in its steady state, ns. */
struct ct_job_calls {
	uint64_t process;		/* index into the phases */
	uint64_t memory, modules;
};

struct ct_job_index {
	uint64_t who;			/* as ct_part_who() */
	unsigned int rank;		/* index */
};

struct ct_job {
	struct ct_job_rank *ranks;	/* by rank */
	unsigned int count;
	bool measured;			/* by records of the GPU */
	bool several;			/* more than one rank was recorded */
	bool alike;			/* the ranks' steps are the same thing: ranks that wait for each other take as long for one */
	CT_KEYED(struct ct_job_calls) calls;	/* internal */
	CT_KEYED(struct ct_job_index) index;	/* internal */
	/* Operations that not all ranks called when the trace ended, or in which ranks differ. */
	size_t *stuck;
	unsigned int stuck_count;
	/* The longest wait for one rank outside of the steady states, as in the first iteration. */
	uint64_t outside;		/* ns; 0: there is none */
	size_t outside_operation;
	const struct ct_job_rank *outside_victim;
};

/* The index of the rank that makes a call; -1: it is none that is compared. */
static inline int ct_job_index(const struct ct_job *job, const struct ct_part *p)
{
	const struct ct_job_index *index = ct_keyed_get(&job->index, ct_part_who(p));

	return index ? (int)index->rank : -1;
}

#endif
