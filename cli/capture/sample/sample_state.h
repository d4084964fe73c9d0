/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a thread does, as the kernel says it in /proc: it runs, or waits for what. */
#ifndef CT_CLI_SAMPLE_STATE_H
#define CT_CLI_SAMPLE_STATE_H

#include <stdint.h>
#include <sys/types.h>

#include "module/uapi/cudatrace.h"

struct ct_sampled_task {
	pid_t pid, tid;
	int syscall;			/* a file; -1: it is opened at each look, or is not there */
};

void ct_sampled_task_open(struct ct_sampled_task *t, pid_t pid, pid_t tid);
void ct_sampled_task_close(struct ct_sampled_task *t);

/* 0, or -ESRCH: it has ended.  @futex: the word of its memory at which it waits for another thread, 0: at none. */
int ct_sampled_task_state(struct ct_sampled_task *t, enum ct_sample_state *state, uint64_t *futex);

#endif
