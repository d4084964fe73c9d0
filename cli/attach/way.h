/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the preload library is in a process of this machine, and what it records there at the moment. */
#ifndef CT_CLI_WAY_H
#define CT_CLI_WAY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

enum ct_way_how {
	CT_WAY_UNKNOWN,		/* there is no such process, or we may not look */
	CT_WAY_NONE,
	CT_WAY_PRELOADED,
	CT_WAY_STANDBY,		/* it can be asked */
	CT_WAY_ATTACHED,	/* brought in, now or earlier */
};

struct ct_way {
	enum ct_way_how how;
	bool cuda;		/* libcuda is there */
	bool session;		/* it has the module's device open, and is in the session, if one runs */
	bool deleted;		/* the files in dir that it writes to were deleted, perhaps with the directory */
	char dir[PATH_MAX];	/* the trace that it writes to; "": none, or to the device */
};

void ct_way_of(pid_t pid, struct ct_way *w);

#endif
