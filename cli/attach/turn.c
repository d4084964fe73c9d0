// SPDX-License-Identifier: LGPL-2.1-or-later
/* See turn.h. */
#include "attach/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_US		1000

static unsigned int turn_depth;
static int turn_fd = -1;

int ct_turn_begin(pid_t pid, uint64_t most, struct ct_error *err)
{
	uint64_t until = ct_now_ns() + most;
	char path[40];
	int fd;

	if (turn_depth++)
		return 0;
	/* Not the directory: that everybody may open, and hold the lock for ever. */
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Not where the guard has its standard streams.  Without one the other commands have no turn either. */
	if (fd >= 0 && fd < 3) {
		turn_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		close(fd);
	} else {
		turn_fd = fd;
	}
	while (turn_fd >= 0 && flock(turn_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		if (ct_now_ns() > until) {
			ct_turn_end();
			return ct_fail(err, EAGAIN, "process %d: another command attaches to it or leaves it at this moment, or one that was late still does: try again", pid);
		}
		usleep(LOOK_US);
	}
	return 0;
}

void ct_turn_end(void)
{
	if (--turn_depth)
		return;
	if (turn_fd >= 0)
		close(turn_fd);
	turn_fd = -1;
}

int ct_turn_descriptor(void)
{
	return turn_fd;
}
