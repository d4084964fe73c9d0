// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lets each allocation and each copy of an operation fail once, one after the other: the
 * kernel's fault injection counts down (/proc/self/task/TID/fail-nth), and the operation is
 * repeated until the count is higher than the number of its allocations and copies.  Each
 * failure must return a documented errno, and the operation must succeed right after it.
 *
 * Usage: faults MODULE.ko [all]   as root, while the module is not loaded.  Without "all"
 * some of the later failures of long operations are skipped.  Prints TAP.
 */
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "faults.h"

#define SITES	5000	/* no operation needs more */

static int nth_file, all;

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

/* Any size, with or without waiting: fail-nth alone decides which one fails. */
static void configure(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	char path[128];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/probability", kinds[i]);
		set(path, "0");
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose", kinds[i]);
		set(path, "0");
	}
	set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	set("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth", syscall(SYS_gettid));
	nth_file = open(path, O_RDWR);
}

static void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_file, text, len, 0) != len)
		printf("# fail-nth: %s\n", strerror(errno));
}

/*
 * From here on let only calls of the module fail: those whose stack has an address of the
 * module's code.  (That address is unknown before the module is loaded.)
 */
static void inside_only(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	unsigned long long start = 0, size = 0;
	char path[128], value[32], line[256];
	FILE *f = fopen("/proc/modules", "r");
	int i;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cudatrace %llu %*s %*s %*s %llx", &size, &start) == 2)
			break;
	if (f)
		fclose(f);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-start", kinds[i]);
		snprintf(value, sizeof(value), "%#llx", start);
		set(path, value);
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-end", kinds[i]);
		snprintf(value, sizeof(value), "%#llx", start + size);
		set(path, value);
	}
	ok(start != 0, "the module's code is known");
}

/* Disarm; 1 if the failure was used up. */
static int injected(void)
{
	char text[16] = "";
	int pending;

	if (pread(nth_file, text, sizeof(text) - 1, 0) < 0)
		printf("# fail-nth: %s\n", strerror(errno));
	pending = atoi(text);
	if (pending)
		arm(0);
	return !pending;
}

/*
 * The operation may survive a failure (by a fallback, or by a page that is fetched later): then it
 * must succeed.
 */
void faults_each(const char *name, int (*op)(void), void (*undo)(void))
{
	int n, err, refused = 0, survived = 0, odd = 0, said = 0, tried = 0;

	for (n = 1; n < SITES; n += all || n < 40 ? 1 : 1 + n % 7 + n / 40) {
		arm(n);
		tried++;
		err = op();
		if (!injected()) {
			if (undo && !err)
				undo();
			break;
		}
		if (!err) {
			survived++;
			if (undo)
				undo();
		} else if (err == ENOMEM || err == EFAULT) {
			refused++;
		} else {
			odd++;
			said = err;
		}
	}
	ok(n < SITES && !err && !odd,
	   "%s: %d failures: %d refused, %d survived; then it works%s%s%s", name, tried - 1, refused,
	   survived, odd ? "; also said: " : "", odd ? strerror(said) : "",
	   err ? "; at the end it did not" : "");
}

/* ------------------------------------------------------------ operations --- */

/* Loads the module from memory, because failures of reading a file are not tested. */
static char module[4 << 20];
static size_t module_size;
static int owner = -1, producer = -1, reader = -1, file = -1;

static int op_load(void)
{
	return syscall(SYS_init_module, module, module_size, "") ? errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "cudatrace", O_NONBLOCK) ? errno : 0;
}

static void undo_load(void)
{
	if (unload())
		printf("# unload: %s\n", strerror(errno));
}

static int op_open(void)
{
	file = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return file < 0 ? errno : 0;
}

static void undo_open(void)
{
	close(file);
}

static int op_start(void)
{
	struct ct_session arg = { .size = sizeof(arg), .subbuf_size = 4096, .subbuf_count = 2,
				  .groups = ~0ull };
	int err = call(owner, CT_IOC_START, &arg);

	/* The session has begun; only the answer could not be stored. */
	if (err == EFAULT)
		call(owner, CT_IOC_STOP, NULL);
	return err;
}

static void undo_start(void)
{
	call(owner, CT_IOC_STOP, NULL);
}

static int op_define(void)
{
	static int n;
	struct ct_define d = define("faults", "faults");

	snprintf(d.symbol, sizeof(d.symbol), "faults%d", n++);
	return call(producer, CT_IOC_DEFINE, &d);
}

static int op_string(void)
{
	static int n;
	char text[32];
	struct ct_string str = { .size = sizeof(str), .text = (uintptr_t)text };

	str.len = snprintf(text, sizeof(text), "faults%d", n++);
	return call(producer, CT_IOC_STRING, &str);
}

static int op_mark(void)
{
	struct mark m = text_mark("faults");

	return call(producer, CT_IOC_MARK(sizeof(m)), &m);
}

static int op_begin(void)
{
	struct mark m = text_mark("faults");

	return call(producer, CT_IOC_BEGIN(sizeof(m)), &m);
}

/* A mark in memory that has no page yet: the slow path. */
static int op_mark_absent(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = call(producer, CT_IOC_MARK(64), p);

	munmap(p, 4096);
	return err == EINVAL ? 0 : err;	/* zeros are no mark */
}

static struct ct_probe_add probe(void)
{
	struct ct_probe_add add = { .size = sizeof(add), .args = 2, .symbol = "do_sys_openat2",
				    .arg = { { .name = "a", .type = CT_TYPE_u32 },
					     { .name = "b", .type = CT_TYPE_x64, .number = 1 } } };

	return add;
}

static int op_probe(void)
{
	struct ct_probe_add add = probe();
	int err = call(owner, CT_IOC_PROBE_ADD, &add);

	if (err == EFAULT)
		call(owner, CT_IOC_PROBE_REMOVE, &add);
	return err;
}

static void undo_probe(void)
{
	struct ct_probe_add add = probe();

	call(owner, CT_IOC_PROBE_REMOVE, &add);
}

static int op_filter(void)
{
	struct ct_filter f = { .size = sizeof(f), .flags = CT_FILTER_CHILDREN, .pids = 1,
			       .comms = 1, .pid = { getpid() }, .comm = { "f" }, .cgroups = 1 };

	f.cgroup[0] = file;
	return call(owner, CT_IOC_FILTER, &f);
}

static void undo_filter(void)
{
	struct ct_filter f = { .size = sizeof(f) };

	call(owner, CT_IOC_FILTER, &f);
}

static int op_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? (errno == EAGAIN ? ENOMEM : errno) : 0;
}

static int op_map(void)
{
	/* Far from all other mappings, so that it needs its own page tables. */
	void *p = mmap((void *)0x200000000000, 8192, PROT_READ, MAP_SHARED, owner,
		       CT_MMAP_DATA(0));

	if (p == MAP_FAILED)
		return errno == EAGAIN ? ENOMEM : errno;
	munmap(p, 8192);
	return 0;
}

static int op_read(void)
{
	static char buf[65536];
	struct mark m = text_mark("faults");
	struct pollfd p = { .fd = reader, .events = POLLIN };

	call(producer, CT_IOC_MARK(sizeof(m)), &m);
	usleep(5000);
	poll(&p, 1, 0);
	if (read(reader, buf, sizeof(buf)) < 0)
		return errno == EAGAIN ? 0 : errno;
	return 0;
}

/* A read() that starts the default session. */
static int op_default(void)
{
	char c;
	int err = 0;

	file = open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return errno;
	if (read(file, &c, 1) < 0 && errno != EAGAIN)
		err = errno;
	if (err)
		close(file);
	return err;
}

static int op_get(void)
{
	struct ct_probe_info info = { .size = sizeof(info) };
	struct ct_filter f = { .size = sizeof(f) };

	return call(owner, CT_IOC_GET_PROBE, &info) ?: call(owner, CT_IOC_GET_FILTER, &f);
}

void faults_unmap(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[256], *more;
	uintptr_t at;

	while (f && fgets(line, sizeof(line), f)) {
		at = strtoul(line, &more, 16);
		if (strstr(line, name))
			munmap((void *)at, strtoul(more + 1, NULL, 16) - at);
	}
	if (f)
		fclose(f);
}

/* Also those whose address is unknown, because storing it failed. */
static void undo_clock(void)
{
	faults_unmap("[cudatrace-clock]");
}

/* Maps the clock page. */
static int op_clock(void)
{
	struct ct_clock_map arg = { .size = sizeof(arg) };
	int err = call(producer, CT_IOC_CLOCK, &arg);

	if (err == EFAULT)
		undo_clock();
	return err;
}

static int op_limits(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 1000000 };

	return call(owner, CT_IOC_LIMITS, &l);
}

static void undo_limits(void)
{
	struct ct_limits l = { .size = sizeof(l) };

	call(owner, CT_IOC_LIMITS, &l);
}

/* The first mark under limits: its producer is not known yet. */
static int op_mark_limited(void)
{
	return op_limits() ?: op_mark();
}

static int op_watermark(void)
{
	struct ct_watermark w = { .size = sizeof(w) };

	return call(reader, CT_IOC_WATERMARK, &w);
}

/* An orphaned session is adopted, mapped and dropped. */
static int op_adopt(void)
{
	struct ct_session arg = { .size = sizeof(arg), .subbuf_size = 4096, .subbuf_count = 2 };
	struct ct_session adopted = { .size = sizeof(adopted) };
	struct mark m = text_mark("orphan");
	int fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC), err;
	void *p;

	if (fd < 0)
		return errno;
	err = call(fd, CT_IOC_START, &arg);
	if (!err)
		err = call(producer, CT_IOC_MARK(sizeof(m)), &m);
	close(fd);
	if (err)
		return err;
	fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	err = call(fd, CT_IOC_ADOPT, &adopted);
	if (!err) {
		p = map(fd, CT_MMAP_DATA(0), 8192, PROT_READ);
		if (!p)
			err = errno == EAGAIN ? ENOMEM : errno;
		else
			munmap(p, 8192);
	}
	call(fd, CT_IOC_STOP, NULL);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	ssize_t n;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 2;
	i = open(argv[1], O_RDONLY);
	while ((n = read(i, module + module_size, sizeof(module) - module_size)) > 0)
		module_size += n;
	close(i);
	all = argc > 2;
	configure();
	faults_each("load", op_load, undo_load);
	if (op_load())
		return 1;
	inside_only();
	faults_each("open", op_open, undo_open);
	faults_each("default session", op_default, undo_open);
	owner = device(O_RDWR);
	producer = device(O_WRONLY);
	faults_each("start", op_start, undo_start);
	if (op_start())
		ok(0, "a session starts");
	faults_each("open while a session runs", op_open, undo_open);
	reader = device(O_RDONLY | O_NONBLOCK);
	faults_each("define", op_define, NULL);
	faults_each("string", op_string, NULL);
	faults_each("mark", op_mark, NULL);
	faults_each("begin", op_begin, NULL);
	faults_each("mark of absent memory", op_mark_absent, NULL);
	faults_each("probe add", op_probe, undo_probe);
	mkdir("/tmp/faults", 0700);
	if (mount("none", "/tmp/faults", "cgroup2", 0, NULL) && errno != EBUSY)
		printf("# cgroup2: %s\n", strerror(errno));
	file = open("/tmp/faults", O_RDONLY | O_DIRECTORY);
	faults_each("filter", op_filter, undo_filter);
	op_filter();
	faults_each("fork under a filter", op_fork, NULL);
	undo_filter();
	faults_each("mmap", op_map, NULL);
	faults_each("read", op_read, NULL);
	faults_each("questions", op_get, NULL);
	faults_each("clock page", op_clock, undo_clock);
	faults_each("limits", op_limits, undo_limits);
	faults_each("a mark under limits", op_mark_limited, undo_limits);
	faults_each("watermark", op_watermark, NULL);
	undo_start();
	faults_each("adopting an orphaned session", op_adopt, NULL);
	faults_threadbufs(owner, producer);
	faults_counter(owner);
	close(reader);
	close(producer);
	close(owner);
	ok(!unload(), "nothing holds the module in the end");
	return tap_done();
}
