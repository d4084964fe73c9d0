// SPDX-License-Identifier: LGPL-2.1-or-later
/* Preloaded: the memory of the program can't be read from outside, as ptrace_scope forbids it elsewhere. */
#include <sys/prctl.h>

static void __attribute__((constructor)) undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
