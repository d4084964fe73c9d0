// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See standby.h.  The file belongs to the user of the process, who may cut it short at any time: so it
 * is read and written by system calls, and mapped for the address of a futex alone.
 */
#include "attach/standby.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "trace/pages.h"
#include "userlib/include/cudatrace/attach.h"

#define ANSWER_NS	5000000000ull

/* The name of the page's file in the process's own root; false: it has none. */
static bool standby_find(pid_t pid, char *path, size_t size)
{
	struct ct_proc_mapping m;
	FILE *maps = ct_proc_maps(pid);
	bool found = false;

	while (maps && !found && ct_proc_next_mapping(maps, &m))
		found = !strncmp(m.path, CT_STANDBY_PREFIX, strlen(CT_STANDBY_PREFIX));
	if (maps)
		fclose(maps);
	return found && snprintf(path, size, "/proc/%d/root%s", pid, m.path) < (int)size;
}

bool ct_standby_is(pid_t pid)
{
	char path[PATH_MAX];

	return standby_find(pid, path, sizeof(path));
}

static int standby_open(pid_t pid, struct ct_standby_page *page, struct ct_error *err)
{
	struct stat st, process;
	char path[PATH_MAX];
	int fd;

	if (!standby_find(pid, path, sizeof(path)))
		return ct_fail(err, ESRCH, "process %d does not stand by any more", pid);
	fd = open(path, O_RDWR | CT_O_FOREIGN);
	if (fd < 0)
		return ct_fail(err, errno, "process %d stands by, but its %s can't be opened: %s", pid, strchr(path + 6, '/') + 5,
			       strerror(errno));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || stat(path, &process) || st.st_uid != process.st_uid ||
	    pread(fd, page, sizeof(*page), 0) != (ssize_t)sizeof(*page) || page->magic != CT_MAGIC) {
		close(fd);
		return ct_fail(err, EBADMSG, "process %d stands by, but its page is damaged: start it again", pid);
	}
	if (page->version != CT_STANDBY_VERSION || page->schema != CT_SCHEMA_VERSION) {
		close(fd);
		return ct_fail(err, EPROTO, "process %d stands by with a preload library of another version (schema %u, this is %u): use that version's command, or start it again",
			       pid, page->schema, CT_SCHEMA_VERSION);
	}
	return fd;
}

static void standby_wake(int fd)
{
	void *map = mmap(NULL, sizeof(struct ct_standby_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return;
	syscall(SYS_futex, (char *)map + offsetof(struct ct_standby_page, request), FUTEX_WAKE, 1);
	munmap(map, sizeof(struct ct_standby_page));
}

static bool standby_write(int fd, const void *from, size_t size, size_t offset)
{
	return pwrite(fd, from, size, (off_t)offset) == (ssize_t)size;
}

static void standby_answered(const struct ct_standby_page *page, struct ct_standby_answer *answer)
{
	*answer = (struct ct_standby_answer){ .result = page->result, .gpu = page->gpu, .number = page->number };
}

static int standby_silent(int fd, pid_t pid, struct ct_error *err)
{
	close(fd);
	return ct_fail(err, ETIMEDOUT, "process %d stands by, but does not answer (is it stopped, or does another command ask it?)", pid);
}

int ct_standby_ask(pid_t pid, const struct ct_standby_request *asked, struct ct_standby_answer *answer, struct ct_error *err)
{
	uint64_t until = ct_now_ns() + ANSWER_NS;
	struct ct_standby_page page;
	int fd = standby_open(pid, &page, err);
	uint32_t request;

	if (fd < 0)
		return fd;
	/* One command at a time, wherever it runs: they see the same file. */
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (ct_now_ns() > until)
			return standby_silent(fd, pid, err);
		usleep(200);
	}
	if (pread(fd, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		goto damaged;
	request = page.request + 1;
	memset(page.options, 0, sizeof(page.options));
	if (asked->options_size)
		memcpy(page.options, asked->options, asked->options_size);
	if (!standby_write(fd, page.options, sizeof(page.options), offsetof(struct ct_standby_page, options)) ||
	    !standby_write(fd, &asked->command, sizeof(asked->command), offsetof(struct ct_standby_page, command)) ||
	    !standby_write(fd, &asked->number, sizeof(asked->number), offsetof(struct ct_standby_page, number)) ||
	    !standby_write(fd, &request, sizeof(request), offsetof(struct ct_standby_page, request)))
		goto damaged;
	standby_wake(fd);
	for (;;) {
		if (pread(fd, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
			goto damaged;
		if (page.answer == request)
			break;
		if (ct_now_ns() > until || kill(pid, 0))
			return standby_silent(fd, pid, err);
		usleep(200);
	}
	close(fd);
	standby_answered(&page, answer);
	return 0;
damaged:
	close(fd);
	return ct_fail(err, EIO, "process %d stands by, but its page can't be written", pid);
}

uint32_t ct_standby_running(pid_t pid)
{
	struct ct_error ignored = { 0 };
	struct ct_standby_page page;
	int fd = standby_open(pid, &page, &ignored);

	if (fd < 0)
		return 0;
	close(fd);
	return page.running;
}

int ct_standby_begun(pid_t pid, struct ct_standby_answer *answer, struct ct_error *err)
{
	uint64_t until = ct_now_ns() + ANSWER_NS;
	struct ct_standby_page page;
	int fd = standby_open(pid, &page, err);

	if (fd < 0)
		return fd;
	/* It may be at it. */
	while (!page.answer && ct_now_ns() < until && pread(fd, &page, sizeof(page), 0) == (ssize_t)sizeof(page))
		usleep(200);
	close(fd);
	standby_answered(&page, answer);
	return 0;
}
