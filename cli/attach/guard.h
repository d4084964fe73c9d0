/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work on another process that has to come to its end, although this command may be killed meanwhile, or may
 * not wait any longer: a process of its own does it, which no signal to the command reaches.
 */
#ifndef CT_CLI_GUARD_H
#define CT_CLI_GUARD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/**
 * ct_guard_run() - run(@job) in a process of its own
 * @job: of @size bytes; it comes back as the other process has it then, pointers too
 *
 * Return: what @run returns, with @err; or what it said by ct_guard_late(): -ETIMEDOUT.
 */
int ct_guard_run(int (*run)(void *job, struct ct_error *err), void *job, size_t size, struct ct_error *err);

/* In @run: it lasts too long.  The command goes on with this error and the job as it is; the work goes on, too. */
void ct_guard_late(const struct ct_error *err);

/*
 * In @run: thread @tid comes before others for now, and has had this policy.  Where this process is killed by what nobody can
 * ignore, the command puts it back.  @policy -1: all is as it was.
 */
void ct_guard_owes(pid_t tid, int policy);

#endif
