// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The controls of recording: pause and resume, persistent sessions, filters,
 * probes that are added, sampling, triggers.  Runs as root in a guest with the module
 * loaded; needs no driver: it probes functions of the kernel's own.  Prints TAP.
 */
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"

static uint64_t marks_on(const struct session *s, uint16_t class)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s->arg.cpus; cpu++)
		if (s->cpu[cpu].status)
			n += walk(s, cpu, class).count;
	return n;
}

static int mark(int fd)
{
	struct mark m = text_mark("control");

	return call(fd, CT_IOC_MARK(sizeof(m)), &m);
}

static void test_pause(void)
{
	int w = device(O_WRONLY), r = device(O_RDONLY);
	struct ct_session said = { .size = sizeof(said) };
	struct session s;

	ok(call(r, CT_IOC_GET_SESSION, &said) == ENODATA, "no session: ENODATA");
	session_start(&s, 65536, 4, 0);
	mark(w);
	ok(!call(s.fd, CT_IOC_PAUSE, NULL), "pause");
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) == 1 && !lost(&s, 0), "nothing is written, nothing is lost");
	ok(!call(r, CT_IOC_GET_SESSION, &said) && said.flags & CT_SESSION_PAUSED &&
		   said.owner_pid == (uint32_t)getpid() && !memcmp(said.uuid, s.arg.uuid, 16),
	   "a reader sees it");
	ok(!call(s.fd, CT_IOC_RESUME, NULL), "resume");
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) == 2, "and it goes on");
	ok(!call(r, CT_IOC_FLUSH, NULL), "flush");
	ok(call(w, CT_IOC_FLUSH, NULL) == EBADF, "not for producers");
	ok(call(r, CT_IOC_PAUSE, NULL) == EBADF, "a reader may not pause");
	session_end(&s);
	close(w);
	close(r);
}

static void test_persistent(void)
{
	struct ct_session arg = { .size = sizeof(arg), .flags = CT_SESSION_PERSISTENT };
	int a = device(O_RDWR), b;
	struct ct_facts *facts;

	ok(call(a, CT_IOC_START, &arg) == EINVAL, "a persistent session must overwrite");
	arg.flags |= CT_SESSION_OVERWRITE;
	ok(!call(a, CT_IOC_START, &arg), "a persistent flight recorder");
	close(a);
	b = device(O_RDWR);
	facts = map(b, CT_MMAP_FACTS, PAGE, PROT_READ);
	ok(facts && facts->running && !memcmp(facts->uuid, arg.uuid, 16),
	   "goes on when its file is closed");
	ok(!call(b, CT_IOC_STOP, NULL) && !facts->running, "and is stopped by another one");
	munmap(facts, PAGE);
	close(b);
}

/* Marks by a child of its own, in what setup() makes of it. */
static void child_marks(void (*setup)(void), int n)
{
	pid_t pid = fork();

	if (!pid) {
		int fd;

		if (setup)
			setup();
		fd = device(O_WRONLY);
		while (n--)
			mark(fd);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void be_nobody(void)
{
	if (setresuid(65534, 65534, 65534))
		_exit(1);
}

static void grandchild(void)
{
	if (fork())
		_exit(waitpid(-1, NULL, 0) < 0);
}

/*
 * The kernel lets go of a process some time after its pid is free.  The filter has this process and
 * its children; returns how many of them had a pid again, and marked.
 */
static int pids_again(void)
{
	int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY), again = 0, i;
	char number[16];
	pid_t pid, next;

	for (i = 0; i < 10 && last >= 0; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		snprintf(number, sizeof(number), "%d", pid - 1);
		waitpid(pid, NULL, 0);
		if (pwrite(last, number, strlen(number), 0) < 0)
			break;
		next = fork();
		if (!next) {
			usleep(300000);
			if (getpid() == pid)
				mark(device(O_WRONLY));
			_exit(0);
		}
		waitpid(next, NULL, 0);
		again += next == pid;
	}
	close(last);
	return again;
}

static void test_filter(void)
{
	struct ct_filter none = { .size = sizeof(none) }, f = none, got = none;
	int w = device(O_WRONLY), r = device(O_RDONLY), again;
	struct session s;
	char cg[] = "/tmp/cg";
	uint64_t n;

	ok(call(w, CT_IOC_FILTER, &f) == ENODATA, "no session: ENODATA");
	session_start(&s, 65536, 16, 0);
	f.categories = 1ull << CT_CAT_MEMORY;
	ok(!call(s.fd, CT_IOC_FILTER, &f), "a filter on the category");
	mark(w);
	ok(!marks_on(&s, CT_CLASS_mark) && !lost(&s, 0), "rejects a marker, which is no loss");
	ok(!call(r, CT_IOC_GET_FILTER, &got) && got.categories == f.categories, "it can be read back");
	f.categories |= 1ull << CT_CAT_MARKER;
	call(s.fd, CT_IOC_FILTER, &f);
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) == 1, "and replaced");

	f = none;
	f.pids = 1;
	f.pid[0] = getpid();
	call(s.fd, CT_IOC_FILTER, &f);
	child_marks(NULL, 3);
	ok(marks_on(&s, CT_CLASS_mark) == 1, "pid: another process is not recorded");
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) == 2, "pid: the process is");
	f.flags = CT_FILTER_CHILDREN;
	ok(!call(s.fd, CT_IOC_FILTER, &f), "pid with children");
	child_marks(NULL, 3);
	ok(marks_on(&s, CT_CLASS_mark) == 5, "its child is recorded");
	child_marks(grandchild, 3);
	ok(marks_on(&s, CT_CLASS_mark) == 8, "and that one's child");
	again = pids_again();
	n = marks_on(&s, CT_CLASS_mark) - 8;
	if (again)
		ok(n == (uint64_t)again, "a child that gets the pid of one that has just ended (%llu of %d)",
		   (unsigned long long)n, again);
	else
		skip(1, "no child gets a chosen pid");

	f = none;
	f.uids = 1;
	f.uid[0] = 65534;
	call(s.fd, CT_IOC_FILTER, &f);
	mark(w);
	child_marks(be_nobody, 2);
	ok(marks_on(&s, CT_CLASS_mark) - n == 10, "uid: that user's alone");

	f = none;
	f.comms = 2;
	strcpy(f.comm[0], "nobody-has");
	strcpy(f.comm[1], "cont");
	call(s.fd, CT_IOC_FILTER, &f);
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) - n == 11, "comm: by the begin of the command name");
	strcpy(f.comm[1], "tnoc");
	call(s.fd, CT_IOC_FILTER, &f);
	mark(w);
	ok(marks_on(&s, CT_CLASS_mark) - n == 11, "comm: no other");

	mkdir(cg, 0755);
	if (!syscall(SYS_mount, "none", cg, "cgroup2", 0, NULL)) {
		int dir, procs;

		mkdir("/tmp/cg/traced", 0755);
		dir = open("/tmp/cg/traced", O_RDONLY);
		f = none;
		f.cgroups = 1;
		f.cgroup[0] = dir;
		ok(!call(s.fd, CT_IOC_FILTER, &f), "cgroup");
		mark(w);
		ok(marks_on(&s, CT_CLASS_mark) - n == 11, "cgroup: not outside it");
		procs = open("/tmp/cg/traced/cgroup.procs", O_WRONLY);
		dprintf(procs, "%d", getpid());
		close(procs);
		mark(w);
		ok(marks_on(&s, CT_CLASS_mark) - n == 12, "cgroup: inside it");
		procs = open("/tmp/cg/cgroup.procs", O_WRONLY);
		dprintf(procs, "%d", getpid());
		close(procs);
		close(dir);
		f.cgroup[0] = s.fd;
		ok(call(s.fd, CT_IOC_FILTER, &f) == EBADF, "a descriptor that is no cgroup: EBADF");
	} else {
		skip(4, "cgroup v2 can't be mounted: %s", strerror(errno));
	}
	f = none;
	f.pids = 17;
	ok(call(s.fd, CT_IOC_FILTER, &f) == EINVAL, "too many: EINVAL");
	f = none;
	f.flags = 4;
	ok(call(s.fd, CT_IOC_FILTER, &f) == EINVAL, "an unknown flag: EINVAL");
	f.flags = 0;
	f.pids = 1;
	f.pid[0] = getpid();
	call(s.fd, CT_IOC_FILTER, &f);
	f = none;
	f.flags = CT_FILTER_CHILDREN;
	ok(call(s.fd, CT_IOC_FILTER, &f) == EINVAL && !call(r, CT_IOC_GET_FILTER, &got) &&
	   got.pids == 1, "children without a pid: EINVAL, and the filter stays as it was");
	ok(!call(s.fd, CT_IOC_FILTER, &none), "no filter");
	child_marks(be_nobody, 1);
	ok(marks_on(&s, CT_CLASS_mark) - n >= 12, "everybody again");
	session_end(&s);
	close(w);
	close(r);
}

/* The id of the class of this symbol, from the list of probes. */
static struct ct_probe_info probe_info(int fd, const char *symbol)
{
	struct ct_probe_info info;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (call(fd, CT_IOC_GET_PROBE, &info))
			break;
		if (!strcmp(info.symbol, symbol))
			return info;
	}
	memset(&info, 0, sizeof(info));
	return info;
}

#define OPEN_FUNCTION	"do_sys_openat2"

static void test_probe(void)
{
	struct ct_probe_add add = { .size = sizeof(add), .args = 2 }, bad;
	struct ct_define def = { .size = sizeof(def) };
	struct ct_probe_info info;
	struct session s;
	uint64_t n, before;
	struct walk x;
	int i, fd;

	pin(0);
	strcpy(add.symbol, OPEN_FUNCTION);
	strcpy(add.arg[0].name, "dfd");
	add.arg[0].type = CT_TYPE_s32;
	strcpy(add.arg[1].name, "fd");
	add.arg[1].number = CT_ARG_RETURN;
	add.arg[1].type = CT_TYPE_s64;
	session_start(&s, 65536, 16, 0);
	ok(!call(s.fd, CT_IOC_PROBE_ADD, &add), "a probe on a function of the kernel");
	info = probe_info(s.fd, OPEN_FUNCTION);
	ok(info.state == CT_PROBE_ARMED && info.group == CT_GROUP_ADDED && info.class,
	   "is armed at once");
	ok(call(s.fd, CT_IOC_PROBE_ADD, &add) == EEXIST, "twice: EEXIST");
	def.id = info.class;
	ok(!call(s.fd, CT_IOC_GET_DEFINE, &def) && !strcmp(def.fields[0].name, "dfd") &&
	   def.layer == CT_LAYER_KERNEL, "its records have the fields that were asked for");
	before = probe_info(s.fd, OPEN_FUNCTION).hits;
	fd = open("/dev/null", O_RDONLY);
	n = probe_info(s.fd, OPEN_FUNCTION).hits;
	x = walk(&s, 0, info.class);
	ok(x.found && ((int64_t *)(x.found + 1))[0] == AT_FDCWD &&
	   ((int64_t *)(x.found + 1))[1] == fd && x.found->result == fd,
	   "an argument (%d) and what it returned (%d)",
	   x.found ? (int)((int64_t *)(x.found + 1))[0] : 0, fd);
	ok(x.found && x.found->duration & CT_DURATION_MAX, "and how long it took");
	close(fd);
	ok(n == before + 1, "hits are counted");
	bad = (struct ct_probe_add){ .size = sizeof(bad), .sample = 10 };
	strcpy(bad.symbol, OPEN_FUNCTION);
	ok(!call(s.fd, CT_IOC_PROBE_SET, &bad), "sampling 1 in 10");
	before = walk(&s, 0, info.class).count;
	for (i = 0; i < 100; i++)
		close(open("/dev/null", O_RDONLY));
	n = walk(&s, 0, info.class).count - before;
	ok(n >= 9 && n <= 11, "records %llu of 100 calls", (unsigned long long)n);
	ok(!call(s.fd, CT_IOC_PROBE_REMOVE, &add), "removed");
	before = walk(&s, 0, info.class).count;
	close(open("/dev/null", O_RDONLY));
	ok(walk(&s, 0, info.class).count == before &&
	   !probe_info(s.fd, OPEN_FUNCTION).index && !probe_info(s.fd, OPEN_FUNCTION).class,
	   "it is gone");
	ok(call(s.fd, CT_IOC_PROBE_REMOVE, &add) == ENOENT, "removed twice: ENOENT");

	bad = add;
	strcpy(bad.symbol, "there_is_no_such_function");
	ok(call(s.fd, CT_IOC_PROBE_ADD, &bad) == ENOENT, "no such function: ENOENT");
	strcpy(bad.symbol, "kprobe_ftrace_handler");
	i = call(s.fd, CT_IOC_PROBE_ADD, &bad);
	ok(i == EINVAL, "a function that may not be probed: EINVAL (%s)", strerror(i));
	strcpy(bad.symbol, "later");
	strcpy(bad.module, "not_loaded_yet");
	ok(!call(s.fd, CT_IOC_PROBE_ADD, &bad) &&
	   probe_info(s.fd, "later").state == CT_PROBE_NO_MODULE,
	   "a function of a module that is not there waits for it");
	ok(!call(s.fd, CT_IOC_PROBE_REMOVE, &bad), "and can be removed");
	bad = add;
	bad.arg[0].number = 6;
	ok(call(s.fd, CT_IOC_PROBE_ADD, &bad) == EINVAL, "an argument that is not in a register: EINVAL");
	bad = add;
	bad.arg[0].type = CT_TYPE_text;
	ok(call(s.fd, CT_IOC_PROBE_ADD, &bad) == EINVAL, "a text: EINVAL");
	bad = add;
	strcpy(bad.symbol, "a:b");
	ok(call(s.fd, CT_IOC_PROBE_ADD, &bad) == EINVAL, "a colon in a name: EINVAL");
	session_end(&s);
	ok(probe_info(device(O_RDONLY), "nvidia_isr").state != CT_PROBE_ARMED,
	   "without a session nothing is armed");
}

/* The class of a probe on this function with an argument of this name. */
static uint32_t probe_class(int fd, struct ct_probe_add *add, const char *name)
{
	*add = (struct ct_probe_add){ .size = sizeof(*add), .args = 1,
				      .arg = { { .type = CT_TYPE_u64 } } };
	strcpy(add->symbol, "__x64_sys_getpriority");
	strcpy(add->arg[0].name, name);
	return call(fd, CT_IOC_PROBE_ADD, add) ? 0 : probe_info(fd, add->symbol).class;
}

/* What is defined for a probe goes with it: else probes, and users, run out of ids some day. */
static void test_ids(void)
{
	struct ct_define def = define("below", "below"), other = define("beside", "beside");
	int r = device(O_RDWR), w = device(O_WRONLY);
	struct ct_probe_add add;
	uint32_t first, again;
	struct session s;

	/* It drops the session of which a test has not read all, and leaves none. */
	session_start(&s, 4096, 16, 0);
	call(s.fd, CT_IOC_STOP, NULL);
	session_end(&s);
	call(w, CT_IOC_DEFINE, &def);
	first = probe_class(r, &add, "first");
	call(r, CT_IOC_PROBE_REMOVE, &add);
	again = probe_class(r, &add, "again");
	ok(first > def.id && again > first, "classes of a program and of two probes: %u, %u, %u",
	   def.id, first, again);
	close(w);
	w = device(O_WRONLY);
	call(w, CT_IOC_DEFINE, &other);
	ok(other.id > again, "a probe that is there keeps its id (%u)", other.id);
	close(w);
	call(r, CT_IOC_PROBE_REMOVE, &add);
	strcpy(add.symbol, "there_is_no_such_function");
	call(r, CT_IOC_PROBE_ADD, &add);
	first = probe_class(r, &add, "first");
	call(r, CT_IOC_PROBE_REMOVE, &add);
	again = probe_class(r, &add, "again");
	call(r, CT_IOC_PROBE_REMOVE, &add);
	ok(first == def.id && again == first,
	   "once nobody has defined anything, ids of removed and refused probes are free (%u, %u)",
	   first, again);
	close(r);
}

/*
 * A probe is removed while a call of its function sleeps; the same task then calls
 * another probed function before it returns.  (What is freed too early is seen by
 * a kernel that looks, that of tests/debug.)
 */
static void test_pending(void)
{
	struct ct_probe_add outer = { .size = sizeof(outer), .symbol = "do_sys_poll" };
	struct ct_probe_add inner = { .size = sizeof(inner), .symbol = "poll_freewait" };
	struct ct_probe_info info;
	struct session s;
	struct walk x;
	int way[2];
	pid_t pid;

	pin(0);
	session_start(&s, 65536, 16, 0);
	ok(!pipe(way) && !call(s.fd, CT_IOC_PROBE_ADD, &outer) &&
	   !call(s.fd, CT_IOC_PROBE_ADD, &inner), "a probe on a call that sleeps, and on one inside it");
	info = probe_info(s.fd, inner.symbol);
	pid = fork();
	if (!pid) {
		struct pollfd p = { .fd = way[0], .events = POLLIN };

		_exit(poll(&p, 1, -1) != 1);
	}
	usleep(100000);
	ok(!call(s.fd, CT_IOC_PROBE_REMOVE, &outer), "the outer goes while it sleeps");
	usleep(100000);
	ok(write(way[1], "x", 1) == 1 && waitpid(pid, NULL, 0) == pid, "it wakes");
	x = walk(&s, 0, info.class);
	ok(x.found && !(x.found->duration >> CT_TS_BITS & 0xff),
	   "the inner call is recorded, with no call around it");
	call(s.fd, CT_IOC_PROBE_REMOVE, &inner);
	close(way[0]);
	close(way[1]);
	session_end(&s);
}

static void test_trigger(void)
{
	struct ct_trigger_set t = { .size = sizeof(t), .flags = CT_TRIGGER_SLOW, .slow_ns = 1 };
	struct ct_probe_add add = { .size = sizeof(add) };
	struct session s;

	strcpy(add.symbol, OPEN_FUNCTION);
	session_start(&s, 65536, 16, 0);
	call(s.fd, CT_IOC_PROBE_ADD, &add);
	ok(!call(s.fd, CT_IOC_TRIGGER, &t), "a trigger on slow calls");
	close(open("/dev/null", O_RDONLY));
	ok(s.facts->triggers >= 1 && marks_on(&s, CT_CLASS_trigger) >= 1, "fires and leaves a record");
	t.slow_ns = 1000000000000ull;
	call(s.fd, CT_IOC_TRIGGER, &t);
	s.arg.start = s.facts->triggers;
	close(open("/dev/null", O_RDONLY));
	ok(s.facts->triggers == s.arg.start, "not by a quick one");
	t.flags = 1u << 20;
	ok(call(s.fd, CT_IOC_TRIGGER, &t) == EINVAL, "an unknown trigger: EINVAL");
	call(s.fd, CT_IOC_PROBE_REMOVE, &add);
	session_end(&s);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_pause();
	test_persistent();
	test_filter();
	test_probe();
	test_ids();
	test_pending();
	test_trigger();
	return tap_done();
}
