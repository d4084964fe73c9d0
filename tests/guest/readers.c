// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers that wait: watermarks of read(), poll() and epoll, for text and by mmap(); and
 * orphaned sessions, whose owner was closed without CT_IOC_STOP.  Runs as root in a guest with
 * the module loaded.  Prints TAP.
 */
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "session.h"

static int w;

static void *map_shared(void)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void marks(int n)
{
	struct mark m = text_mark("readers");

	while (n--)
		call(w, CT_IOC_MARK(sizeof(m)), &m);
}

static int watermark(int fd, uint64_t bytes, uint64_t records, uint64_t ns)
{
	struct ct_watermark wm = { .size = sizeof(wm), .bytes = bytes, .records = records,
				   .ns = ns };

	return call(fd, CT_IOC_WATERMARK, &wm);
}

/* Does poll() return within this many ms?  A slow machine may need long for a yes. */
#define NO	300
#define YES	20000

static int readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

static int eat(int fd)
{
	char buf[65536];
	int lines = 0, i;
	ssize_t n;

	/* A record is emitted when it is 1 ms old. */
	usleep(5000);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	return lines;
}

static void test_text(void)
{
	int r = device(O_RDONLY | O_NONBLOCK), e = epoll_create1(EPOLL_CLOEXEC), i, before, after;
	struct epoll_event event = { .events = EPOLLIN };
	struct ct_watermark bad = { .size = sizeof(bad), .reserved = 1 };
	struct session s;
	uint64_t start;
	char buf[65536];
	pid_t pid;

	close(r);
	/* A packet that begins on another CPU: its header counts as unread bytes. */
	pin(0);
	session_start(&s, 65536, 16, 0);
	marks(1);		/* so that the process record is not counted below */
	r = device(O_RDONLY | O_NONBLOCK);
	ok(watermark(w, 1, 0, 0) == EBADF, "watermark: not for producers");
	ok(call(r, CT_IOC_WATERMARK, &bad) == EINVAL, "watermark: reserved bits: EINVAL");
	ok(!watermark(r, 0, 10, 0), "watermark of 10 records");
	marks(9);
	ok(!readable(r, NO), "9 records are not enough for poll()");
	marks(1);
	ok(readable(r, YES), "10 are");
	ok(eat(r) >= 10, "and are read");
	ok(!readable(r, NO), "what was read does not count again");
	watermark(r, 20 * MARK_RING, 0, 0);
	epoll_ctl(e, EPOLL_CTL_ADD, r, &event);
	marks(19);
	before = epoll_wait(e, &event, 1, NO);
	marks(2);
	after = epoll_wait(e, &event, 1, YES);
	ok(!before && after == 1, "epoll: a watermark in bytes");
	eat(r);
	watermark(r, 0, 1000000, 100000000);
	ok(!readable(r, NO), "a time with nothing to read does not count");
	start = now();
	marks(1);
	ok(readable(r, YES) && now() - start >= 90000000, "a time: as soon as it is over");
	eat(r);

	/* A blocking read() waits for the same. */
	watermark(r, 0, 50, 0);
	fcntl(r, F_SETFL, 0);
	pid = fork();
	if (!pid) {
		for (i = 0; i < 50; i++) {
			marks(1);
			usleep(2000);
		}
		_exit(0);
	}
	i = read(r, buf, sizeof(buf));
	for (before = 0; i > 0; i--)
		before += buf[i - 1] == '\n';
	ok(before >= 45, "a blocking read() waits for it, too (%d lines at once)", before);
	waitpid(pid, NULL, 0);
	close(e);
	close(r);
	session_end(&s);
}

/* A read() waits for more than there is; then another task lowers the watermark. */
static void test_change(void)
{
	struct session s;
	int r, i, gone = 0;
	pid_t pid;
	char c;

	session_start(&s, 65536, 4, 0);
	r = device(O_RDONLY);
	watermark(r, 0, 1000, 0);
	marks(3);
	pid = fork();
	if (!pid)
		_exit(read(r, &c, 1) != 1);
	usleep(200000);
	ok(!waitpid(pid, NULL, WNOHANG), "a read() waits for its watermark");
	ok(!watermark(r, 0, 1, 0), "which is changed meanwhile");
	for (i = 0; i < YES / 50 && !gone; i++, usleep(50000))
		gone = waitpid(pid, NULL, WNOHANG) == pid;
	ok(gone, "and then waits for the new one");
	if (!gone)
		kill(pid, SIGKILL);
	close(r);
	session_end(&s);
}

/* How often this process has gone to sleep, as the kernel counts. */
static long sleeps(pid_t pid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[64], text[8192];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, key);
	return at ? atol(at + sizeof(key) - 1) : -1;
}

/* A reader that waits looks at the rings by itself, for nobody wakes it. */
static void test_looks(int by_poll)
{
	long *before = map_shared(), after = 0;
	struct session s;
	int r, i;
	pid_t pid;
	char c;

	session_start(&s, 65536, 4, 0);
	r = device(O_RDONLY);
	*before = -1;
	pid = fork();
	if (!pid) {
		*before = sleeps(getpid());
		if (by_poll)
			readable(r, -1);
		_exit(read(r, &c, 1) != 1);
	}
	for (i = 0; i < YES / 10 && (*before < 0 || after < *before + 1); i++) {
		usleep(10000);
		after = sleeps(pid);
	}
	/* Some time later, a record; poll() itself goes on sleeping where there is none. */
	usleep(300000);
	ok(*before >= 0 && (by_poll || sleeps(pid) > *before + 5) && !waitpid(pid, NULL, WNOHANG),
	   "%s: looks again and again while there is no record (%ld times)",
	   by_poll ? "poll()" : "read()", sleeps(pid) - *before);
	marks(1);
	for (i = 0; i < YES / 50 && waitpid(pid, NULL, WNOHANG) != pid; i++)
		usleep(50000);
	ok(i < YES / 50, "and sees the first one");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(before, PAGE);
	close(r);
	session_end(&s);
}

static void test_mapped(void)
{
	struct session s;
	uint32_t cpu;
	void *data;
	int r;

	session_start(&s, 65536, 16, 0);
	marks(5);
	ok(readable(s.fd, YES), "by mmap: the owner's poll() sees records");
	for (cpu = 0; cpu < s.arg.cpus; cpu++)
		if (s.cpu[cpu].status)
			s.cpu[cpu].consumer->consumed = s.cpu[cpu].status->committed;
	ok(!readable(s.fd, NO), "which are not unread once they are consumed");
	watermark(s.fd, 0, 100, 0);
	marks(50);
	ok(!readable(s.fd, NO), "a watermark holds for it, too");
	watermark(s.fd, 10 * MARK_RING, 0, 0);
	ok(readable(s.fd, YES), "in bytes");

	r = device(O_RDONLY);
	data = map(r, CT_MMAP_DATA(0), 65536 * 16, PROT_READ);
	ok(data && !readable(r, NO), "another reader that maps the data waits as without: for lines");
	marks(1);
	ok(readable(r, YES), "and sees that there is one");
	munmap(data, 65536 * 16);
	close(r);
	session_end(&s);
}

/* A recorder is killed: the next one gets the records that it did not consume. */
static void test_orphan(void)
{
	struct ct_session arg = { .size = sizeof(arg) };
	struct session s = { 0 }, got;
	uint64_t committed;
	int fd, ready[2];
	char c;
	pid_t pid;

	if (pipe(ready))
		return;
	fd = device(O_RDWR);
	call(fd, CT_IOC_ADOPT, &arg);
	call(fd, CT_IOC_STOP, NULL);	/* an orphaned session of earlier tests */
	close(fd);
	pin(0);
	fd = device(O_RDWR);
	ok(call(fd, CT_IOC_ADOPT, &arg) == ENODATA, "there is no orphaned session: ENODATA");
	pid = fork();
	if (!pid) {
		session_start(&s, 4096, 16, 0);
		marks(100);
		s.cpu[0].consumer->consumed = 4096;
		marks(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(ready[0], &c, 1) != 1)
		c = 1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(call(fd, CT_IOC_GET_SESSION, &arg) == ENODATA, "a killed owner's session does not run");
	arg = (struct ct_session){ .size = sizeof(arg) };
	ok(!call(fd, CT_IOC_ADOPT, &arg) && arg.flags & CT_SESSION_ORPHANED &&
		   arg.owner_pid == (uint32_t)pid,
	   "but is orphaned: CT_IOC_ADOPT adopts it");
	ok(call(fd, CT_IOC_ADOPT, &arg) == EBUSY, "once for each file: EBUSY");
	got = (struct session){ .fd = fd, .arg = arg };
	got.facts = map(fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	got.cpu[0].status = map(fd, CT_MMAP_STATUS(0), PAGE, PROT_READ);
	got.cpu[0].data = map(fd, CT_MMAP_DATA(0), 4096 * 16, PROT_READ);
	ok(got.facts && !got.facts->running && got.cpu[0].status && got.cpu[0].data &&
	   !map(fd, CT_MMAP_CONSUMER(0), PAGE, PROT_READ | PROT_WRITE),
	   "its rings can be mapped, its consumer page can't");
	ok(walk(&got, 0, CT_CLASS_mark).count == 101 && !walk(&got, 0, 0).bad,
	   "all its records are there");
	ok(got.cpu[0].status->consumed == 4096, "and how far it had read");
	committed = got.cpu[0].status->committed;
	marks(10);
	ok(got.cpu[0].status->committed == committed, "no record is written into it");
	ok(!call(fd, CT_IOC_STOP, NULL) && call(fd, CT_IOC_STOP, NULL) == ENODATA,
	   "CT_IOC_STOP drops it");
	ok(walk(&got, 0, CT_CLASS_mark).count == 101, "the mappings stay");
	munmap(got.facts, PAGE);
	munmap(got.cpu[0].status, PAGE);
	munmap(got.cpu[0].data, 4096 * 16);
	close(fd);

	session_start(&s, 4096, 16, 0);
	marks(10);
	s.cpu[0].consumer->consumed = s.cpu[0].status->committed;
	session_end(&s);
	fd = device(O_RDONLY);
	ok(s.arg.cpus > 1 || call(fd, CT_IOC_ADOPT, &arg) == ENODATA,
	   "an owner that has read everything leaves no orphaned session");
	close(fd);
}

/* A recorder is killed with records in its rings: its session is orphaned. */
static void orphan(uint32_t count)
{
	struct session s;
	pid_t pid = fork();

	if (!pid) {
		session_start(&s, 4096, count, 0);
		marks(10);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

/* A file that adopts a session and then starts its own. */
static void test_own(void)
{
	struct ct_session arg = { .size = sizeof(arg) };
	struct ct_facts *facts, *old;
	int fd = device(O_RDWR);
	uint8_t uuid[16];

	orphan(16);
	ok(!call(fd, CT_IOC_ADOPT, &arg), "a session is adopted");
	memcpy(uuid, arg.uuid, sizeof(uuid));
	old = map(fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	arg = (struct ct_session){ .size = sizeof(arg), .subbuf_size = 3 };
	ok(call(fd, CT_IOC_START, &arg) == EINVAL, "a start that is refused");
	facts = map(fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	ok(facts && !memcmp(facts->uuid, uuid, 16), "leaves it adopted");
	munmap(facts, PAGE);
	arg = (struct ct_session){ .size = sizeof(arg), .groups = 1u << CT_GROUP_ADDED };
	ok(!call(fd, CT_IOC_START, &arg) && memcmp(arg.uuid, uuid, 16), "then the file starts its own");
	facts = map(fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	ok(facts && !memcmp(facts->uuid, arg.uuid, 16) && facts->running,
	   "what it maps from then on is its own");
	ok(map(fd, CT_MMAP_CONSUMER(0), PAGE, PROT_READ | PROT_WRITE) != NULL,
	   "its consumer pages, too");
	ok(old && !memcmp(old->uuid, uuid, 16) && !old->running, "what it had mapped stays");
	ok(!call(fd, CT_IOC_STOP, NULL) && !facts->running, "CT_IOC_STOP ends its own");
	orphan(16);
	arg = (struct ct_session){ .size = sizeof(arg) };
	ok(!call(fd, CT_IOC_ADOPT, &arg) && arg.flags & CT_SESSION_ORPHANED,
	   "and it may adopt again");
	ok(!call(fd, CT_IOC_STOP, NULL), "and drop that one");
	close(fd);
}

/* A session that a read() or poll() started gives way to one that somebody starts. */
static void test_replaced(void)
{
	struct ct_session arg = { .size = sizeof(arg) };
	int r = device(O_RDONLY | O_NONBLOCK), rw = device(O_RDWR);
	struct pollfd p = { .fd = r, .events = POLLIN };

	poll(&p, 1, 0);
	ok(!call(r, CT_IOC_GET_SESSION, &arg) && arg.flags & CT_SESSION_DEFAULT,
	   "poll() starts a default session");
	arg = (struct ct_session){ .size = sizeof(arg), .groups = 1u << CT_GROUP_ADDED };
	ok(!call(rw, CT_IOC_START, &arg) && !call(r, CT_IOC_GET_SESSION, &arg) &&
		   !(arg.flags & CT_SESSION_DEFAULT),
	   "a start replaces it");
	close(rw);
	close(r);
}

/* While rings are allocated nobody waits for ct_session_lock. */
static void test_starting(void)
{
	struct ct_session large = { .size = sizeof(large), .subbuf_size = 16 << 20,
				    .subbuf_count = 4, .groups = 1u << CT_GROUP_ADDED };
	struct ct_session arg = { .size = sizeof(arg) };
	volatile uint64_t *took = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t start, longest = 0;
	int r = device(O_RDONLY);
	pid_t pid = fork();

	if (!pid) {
		start = now();
		call(device(O_RDWR), CT_IOC_START, &large);
		took[0] = now() - start;
		pause();
	}
	while (!took[0]) {
		start = now();
		call(r, CT_IOC_GET_SESSION, &arg);
		if (now() - start > longest)
			longest = now() - start;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(longest < took[0] / 2, "a session whose start takes %llu us does not hold up others (%llu)",
	   (unsigned long long)took[0] / 1000, (unsigned long long)longest / 1000);
	close(r);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	w = device(O_WRONLY);
	test_text();
	test_change();
	test_looks(0);
	test_looks(1);
	test_mapped();
	test_orphan();
	test_own();
	test_replaced();
	test_starting();
	return tap_done();
}
