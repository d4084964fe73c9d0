/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times in which a GPU did nothing, from the end of all of its work to the begin of the next, and
 * why: what the thread that submitted the next work did meanwhile, or where several threads launch,
 * what the process did (analysis/threads/launching.h).  From records of the GPU alone.
 *
 * The parts of a gap add up to it.  Until the thread called the launch: what it did then.  In the
 * launch: launching.  From its return until the work began: start latency.  Work that had been
 * submitted before the gap began is queued: the host was not late for it.
 */
#ifndef CT_CLI_GPU_IDLE_CAUSES_H
#define CT_CLI_GPU_IDLE_CAUSES_H

#include "analysis/engine.h"
#include "analysis/gpu/gap_pairs.h"

/* X(ID, words, column, head, priority of the column) */
#define CT_IDLE_CAUSES(X)								\
	X(APP, "application", "Application (ns)", "app", 1)				\
	X(SYNC, "synchronisation that had ended", "Sync (ns)", "sync", 1)		\
	X(LAUNCH, "in the launch or copy call", "Launch (ns)", "launch", 1)		\
	X(START, "start latency", "Start Latency (ns)", "latency", 1)			\
	X(QUEUED, "work was queued", "Queued (ns)", "queued", 2)			\
	X(MEMORY, "memory calls", "Memory (ns)", "memory", 3)				\
	X(MODULE, "module loading", "Module (ns)", "module", 4)				\
	X(DRIVER, "kernel driver", "Driver (ns)", "driver", 2)				\
	X(OFF, "off the CPU", "Off CPU (ns)", "off CPU", 3)				\
	X(OTHER, "other calls", "Other Calls (ns)", "other", 4)				\
	X(UNKNOWN, "call not known", "Unknown (ns)", "unknown", 5)
#define CT_IDLE_ROW(id, words, column, head, priority)	CT_IDLE_##id,
enum ct_idle_cause { CT_IDLE_CAUSES(CT_IDLE_ROW) CT_IDLE_CAUSE_COUNT };
#undef CT_IDLE_ROW

extern const char *const ct_idle_cause_word[CT_IDLE_CAUSE_COUNT];

struct ct_gpu_gap {
	uint64_t start, duration;
	uint64_t parts[CT_IDLE_CAUSE_COUNT];	/* ns; their sum is the duration */
	uint64_t op_id, call_begin;		/* of the call that ended it; 0: not known */
	const struct ct_class *call;		/* NULL: not known */
	uint32_t pid, tid;			/* tid: of that call */
	uint16_t gpu;
	struct ct_gpu_work_name previous, next;
};

struct ct_idle_sum {
	uint64_t gaps, total, longest;
};

/* A GPU of a process. */
struct ct_gpu_idle_device {
	uint32_t pid;
	uint16_t gpu;
	int process;				/* index into the phases, -1: none */
	struct ct_idle_sum all;
	/* By the stage that the gap is in; one that is in none, or in several, counts as CT_STAGE_COUNT. */
	struct ct_idle_sum causes[CT_STAGE_COUNT + 1][CT_IDLE_CAUSE_COUNT];
	uint64_t gaps[CT_STAGE_COUNT + 1], idle[CT_STAGE_COUNT + 1];
	/*
	 * Of gaps in which a synchronisation returned: without memory, modules, driver, off the CPU, and of the start latency
	 * no more than the host took.
	 */
	uint64_t after_sync[CT_STAGE_COUNT + 1];
	/* Of each of these no more than the GPU had worked since the one before: more could not have been done meanwhile. */
	uint64_t overlap[CT_STAGE_COUNT + 1];
	struct ct_gpu_gap longest[CT_STAGE_COUNT + 1];
	struct ct_gap_pairs pairs;		/* of all gaps */
	struct ct_gap_pairs steady;		/* of those in the steady state, or the execution */
	uint64_t since;				/* ns: idle since then; 0: it is not */
	/* Internal. */
	uint32_t running;
	uint64_t number;
	uint64_t began, worked;			/* ns: it works since then; and before, since a gap in which a synchronisation returned */
	struct ct_gpu_work_name last;
};

#define CT_GPU_GAPS_KEPT	65536		/* the longest */

struct ct_gpu_idle_key {
	uint64_t key;
	union {
		struct ct_gpu_idle_device *device;
		struct idle_thread *thread;
	};
};

struct ct_gpu_idle {
	struct ct_gpu_idle_device **devices;	/* in the order of their first work */
	unsigned int devices_count, devices_capacity;
	struct ct_gpu_gap *longest;		/* sorted, once it has ended */
	unsigned int longest_count;
	uint64_t gaps;				/* that pass the filter */
	bool threads_left_out;			/* there are too many to know what each did */
	/* That which the event that is handled now ended; NULL: it ended none, or one that the filter leaves out. */
	const struct ct_gpu_gap *ended;
	struct ct_gpu_gap gap;			/* internal: what .ended points to */
	/* Internal: GPUs by process and number, threads by pid and tid. */
	const struct ct_launching *launching;
	CT_KEYED(struct ct_gpu_idle_key) by_key, threads;
};

/*
 * ns of the steady state (or the execution) in which a GPU of the process was idle although work had
 * been submitted: the host was not late.  Of several GPUs the least of them.
 */
uint64_t ct_gpu_idle_queued(const struct ct_gpu_idle *idle, const struct ct_process_phases *p);

/* Its state is a struct ct_gpu_idle, complete when it has ended.  Without records of the GPU empty. */
extern const struct ct_analyser ct_gpu_idle_analyser;

#endif
