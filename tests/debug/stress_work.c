// SPDX-License-Identifier: LGPL-2.1-or-later
/* The work of a round of the stress test: see stress.h. */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "stress.h"

atomic_int phase, working;
int threads;

uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * A thread waits for a round, works until it ends, and then says that it has stopped.  A
 * thread that got no processor during the round says so too, because the main thread waits
 * for all of them.
 */
void rounds(void (*work)(void *), void *arg)
{
	int begin;

	for (begin = 1;; begin += 2) {
		while (atomic_load(&phase) < begin)
			usleep(1000);
		while (atomic_load(&phase) == begin)
			work(arg);
		atomic_fetch_sub(&working, 1);
	}
}

/* ------------------------------------------------------------ producers ---- */

struct producer producers[PRODUCERS];

static void issue(struct producer *p, unsigned long cmd, void *arg, int records)
{
	if (ioctl(p->fd, cmd, arg))
		p->failed++;
	else
		p->issued += records;
}

static void produce(void *arg)
{
	struct producer *p = arg;
	uint64_t r = random_of(&p->seed);
	struct { struct ct_mark_head head; struct ct_alloc args; } pair[8];
	uint64_t words[CT_MARK_MAX / 8];
	struct mark *m = (void *)words;
	unsigned int i, n, text;

	memset(pair, 0, sizeof(pair));
	for (i = 0; i < 8; i++) {
		pair[i].head = (struct ct_mark_head){ .size = sizeof(pair[i]),
						      .class = alloc_class };
		pair[i].args = (struct ct_alloc){ .size = r, .ptr = i };
	}
	switch (r % 4) {
	case 0:		/* a text of any size */
		text = (r >> 8) % 200 * 8 + 2;
		memset(words, 'a' + p->number, sizeof(*m) + text);
		*m = (struct mark){ .head = { .size = sizeof(m->head) + 6 + text,
				    .class = CT_CLASS_mark, .flags = CT_F_INSTANT },
				    .len = text };
		issue(p, CT_IOC_MARK(m->head.size), m, 1);
		break;
	case 1:		/* an array */
		n = 1 + (r >> 8) % 8;
		issue(p, CT_IOC_MARK(n * sizeof(pair[0])), pair, n);
		break;
	case 2:
		if (kind->what & PAIRS) {
			issue(p, CT_IOC_BEGIN(sizeof(pair[0])), pair, 1);
			pair[0].head.flags = CT_F_HAS_BEGIN;
		}
		/* fall through */
	default:
		issue(p, CT_IOC_MARK(sizeof(pair[0])), pair, 1);
	}
}

static void *producer(void *arg)
{
	struct producer *p = arg;

	p->fd = device(O_WRONLY);
	rounds(produce, p);
	return NULL;
}

/* --------------------------------------------------------------- probes ---- */

/*
 * hot: functions that the whole system calls, also while a mark is being written.  own:
 * system calls that only this program makes, so that the number of calls is known.
 */
static const char *const hot[] = { "do_sys_openat2", "vfs_read", "hrtimer_interrupt",
				   "run_timer_softirq", "cudatrace:ct_ring_reserve_slow",
				   "vfs_write" };
static const char *const own[] = { "__x64_sys_getpriority", "__x64_sys_sched_rr_get_interval",
				   "__x64_sys_getsid" };
#define STAY	5	/* hot probes that stay; CONTROL adds and removes the others */
#define OWN	(sizeof(own) / sizeof(own[0]))

struct removed removed[65536];
uint64_t own_lives, own_wrong;

/* "symbol" or "module:symbol" */
static void name_probe(const char *name, char *module, char *symbol)
{
	const char *colon = strchr(name, ':');

	if (colon)
		memcpy(module, name, colon - name);
	strcpy(symbol, colon ? colon + 1 : name);
}

static int probe_add(int fd, const char *name, uint32_t flags)
{
	struct ct_probe_add add = { .size = sizeof(add), .args = 1, .flags = flags };

	name_probe(name, add.module, add.symbol);
	strcpy(add.arg[0].name, "first");
	add.arg[0].type = CT_TYPE_x64;
	return call(fd, CT_IOC_PROBE_ADD, &add);
}

static int probe_info(int fd, const struct ct_probe_add *add, struct ct_probe_info *info)
{
	uint32_t i;

	for (i = 0;; i++) {
		*info = (struct ct_probe_info){ .size = sizeof(*info), .index = i };
		if (call(fd, CT_IOC_GET_PROBE, info))
			return 0;
		if (!strcmp(info->symbol, add->symbol) && !strcmp(info->module, add->module))
			return 1;
	}
}

/*
 * Removes a probe.  Returns its hits and the calls that the kernel missed; ~0: it was not
 * removed.  One thread at a time: removing a probe lowers the index of each probe behind it,
 * so that another thread that goes through the list may miss one.
 */
static uint64_t probe_remove(int fd, const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_probe_info info;
	int gone;

	name_probe(name, add.module, add.symbol);
	pthread_mutex_lock(&lock);
	gone = probe_info(fd, &add, &info) && !call(fd, CT_IOC_PROBE_REMOVE, &add);
	pthread_mutex_unlock(&lock);
	if (!gone)
		return ~0ull;
	removed[info.class].hits += add.hits;
	removed[info.class].lost += add.lost;
	return add.hits + add.missed;
}

void stay_probes(int add)
{
	int i;

	for (i = 0; kind->what & PROBES && i < STAY; i++) {
		if (add)
			own_wrong += !!probe_add(s.fd, hot[i], 0);
		else
			probe_remove(s.fd, hot[i]);
	}
}

static void own_call(unsigned int i)
{
	struct timespec ts;

	if (i == 0)
		syscall(SYS_getpriority, 0, 0);
	else if (i == 1)
		syscall(SYS_sched_rr_get_interval, 0, &ts);
	else
		syscall(SYS_getsid, 0);
}

/* Adds a probe, makes calls, removes the probe: it must have counted all calls. */
static void churn(void *arg)
{
	static uint64_t seed = 88172645463325252ull;
	unsigned int i = random_of(&seed) % OWN, n = random_of(&seed) % 50, k;
	int fd = *(int *)arg;
	uint64_t seen;

	if (!(kind->what & CHURN)) {
		usleep(10000);
		return;
	}
	if (probe_add(fd, own[i], 0)) {
		own_wrong++;
		return;
	}
	for (k = 0; k < n; k++)
		own_call(i);
	seen = probe_remove(fd, own[i]);
	own_wrong += seen == ~0ull || (!(kind->what & CONTROL) && seen != n);
	own_lives++;
}

static void *churner(void *arg)
{
	int fd = device(O_RDWR);

	(void)arg;
	rounds(churn, &fd);
	return NULL;
}

/* Calls the hot functions. */
static void open_files(void *arg)
{
	char buf[256];
	int fd;

	(void)arg;
	if (!(kind->what & PROBES)) {
		usleep(10000);
		return;
	}
	fd = open("/proc/self/stat", O_RDONLY);
	if (read(fd, buf, sizeof(buf)) < 0)
		usleep(1);
	close(fd);
}

static void *opener(void *arg)
{
	rounds(open_files, arg);
	return NULL;
}

/* -------------------------------------------------------------- control ---- */

static void control(void *arg)
{
	static uint64_t seed = 362436069;
	struct ct_filter f = { .size = sizeof(f) };
	struct ct_trigger_set t = { .size = sizeof(t) };
	struct ct_probe_add set = { .size = sizeof(set), .symbol = "*" };
	int fd = *(int *)arg;
	uint64_t r = random_of(&seed);

	if (!(kind->what & CONTROL)) {
		usleep(10000);
		return;
	}
	switch (r % 7) {
	case 0:
		call(fd, CT_IOC_PAUSE, NULL);
		usleep(r >> 8 & 0xfff);
		call(fd, CT_IOC_RESUME, NULL);
		break;
	case 1:
		f.categories = r >> 8 & ((1ull << CT_CAT_COUNT) - 1);
		call(fd, CT_IOC_FILTER, &f);
		break;
	case 2:
		f.flags = CT_FILTER_CHILDREN;
		f.pids = f.comms = 1;
		f.pid[0] = getpid();
		strcpy(f.comm[0], "str");
		call(fd, CT_IOC_FILTER, &f);
		break;
	case 3:
		call(fd, CT_IOC_FILTER, &f);
		break;
	case 4:
		t.flags = r >> 8 & 15;
		t.slow_ns = 1 + (r >> 16 & 0xfffff);
		call(fd, CT_IOC_TRIGGER, &t);
		break;
	case 5:
		set.sample = r >> 8 & 7;
		call(fd, CT_IOC_PROBE_SET, &set);
		break;
	case 6:
		if (!probe_add(fd, hot[STAY], r & CT_PROBE_ENTRY)) {
			usleep(r >> 8 & 0x3fff);
			own_wrong += probe_remove(fd, hot[STAY]) == ~0ull;
		}
	}
	if (r >> 32 & 1)
		call(fd, CT_IOC_FLUSH, NULL);
	if (!fork())
		_exit(0);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void *controller(void *arg)
{
	int fd = device(O_RDWR);

	(void)arg;
	rounds(control, &fd);
	return NULL;
}

int set_online(int cpu, int on)
{
	char path[64];
	int fd, done;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return 0;
	done = write(fd, on ? "1" : "0", 1) == 1;
	close(fd);
	return done;
}

atomic_ulong plugged;

static void plug(void *arg)
{
	static uint64_t seed = 521288629;
	uint64_t r = random_of(&seed);
	int cpu = 1 + r % 3;

	(void)arg;
	if (kind->what & HOTPLUG) {
		plugged += set_online(cpu, 0);
		usleep(r >> 8 & 0x7fff);
		set_online(cpu, 1);
	}
	usleep(r >> 24 & 0xffff);
}

static void *plugger(void *arg)
{
	rounds(plug, arg);
	return NULL;
}

/* -------------------------------------------------------------- readers ---- */

static void look(uint64_t *seed)
{
	int fd = device(O_RDONLY), cpu = random_of(seed) % s.arg.cpus;
	struct ct_facts *facts = map(fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	size_t size = (size_t)kind->size * kind->count;
	struct ct_cpu_status *status;
	volatile uint8_t *data;

	status = map(fd, CT_MMAP_STATUS(cpu), PAGE, PROT_READ);
	data = map(fd, CT_MMAP_DATA(cpu), size, PROT_READ);
	close(fd);
	if (data && status && facts)
		(void)(data[random_of(seed) % size] + facts->running + status->records);
	usleep(random_of(seed) % 5000);
	if (data)
		munmap((void *)data, size);
	if (status)
		munmap(status, PAGE);
	if (facts)
		munmap(facts, PAGE);
}

static void come_and_go(void *arg)
{
	uint64_t *seed = arg;

	if (!(kind->what & READERS))
		usleep(10000);
	else if (random_of(seed) & 1)
		read_lines(seed);
	else
		look(seed);
}

static void *reader(void *arg)
{
	rounds(come_and_go, arg);
	return NULL;
}

/* ------------------------------------------------------ NVIDIA's driver ---- */

#define UVM_INITIALIZE		0x30000001
#define UVM_TEST_NV_KTHREAD_Q	245

atomic_ulong driver_tests, driver_failed, driver_reloads;

/* The driver's own test of its work queues: 805,000 items. */
static int driver_test(void)
{
	struct { uint64_t flags; uint32_t status; } init = { 0 };
	uint32_t status = 1;
	int fd = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UVM_INITIALIZE, &init) || init.status ||
	    ioctl(fd, UVM_TEST_NV_KTHREAD_Q, &status) || status)
		printf("# the driver's test: %s, status %x\n", strerror(errno), status);
	if (fd >= 0)
		close(fd);
	return !status;
}

static void use_driver(void *arg)
{
	(void)arg;
	if (!(kind->what & DRIVER)) {
		usleep(10000);
		return;
	}
	driver_failed += !driver_test();
	driver_tests++;
	if (kind->what & RELOAD) {
		/* The driver is probed all the time; the next test is that of the new driver. */
		if (system("unload-driver && load-driver"))
			driver_failed++;
		driver_reloads++;
		driver_failed += !driver_test();
		driver_tests++;
	}
}

static void *driver_user(void *arg)
{
	rounds(use_driver, arg);
	return NULL;
}

/* --------------------------------------------------------------- threads --- */

static void start(void *(*work)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, arg))
		exit(1);
	threads++;
}

void start_threads(uint64_t seed)
{
	static uint64_t seeds[2];
	int i;

	for (i = 0; i < PRODUCERS; i++) {
		producers[i].seed = seed * (i + 1) | 1;
		producers[i].number = i;
		start(producer, &producers[i]);
	}
	for (i = 0; i < 2; i++) {
		seeds[i] = (seed + i * 77) | 1;
		start(reader, &seeds[i]);
		start(opener, NULL);
	}
	start(churner, NULL);
	start(controller, NULL);
	start(plugger, NULL);
	start(driver_user, NULL);
}
