// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tries the operations of the table in docs/permissions.md, as the user that runs it, and
 * prints a word for each column: yes, or the errno.  A persistent session of root is running.
 * With an argument: none is running; prints the word of the column "first".
 */
#include "session.h"

static const char *word(int error)
{
	return !error ? "yes" : error == EACCES ? "EACCES" : error == EPERM ? "EPERM" :
	       error == EBADF ? "EBADF" : error == ENODATA ? "ENODATA" : strerror(error);
}

/* Opens the device and tries one operation; the errno of open() if that fails. */
static int try(int mode, unsigned long cmd, void *arg)
{
	int fd = open(CT_DEVICE_PATH, mode | O_CLOEXEC), error;

	if (fd < 0)
		return errno;
	error = call(fd, cmd, arg);
	close(fd);
	return error;
}

static int try_read(void)
{
	int fd = open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK | O_CLOEXEC), error;
	char buf[4096];

	if (fd < 0)
		return errno;
	error = read(fd, buf, sizeof(buf)) < 0 && errno != EAGAIN ? errno : 0;
	close(fd);
	return error;
}

static int try_map(void)
{
	int fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC), error;
	void *p;

	if (fd < 0)
		return errno;
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, CT_MMAP_FACTS);
	error = p == MAP_FAILED ? errno : 0;
	close(fd);
	return error;
}

int main(int argc, char **argv)
{
	struct ct_session session = { .size = sizeof(session) };
	struct ct_filter filter = { .size = sizeof(filter) };
	struct ct_limits limits = { .size = sizeof(limits), .share = 100 };
	struct ct_trigger_set trigger = { .size = sizeof(trigger) };
	struct ct_probe_add probe = { .size = sizeof(probe), .symbol = "no_such_function" };
	struct ct_define d = define("permissions", "permissions");
	struct mark m = text_mark("permissions");
	int error;

	(void)argv;
	if (argc > 1) {
		printf("%s\n", word(try_read()));
		return 0;
	}
	printf("%s", word(try(O_WRONLY, CT_IOC_MARK(sizeof(m)), &m)));
	printf(" %s", word(try(O_WRONLY, CT_IOC_DEFINE, &d)));
	printf(" %s", word(try_read()));
	printf(" %s", word(try_map()));
	printf(" %s", word(try(O_RDONLY, CT_IOC_GET_SESSION, &session)));
	/* A session runs: a file that may start one gets EBUSY. */
	error = try(O_RDWR, CT_IOC_START, &session);
	printf(" %s", word(error == EBUSY ? 0 : error));
	error = try(O_WRONLY, CT_IOC_PAUSE, NULL);
	if (!error)
		error = try(O_WRONLY, CT_IOC_RESUME, NULL);
	printf(" %s", word(error));
	printf(" %s", word(try(O_WRONLY, CT_IOC_FILTER, &filter)));
	printf(" %s", word(try(O_WRONLY, CT_IOC_LIMITS, &limits)));
	printf(" %s", word(try(O_WRONLY, CT_IOC_TRIGGER, &trigger)));
	error = try(O_WRONLY, CT_IOC_PROBE_ADD, &probe);
	printf(" %s", word(error == ENOENT ? 0 : error));
	printf(" %s\n", word(try(O_RDWR, CT_IOC_STOP, NULL)));
	return 0;
}
