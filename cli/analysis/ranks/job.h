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

#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"
#include "analysis/threads/accounting.h"
#include "group/histogram.h"
#include "ranks/rank_summary.h"

/* What one rank has more of than the others, by which it comes late: X(ID). */
enum ct_late {
	CT_LATE_UNKNOWN, CT_LATE_APP, CT_LATE_MEMORY, CT_LATE_MODULES, CT_LATE_TRANSFERS, CT_LATE_OFF_CPU,
	CT_LATE_DRIVER, CT_LATE_KERNELS, CT_LATE_WORK, CT_LATE_COUNT,
};

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

/* Its state is a struct ct_job, complete when it has ended. */
extern const struct ct_analyser ct_job_analyser;

/* % of the steady state of a rank, from which on it is said for whom it waits. */
#define CT_JOB_SHARE	5.0

/* The index of the rank that makes a call; -1: it is none that is compared. */
static inline int ct_job_index(const struct ct_job *job, const struct ct_part *p)
{
	const struct ct_job_index *index = ct_keyed_get(&job->index, ct_part_who(p));

	return index ? (int)index->rank : -1;
}

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

/* ns that the rank has in a step of what may be the reason; of the others their mean. */
double ct_job_step(const struct ct_job *job, const struct ct_job_rank *r, enum ct_late why, bool others);

/* "in the application" */
const char *ct_late_word(enum ct_late why);

/*
 * In words: "rank 1 makes 3 others wait for 9.8 ms in each iteration (40.1 %): it spends 31.0 ms in the
 * application, the others 1.0 ms."
 */
enum ct_late ct_job_guilty_text(const struct ct_analysis *a, const struct ct_job *job, const struct ct_job_rank *r,
				char *buf, size_t size);

/*
 * What is to be said of the job as a whole, sentence by sentence: collectives that were never complete, and
 * who makes the others wait.  False: there is no sentence @i.
 */
bool ct_job_verdict(const struct ct_analysis *a, const struct ct_job *job, unsigned int i, char *buf, size_t size);

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

/* What differs among the ranks that called it: "ranks 0-1 call AllReduce of 262,144 float32; rank 2 calls ..."; "" */
const char *ct_job_mismatch(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size);

#endif
