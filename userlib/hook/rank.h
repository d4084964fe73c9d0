/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rank of a job the process is: a line of info, "PID rank=3 size=8 ... launcher=torchrun",
 * from the environment that its launcher gave it.
 */
#ifndef CT_RANK_H
#define CT_RANK_H

/* At a process's first call, when there is a trace.  Says nothing of a process that has no rank. */
void ct_rank_tell(void);

#endif
