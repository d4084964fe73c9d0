/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One command at a time attaches to a process or leaves it: two that bring the library in at the same moment would each
 * bring their own copy.  The lock is on the process's environ in /proc, which only those can open who may attach, so it needs no file, and it is gone
 * with those that hold it.  Commands with different mounts of /proc (in a container, and outside of it) do not see each
 * other's.
 */
#ifndef CT_CLI_TURN_H
#define CT_CLI_TURN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * ct_turn_begin() - wait for this command's turn at process @pid
 * @most: ns, no longer than that
 *
 * Again in between, as often as is wanted: the last ct_turn_end() ends it.  A process that is forked meanwhile has the turn,
 * too, until it ends, also where this command is killed.  Return: 0; -EAGAIN with @err: another command has it.
 */
int ct_turn_begin(pid_t pid, uint64_t most, struct ct_error *err);
void ct_turn_end(void);

/* The descriptor that holds it, -1: none.  For who closes descriptors. */
int ct_turn_descriptor(void);

#endif
