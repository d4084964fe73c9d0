// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See rank.h.  The environment is read from the kernel's copy, as the process was started with it:
 * a program that uses no CUDA pays nothing, and setenv() of another thread is no danger.
 */
#include "hook/rank.h"

#include "backend/backend.h"
#include "base/process.h"
#include "hook/launchers.h"

void ct_rank_tell(void)
{
	char *env = ct_map_private(CT_ENVIRONMENT_MAX), line[CT_RANK_LINE_MAX];
	long n = env ? ct_read_file("/proc/self/environ", env, CT_ENVIRONMENT_MAX - 1) : 0;

	if (n > 0 && ct_rank_line(line, (u32)ct_process->pid, env, (size_t)n))
		ct_backend->info("rank", line);
	if (env)
		ct_sys2(SYS_munmap, env, CT_ENVIRONMENT_MAX);
}
