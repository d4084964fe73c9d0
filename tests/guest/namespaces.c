// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pids and uids in the text are those of the namespaces of the task that opened the file, no
 * matter which task reads or waits; also in the fields that are pids.  Runs as root in a
 * guest with the module loaded.  Prints TAP.
 */
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"

static struct session s;

static void mark(const char *text)
{
	struct mark m = text_mark(text);
	int w = device(O_WRONLY);

	call(w, CT_IOC_MARK(sizeof(m)), &m);
	close(w);
}

/* Runs a function as the first process of a new pid namespace; its exit status. */
static int in_namespace(int (*run)(int), int arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(99);
		pid = fork();
		if (!pid)
			_exit(run(arg));
		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads lines from this file until one has text in it, or a minute is over. */
static char lines[1 << 20];

static const char *read_until(int fd, const char *text)
{
	size_t used = strlen(lines);
	ssize_t n;

	for (int i = 0; i < 6000 && !strstr(lines, text); i++) {
		n = read(fd, lines + used, sizeof(lines) - 1 - used);
		if (n > 0)
			used += n;
		else
			usleep(10000);
		lines[used] = 0;
	}
	return strstr(lines, text);
}

/* The number with this key, of the line that p lies in; or -1. */
static long number(const char *p, const char *key)
{
	const char *at;

	while (p > lines && p[-1] != '\n')
		p--;
	at = strstr(p, key);
	return at && (!strchr(p, '\n') || at < strchr(p, '\n')) ? atol(at + strlen(key)) : -1;
}

/* ------------------------------------------------- another task waits ------ */

/* Waits until there is a line: the module formats the lines while it waits. */
static int waits(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	/* A record is emitted when it is 1 ms old. */
	usleep(5000);
	return poll(&p, 1, 60000) == 1 ? 0 : 1;
}

static void test_handed_on(void)
{
	int fd = device(O_RDONLY | O_NONBLOCK);
	const char *at;

	mark("handed on");
	ok(!in_namespace(waits, fd), "a file is passed to a pid namespace, where a task waits for it");
	lines[0] = 0;
	at = read_until(fd, "\"text\":\"handed on");
	ok(at && number(at, "\"pid\":") == getpid(),
	   "and read by the task that opened it: pids are of its namespace (%ld)", at ? number(at, "\"pid\":") : -1);
	close(fd);
}

/* A worker thread of the kernel, which is in the initial namespace, waits. */
static int waits_by_aio(int unused)
{
	int fd = device(O_RDONLY | O_NONBLOCK);
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = fd, .aio_buf = POLLIN };
	struct iocb *list = &cb;
	struct io_event event;
	aio_context_t ctx = 0;
	const char *at;

	(void)unused;
	if (syscall(SYS_io_setup, 1, &ctx) || syscall(SYS_io_submit, ctx, 1, &list) != 1)
		return 77;
	mark("by a worker");
	if (syscall(SYS_io_getevents, ctx, 1, 1, &event, NULL) != 1)
		return 2;
	at = read_until(fd, "\"text\":\"by a worker");
	if (!at || number(at, "\"pid\":") != 1 || number(at, "\"tid\":") != 1)
		return 3;
	return 0;
}

/* --------------------------------------------- fields that are pids -------- */

/*
 * A child sleeps in a pipe, and its parent wakes it: their pids in its namespace are 2 and
 * 1.  Returns 0, or a number that says what was wrong.
 */
static int switches(int unused)
{
	int fd = device(O_RDONLY | O_NONBLOCK), to[2], from[2], woken = 0, waking = 0;
	const char *at;
	pid_t child;
	char c;

	(void)unused;
	if (pipe(to) || pipe(from))
		return 1;
	child = fork();
	if (!child) {
		mark("sleeps");
		while (write(from[1], "", 1) == 1 && read(to[0], &c, 1) == 1 && !c)
			;
		_exit(0);
	}
	for (int i = 0; i < 20; i++) {
		if (read(from[0], &c, 1) != 1)
			return 2;
		usleep(2000);	/* it sleeps now */
		if (write(to[1], "", 1) != 1)
			return 3;
	}
	mark("the end");
	if (child != 2 || getpid() != 1 || !read_until(fd, "\"text\":\"the end"))
		return 4;
	kill(child, SIGKILL);
	for (at = lines; (at = strstr(at, "\"waker\":")); at++) {
		if (number(at, "\"waker\":") > 2 || number(at, "\"other\":") > 2)
			return 5;
		if (number(at, "\"tid\":") != 2)
			continue;
		woken += number(at, "\"duration_us\":") >= 0 && number(at, "\"waker\":") == 1;
		waking += number(at, "\"target_cpu\":") >= 0 && number(at, "\"waker\":") == 1;
	}
	return !woken ? 6 : !waking ? 7 : 0;
}

/* Whose session it is: not this namespace's number for a process outside of it. */
static int asks(int unused)
{
	struct ct_session said = { .size = sizeof(said) };
	int fd = device(O_RDWR);

	(void)unused;
	if (call(fd, CT_IOC_GET_SESSION, &said) || said.owner_pid)
		return 1;
	said = (struct ct_session){ .size = sizeof(said), .owner_pid = 99 };
	return call(fd, CT_IOC_START, &said) != EBUSY || said.owner_pid ? 2 : 0;
}

/* A namespace's process owns the session: who is inside has its number there. */
static int owns(int unused)
{
	struct ct_session said = { .size = sizeof(said) };
	struct session own;

	(void)unused;
	session_start(&own, 4096, 16, 0);
	if (own.arg.owner_pid != 1 || call(own.fd, CT_IOC_GET_SESSION, &said))
		return 1;
	return said.owner_pid == 1 ? 0 : 2;
}

int main(void)
{
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	session_of(&s, 65536, 64, 0, 1u << CT_GROUP_SWITCH);
	test_handed_on();
	status = in_namespace(waits_by_aio, 0);
	if (status == 77)
		skip(1, "this kernel has no aio");
	else
		ok(!status, "aio: pids are of the file's namespace, though a worker waits (%d)", status);
	status = in_namespace(switches, 0);
	ok(!status, "other and waker of switches and wake-ups are the namespace's (%d)", status);
	status = in_namespace(asks, 0);
	ok(!status, "the session's owner, who is not visible in a namespace, is pid 0 there (%d)", status);
	session_end(&s);
	status = in_namespace(owns, 0);
	ok(!status, "and an owner inside has its pid there (%d)", status);
	return tap_done();
}
