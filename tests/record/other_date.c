// SPDX-License-Identifier: LGPL-2.1-or-later
/* To be preloaded to the command: it finds that the date is tomorrow's, and the kernel does not, as after it was set back. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, id, now);

	if (!rc && id == CLOCK_REALTIME)
		now->tv_sec += 86400;
	return rc;
}
