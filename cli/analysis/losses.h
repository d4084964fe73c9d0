/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a trace lacks records, and what to do so that the next one has them all.
 */
#ifndef CT_CLI_LOSSES_H
#define CT_CLI_LOSSES_H

#include <stdio.h>

#include "trace/reader.h"

/* One CPU of a recording. */
struct ct_losses_cpu {
	uint64_t cpu;			/* its number */
	uint64_t records;		/* that its ring took */
	uint64_t bytes;			/* of the trace, that hold them */
	uint64_t lost[CT_LOST_REASONS];
};

struct ct_losses {
	uint64_t lost[CT_LOST_REASONS];	/* of all CPUs */
	uint64_t threads;		/* records of programs that were lost outside the rings */
	uint64_t gpu;			/* records of the GPU */
	bool keeps;		/* record --keep: the directory is bounded */
	bool module;
	uint64_t ring;			/* bytes of each CPU's ring */
	uint64_t largest;		/* a ring may have, by the memory that there was; 0: not known */
	uint64_t needed;		/* bytes of a ring that loses nothing; 0: it was large enough */
	uint64_t hits[CT_GROUP_COUNT];	/* of the probes, by group */
	uint64_t all_hits;
	char busiest[128];		/* the function with most hits */
	uint64_t busiest_hits;
};

/* The two info lines of the registry that say @ring and @largest, in bytes. */
#define CT_LOSSES_RING		"ring"
#define CT_LOSSES_LARGEST	"ring_largest"

/**
 * ct_losses_by_cpu() - what a trace lost, and each CPU
 * @cpus: set to a list of *@count CPUs that lost records, to be freed by free(); by number
 *
 * Return: 0 or -ENOMEM; then there is no list.
 */
int ct_losses_by_cpu(struct ct_losses *l, const struct ct_trace *t, struct ct_losses_cpu **cpus,
		     unsigned int *count);

/**
 * ct_losses_needed() - the ring that would have lost nothing of this CPU
 * @ring: bytes that it had
 *
 * Return: bytes, a power of two; 0 if a larger ring makes no difference.
 */
uint64_t ct_losses_needed(const struct ct_losses_cpu *cpu, uint64_t ring);

/* A line for each reason, and one with what to do.  Prints nothing if nothing was lost. */
void ct_losses_print(const struct ct_losses *l, FILE *out);

/* Collects and prints.  0 or -ENOMEM. */
int ct_losses_report(const struct ct_trace *t, FILE *out);

#endif
