/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that were attached to, whose main thread made no call and that gave the GPU no work, as one that hangs: where that
 * thread was, by samples.
 */
#ifndef CT_CLI_STACK_QUIET_H
#define CT_CLI_STACK_QUIET_H

#include "phases/phases.h"
#include "spans/processes.h"
#include "trace/reader.h"
#include "trace/stacks/stacks.h"

#define CT_QUIET_MOST	64u	/* processes that are told */

struct ct_quiet_line {
	uint64_t key;			/* function << 32 | line; 0: without a stack */
	uint32_t node;			/* the program's own line */
	uint64_t samples, states[CT_SAMPLE_STATES];
};

struct ct_quiet {
	uint32_t pid;
	uint64_t from, to;		/* ns, of its samples */
	uint64_t samples;
	CT_KEYED(struct ct_quiet_line) lines;	/* the most frequent first */
};

struct ct_quiets {
	struct ct_quiet list[CT_QUIET_MOST];
	unsigned int count;
};

/*
 * Finds them: their main thread has samples, and no stream of calls.  Reads samples only.  Free with ct_quiets_free(), also after an error.
 * Return: 0 or -ENOMEM.
 */
int ct_quiets_find(struct ct_quiets *q, const struct ct_trace *t, const struct ct_phases *phases);
void ct_quiets_free(struct ct_quiets *q);

/* "python (1764)": by the recorder where the process itself has said nothing. */
const char *ct_quiet_name(const struct ct_trace *t, const struct ct_processes *processes, const struct ct_quiet *q, char *buf, size_t size);

/* "its main thread made no call of CUDA in 3.01 s: ... It was at train.py:95 (main), waiting for a lock (100 %), by 602 samples." */
const char *ct_quiet_text(const struct ct_registry *reg, const struct ct_quiet *q, char *buf, size_t size);

#endif
