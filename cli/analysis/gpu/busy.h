/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long each GPU of a process worked for it, by stage and by iteration of the host.  Overlapping
 * work of several streams counts once; .work has it all.  A collective's kernel that waits for
 * another rank does not work: it is waiting, and so is its GPU where nothing else runs.
 */
#ifndef CT_CLI_GPU_BUSY_H
#define CT_CLI_GPU_BUSY_H

#include "analysis/engine.h"

enum ct_gpu_work { CT_WORK_KERNELS, CT_WORK_GRAPHS, CT_WORK_COPIES, CT_WORK_SETS, CT_WORK_COUNT };

struct ct_gpu_busy_stage {
	uint64_t busy;				/* ns */
	uint64_t waiting;			/* ns in which it only waited for other ranks */
	uint64_t count[CT_WORK_COUNT];		/* that began in it */
	uint64_t work[CT_WORK_COUNT];		/* ns, of those */
	uint64_t collectives_count;		/* kernels of libnccl among them */
	uint64_t collectives;			/* ns, of those: waiting, too */
};

struct ct_gpu_busy_device {
	uint16_t gpu;
	/* Internal. */
	uint32_t running;			/* records that work now */
	uint64_t since;				/* ns, when it began to work */
	uint64_t *waiters;			/* ns: until when kernels wait, the first first */
	uint32_t waiters_count, waiters_capacity;
	uint64_t waits_since;			/* ns: it only waits since then; 0: it does not */
	uint64_t first, last;			/* ns */
	struct ct_gpu_busy_stage all, stages[CT_STAGE_COUNT];
	uint64_t chosen[CT_STAGE_COUNT];	/* ns that it worked between --from and --to */
	uint64_t chosen_waiting[CT_STAGE_COUNT];	/* and only waited for other ranks */
};

struct ct_gpu_busy_process {
	struct ct_gpu_busy_device any;		/* any of its GPUs worked */
	uint64_t *iterations;			/* ns, as the phases have them, of any; NULL: no records */
	struct ct_gpu_busy_device *devices;
	unsigned int count, capacity;
};

struct ct_gpu_busy {
	struct ct_gpu_busy_process *processes;	/* as the phases have them */
	unsigned int processes_count;
};

/* Its state is a struct ct_gpu_busy, complete when it has ended. */
extern const struct ct_analyser ct_gpu_busy_analyser;

#endif
