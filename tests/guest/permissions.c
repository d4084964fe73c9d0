// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tries the operations of the table in docs/permissions.md, as the user that runs it, and
 * prints a word for each column: yes, or the errno.  A persistent session of root is running, with
 * root's probe of getpriority(); its first argument is an address of the kernel.  With an argument:
 * none is running; prints the word of the column "first".
 */
#include <sys/resource.h>

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

/* What a reader sees of the address that getpriority() is called with. */
static const char *try_address(void)
{
	int fd = open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	static char text[1 << 20];
	size_t used = 0;
	const char *at;
	ssize_t n;

	if (fd < 0)
		return word(errno);
	for (int i = 0; i < 600; i++) {
		getpriority(PRIO_PROCESS, 0);
		usleep(10000);
		n = read(fd, text + used, sizeof(text) - 1 - used);
		if (n > 0)
			text[used += n] = 0;
		at = strstr(text, "\"regs\":\"0x");
		/* The whole value is there with the quote behind it. */
		if (at && strchr(at + 8, '"')) {
			close(fd);
			return strtoull(at + 8, NULL, 16) >> 56 == 0xff ? "yes" : "hashed";
		}
	}
	close(fd);
	return "none";
}

static int try_map(uint64_t offset, size_t size)
{
	int fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC), error;
	void *p;

	if (fd < 0)
		return errno;
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, offset);
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
	printf(" %s", try_address());
	printf(" %s", word(try_map(CT_MMAP_FACTS, PAGE)));
	/* The sizes of permissions.sh. */
	printf(" %s", word(try_map(CT_MMAP_DATA(0), 65536 * 16)));
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
