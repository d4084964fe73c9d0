// SPDX-License-Identifier: LGPL-2.1-or-later
/* See writers.h. */
#include "capture/writers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"
#include "trace/directory.h"
#include "trace/pages.h"

int ct_is_written(const char *path)
{
	void (*before)(int) = signal(SIGIO, SIG_IGN); /* the lease may be broken */
	int fd, result = -1;

	fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (fd >= 0) {
		if (!fcntl(fd, F_SETLEASE, F_RDLCK)) {
			fcntl(fd, F_SETLEASE, F_UNLCK);
			result = 0;
		} else if (errno == EAGAIN) {
			result = 1;
		}
		close(fd);
	}
	signal(SIGIO, before);
	return result;
}

/*
 * The thread of an in-flight page lives if the page is mapped.  Where a lease can't
 * tell, the thread lives if it exists and its process has the page mapped: the same
 * number alone may belong to another thread by now.
 */
static bool writers_thread_lives(const char *dir, const struct ct_inflight_page *page,
				 const char *name)
{
	struct ct_proc_mapping m;
	char path[4096];
	bool lives = false;
	FILE *maps;
	int written;

	if (ct_path(path, sizeof(path), dir, name))
		return true;
	written = ct_is_written(path);
	if (written >= 0)
		return written;
	snprintf(path, sizeof(path), "/proc/%u/task/%u", page->pid, page->tid);
	if (access(path, F_OK))
		return false;
	maps = ct_proc_maps((pid_t)page->pid);
	if (!maps)
		return errno != ENOENT; /* we may not look: assume that it lives */
	while (!lives && ct_proc_next_mapping(maps, &m))
		lives = strstr(m.path, name) != NULL;
	fclose(maps);
	return lives;
}

int ct_trace_lives(const char *dir)
{
	struct ct_inflight_page page;
	struct dirent *entry;
	int living = 0;
	DIR *d;

	d = opendir(dir);
	if (!d)
		return -errno;
	while ((entry = readdir(d)))
		if (ct_is_inflight_page(entry->d_name) &&
		    ct_inflight_page_read(dir, entry->d_name, &page) >= 0 &&
		    writers_thread_lives(dir, &page, entry->d_name))
			living++;
	closedir(d);
	return living;
}

int ct_trace_lock(const char *dir)
{
	char path[4096];
	int fd;

	if (ct_path(path, sizeof(path), dir, CT_LOCK_FILE))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	/* Where there are no locks (some file systems), nobody else has it. */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return -EWOULDBLOCK;
	}
	return fd;
}

void ct_trace_unlock(const char *dir, int fd)
{
	char path[4096];

	if (!ct_path(path, sizeof(path), dir, CT_LOCK_FILE))
		unlink(path);
	close(fd);
}
