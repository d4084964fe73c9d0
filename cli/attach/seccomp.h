/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters for system calls (seccomp) of a process that is to be attached to: some end a process that makes another call than its own. */
#ifndef CT_CLI_SECCOMP_H
#define CT_CLI_SECCOMP_H

#include <sys/types.h>

/**
 * ct_seccomp_ends() - a system call of the library's that would end the process of thread @tid, or raise SIGSYS there
 *
 * The thread is stopped, by ptrace of this process.
 *
 * Return: its name; NULL: there is none, or nobody knows: only root may look at filters, and not where this process
 * has one itself.
 */
const char *ct_seccomp_ends(pid_t tid);

#endif
