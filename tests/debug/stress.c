// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Everything at once, and the books must balance: 20 producer threads, probes that
 * come and go (one of them in the timer's interrupt), CPUs that go off and on,
 * readers that come and go, filters, pauses and triggers; one session after the
 * other.  A session without what blurs the count is checked to the last record:
 * produced = read + counted as lost, on every CPU and for every probe.
 *
 * Usage: stress [SECONDS [SEED]]   with CUDATRACE_DRIVER=1 also NVIDIA's probes,
 * under the driver's own test of its work queues.  Prints TAP.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../guest/session.h"

#define PRODUCERS	20
#define CPUS		64

/* What a round is made of. */
#define PAIRS		0x01	/* begin/end pairs among the marks */
#define PROBES		0x02	/* probes that stay for the whole session */
#define CHURN		0x04	/* probes that come and go, on functions of our own */
#define CONTROL		0x08	/* filters, pauses, triggers, sampling, hot churn */
#define OVERWRITE	0x10
#define HOTPLUG		0x20
#define READERS		0x40
#define LAZY		0x80	/* the consumer takes its time: rings run full */
#define DRIVER		0x100

static const struct kind {
	const char *name;
	unsigned int what;
	uint32_t size, count;
} kinds[] = {
	{ "full rings", LAZY | HOTPLUG | READERS, 4096, 4 },
	{ "pairs", PAIRS | HOTPLUG | READERS, 16384, 32 },
	{ "probes", PROBES | CHURN | HOTPLUG | READERS, 65536, 64 },
	{ "full rings, probes", LAZY | PROBES | CHURN | PAIRS | HOTPLUG, 4096, 8 },
	{ "control", CONTROL | PROBES | CHURN | PAIRS | HOTPLUG | READERS, 8192, 16 },
	{ "overwriting", OVERWRITE | PAIRS | HOTPLUG | READERS, 4096, 16 },
};

static atomic_int phase;	/* even: stand still; odd: work */
static atomic_int working;	/* threads that have not stopped yet */
static const struct kind *kind;
static struct session s;
static uint16_t alloc_class;

static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A thread's part in a round: wait for it, work until it ends, say so. */
static void rounds(void (*work)(void *), void *arg)
{
	int seen = 0;

	for (;;) {
		while (atomic_load(&phase) == seen || !(atomic_load(&phase) & 1))
			usleep(1000);
		seen = atomic_load(&phase);
		while (atomic_load(&phase) == seen)
			work(arg);
		atomic_fetch_sub(&working, 1);
	}
}

/* ------------------------------------------------------------ producers ---- */

struct producer {
	uint64_t seed, issued, failed;
	int fd, number;
	char pad[32];
};

static struct producer producers[PRODUCERS];

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
 * hot: called by the whole system.  own: system calls that nobody but us makes here,
 * so that we know how often each was called.
 */
static const char *const hot[] = { "do_sys_openat2", "vfs_read", "hrtimer_interrupt",
				   "run_timer_softirq", "vfs_write" };
static const char *const own[] = { "__x64_sys_getpriority", "__x64_sys_sched_rr_get_interval",
				   "__x64_sys_getsid" };
#define HOT	(sizeof(hot) / sizeof(hot[0]))
#define STAY	4	/* of the hot ones; the rest is for CONTROL's churn */
#define OWN	(sizeof(own) / sizeof(own[0]))

/* What probes had counted when they were removed, by their records' class. */
static struct { uint64_t hits, lost; } removed[65536];
static uint64_t own_lives, own_wrong;

static int probe_add(int fd, const char *symbol, uint32_t flags)
{
	struct ct_probe_add add = { .size = sizeof(add), .args = 1, .flags = flags };

	strcpy(add.symbol, symbol);
	strcpy(add.arg[0].name, "first");
	add.arg[0].type = CT_TYPE_x64;
	return call(fd, CT_IOC_PROBE_ADD, &add);
}


static int probe_info(int fd, const char *symbol, struct ct_probe_info *info)
{
	uint32_t i;

	for (i = 0;; i++) {
		*info = (struct ct_probe_info){ .size = sizeof(*info), .index = i };
		if (call(fd, CT_IOC_GET_PROBE, info))
			return 0;
		if (!strcmp(info->symbol, symbol) && !info->module[0])
			return 1;
	}
}

/* Returns hits and what the kernel missed. */
static uint64_t probe_remove(int fd, const char *symbol)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_probe_info info;

	strcpy(add.symbol, symbol);
	if (!probe_info(fd, symbol, &info) || call(fd, CT_IOC_PROBE_REMOVE, &add))
		return ~0ull;
	removed[info.class].hits += add.hits;
	removed[info.class].lost += add.lost;
	return add.hits + add.missed;
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

/* Add a probe, make calls, remove it: it saw them all. */
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

/* What makes the hot functions hot. */
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
			probe_remove(fd, hot[STAY]);
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

static int set_online(int cpu, int on)
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

static atomic_ulong plugged;

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

static atomic_ulong lines, line_bad, line_back;

/* Whole lines, numbered from where it began, in the order of time. */
static void check_lines(char *text, uint64_t *id, uint64_t *ts)
{
	char *line, *end;

	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		unsigned long long got_id, at;
		char *p;

		*end = '\0';
		lines++;
		p = strstr(line, "\"ts_ns\":");
		if (sscanf(line, "{\"event_id\":%llu,", &got_id) != 1 || !p ||
		    sscanf(p, "\"ts_ns\":%llu", &at) != 1 || end[-1] != '}' ||
		    got_id != *id + 1) {
			if (!line_bad++)
				printf("# after %llu: %.200s\n", (unsigned long long)*id, line);
			got_id = *id + 1;
			at = *ts;
		}
		*id = got_id;
		if (strstr(line, "\"name\":\"lost\""))
			continue;
		if (at < *ts && !line_back++)
			printf("# back by %llu ns: %.300s\n", (unsigned long long)(*ts - at), line);
		*ts = at;
	}
}

static void read_lines(uint64_t *seed)
{
	int fd = device(O_RDONLY | O_NONBLOCK), times = random_of(seed) % 30;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static __thread char buf[256 << 10];
	uint64_t id = 0, ts = 0;
	size_t have = 0;
	ssize_t n;
	char *last;

	while (times--) {
		poll(&p, 1, 20);
		n = read(fd, buf + have, 1 + random_of(seed) % (sizeof(buf) - have - 1));
		if (n <= 0)
			continue;
		have += n;
		buf[have] = '\0';
		last = strrchr(buf, '\n');
		if (!last)
			continue;
		n = buf + have - last - 1;
		/* Numbers begin anew with each session that it follows: ours ends first. */
		check_lines(buf, &id, &ts);
		memmove(buf, last + 1, n);
		have = n;
	}
	close(fd);
}

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

/* --------------------------------------------------------- the consumer ---- */

struct cursor {
	uint64_t pos, seq, last;
	uint64_t records, fresh;	/* fresh: with a number of its own */
	int bad;
};

static struct cursor cursor[CPUS];
static uint64_t by_class[65536];

/* What is committed of one CPU, from where we were. */
static void consume(uint32_t cpu)
{
	const uint64_t mask = (uint64_t)kind->size * kind->count - 1;
	struct cursor *c = &cursor[cpu];
	uint64_t committed = __atomic_load_n(&s.cpu[cpu].status->committed, __ATOMIC_ACQUIRE);

	while (c->pos < committed) {
		uint64_t begin = c->pos & ~(uint64_t)(kind->size - 1), end = committed;
		const struct ct_packet *p = (void *)(s.cpu[cpu].data + (begin & mask));
		int closed = committed >= begin + kind->size;

		if (c->pos == begin) {
			c->bad += p->magic != CT_MAGIC || p->seq != c->seq++ || p->cpu != cpu ||
				  memcmp(p->uuid, s.arg.uuid, 16) || p->ts_begin < c->last ||
				  p->packet_size != kind->size * 8ull;
			c->pos += CT_PACKET_HEAD;
		}
		if (closed)
			end = begin + p->content_size / 8;
		if (end > begin + kind->size) {
			c->bad++;
			end = begin + kind->size;
		}
		while (c->pos < end) {
			const struct ct_cpu_record *r = (void *)(s.cpu[cpu].data + (c->pos & mask));
			uint16_t class = CT_RECORD_CLASS(r->stamp);
			uint64_t stamp = CT_UNSTAMP(p->ts_begin, r->stamp);

			c->bad += stamp < c->last || (closed && stamp > p->ts_end);
			c->last = stamp;
			by_class[class]++;
			c->records++;
			if (class == CT_CLASS_mark || class == alloc_class)
				c->fresh++;
			c->pos += sizeof(*r) + payload_size(class, (void *)(r + 1));
		}
		if (c->pos != end) {
			c->bad++;
			c->pos = end;
		}
		if (!closed)
			break;
		c->pos = begin + kind->size;
	}
	__atomic_store_n(&s.cpu[cpu].consumer->consumed, c->pos, __ATOMIC_RELEASE);
}

/* The state of the rings when nobody writes any more, overwritten ones. */
static void walk_rest(void)
{
	uint32_t cpu;

	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		struct walk w = walk(&s, cpu, CT_CLASS_mark);

		cursor[cpu].bad += w.bad;
		cursor[cpu].records = s.cpu[cpu].status->records;
	}
}

/* --------------------------------------------------------------- a round --- */

static int begin_session(uint64_t groups)
{
	uint32_t i;
	int err;

	memset(&s, 0, sizeof(s));
	memset(cursor, 0, sizeof(cursor));
	memset(by_class, 0, sizeof(by_class));
	s.fd = device(O_RDWR);
	s.arg = (struct ct_session){ .size = sizeof(s.arg), .subbuf_size = kind->size,
				     .subbuf_count = kind->count, .groups = groups,
				     .flags = kind->what & OVERWRITE ? CT_SESSION_OVERWRITE : 0 };
	err = call(s.fd, CT_IOC_START, &s.arg);
	if (err)
		return err;
	s.facts = map(s.fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	for (i = 0; i < s.arg.cpus; i++) {
		s.cpu[i].status = map(s.fd, CT_MMAP_STATUS(i), PAGE, PROT_READ);
		s.cpu[i].consumer = map(s.fd, CT_MMAP_CONSUMER(i), PAGE, PROT_READ | PROT_WRITE);
		s.cpu[i].data = map(s.fd, CT_MMAP_DATA(i), (size_t)kind->size * kind->count,
				    PROT_READ);
	}
	return 0;
}

static uint64_t all_lost(void)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s.arg.cpus; cpu++)
		n += lost(&s, cpu);
	return n;
}

/*
 * Each mark that brings no number gets the CPU's next one, whether the ring takes it
 * or not: one more mark tells how many were made on this CPU.
 */
static uint64_t numbered(uint32_t cpu)
{
	struct { struct ct_mark_head head; struct ct_alloc args; } a = { 0 };
	int fd = device(O_WRONLY);
	struct walk w;

	pin(cpu);
	a.head = (struct ct_mark_head){ .size = sizeof(a), .class = alloc_class };
	call(fd, CT_IOC_MARK(sizeof(a)), &a);
	close(fd);
	w = walk(&s, cpu, alloc_class);
	return w.found ? (w.found->op >> 12) - 1 : 0;
}

/*
 * The books of every probe, those that are gone included: hits = read + lost.
 * Returns the records of probes that were lost, or ~0.
 */
static uint64_t check_probes(int round)
{
	static struct { uint64_t hits, lost; } sum[65536];
	uint64_t hits = 0, missed = 0, gone = 0;
	int classes = 0, off = 0, fd = device(O_RDONLY);
	struct ct_probe_info info;
	uint32_t i;

	memcpy(sum, removed, sizeof(sum));
	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (call(fd, CT_IOC_GET_PROBE, &info))
			break;
		sum[info.class].hits += info.hits;
		sum[info.class].lost += info.lost;
		missed += info.missed;
	}
	close(fd);
	for (i = 1; i < 65536; i++) {
		if (!sum[i].hits && !sum[i].lost)
			continue;
		classes++;
		hits += sum[i].hits;
		gone += sum[i].lost;
		if (sum[i].hits == by_class[i] + sum[i].lost)
			continue;
		off++;
		printf("# class %u: %llu hits, %llu read, %llu lost\n", i,
		       (unsigned long long)sum[i].hits, (unsigned long long)by_class[i],
		       (unsigned long long)sum[i].lost);
	}
	ok(classes && !off,
	   "%d %s: %d probed functions: hits %llu = read + lost %llu, each (the kernel missed %llu)",
	   round, kind->name, classes, (unsigned long long)hits, (unsigned long long)gone,
	   (unsigned long long)missed);
	return gone;
}

/* probes_lost: what of the losses were records of probes. */
static void check_books(int round, uint64_t issued, uint64_t probes_lost)
{
	uint64_t got = by_class[CT_CLASS_mark] + by_class[alloc_class];
	uint64_t gone = all_lost() - probes_lost;
	uint32_t cpu;
	int off = 0;

	ok(issued == got + gone, "%d %s: made %llu = read %llu + lost %llu", round, kind->name,
	   (unsigned long long)issued, (unsigned long long)got, (unsigned long long)gone);
	if (kind->what & (PAIRS | PROBES))
		return;
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		uint64_t made = numbered(cpu), here = cursor[cpu].fresh;

		if (made == here + lost(&s, cpu))
			continue;
		off++;
		printf("# CPU %u: made %llu, read %llu, lost %llu\n", cpu,
		       (unsigned long long)made, (unsigned long long)here,
		       (unsigned long long)lost(&s, cpu));
	}
	ok(!off, "%d %s: and so on each CPU", round, kind->name);
}

#define THREADS	(PRODUCERS + 1 + 2 + 1 + 1 + 2)

static void one_round(int round, unsigned int ms, uint64_t groups)
{
	uint64_t until, issued = 0, failed = 0, probes_lost = 0;
	int i, bad = 0, all = 1;
	uint32_t cpu;
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
	kind = &kinds[round % (sizeof(kinds) / sizeof(kinds[0]))];
	memset(removed, 0, sizeof(removed));
	own_wrong = own_lives = 0;
	for (i = 0; i < PRODUCERS; i++)
		producers[i].issued = producers[i].failed = 0;
	if (begin_session(groups)) {
		ok(0, "%d %s: a session starts: %s", round, kind->name, strerror(errno));
		return;
	}
	for (i = 0; kind->what & PROBES && i < STAY; i++)
		probe_add(s.fd, hot[i], 0);
	atomic_store(&working, THREADS);
	atomic_fetch_add(&phase, 1);
	for (until = now() + ms * 1000000ull; now() < until;) {
		for (cpu = 0; !(kind->what & OVERWRITE) && cpu < s.arg.cpus; cpu++)
			consume(cpu);
		if (kind->what & LAZY)
			usleep(20000);
	}
	/* Stand still before the books are closed: calls that are open are in neither. */
	atomic_fetch_add(&phase, 1);
	while (atomic_load(&working)) {
		for (cpu = 0; !(kind->what & OVERWRITE) && cpu < s.arg.cpus; cpu++)
			consume(cpu);
		usleep(1000);
	}
	for (cpu = 1; cpu < s.arg.cpus; cpu++)
		set_online(cpu, 1);
	call(s.fd, CT_IOC_FLUSH, NULL);
	for (cpu = 0; !(kind->what & OVERWRITE) && cpu < s.arg.cpus; cpu++)
		consume(cpu);
	for (i = 0; i < PRODUCERS; i++) {
		issued += producers[i].issued;
		failed += producers[i].failed;
	}
	ok(!failed, "%d %s: no mark is refused", round, kind->name);
	if (!(kind->what & (PROBES | CONTROL | OVERWRITE)))
		check_books(round, issued, 0);
	call(s.fd, CT_IOC_STOP, NULL);
	for (cpu = 0; !(kind->what & (OVERWRITE)) && cpu < s.arg.cpus; cpu++)
		consume(cpu);
	if (kind->what & OVERWRITE)
		walk_rest();
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		bad += cursor[cpu].bad;
		all &= cursor[cpu].records == s.cpu[cpu].status->records;
	}
	ok(!bad, "%d %s: packets are well formed, time never steps back", round, kind->name);
	ok(all, "%d %s: read = written, on each CPU", round, kind->name);
	if (kind->what & PROBES)
		probes_lost = check_probes(round);
	if ((kind->what & (PROBES | CONTROL)) == PROBES)
		check_books(round, issued, probes_lost);
	if (kind->what & CHURN)
		ok(!own_wrong && own_lives, "%d %s: %llu probes came and went, and saw each call",
		   round, kind->name, (unsigned long long)own_lives);
	for (i = 0; kind->what & PROBES && i < STAY; i++)
		probe_remove(s.fd, hot[i]);
	session_end(&s);
}

/* ------------------------------------------------------ NVIDIA's driver ---- */

#define UVM_INITIALIZE		0x30000001
#define UVM_TEST_NV_KTHREAD_Q	245

/* The driver's own test of its work queues: 805,000 items. */
static void *driver_test(void *arg)
{
	struct { uint64_t flags; uint32_t status; } init = { 0 };
	uint32_t status = 1;
	int fd = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UVM_INITIALIZE, &init) || init.status ||
	    ioctl(fd, UVM_TEST_NV_KTHREAD_Q, &status) || status)
		printf("# the driver's test: %s, status %x\n", strerror(errno), status);
	close(fd);
	*(uint32_t *)arg = status;
	return NULL;
}

/* A session of the driver's probes alone: only who uses the driver writes. */
static void driver_round(int round)
{
	static const struct kind plain = { "driver", DRIVER, 65536, 128 };
	uint64_t until = now() + 60000000000ull;
	uint32_t cpu, status = ~0u;
	int bad = 0, all = 1;
	pthread_t t;

	kind = &plain;
	if (begin_session(~0ull)) {
		ok(0, "a session of all groups starts");
		return;
	}
	pthread_create(&t, NULL, driver_test, &status);
	while (__atomic_load_n(&status, __ATOMIC_ACQUIRE) == ~0u && now() < until)
		for (cpu = 0; cpu < s.arg.cpus; cpu++)
			consume(cpu);
	pthread_join(t, NULL);
	usleep(10000);
	call(s.fd, CT_IOC_STOP, NULL);
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		consume(cpu);
		bad += cursor[cpu].bad;
		all &= cursor[cpu].records == s.cpu[cpu].status->records;
	}
	ok(!status, "%d driver: its own test passes while it is traced", round);
	ok(!bad, "%d driver: packets are well formed, time never steps back", round);
	ok(all, "%d driver: read = written, on each CPU", round);
	check_probes(round);
	session_end(&s);
}

/* ------------------------------------------------------------------ main --- */

static pthread_t start(void *(*work)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, arg))
		exit(1);
	return t;
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 20, ms = 2000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : now(), end, seeds[2];
	struct ct_define def = define("stress", "stress");
	int round = 0, i, fd = device(O_WRONLY);

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# %u s, seed %llu\n", seconds, (unsigned long long)seed);
	if (call(fd, CT_IOC_DEFINE, &def))
		return 1;
	close(fd);
	alloc_class = def.id;
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
	end = now() + seconds * 1000000000ull;
	do {
		one_round(round, ms, 1u << CT_GROUP_ADDED);
		if (getenv("CUDATRACE_DRIVER") && round % 6 == 5)
			driver_round(round);
		round++;
	} while (now() < end || round < (int)(sizeof(kinds) / sizeof(kinds[0])));
	ok(!line_bad && lines, "%lu lines of readers: whole, numbered", lines);
	ok(!line_back, "and in the order of time");
	printf("# CPUs went off %lu times\n", plugged);
	return tap_done();
}
