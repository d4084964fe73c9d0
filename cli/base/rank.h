/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rank of a job a process is, as its launcher said it in the environment.  The kernel shows that to root and to the
 * process's own user.
 */
#ifndef CT_CLI_RANK_H
#define CT_CLI_RANK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_RANK_TEXT	192

/* "PID rank=3 size=8 ...", as in a line of info of the library's.  False: it is none, is gone, or we may not look. */
bool ct_rank_read(pid_t pid, char text[CT_RANK_TEXT]);

/* Its number; -1: as above. */
int32_t ct_rank_number(pid_t pid);

#endif
