/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the GPU's work is in the trace: from when until when, what was lost, what names no call.
 * Every report that would be wrong without knowing it prints its notes.
 */
#ifndef CT_CLI_GPU_COVERAGE_H
#define CT_CLI_GPU_COVERAGE_H

#include "analysis/engine.h"
#include "base/keyed.h"

struct ct_gpu_cover {
	uint64_t pid;
	uint64_t submitted;		/* launches, copies, sets that the program asked for */
	uint64_t answered;		/* of them, those with a record of the GPU, or of a program before */
	uint64_t before;		/* of them, before its records of the GPU began */
	uint64_t after;			/* of them, after these ended: it was left, and went on */
	uint64_t records;		/* of what the GPU did */
	uint64_t unjoined;		/* of them, those whose call is not known */
	uint64_t early;			/* of them, those that begin before their call, which no GPU can */
	uint64_t lost;			/* records of the GPU */
	uint64_t first, last;		/* ns: begin of the first record, end of the last one */
	uint64_t uncertainty;		/* ns: of their times; the largest */
	bool     started, stopped, complete, refused;
	uint64_t started_at, stopped_at, complete_at;	/* ns */
	uint64_t begun_at;		/* ns: when it started last, after an exec */
	uint64_t cuts;			/* programs that called exec with work not recorded yet ... */
	uint64_t cut_from, cut_to;	/* ... ns: within that time, all of them */
	char    *why;			/* it stopped, or was refused */
};

struct ct_gpu_coverage {
	CT_KEYED(struct ct_gpu_cover);	/* in the order in which the processes appear */
};

/* Its state is a struct ct_gpu_coverage, complete when it has ended. */
extern const struct ct_analyser ct_gpu_coverage_analyser;

/* NULL: the process gave the GPU no work, and there are no records. */
const struct ct_gpu_cover *ct_gpu_cover(const struct ct_gpu_coverage *c, uint32_t pid);

/*
 * Notes below a table on what is missing in it.  The analysis must need ct_gpu_coverage_analyser.
 * @joins: the table also depends on which call caused a record.
 */
void ct_gpu_coverage_notes(const struct ct_analysis *a, struct ct_table *t, bool joins);

/*
 * Does the trace have what the GPU did from @begin to @end?  Up to a twentieth of that time may lack at
 * the end of a process that was killed.
 */
bool ct_gpu_covers(const struct ct_gpu_coverage *c, uint32_t pid, uint64_t begin, uint64_t end);

/* Does it have what the GPU did in any part of that time? */
bool ct_gpu_covers_some(const struct ct_gpu_coverage *c, uint32_t pid, uint64_t begin, uint64_t end);

/* Were records of the GPU asked for? */
bool ct_gpu_asked(const struct ct_trace *t);

/* What is missing of a process, in one sentence; "" if nothing is known to be. */
void ct_gpu_cover_text(const struct ct_trace *t, const struct ct_gpu_cover *p, bool joins, char *buf, size_t size);

#endif
