// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sample_state.h. */
#include "capture/sample/sample_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct {
	int number;
	enum ct_sample_state state;
} state_calls[] = {
	{ SYS_nanosleep, CT_SAMPLE_SLEEP }, { SYS_clock_nanosleep, CT_SAMPLE_SLEEP },
	{ SYS_futex, CT_SAMPLE_LOCK }, { SYS_semop, CT_SAMPLE_LOCK }, { SYS_semtimedop, CT_SAMPLE_LOCK },
	{ SYS_wait4, CT_SAMPLE_CHILD }, { SYS_waitid, CT_SAMPLE_CHILD },
	{ SYS_openat, CT_SAMPLE_FILE }, { SYS_fsync, CT_SAMPLE_FILE }, { SYS_fdatasync, CT_SAMPLE_FILE },
	{ SYS_getdents64, CT_SAMPLE_FILE }, { SYS_newfstatat, CT_SAMPLE_FILE }, { SYS_statx, CT_SAMPLE_FILE },
	{ SYS_renameat2, CT_SAMPLE_FILE }, { SYS_unlinkat, CT_SAMPLE_FILE }, { SYS_mmap, CT_SAMPLE_FILE },
	{ SYS_munmap, CT_SAMPLE_FILE }, { SYS_madvise, CT_SAMPLE_FILE }, { SYS_mprotect, CT_SAMPLE_FILE },
	{ SYS_flock, CT_SAMPLE_FILE }, { SYS_readahead, CT_SAMPLE_FILE }, { SYS_ftruncate, CT_SAMPLE_FILE },
	{ SYS_recvfrom, CT_SAMPLE_SOCKET }, { SYS_recvmsg, CT_SAMPLE_SOCKET }, { SYS_sendto, CT_SAMPLE_SOCKET },
	{ SYS_sendmsg, CT_SAMPLE_SOCKET }, { SYS_connect, CT_SAMPLE_SOCKET }, { SYS_accept, CT_SAMPLE_SOCKET },
	{ SYS_accept4, CT_SAMPLE_SOCKET }, { SYS_ioctl, CT_SAMPLE_DEVICE },
#ifdef SYS_open
	{ SYS_open, CT_SAMPLE_FILE }, { SYS_stat, CT_SAMPLE_FILE }, { SYS_lstat, CT_SAMPLE_FILE },
	{ SYS_getdents, CT_SAMPLE_FILE }, { SYS_readlink, CT_SAMPLE_FILE }, { SYS_access, CT_SAMPLE_FILE },
#endif
};

/* Their first argument says of what. */
static const int state_files[] = {
	SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_preadv, SYS_pwritev, SYS_sendfile,
	SYS_copy_file_range, SYS_lseek,
};

#define STATE_OPEN	128u	/* files that stay open: the recorder needs some for itself */

static unsigned int sample_state_files;

static int sample_state_open(const struct ct_sampled_task *t, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void ct_sampled_task_open(struct ct_sampled_task *t, pid_t pid, pid_t tid)
{
	t->pid = pid;
	t->tid = tid;
	t->syscall = sample_state_files < STATE_OPEN ? sample_state_open(t, "syscall") : -1;
	sample_state_files += t->syscall >= 0;
}

void ct_sampled_task_close(struct ct_sampled_task *t)
{
	if (t->syscall >= 0)
		close(t->syscall);
	sample_state_files -= t->syscall >= 0;
	t->syscall = -1;
}

/* What the file is that a thread reads or writes. */
static enum ct_sample_state state_of_file(const struct ct_sampled_task *t, unsigned long long fd)
{
	char path[64], to[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", t->pid, fd);
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return CT_SAMPLE_OTHER;
	to[n] = 0;
	if (!strncmp(to, "socket:", 7))
		return CT_SAMPLE_SOCKET;
	if (!strncmp(to, "pipe:", 5))
		return CT_SAMPLE_PIPE;
	if (!strncmp(to, "/dev/", 5) && strncmp(to, "/dev/shm/", 9))
		return CT_SAMPLE_DEVICE;
	return *to == '/' ? CT_SAMPLE_FILE : CT_SAMPLE_OTHER;
}

/* One file alone, with a time limit, is how a read with a time limit waits. */
static enum ct_sample_state state_of_poll(const struct ct_sampled_task *t, unsigned long long at, unsigned long long count)
{
	struct pollfd one;
	struct iovec here = { &one, sizeof(one) }, there = { (void *)(uintptr_t)at, sizeof(one) };
	enum ct_sample_state state;

	if (!count)
		return CT_SAMPLE_SLEEP;
	if (count > 1 || process_vm_readv(t->pid, &here, 1, &there, 1, 0) != sizeof(one) || one.fd < 0)
		return CT_SAMPLE_POLL;
	state = state_of_file(t, one.fd);
	return state == CT_SAMPLE_OTHER ? CT_SAMPLE_POLL : state;
}

static enum ct_sample_state state_of_call(const struct ct_sampled_task *t, long number, const unsigned long long a[4])
{
	for (unsigned int i = 0; i < sizeof(state_calls) / sizeof(*state_calls); i++)
		if (state_calls[i].number == number)
			return state_calls[i].state;
	for (unsigned int i = 0; i < sizeof(state_files) / sizeof(*state_files); i++)
		if (state_files[i] == number)
			return state_of_file(t, a[0]);
	switch (number) {
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		/* time.sleep() of Python before 3.11 waits for no file. */
		return a[0] ? CT_SAMPLE_POLL : CT_SAMPLE_SLEEP;
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return state_of_poll(t, a[0], a[1]);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		return CT_SAMPLE_POLL;
	}
	return CT_SAMPLE_OTHER;
}

/* "PID (NAME) S ...": the letter alone. */
static int state_letter(const struct ct_sampled_task *t)
{
	char text[128], *end;
	int fd = sample_state_open(t, "stat");
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	bool gone = n < 0 && (errno == ESRCH || errno == ENOENT);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return gone ? -ESRCH : 0;
	text[n] = 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

int ct_sampled_task_state(struct ct_sampled_task *t, enum ct_sample_state *state, uint64_t *futex)
{
	unsigned long long a[4] = { 0 };
	char text[256];
	long number;
	int fd = t->syscall < 0 ? sample_state_open(t, "syscall") : t->syscall;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	int letter;

	if (fd != t->syscall)
		close(fd);
	*state = CT_SAMPLE_UNKNOWN;
	*futex = 0;
	if (n > 0) {
		text[n] = 0;
		if (!strncmp(text, "running", 7)) {
			*state = CT_SAMPLE_RUNNING;
			return 0;
		}
		if (sscanf(text, "%ld %llx %llx %llx %llx", &number, &a[0], &a[1], &a[2], &a[3]) >= 1) {
			/* It sleeps outside of a system call: for a page of its memory. */
			*state = number < 0 ? CT_SAMPLE_FILE : state_of_call(t, number, a);
			*futex = number == SYS_futex ? a[0] : 0;
			return 0;
		}
	}
	letter = state_letter(t);
	if (letter < 0 || letter == 'Z' || letter == 'X')
		return -ESRCH;
	*state = letter == 'R' ? CT_SAMPLE_RUNNING : letter == 'D' ? CT_SAMPLE_FILE :
		 letter == 'S' ? CT_SAMPLE_OTHER : CT_SAMPLE_UNKNOWN;
	return 0;
}
