// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Producers fork, exec and exit with the device open.  Runs as root in a guest with the
 * module loaded.  Prints TAP.
 */
#include <sys/wait.h>

#include "session.h"

static void mark(int fd, const char *text)
{
	struct mark m = text_mark(text);

	call(fd, CT_IOC_MARK(sizeof(m)), &m);
}

/* The last record of this class in any ring, or NULL. */
static const struct ct_cpu_record *last(const struct session *s, uint16_t class)
{
	const struct ct_cpu_record *found = NULL;
	uint64_t newest = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s->arg.cpus; cpu++) {
		struct walk x;

		if (!s->cpu[cpu].status)
			continue;
		x = walk(s, cpu, class);
		if (x.found && (x.found->stamp & CT_TS_MASK) >= newest) {
			newest = x.found->stamp & CT_TS_MASK;
			found = x.found;
		}
	}
	return found;
}

/* The module, not the process, decides what a process record says about it. */
static void test_forgery(const struct session *s, int fd)
{
	struct {
		struct ct_mark_head head;
		uint32_t ppid, uid;
		uint16_t len;
		char text[14];
	} process = { .head = { .size = sizeof(process), .class = CT_CLASS_process,
				.flags = CT_F_INSTANT }, 4242, 4242, 14, "forged" };
	struct {
		struct ct_mark_head head;
		struct ct_clock clock;
	} clock = { .head = { .size = sizeof(clock), .class = CT_CLASS_clock,
			      .flags = CT_F_INSTANT } };
	struct {
		struct ct_mark_head head;
		struct ct_call_open open;
		uint8_t pad[sizeof(struct ct_call_open) % 8];
	} open = { .head = { .size = sizeof(open), .class = CT_CLASS_call_open,
			     .flags = CT_F_INSTANT } };
	const struct ct_cpu_record *r;
	const struct ct_process *p;

	ok(!call(fd, CT_IOC_MARK(sizeof(process)), &process), "a process may record its command line");
	r = last(s, CT_CLASS_process);
	p = (const void *)(r + 1);
	ok(r && !memcmp((const char *)p + 10, "forged", 6) && p->uid == getuid() &&
	   p->ppid == (uint32_t)getppid(), "but not its user and parent");
	ok(call(fd, CT_IOC_MARK(sizeof(clock)), &clock) == EINVAL &&
	   call(fd, CT_IOC_MARK(sizeof(open)), &open) == EINVAL,
	   "clock and call_open are not for producers: EINVAL");
}

int main(int argc, char **argv)
{
	const struct ct_cpu_record *r;
	const struct ct_process *p;
	struct session s;
	char number[16];
	pid_t pid;
	int fd;

	if (argc > 1) {		/* what a child of ours executes */
		mark(atoi(argv[1]), "after exec");
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	pin(0);
	session_start(&s, 65536, 16, 0);
	fd = open(CT_DEVICE_PATH, O_WRONLY);
	mark(fd, "parent");
	r = last(&s, CT_CLASS_mark);
	ok(r && r->pid == (uint32_t)getpid(), "a record has its process's pid");

	pid = fork();
	if (!pid) {
		mark(fd, "child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	r = last(&s, CT_CLASS_mark);
	ok(r && r->pid == (uint32_t)pid && r->tid == (uint32_t)pid,
	   "a child that marks on an inherited descriptor has its own");
	r = last(&s, CT_CLASS_process);
	p = (const void *)(r + 1);
	ok(r && r->pid == (uint32_t)pid && p->ppid == (uint32_t)getpid(),
	   "and has a process record, with its parent");

	pid = fork();
	if (!pid) {
		mark(fd, "before exec");
		snprintf(number, sizeof(number), "%d", fd);
		execl("/proc/self/exe", "lives", number, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	r = last(&s, CT_CLASS_mark);
	ok(r && r->pid == (uint32_t)pid && !memcmp((const char *)(r + 1) + 6, "after exec", 10),
	   "a descriptor that outlives an exec works on");
	ok(walk(&s, 0, CT_CLASS_process).count == 4, "and there is a new process record");
	mark(fd, "parent");
	r = last(&s, CT_CLASS_mark);
	ok(r && r->pid == (uint32_t)getpid(), "children that exit take nothing along");
	test_forgery(&s, fd);
	call(s.fd, CT_IOC_STOP, NULL);
	session_end(&s);
	return tap_done();
}
