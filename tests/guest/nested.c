// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A writer that is interrupted where a packet ends and the next one begins, at each instruction
 * once, by records that fill more than a packet of 4 KiB.  Every packet must be whole, and every
 * record must be there.  Runs as root in a guest with the module and ct_nested.ko loaded, and
 * with a probe on ct_nested_call().  Prints TAP.
 */
#include <sys/stat.h>

#include "session.h"

#define MARKS_MAX	400	/* of some packets */

static int parameter(const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/module/ct_nested/parameters/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		return -1;
	close(fd);
	return atoi(text);
}

/* 0 or the errno. */
static int arm(int fd, const char *word)
{
	return write(fd, word, strlen(word)) < 0 ? errno : 0;
}

/* What the module says of the probe on ct_nested_call(). */
static struct ct_probe_info probe_info(int fd)
{
	struct ct_probe_info p = { .size = sizeof(p) };

	for (; !call(fd, CT_IOC_GET_PROBE, &p); p.index++)
		if (!strcmp(p.symbol, "ct_nested_call"))
			return p;
	return (struct ct_probe_info){ 0 };
}

/* Lines of the text with this name. */
static uint64_t lines(int r, const char *name)
{
	static char buf[1 << 16];
	size_t kept = 0;
	uint64_t n = 0;
	char *line, *end;
	ssize_t got;

	usleep(50000);	/* a record is emitted when it is 1 ms old */
	while ((got = read(r, buf + kept, sizeof(buf) - kept)) > 0) {
		kept += got;
		for (line = buf; (end = memchr(line, '\n', buf + kept - line)); line = end + 1) {
			*end = 0;
			n += strstr(line, name) != NULL;
		}
		kept = buf + kept - line;
		memmove(buf, line, kept);
	}
	return n;
}

int main(void)
{
	struct ct_limits l = { .size = sizeof(l), .share = 100 };
	int fd = open("/dev/ct_nested", O_WRONLY | O_CLOEXEC), r, i, err, before, places = 0;
	struct mark m = text_mark("outer");
	struct ct_probe_info p;
	struct session s;
	uint64_t marks = 0;
	struct walk x;
	char word[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	pin(0);
	session_start(&s, 4096, 4096, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	r = device(O_RDONLY | O_NONBLOCK);
	for (i = 0;; i++) {
		snprintf(word, sizeof(word), "%d", i);
		err = arm(fd, word);
		if (err == ENODATA)
			break;
		if (err == EINVAL)
			continue;
		if (err) {
			printf("# %s\n", strerror(err));
			break;
		}
		before = parameter("times");
		/* It may be an instruction that no switch to another packet comes to. */
		for (int n = 0; n < MARKS_MAX && parameter("times") == before; n++, marks++)
			if (call(s.fd, CT_IOC_MARK(sizeof(m)), &m))
				break;
		places += parameter("times") - before;
	}
	arm(fd, "off");
	ok(err == ENODATA && places > 40,
	   "a writer was interrupted at %d instructions of a switch to the next packet", places);
	p = probe_info(s.fd);
	/*
	 * Where the kernel uses the function's ftrace site, the interrupt may come inside that probe: at one
	 * instruction, or two.
	 */
	ok(p.hits + p.missed == (uint64_t)places * parameter("calls") &&
		   p.missed <= 2 * (uint64_t)parameter("calls") && !p.lost && !lost(&s, 0),
	   "by %llu records (%llu missed, %llu lost)", (unsigned long long)p.hits,
	   (unsigned long long)p.missed, (unsigned long long)lost(&s, 0));
	x = walk(&s, 0, p.class);
	ok(!x.bad && x.count == p.hits, "every packet is whole, with all of them (%d bad, %llu records)",
	   x.bad, (unsigned long long)x.count);
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count == marks, "and with all that were interrupted (%llu of %llu)",
	   (unsigned long long)x.count, (unsigned long long)marks);
	before = lines(r, "\"ct_nested_call\"");
	ok((uint64_t)before == p.hits, "the text has all of them, too (%d)", before);
	close(r);
	session_end(&s);
	return tap_done();
}
