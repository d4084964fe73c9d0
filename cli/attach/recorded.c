// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See recorded.h.  A library knows of its own recordings only: so the process's maps tell in which directory it is recorded,
 * and the recorder's page there whether somebody reads.
 */
#include "attach/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attach/way.h"
#include "base/clock.h"
#include "base/file.h"
#include "module/uapi/cudatrace.h"
#include "trace/directory.h"

#define LOOK_US		50000
#define NOTICED_NS	(CT_RECORDER_GONE_NS + 3000000000ull)	/* by then a process has noticed that its recorder was killed */
#define WAITS_MOST	(4 * NOTICED_NS)	/* of all processes: what is waited for may be made by another user, to detain us */

/* The directory that the process has by this path, or this command.  -1: neither. */
static int recorded_open(pid_t pid, const char *dir)
{
	char there[PATH_MAX + 32];
	int fd;

	snprintf(there, sizeof(there), "/proc/%d/root%s", pid, dir);
	fd = open(there, O_RDONLY | O_DIRECTORY | CT_O_FOREIGN);
	return fd >= 0 ? fd : open(dir, O_RDONLY | O_DIRECTORY | CT_O_FOREIGN);
}

static bool recorded_is(int fd, const char *dir)
{
	struct stat there, ours;

	return dir && fd >= 0 && !fstat(fd, &there) && !stat(dir, &ours) && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/* When the recorder said last that it is there, in ns; 0: never, or it has ended.  UINT64_MAX: that can't be seen. */
static uint64_t recorded_alive(int dirfd)
{
	int fd = dirfd < 0 ? -1 : openat(dirfd, CT_RECORDER_FILE, O_RDONLY | CT_O_FOREIGN);
	struct ct_recorder_page page;
	uint64_t alive = UINT64_MAX;

	if (fd < 0)
		return dirfd < 0 || errno != ENOENT ? UINT64_MAX : 0;
	if (pread(fd, &page, sizeof(page), 0) == (ssize_t)sizeof(page) && page.magic == CT_MAGIC)
		alive = page.alive;
	close(fd);
	return alive;
}

/* The process that has the trace's lock; 0: it can't be seen from here. */
static pid_t recorded_recorder(int dirfd)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned int major, minor;
	unsigned long inode;
	char line[256];
	pid_t found = 0, pid;
	struct stat st;

	while (locks && !found && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) == 4 &&
		    !fstatat(dirfd, CT_LOCK_FILE, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == inode && st.st_dev == makedev(major, minor))
			found = pid;
	if (locks)
		fclose(locks);
	return found;
}

static int recorded_refuse(pid_t pid, const char *dir, int dirfd, struct ct_error *err)
{
	pid_t recorder = recorded_recorder(dirfd);
	char by[32] = "";

	if (recorder > 0)
		snprintf(by, sizeof(by), " by process %d", recorder);
	return ct_fail(err, EBUSY, "process %d is being recorded already,%s into %.300s: wait for its end, or end it first", pid, by, dir);
}

/* 1: it may be recorded; 0: not yet; -EBUSY.  *alive: what was seen at the last look. */
static int recorded_look(pid_t pid, const char *own, uint64_t *alive, struct ct_error *err)
{
	uint64_t before = *alive;
	struct ct_way w;
	int fd, rc = 0;

	ct_way_of(pid, &w);
	if (w.session && w.how != CT_WAY_PRELOADED)
		return ct_fail(err, EBUSY, "process %d is being recorded already, in the module's session: end that, or take the process out (cudatrace session detach --pid %d)",
			       pid, pid);
	if (!*w.dir || w.deleted)
		return 1;
	fd = recorded_open(pid, w.dir);
	*alive = recorded_alive(fd);
	if (recorded_is(fd, own))
		rc = 1;
	else if (*alive == UINT64_MAX || (before != UINT64_MAX && *alive > before))
		rc = recorded_refuse(pid, w.dir, fd, err);
	else if (w.how == CT_WAY_PRELOADED && ct_now_ns() - *alive > CT_RECORDER_GONE_NS)
		rc = 1;		/* such a process has no end of its recording that could be waited for */
	if (fd >= 0)
		close(fd);
	return rc;
}

int ct_recorded_by_other(pid_t pid, const char *dir, struct ct_error *err)
{
	static uint64_t waited;
	uint64_t begun = ct_now_ns(), until = begun + (waited < WAITS_MOST ? NOTICED_NS : 0), alive = UINT64_MAX;
	int rc;

	while (!(rc = recorded_look(pid, dir, &alive, err)) && ct_now_ns() < until)
		usleep(LOOK_US);
	waited += ct_now_ns() - begun;
	return rc < 0 ? rc : 0;
}
