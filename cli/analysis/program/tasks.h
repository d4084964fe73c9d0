/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures of each thread and each process of a trace.  Several reports need them.  Memory is
 * bounded by the number of threads, of which it keeps CT_TASKS_MAX.
 */
#ifndef CT_CLI_TASKS_H
#define CT_CLI_TASKS_H

#include "analysis/engine.h"
#include "base/keyed.h"

#define CT_TASKS_MAX	(1u << 16)	/* a damaged trace may have any number */

enum ct_task_exit {
	CT_TASK_RUNS,		/* no record says that it ended */
	CT_TASK_EXITED,
};

struct ct_task_thread {
	uint32_t pid, tid;
	unsigned int process;		/* index */
	uint64_t first, last;		/* ns, of its records */
	uint64_t calls, launches;	/* of libcuda and libcudart; of kernels and graphs */
	uint64_t in_calls;		/* ns, calls inside calls counted once */
	uint64_t waiting;		/* ns, in calls that wait for the GPU */
	uint64_t off_cpu, switches;	/* ns; only the module sees them */
	enum ct_task_exit exit;
};

struct ct_task_process {
	uint32_t pid, generation;	/* programs that this pid ran before */
	char *name;			/* NULL: not known */
	uint64_t first, last;		/* ns */
	unsigned int threads;
	uint64_t calls, launches;
	const struct ct_class *inside;	/* the last call that never returned, or NULL */
	enum ct_task_exit exit;
	bool begun;			/* internal: the library's record of its begin came */
	bool replaced;			/* internal: another program follows under this pid */
};

/* The last of those that had the pid, or the pid and tid. */
struct ct_task_index {
	uint64_t key;
	uint32_t index;			/* + 1 */
};

struct ct_tasks {
	struct ct_task_thread *threads;	/* in the order of their first records */
	unsigned int threads_count;
	struct ct_task_process *processes;
	unsigned int processes_count;
	uint64_t left_out;		/* records of threads beyond CT_TASKS_MAX */
	/* Internal */
	unsigned int threads_room, processes_room;
	CT_KEYED(struct ct_task_index) by_thread, by_pid;
	unsigned int *by_track;		/* index + 1 */
	unsigned int tracks_room;
};

/* Its state is a struct ct_tasks, complete when it has ended. */
extern const struct ct_analyser ct_tasks_analyser;

/* The name that a program of @pid had, NULL: not known.  @generation: programs that @pid ran before it. */
const char *ct_task_name(const struct ct_tasks *s, uint32_t pid, uint32_t generation);

#endif
