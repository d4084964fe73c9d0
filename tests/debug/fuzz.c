// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A generated fuzz of /dev/cudatrace: valid structs with something spoilt, sizes and
 * pointers of all kinds, every mode of opening, any mapping, read/poll/epoll/close
 * against each other, descriptors that are shared and forked, a consumer page that is
 * scribbled on all the time, lanes that are (fuzz_lane.c).  The kernel's own checks are the judge of what happens
 * inside; here every refusal has to be an errno that cudatrace.h names.
 *
 * Usage: fuzz [SECONDS [SEED]].  Prints TAP, and the seed.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fuzz.h"

#define PROCESSES	4
#define FDS		12

__thread uint64_t state;
struct tally *tally;
static int fds[FDS], epoll_fd;


uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* A number that something may trip over. */
uint64_t odd_number(void)
{
	static const uint64_t n[] = { 0, 1, 7, 8, 15, 16, 17, 63, 64, 4095, 4096, 4097, 65535,
		65536, 1 << 20, 16 << 20, 1u << 30, 0x7fffffff, 0x80000000, 0xffffffff,
		1ull << 32, 1ull << 40, 1ull << 62, ~0ull >> 1, 1ull << 63, ~0ull };

	return below(4) ? n[below(sizeof(n) / sizeof(n[0]))] : rnd();
}

static int any_fd(void)
{
	return fds[below(FDS)];
}

/* --------------------------------------------------------------- ioctls ---- */

/* Besides EFAULT, EINVAL and E2BIG, which any struct may give, and EBADF (mode). */
struct expected {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	int err[6];
};

#define ROW(name, ...)	{ #name, CT_IOC_##name, _IOC_SIZE(CT_IOC_##name), { __VA_ARGS__ } }
static const struct expected rows[] = {
	ROW(VERSION),
	ROW(DEFINE, ENOSPC, ENOMEM),
	ROW(DEFINE, ENOSPC, ENOMEM),
	ROW(STRING, ENOSPC, ENOMEM),
	ROW(GET_DEFINE, ENOENT),
	ROW(GET_STRING, ENOENT, ENOSPC),
	ROW(GET_PROBE, ENOENT),
	ROW(GET_SESSION, ENODATA),
	ROW(GET_FILTER),
	ROW(PROBE_SET, ENOENT, EPERM),
	ROW(TRIGGER, ENODATA, EPERM),
	ROW(RESUME, ENODATA, EPERM),
	ROW(WATERMARK),
	ROW(SEEN, ENODATA, ENOMEM),
	ROW(GET_LIMITS, ENODATA),
	ROW(TAKE, ENODATA, EBUSY),
	ROW(CLOCK, ENOMEM),
	ROW(LANE, ENODATA, EDQUOT, ENOMEM),
	ROW(LANE, ENODATA, EDQUOT, ENOMEM),
	ROW(LANE_READ, ENOENT, ENOSPC),
#define LIGHT	20
	ROW(START, EPERM, EBUSY, ENOMEM),
	ROW(LIMITS, ENODATA, EPERM, ENOMEM),
	ROW(STOP, ENODATA, EPERM),
	ROW(PAUSE, ENODATA, EPERM),
	ROW(FLUSH, ENODATA),
	ROW(FILTER, ENODATA, EPERM, ENOMEM),
	ROW(PROBE_ADD, EEXIST, ENOENT, EPERM, ENOMEM, ENOSPC),
	ROW(PROBE_REMOVE, ENOENT, EPERM),
	ROW(PROBE_ARM, ENODATA, EPERM, ENOMEM),
};
#define ROWS	(sizeof(rows) / sizeof(rows[0]))

void judge(const char *name, int err, const int *allowed, int n)
{
	static const int always[] = { EFAULT, EINVAL, E2BIG, EBADF, EINTR };
	int i;

	tally->done++;
	if (!err)
		return;
	tally->refused++;
	for (i = 0; i < 5; i++)
		if (err == always[i])
			return;
	for (i = 0; i < n; i++)
		if (err == allowed[i])
			return;
	if (!tally->bad++)
		snprintf(tally->said, sizeof(tally->said), "%s: %s", name, strerror(err));
}

static const char *const functions[] = { "do_sys_openat2", "vfs_read", "vfs_write",
	"hrtimer_interrupt", "__x64_sys_getpriority", "nowhere", "kprobe_ftrace_handler", "*", "",
	"ct_ring_reserve_slow", "ct_record_process", "ct_session_start", "ct_text_record",
	"ct_probe_entry", "schedule" };
#define FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))
static const char *const modules[] = { "", "", "", "", "nvidia", "cudatrace", "cudatrace", "9p",
	"a:b" };
#define MODULES		(sizeof(modules) / sizeof(modules[0]))

/* Classes that we defined: a mark of one of them is taken if its size is right. */
static struct { uint16_t id[64], size[64]; } class;

static void remember(const struct ct_define *d)
{
	static const uint8_t bytes[] = {
#define CT_TYPE_ROW(type, ctype, n)	n,
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
	};
	uint32_t i, size = 0, n = below(64);

	for (i = 0; i < d->fields_count && i < CT_FIELDS_MAX; i++)
		size += d->fields[i].type < sizeof(bytes) ? bytes[d->fields[i].type] : 0;
	class.id[n] = d->id;
	class.size[n] = size;
}

static void *bad_pointer(void)
{
	static const uintptr_t bad[] = { 0, 8, 0x7ffffffff000, 0x800000000000, ~0ull - 7,
					 0xffff888000000000, 0xffffffff81000000 };

	return (void *)bad[below(7)];
}

/* A valid argument of this ioctl, more or less. */
static void make(const struct expected *row, uint64_t *buf)
{
	union {
		struct ct_session session;
		struct ct_define define;
		struct ct_string string;
		struct ct_probe_info info;
		struct ct_filter filter;
		struct ct_probe_add add;
		struct ct_trigger_set trigger;
		struct ct_watermark watermark;
		struct ct_limits limits;
		struct ct_lane_new lane;
		struct ct_lane_read lane_read;
	} *u = (void *)buf;
	static __thread uint8_t lane_buf[CT_LANE_SLOT_MAX];
	static char controls[CT_STRING_MAX];
	unsigned int i;

	memset(buf, 0, 8192);
	switch (row->cmd) {
	case CT_IOC_START:
		u->session.subbuf_size = 4096u << below(3);
		u->session.subbuf_count = 2u << below(4);
		u->session.flags = below(2) ? CT_SESSION_LANES : below(4);
		u->session.groups = below(2) ? ~0ull : 1u << CT_GROUP_ADDED;
		break;
	case CT_IOC_DEFINE:
		/* Few different ones: ids are never given back. */
		u->define = define("fuzz", "fuzz");
		u->define.symbol[0] = 'a' + below(16);
		u->define.fields_count = below(CT_FIELDS_MAX + 1);
		for (i = 0; i < u->define.fields_count; i++) {
			strcpy(u->define.fields[i].name, i ? "f" : below(2) ? "uid" : "kernel");
			u->define.fields[i].type = u->define.symbol[0] & 1 ? CT_TYPE_str :
						   below(CT_TYPE_COUNT);
		}
		break;
	case CT_IOC_STRING:
		/* Bytes that take the most room when they are printed. */
		memset(controls, 1 + below(31), sizeof(controls));
		u->string.text = (uintptr_t)controls;
		u->string.len = below(2) ? sizeof(controls) : below(64);
		break;
	case CT_IOC_GET_STRING:
		u->string.len = sizeof(controls);
		u->string.id = below(100);
		break;
	case CT_IOC_GET_DEFINE:
	case CT_IOC_GET_PROBE:
		u->info.index = below(200);
		break;
	case CT_IOC_FILTER:
		u->filter.flags = below(2);
		u->filter.categories = below(2) ? 0 : rnd() >> 42;
		u->filter.pids = below(3);
		u->filter.uids = below(3);
		u->filter.comms = below(2);
		u->filter.cgroups = below(20) == 0;
		u->filter.pid[0] = getpid();
		u->filter.pid[1] = 1 + below(1000);
		u->filter.uid[1] = 1000;
		strcpy(u->filter.comm[0], "fuzz");
		u->filter.cgroup[0] = any_fd();
		break;
	case CT_IOC_PROBE_ADD:
	case CT_IOC_PROBE_REMOVE:
	case CT_IOC_PROBE_SET:
		strcpy(u->add.symbol, functions[below(FUNCTIONS)]);
		strcpy(u->add.module, modules[below(MODULES)]);
		u->add.sample = below(4);
		if (row->cmd != CT_IOC_PROBE_ADD)
			break;
		u->add.flags = below(2) | (below(3) ? 0 : CT_PROBE_OWNED);
		u->add.args = below(CT_ARGS_MAX + 1);
		if (!below(4)) {
			u->add.flags = CT_PROBE_COUNT |
				       (below(2) ? 0 : CT_PROBE_OWNED | CT_PROBE_LATER);
			u->add.args = 0;
		}
		for (i = 0; i < u->add.args; i++) {
			u->add.arg[i].name[0] = 'a' + i;
			u->add.arg[i].type = below(CT_TYPE_x64 + 1);
			u->add.arg[i].number = below(8) ? below(6) : CT_ARG_RETURN;
		}
		break;
	case CT_IOC_TRIGGER:
		u->trigger.flags = below(16);
		u->trigger.slow_ns = 1 + below(100000);
		break;
	case CT_IOC_WATERMARK:
		u->watermark.bytes = below(2) ? 0 : below(10000);
		u->watermark.records = below(2) ? 0 : below(100);
		u->watermark.ns = below(2) ? 0 : below(20000000);
		break;
	case CT_IOC_LIMITS:
		u->limits.flags = below(3);
		u->limits.records = below(2) ? 0 : odd_number();
		u->limits.bytes = below(2) ? 0 : odd_number();
		u->limits.share = below(2) ? 0 : below(102);
		break;
	case CT_IOC_LANE:
		lane_make(&u->lane);
		break;
	case CT_IOC_LANE_READ:
		u->lane_read.buf = (uintptr_t)(below(20) ? lane_buf : bad_pointer());
		u->lane_read.len = below(8) ? sizeof(lane_buf) : below(sizeof(lane_buf));
		u->lane_read.flags = below(3);
		break;
	}
}

/* Some bits or bytes of it are not what they were. */
static void spoil(void *buf, uint32_t size)
{
	uint32_t i, n = below(3) ? 0 : 1 + below(4);

	for (i = 0; i < n; i++) {
		uint32_t at = 4 + below(size - 4);

		if (below(2))
			((uint8_t *)buf)[at] ^= 1u << below(8);
		else
			((uint8_t *)buf)[at] = below(256);
	}
}

static void fuzz_ioctl(void)
{
	static char answer[CT_STRING_MAX];
	/* Most of what waits for every CPU, or for a grace period, is left out mostly. */
	const struct expected *row = &rows[below(below(6) ? LIGHT : ROWS)];
	uint64_t buf[1024];
	unsigned long cmd = row->cmd;
	void *arg = buf;
	uint32_t size;
	int err;

	make(row, buf);
	size = below(8) ? row->size : below(2) ? below(4200) : odd_number();
	memcpy(buf, &size, sizeof(size));
	if (row->size > 8)
		spoil(buf, row->size);
	/* Not into our own memory, of all places. */
	if (row->cmd == CT_IOC_GET_STRING) {
		uint64_t text = (uintptr_t)(below(8) ? (void *)answer : bad_pointer());

		memcpy((char *)buf + offsetof(struct ct_string, text), &text, sizeof(text));
	}
	/* The same; and a lane whose address is not told stays for good: a small one. */
	if (row->cmd == CT_IOC_LANE_READ || (row->cmd == CT_IOC_LANE && size < row->size)) {
		make(row, buf);
		memcpy(buf, &size, sizeof(size));
		if (row->cmd == CT_IOC_LANE)
			memcpy((char *)buf + 4, (uint32_t[]){ CT_LANE_SLOT_MIN, 2 }, 8);
	}
	if (!below(20))
		arg = bad_pointer();
	if (!below(30)) {
		/* Another size or number in the command: not one of ours, or as good. */
		static const int none[] = { ENOTTY, ENOENT, ENODATA, EPERM, EBUSY, EEXIST,
					    ENOSPC, ENOMEM, EDQUOT };

		cmd = _IOC(below(4), below(8) ? CT_IOC_TYPE : below(256), below(36), below(5000));
		err = call(any_fd(), cmd, arg);
		judge("a made-up command", err, none, 9);
		return;
	}
	err = call(any_fd(), cmd, arg);
	tally->starts += row->cmd == CT_IOC_START && !err;
	if (row->cmd == CT_IOC_DEFINE && !err && arg == buf)
		remember(arg);
	if (row->cmd == CT_IOC_CLOCK && !err && size >= sizeof(struct ct_clock_map)) {
		const struct ct_clock_map *clock = arg;

		(void)((volatile struct ct_clock_page *)(uintptr_t)clock->address)->newest;
		munmap((void *)(uintptr_t)clock->address, clock->length);
	}
	if (row->cmd == CT_IOC_LANE && !err && arg == buf && size >= row->size)
		lane_keep(arg);
	judge(row->name, err, row->err, 6);
}

static void fuzz_mark(void)
{
	uint64_t buf[CT_MARK_MAX / 8 + 8];
	uint32_t at = 0, n = 1 + below(4), i, k, size, payload;
	struct ct_mark_head *m;
	void *arg = buf;
	int err;
	static const int slow[] = { ENOMEM };

	memset(buf, below(2) ? 1 : below(256), sizeof(buf));
	for (i = 0; i < n && at < 3000; i++, at += size) {
		m = (void *)((uint8_t *)buf + at);
		k = below(64);
		payload = below(3) ? class.size[k] : 8 * (1 + below(below(8) ? 32 : 280));
		size = sizeof(*m) + payload;
		if (at + size > CT_MARK_MAX)
			break;
		*m = (struct ct_mark_head){ .size = size, .flags = below(2) * CT_F_INSTANT,
					    .class = payload == class.size[k] ? class.id[k] :
						     below(8) ? CT_CLASS_mark : below(5000),
					    .begin = below(2) ? now() : odd_number(), .op = rnd() };
		if (m->class == CT_CLASS_mark) {
			((uint32_t *)(m + 1))[0] = rnd();
			((uint16_t *)(m + 1))[2] = payload - 6;
		} else {
			uint32_t *ids = (uint32_t *)(m + 1);

			for (k = 0; k < payload / 4; k++)
				ids[k] = below(40);
		}
		if (!below(6))
			spoil(m, size);
	}
	if (!at)
		at = 8 * below(512);
	if (!below(10))
		at = below(2) ? at + 8 * below(8) : below(4200);
	if (!below(20))
		arg = bad_pointer();
	else if (!below(20))
		arg = (uint8_t *)buf + below(8);
	else if (!below(20))	/* a page that is not there yet */
		arg = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	err = call(any_fd(), below(4) ? CT_IOC_MARK(at & 0x3fff) : CT_IOC_BEGIN(at & 0x3fff), arg);
	judge("MARK", err, slow, 1);
	if (arg > (void *)4096 && (uint8_t *)arg < (uint8_t *)buf && !((uintptr_t)arg & 4095))
		munmap(arg, 8192);
}

/* ------------------------------------------------------------- mappings ---- */

static void fuzz_mmap(void)
{
	uint32_t cpu = below(8) ? below(4) : odd_number();
	uint64_t offset[] = { CT_MMAP_FACTS, CT_MMAP_STATUS(cpu), CT_MMAP_CONSUMER(cpu),
			      CT_MMAP_DATA(cpu), CT_MMAP_DATA(cpu) + PAGE, odd_number() };
	size_t size = below(3) ? PAGE : below(4) ? (4096ull << below(3)) * (2u << below(4)) :
		      odd_number();
	int prot = below(3) ? PROT_READ : below(8);
	int flags = below(6) ? MAP_SHARED : MAP_PRIVATE;
	static const int err[] = { EPERM, ENODATA, ENOMEM, EACCES, EOVERFLOW, ENODEV };
	uint64_t where = offset[below(6)] & ~(uint64_t)(PAGE - 1);
	volatile uint8_t *p;
	pid_t pid;

	p = mmap(NULL, size, prot, flags, any_fd(), where);
	judge("mmap", p == MAP_FAILED ? errno : 0, err, 6);
	if (p == MAP_FAILED)
		return;
	tally->maps++;
	if (prot & PROT_READ)
		(void)(p[0] + p[size - 1]);
	if (prot & PROT_WRITE)
		p[below(size)] = rnd();
	switch (below(6)) {
	case 0:
		mprotect((void *)p, size, below(8));
		break;
	case 1:
		if (mremap((void *)p, size, size / 2 + PAGE, MREMAP_MAYMOVE) != MAP_FAILED)
			return;
		break;
	case 2:
		munmap((void *)p, PAGE);
		break;
	case 3:
		if (below(10))
			break;
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		break;
	case 4:
		madvise((void *)p, size, below(2) ? MADV_DONTNEED : MADV_DOFORK);
	}
	munmap((void *)p, size);
}

/* ---------------------------------------------------- reading and closing -- */

static void fuzz_read(void)
{
	static const int err[] = { EAGAIN, ENOMEM };
	static __thread char buf[200000];
	struct pollfd p = { .fd = any_fd(), .events = below(2) ? POLLIN : 0xffff };
	struct epoll_event ev[4];
	ssize_t n;

	switch (below(8)) {
	case 0:
		poll(&p, 1, below(5));
		break;
	case 1:
		ev[0] = (struct epoll_event){ .events = EPOLLIN | EPOLLET * below(2) };
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, any_fd(), &ev[0]);
		break;
	case 2:
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, any_fd(), &ev[0]);
		break;
	case 3:
		epoll_wait(epoll_fd, ev, 4, below(5));
		break;
	case 4:
		n = read(p.fd, bad_pointer(), below(5000));
		judge("read", n < 0 ? errno : 0, err, 2);
		break;
	default:
		n = read(p.fd, buf, below(4) ? sizeof(buf) : below(300));
		judge("read", n < 0 ? errno : 0, err, 2);
	}
}

static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDONLY | O_NONBLOCK,
			     O_RDWR | O_NONBLOCK, O_RDONLY | O_NONBLOCK };

static void fuzz_files(void)
{
	int i = below(FDS), fd;
	char c = 'x';
	off_t at = 0;

	switch (below(12)) {
	default:
		fd = open(CT_DEVICE_PATH, modes[below(7)] | O_CLOEXEC);
		if (fd < 0) {
			judge("open", errno, (const int[]){ EACCES, ENOMEM }, 2);
			return;
		}
		/* The old one goes while others may be in the middle of it. */
		dup2(fd, fds[i]);
		close(fd);
		break;
	case 3:
		dup2(any_fd(), fds[i]);
		break;
	case 4:
		fcntl(fds[i], F_SETFL, below(2) ? O_NONBLOCK : 0);
		break;
	case 5:
		lseek(fds[i], odd_number(), below(4));
		if (write(fds[i], &c, 1) < 0)
			judge("write", errno, (const int[]){ EINVAL }, 1);
		break;
	case 6:
		sendfile(fds[below(FDS)], fds[i], &at, 100);
		break;
	case 7:
		if (below(10))
			break;
		fd = fork();
		if (!fd) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(1);
			for (i = 0; i < 20; i++)
				below(2) ? fuzz_ioctl() : fuzz_read();
			_exit(0);
		}
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* A session of our own, on a file that others may use and close as they like. */
static void fuzz_session(void)
{
	const struct expected *start = &rows[LIGHT];
	int i = below(FDS), fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC), err, n;
	uint64_t buf[1024];
	uint32_t size = start->size;

	if (fd < 0) {
		judge("open", errno, (const int[]){ EACCES, ENOMEM }, 2);
		return;
	}
	make(start, buf);
	memcpy(buf, &size, sizeof(size));
	err = call(fd, CT_IOC_START, buf);
	judge("START", err, start->err, 6);
	tally->starts += !err;
	dup2(fd, fds[i]);
	close(fd);
	if (err)
		return;
	for (n = below(200); n; n--)
		fuzz_mark();
	if (below(2))
		judge("STOP", call(fds[i], CT_IOC_STOP, NULL), (const int[]){ ENODATA, EPERM }, 2);
}

static void *one_thread(void *arg)
{
	state = (uintptr_t)arg | 1;
	for (;;) {
		switch (below(16)) {
		case 0:
			below(4) ? fuzz_files() : fuzz_session();
			break;
		case 1: case 2:
			fuzz_read();
			break;
		case 3:
			fuzz_mmap();
			break;
		case 4: case 5: case 6: case 7: case 8:
			fuzz_mark();
			break;
		case 9:
			fuzz_lane(class.id, class.size, 64);
			break;
		default:
			fuzz_ioctl();
		}
	}
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

static void one_process(int number, uint64_t seed)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction sa = { .sa_handler = nothing };
	pthread_t t;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Interrupts whoever blocks. */
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	signal(SIGPIPE, SIG_IGN);
	state = seed | 1;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (number == PROCESSES - 1 && setresuid(1000, 1000, 1000))
		_exit(1);
	for (i = 0; i < FDS; i++)
		fds[i] = open(CT_DEVICE_PATH, modes[i % 7] | O_CLOEXEC);
	for (i = 0; i < FDS; i++)
		if (fds[i] < 0)
			fds[i] = open(CT_DEVICE_PATH, O_WRONLY | O_CLOEXEC);
	pthread_create(&t, NULL, one_thread, (void *)(seed * 3));
	one_thread((void *)seed);
}

/*
 * A session of its own now and then, on whose consumer pages nothing true is ever
 * written, whose lanes are read, and a reader that follows whatever runs.
 */
static uint64_t lane_answers, lane_lies;

static void *scribble(void *arg)
{
	struct session s;
	uint32_t cpu;
	int i;

	state = (uintptr_t)arg | 1;
	for (;;) {
		if (session_start(&s, 4096, 4, below(4) ? CT_SESSION_LANES : 0)) {
			close(s.fd);
			usleep(1000);
			continue;
		}
		for (i = below(100000); i < 100000; i++) {
			if (i % 1000 == 0) {
				uint64_t n = lane_drain(s.fd);

				lane_lies += n == ~0ull;
				lane_answers += n == ~0ull ? 0 : n;
				usleep(3000);
			}
			cpu = below(s.arg.cpus);
			if (s.cpu[cpu].consumer && s.cpu[cpu].status)
				((uint64_t *)s.cpu[cpu].consumer)[below(8) ? 0 : below(512)] =
					below(2) ? odd_number() :
					s.cpu[cpu].status->committed - below(9000);
		}
		session_end(&s);
		usleep(below(400000));
	}
	return NULL;
}

static void follow(void)
{
	static char buf[1 << 16];
	int fd = -1, n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (fd < 0 || ++n % 500 == 0) {
			close(fd);
			fd = open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK);
		}
		if (read(fd, buf, sizeof(buf)) <= 0)
			usleep(500);
	}
}

/* The last one, a user's process, can start nothing. */
static int came_far(const struct tally *all, int i)
{
	return all[i].done > 100 && (i == PROCESSES - 1 || (all[i].maps && all[i].starts));
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 15;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : now();
	uint64_t begin, passed, end;
	struct tally *all;
	pid_t pid[PROCESSES + 1];
	int i, status, far, gone = 0, early = 0;
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# %u s, seed %llu\n", seconds, (unsigned long long)seed);
	all = mmap(NULL, sizeof(*all) * PROCESSES, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i <= PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		if (i == PROCESSES) {
			follow();
		} else {
			tally = &all[i];
			one_process(i, seed * (i + 3));
		}
	}
	pthread_create(&t, NULL, scribble, (void *)(seed | 1));
	/* As long as told, and on a slow machine until all came far, five times that at most. */
	begin = now();
	do {
		usleep(100000);
		for (i = 0; i <= PROCESSES; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			printf("# process %d ended with status %x\n", i, status);
			pid[i] = 0;
			early++;
		}
		far = 0;
		for (i = 0; i < PROCESSES; i++)
			far += came_far(all, i);
		far += __atomic_load_n(&lane_answers, __ATOMIC_RELAXED) != 0;
		passed = (now() - begin) / 1000000000;
	} while (passed < seconds || (far <= PROCESSES && passed < 5 * seconds));
	for (i = 0; i <= PROCESSES; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
	/* Nothing that the device does may keep a process from dying. */
	for (end = now() + 30000000000ull; now() < end && gone < PROCESSES + 1; usleep(10000)) {
		for (gone = i = 0; i <= PROCESSES; i++)
			gone += !pid[i] || (waitpid(pid[i], NULL, WNOHANG) == pid[i] &&
					    !(pid[i] = 0));
	}
	ok(gone == PROCESSES + 1, "every process can be killed");
	ok(!early, "no process dies by itself (%d)", early);
	for (i = 0; i < PROCESSES; i++) {
		ok(!all[i].bad, "%s: %llu calls, %llu refused, %llu with an errno that is not documented%s%s",
		   i == PROCESSES - 1 ? "a user's process" : "a process",
		   (unsigned long long)all[i].done, (unsigned long long)all[i].refused,
		   (unsigned long long)all[i].bad, all[i].bad ? ": " : "", all[i].said);
		ok(came_far(all, i),
		   "it came far: %llu sessions, %llu mappings, %llu lanes",
		   (unsigned long long)all[i].starts, (unsigned long long)all[i].maps,
		   (unsigned long long)all[i].lanes);
	}
	ok(lane_answers && !lane_lies, "lanes were read: %llu packets and pages, %llu that are not valid",
	   (unsigned long long)lane_answers, (unsigned long long)lane_lies);
	i = tap_done();
	fflush(stdout);
	_exit(i);
}
