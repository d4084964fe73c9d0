// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CPUs that are brought up while a session runs, and that are taken down with unread
 * records: every lost record is counted.  And where the memory of their rings lies.  Runs as root in a guest of two CPUs or more with
 * the module loaded; needs no driver.  Prints TAP.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"

#define CPU	1

static int set_online(int on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY), done;

	if (fd < 0)
		return 0;
	done = write(fd, on ? "1" : "0", 1) == 1;
	close(fd);
	return done;
}

/* A child writes n marks on that CPU and ends. */
static void marks(int n)
{
	struct mark m = text_mark("plugged");
	pid_t pid = fork();
	int fd;

	if (!pid) {
		pin(CPU);
		fd = device(O_WRONLY);
		while (n--)
			call(fd, CT_IOC_MARK(sizeof(m)), &m);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Reads text until there are this many lines of marks or 20 s are over; returns how many. */
static int lines(int fd, int wanted)
{
	static char buf[1 << 20];
	size_t len = 0;
	ssize_t n;
	int count = 0, tries;
	char *p;

	for (tries = 0; tries < 4000 && count < wanted; tries++) {
		n = read(fd, buf + len, sizeof(buf) - 1 - len);
		if (n <= 0) {
			usleep(5000);
			continue;
		}
		len += n;
		buf[len] = '\0';
		for (count = 0, p = buf; (p = strstr(p, "\"text\":\"plugged")); p++)
			count++;
		count /= 2;	/* each stands in details and at the top */
	}
	return count;
}

static int node_of_cpu(uint32_t cpu)
{
	char path[80];
	int node;

	for (node = 0; node < 64; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpu%u", node, cpu);
		if (!access(path, F_OK))
			return node;
	}
	return -1;
}

/* How many of these pages do not lie on the node; -1: the kernel does not say. */
static int elsewhere(void *memory, size_t size, int node)
{
	int status, n = 0;

	for (size_t at = 0; at < size; at += PAGE) {
		void *page = (char *)memory + at;

		if (syscall(SYS_move_pages, 0, 1, &page, NULL, &status, 0))
			return -1;
		n += status != node;
	}
	return n;
}

/* Each CPU writes into memory of its own node. */
static void test_nodes(const struct session *s)
{
	int node = node_of_cpu(CPU), n;

	if (access("/sys/devices/system/node/node1", F_OK) || node < 0) {
		skip(1, "this kernel has one node of memory");
		return;
	}
	for (uint32_t cpu = 0; cpu < s->arg.cpus; cpu++) {
		if (!s->cpu[cpu].status)
			continue;
		node = node_of_cpu(cpu);
		n = elsewhere(s->cpu[cpu].data, s->arg.subbuf_size * s->arg.subbuf_count, node);
		n += elsewhere(s->cpu[cpu].status, PAGE, node);
		n += elsewhere(s->cpu[cpu].consumer, PAGE, node);
		ok(!n, "CPU %u's ring lies on its node, %d (%d pages elsewhere)", cpu, node, n);
	}
}

int main(void)
{
	struct session s;
	struct walk x;
	int reader, n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pin(0);
	if (!set_online(0)) {
		skip(1, "CPU %d can't be taken down: %s", CPU, strerror(errno));
		return tap_done();
	}
	ok(!session_start(&s, 4096, 8, 0) && s.cpu[CPU].status,
	   "a session starts while a CPU is off, and has a ring for it");
	reader = device(O_RDONLY | O_NONBLOCK);
	ok(set_online(1), "it comes");
	marks(20);
	x = walk(&s, CPU, CT_CLASS_mark);
	ok(x.count == 20 && !x.bad, "and records: %llu of 20", (unsigned long long)x.count);
	ok(set_online(0), "it goes");
	x = walk(&s, CPU, CT_CLASS_mark);
	ok(x.count == 20 && !x.bad, "what it wrote is there to be read by mmap");
	n = lines(reader, 20);
	ok(n == 20, "and as text: %d of 20", n);
	ok(set_online(1), "it comes again");
	marks(30);
	x = walk(&s, CPU, CT_CLASS_mark);
	n = lines(reader, 30);
	ok(x.count == 50 && !x.bad && n == 30, "and goes on behind it: %d of 30", n);
	test_nodes(&s);
	marks(2000);
	ok(set_online(0), "it goes with a full ring");
	x = walk(&s, CPU, CT_CLASS_mark);
	ok(x.count + lost(&s, CPU) == 2050 && lost(&s, CPU) && !x.bad &&
	   x.records == s.cpu[CPU].status->records,
	   "written %llu + lost %llu = 2050", (unsigned long long)x.count,
	   (unsigned long long)lost(&s, CPU));
	s.cpu[CPU].consumer->consumed = s.cpu[CPU].status->committed & ~4095ull;
	ok(!call(s.fd, CT_IOC_FLUSH, NULL), "flush does not wait for it");
	ok(set_online(1), "it comes, and its ring was consumed meanwhile");
	marks(200);
	x = walk(&s, CPU, CT_CLASS_mark);
	ok(x.count && !x.bad && s.cpu[CPU].status->oldest, "so it writes again");
	ok(!call(s.fd, CT_IOC_STOP, NULL), "the session ends");
	close(reader);
	session_end(&s);
	return tap_done();
}
