// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * /dev/cudatrace from user space: every ioctl, the mappings, the rings' arithmetic
 * and the refusals.  Runs as root in a guest with the module loaded; needs no
 * driver.  Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../module/uapi/cudatrace.h"
#include "../tap.h"

#define PAGE	4096u

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int device(int flags)
{
	int fd = open(CT_DEVICE_PATH, flags | O_CLOEXEC);

	if (fd < 0) {
		printf("Bail out! %s: %s\n", CT_DEVICE_PATH, strerror(errno));
		exit(1);
	}
	return fd;
}

/* The ioctl's errno, 0 if it succeeded. */
static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static struct ct_define define(const char *name, const char *symbol)
{
	struct ct_define d = { .size = sizeof(d), .category = CT_CAT_MEMORY,
			       .op = CT_OP_ALLOC, .fields_count = 2 };

	strcpy(d.name, name);
	strcpy(d.symbol, symbol);
	strcpy(d.fields[0].name, "size");
	d.fields[0].type = CT_TYPE_u64;
	strcpy(d.fields[1].name, "ptr");
	d.fields[1].type = CT_TYPE_x64;
	return d;
}

/* A mark with a text: the static class "mark". */
struct mark {
	struct ct_mark_head head;
	uint32_t uid;
	uint16_t len;
	char text[26];
};

static struct mark text_mark(const char *text)
{
	struct mark m = { .head = { .size = sizeof(m), .class = CT_CLASS_mark,
				    .flags = CT_F_INSTANT }, .uid = 4242,
			  .len = sizeof(m.text) };

	memcpy(m.text, text, strnlen(text, sizeof(m.text)));
	return m;
}

/* ------------------------------------------------------- a mapped session -- */
struct session {
	int fd;
	struct ct_session arg;
	struct ct_facts *facts;
	struct {
		struct ct_cpu_status *status;
		struct ct_cpu_consumer *consumer;
		uint8_t *data;
	} cpu[64];
};

static void *map(int fd, uint64_t offset, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static int session_start(struct session *s, uint32_t size, uint32_t count, uint32_t flags)
{
	uint32_t i;
	int err;

	memset(s, 0, sizeof(*s));
	s->fd = device(O_RDWR);
	s->arg = (struct ct_session){ .size = sizeof(s->arg), .subbuf_size = size,
				      .subbuf_count = count, .flags = flags };
	err = call(s->fd, CT_IOC_START, &s->arg);
	if (err)
		return err;
	s->facts = map(s->fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	for (i = 0; i < s->arg.cpus && i < 64; i++) {
		s->cpu[i].status = map(s->fd, CT_MMAP_STATUS(i), PAGE, PROT_READ);
		s->cpu[i].consumer = map(s->fd, CT_MMAP_CONSUMER(i), PAGE,
					 PROT_READ | PROT_WRITE);
		s->cpu[i].data = map(s->fd, CT_MMAP_DATA(i), (size_t)size * count, PROT_READ);
	}
	return 0;
}

static void session_end(struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->arg.cpus && i < 64; i++) {
		if (!s->cpu[i].status)
			continue;
		munmap(s->cpu[i].status, PAGE);
		munmap(s->cpu[i].consumer, PAGE);
		munmap(s->cpu[i].data, (size_t)s->arg.subbuf_size * s->arg.subbuf_count);
	}
	munmap(s->facts, PAGE);
	close(s->fd);
}

/* Bytes of the payload of the classes that these tests write. */
static uint32_t payload_size(uint16_t class, const uint8_t *p)
{
	switch (class) {
	case CT_CLASS_mark:
		return 6 + *(uint16_t *)(p + 4);
	case CT_CLASS_process:
		return 10 + *(uint16_t *)(p + 8);
	default:
		return 16;	/* define() */
	}
}

struct walk {
	uint64_t records;
	uint64_t last;		/* newest stamp */
	int bad;		/* packets or records that are not well formed */
	const struct ct_cpu_record *found;	/* last record of class want */
	uint64_t count;		/* of class want */
	uint64_t seq;
};

/* Every record of a ring that was not overwritten. */
static struct walk walk(const struct session *s, uint32_t cpu, uint16_t want)
{
	const uint32_t size = s->arg.subbuf_size;
	const uint64_t mask = (uint64_t)size * s->arg.subbuf_count - 1;
	uint64_t end = s->cpu[cpu].status->committed, pos = s->cpu[cpu].status->oldest;
	struct walk w = { .seq = pos / size };
	uint64_t at, limit, stamp;

	for (; pos < end; pos += size) {
		const struct ct_packet *p = (void *)(s->cpu[cpu].data + (pos & mask));

		limit = end >= pos + size ? p->content_size / 8 : end - pos;
		w.bad += p->magic != CT_MAGIC || memcmp(p->uuid, s->arg.uuid, 16) ||
			 p->packet_size != size * 8ull || p->seq != w.seq++ ||
			 p->cpu != cpu || limit > size || p->ts_begin < w.last;
		for (at = CT_PACKET_HEAD; at < limit;) {
			const struct ct_cpu_record *r = (void *)((uint8_t *)p + at);

			stamp = CT_UNSTAMP(p->ts_begin, r->stamp);
			w.bad += stamp < w.last;
			w.last = stamp;
			if (CT_RECORD_CLASS(r->stamp) == want) {
				w.found = r;
				w.count++;
			}
			at += sizeof(*r) + payload_size(CT_RECORD_CLASS(r->stamp),
							(void *)(r + 1));
			w.records++;
		}
		w.bad += at != limit;
		if (end >= pos + size)
			w.bad += p->ts_end < w.last;
	}
	return w;
}

static uint64_t lost(const struct session *s, uint32_t cpu)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++)
		n += s->cpu[cpu].status->lost[i];
	return n;
}

/* ---------------------------------------------------------------- tests ---- */

static void test_version(void)
{
	struct ct_version v = { .size = sizeof(v) };
	int fd = device(O_WRONLY);
	char c;

	ok(!call(fd, CT_IOC_VERSION, &v) && v.abi == CT_ABI_VERSION &&
	   !strcmp(v.module, CT_VERSION), "CT_IOC_VERSION tells ABI and version");
	v.size = 4;
	ok(call(fd, CT_IOC_VERSION, &v) == EINVAL, "a struct that is too short: EINVAL");
	ok(call(fd, CT_IOC_VERSION, NULL) == EFAULT, "a bad pointer: EFAULT");
	ok(call(fd, _IO(CT_IOC_TYPE, 99), NULL) == ENOTTY, "an unknown ioctl: ENOTTY");
	ok(call(fd, _IO('T', 1), NULL) == ENOTTY, "another type: ENOTTY");
	ok(read(fd, &c, 1) == -1 && errno == EBADF, "a producer reads nothing");
	close(fd);
}

static void test_define(void)
{
	struct ct_define a = define("cuMemAlloc", "cuMemAlloc_v2"), b = a, c, got;
	struct ct_string s = { .size = sizeof(s), .text = (uintptr_t)"my_kernel", .len = 9 }, t;
	int w = device(O_WRONLY), r = device(O_RDONLY);
	char text[64];

	ok(!call(w, CT_IOC_DEFINE, &a) && a.id >= CT_CLASS_DYNAMIC, "a class gets an id");
	ok(!call(w, CT_IOC_DEFINE, &b) && b.id == a.id, "the same class has the same id");
	c = define("cuMemAlloc", "cuMemAlloc");
	ok(!call(w, CT_IOC_DEFINE, &c) && c.id != a.id, "another symbol is another class");
	got = (struct ct_define){ .size = sizeof(got), .id = a.id };
	ok(!call(r, CT_IOC_GET_DEFINE, &got) && !strcmp(got.symbol, "cuMemAlloc_v2") &&
	   got.fields_count == 2 && got.fields[1].type == CT_TYPE_x64 &&
	   got.layer == CT_LAYER_USER, "a reader gets what was defined");
	got.id = 60000;
	ok(call(r, CT_IOC_GET_DEFINE, &got) == ENOENT, "no class behind the last: ENOENT");
	ok(call(w, CT_IOC_GET_DEFINE, &a) == EBADF, "a producer may not ask");
	ok(call(r, CT_IOC_DEFINE, &a) == EBADF, "a reader may not define");
	c = define("cuMemAlloc", "x");
	c.fields[0].type = CT_TYPE_u32;
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "fields that are not aligned: EINVAL");
	c = define("cuMem Alloc", "x");
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a blank in a name: EINVAL");
	c = define("y", "x");
	memset(c.name, 'a', sizeof(c.name));
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a name without an end: EINVAL");
	c = define("y", "x");
	c.fields[0].type = CT_TYPE_text;
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a text that is not last: EINVAL");
	c = define("y", "x");
	c.fields_count = 17;
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "too many fields: EINVAL");

	ok(!call(w, CT_IOC_STRING, &s) && s.id, "a string gets an id");
	t = s;
	t.id = 0;
	ok(!call(w, CT_IOC_STRING, &t) && t.id == s.id, "the same string, the same id");
	t.text = (uintptr_t)text;
	t.len = sizeof(text);
	ok(!call(r, CT_IOC_GET_STRING, &t) && t.len == 9 && !memcmp(text, "my_kernel", 9),
	   "a reader gets the string");
	t.len = 3;
	ok(call(r, CT_IOC_GET_STRING, &t) == ENOSPC && t.len == 9,
	   "a short buffer: ENOSPC and the length");
	s.text = 8;
	ok(call(w, CT_IOC_STRING, &s) == EFAULT, "a bad text: EFAULT");
	close(w);
	close(r);
}

static void test_session(void)
{
	struct ct_session arg = { .size = sizeof(arg) };
	struct session s;
	int r = device(O_RDONLY), rw = device(O_RDWR);
	int i, bad = 0;
	void *p;

	ok(call(r, CT_IOC_START, &arg) == EBADF, "a read-only file starts nothing: EBADF");
	arg.subbuf_size = 5000;
	ok(call(rw, CT_IOC_START, &arg) == EINVAL, "a size that is no power of two: EINVAL");
	arg.subbuf_size = 2048;
	ok(call(rw, CT_IOC_START, &arg) == EINVAL, "a packet below the least: EINVAL");
	arg.subbuf_size = 16 << 20;
	arg.subbuf_count = 65536;
	ok(call(rw, CT_IOC_START, &arg) == EINVAL, "a ring above the most: EINVAL");
	arg = (struct ct_session){ .size = sizeof(arg), .flags = 1u << 30 };
	ok(call(rw, CT_IOC_START, &arg) == EINVAL, "an unknown flag: EINVAL");
	arg = (struct ct_session){ .size = sizeof(arg), .groups = 1ull << 40 };
	ok(call(rw, CT_IOC_START, &arg) == EINVAL, "an unknown group: EINVAL");
	ok(call(rw, CT_IOC_STOP, NULL) == ENODATA, "stop without a session: ENODATA");
	ok(!map(rw, CT_MMAP_FACTS, PAGE, PROT_READ) && errno == ENODATA,
	   "mmap without a session: ENODATA");

	ok(!session_start(&s, 65536, 4, 0) && s.facts && s.facts->running == 1 &&
	   s.facts->subbuf_size == 65536 && s.facts->subbuf_count == 4 &&
	   !memcmp(s.facts->uuid, s.arg.uuid, 16), "a session starts; its facts can be mapped");
	arg = (struct ct_session){ .size = sizeof(arg) };
	ok(call(rw, CT_IOC_START, &arg) == EBUSY && arg.holder == (uint32_t)getpid(),
	   "a second one: EBUSY and whose it is");
	ok(call(rw, CT_IOC_STOP, NULL) == ENODATA, "only the owner stops it");
	for (i = 0; i < (int)s.arg.cpus; i++)
		bad += s.cpu[i].status && (!s.cpu[i].data || !s.cpu[i].consumer);
	ok(!bad && s.cpu[0].status, "every possible CPU has a ring");
	ok(!map(s.fd, CT_MMAP_DATA(0), 4 * 65536, PROT_READ | PROT_WRITE) && errno == EPERM,
	   "data can't be mapped for writing");
	ok(!map(s.fd, CT_MMAP_DATA(0), 65536, PROT_READ) && errno == EINVAL,
	   "nor in another size");
	ok(!map(s.fd, CT_MMAP_DATA(500), 4 * 65536, PROT_READ) && errno == EINVAL,
	   "nor of a CPU that can't be");
	ok(!map(rw, CT_MMAP_CONSUMER(0), PAGE, PROT_READ | PROT_WRITE) && errno == EPERM,
	   "the consumer page is the owner's alone");
	p = map(r, CT_MMAP_DATA(0), 4 * 65536, PROT_READ);
	ok(p && mprotect(p, 4 * 65536, PROT_READ | PROT_WRITE) == -1,
	   "a read-only mapping stays so");
	munmap(p, 4 * 65536);
	ok(!call(s.fd, CT_IOC_STOP, NULL) && !s.facts->running, "stop ends it");
	session_end(&s);
	close(r);
	close(rw);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void test_marks(void)
{
	struct mark m = text_mark("step 12"), three[3];
	struct { struct ct_mark_head head; struct ct_alloc args; } a = { 0 };
	struct ct_define def = define("cuMemAlloc", "cuMemAlloc_v2");
	int w = device(O_WRONLY), r = device(O_RDONLY);
	uint64_t before, after, op, begin;
	struct session s;
	struct walk x;

	pin(0);
	ok(!call(w, CT_IOC_MARK(sizeof(m)), &m), "a mark without a session is accepted");
	session_start(&s, 4096, 16, 0);
	ok(walk(&s, 0, CT_CLASS_mark).records == 0, "and writes nothing");
	before = now();
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	after = now();
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count == 1 && !x.bad, "a mark is a record");
	ok(x.found && x.found->pid == (uint32_t)getpid() &&
	   x.found->tid == (uint32_t)syscall(SYS_gettid), "stamped with pid and tid");
	ok(x.last >= before && x.last <= after, "and with CLOCK_MONOTONIC");
	ok(x.found && *(uint32_t *)(x.found + 1) == getuid(), "its uid can't be forged");
	ok(x.found && !strcmp((char *)(x.found + 1) + 6, "step 12"), "its text is there");

	three[0] = three[1] = three[2] = m;
	ok(!call(w, CT_IOC_MARK(sizeof(three)), three), "an array of marks");
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count == 4 && !x.bad && s.cpu[0].status->records == x.records,
	   "is as many records, all counted");

	call(w, CT_IOC_DEFINE, &def);
	a.head = (struct ct_mark_head){ .size = sizeof(a), .class = def.id };
	ok(!call(w, CT_IOC_BEGIN(sizeof(a)), &a) && a.head.op && a.head.begin >= after,
	   "a begin gets op and time");
	op = a.head.op;
	begin = a.head.begin;
	x = walk(&s, 0, def.id);
	ok(x.found && x.found->op == op && x.found->duration >> 56 & CT_F_BEGIN,
	   "and is a record of its own");
	a.args.size = 4096;
	a.head.flags = CT_F_HAS_BEGIN;
	call(w, CT_IOC_MARK(sizeof(a)), &a);
	x = walk(&s, 0, def.id);
	ok(x.found && x.found->op == op &&
	   x.last - (x.found->duration & CT_DURATION_MAX) == begin,
	   "the end's duration reaches back to it");
	a.head.begin = after + 1000000000000ull;
	call(w, CT_IOC_MARK(sizeof(a)), &a);
	x = walk(&s, 0, def.id);
	ok(x.found && !(x.found->duration & CT_DURATION_MAX), "a begin in the future is none");

	ok(call(r, CT_IOC_MARK(sizeof(m)), &m) == EBADF, "a reader may not mark");
	ok(call(w, CT_IOC_MARK(sizeof(m)), (void *)8) == EFAULT, "a bad pointer: EFAULT");
	m.head.class = 12345;
	ok(call(w, CT_IOC_MARK(sizeof(m)), &m) == EINVAL, "an unknown class: EINVAL");
	m.head.class = CT_CLASS_probe;
	ok(call(w, CT_IOC_MARK(sizeof(m)), &m) == EINVAL, "a class of the kernel's: EINVAL");
	m = text_mark("x");
	m.len = 60000;
	ok(call(w, CT_IOC_MARK(sizeof(m)), &m) == EINVAL, "a text longer than the mark: EINVAL");
	m = text_mark("x");
	m.head.size = 4096;
	ok(call(w, CT_IOC_MARK(sizeof(m)), &m) == EINVAL, "a size beyond the array: EINVAL");
	m.head.size = 0;
	ok(call(w, CT_IOC_MARK(sizeof(m)), &m) == EINVAL, "a size of nothing: EINVAL");
	ok(call(w, CT_IOC_MARK(12), &m) == EINVAL, "an array that is no multiple of 8: EINVAL");
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count == 4 && !x.bad, "and none of these was written");
	session_end(&s);
	close(w);
	close(r);
}

static void test_full(void)
{
	struct mark m = text_mark("fill");
	int w = device(O_WRONLY), i;
	struct session s;
	struct walk x;

	pin(0);
	session_start(&s, 4096, 4, 0);
	for (i = 0; i < 1000; i++)
		call(w, CT_IOC_MARK(sizeof(m)), &m);
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count + lost(&s, 0) == 1000 && x.records == s.cpu[0].status->records && !x.bad,
	   "lossless: written %llu + lost %llu = 1000", (unsigned long long)x.count,
	   (unsigned long long)lost(&s, 0));
	ok(lost(&s, 0) && !s.cpu[0].status->oldest, "what was not read is not overwritten");
	s.cpu[0].consumer->consumed = ~0ull;
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	ok(!s.cpu[0].status->oldest, "a consumer that claims the impossible is not believed");
	s.cpu[0].consumer->consumed = 4096;
	for (i = 0; i < 1000; i++)
		call(w, CT_IOC_MARK(sizeof(m)), &m);
	x = walk(&s, 0, CT_CLASS_mark);
	ok(s.cpu[0].status->oldest == 4096 && !x.bad && x.seq == 5,
	   "a packet that was read makes room for one");
	s.cpu[0].consumer->consumed = 0;
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	ok(s.cpu[0].status->oldest == 4096, "and is not taken back");
	session_end(&s);

	session_start(&s, 4096, 4, CT_SESSION_OVERWRITE);
	for (i = 0; i < 1000; i++)
		call(w, CT_IOC_MARK(sizeof(m)), &m);
	x = walk(&s, 0, CT_CLASS_mark);
	ok(!lost(&s, 0) && s.cpu[0].status->records >= 1000 && s.cpu[0].status->oldest &&
	   !x.bad && x.count < 1000, "overwriting: nothing is lost at the end, the oldest goes");
	ok(s.cpu[0].status->overwritten == s.cpu[0].status->oldest / 4096,
	   "and every packet that went is counted");
	session_end(&s);
	close(w);
}

#define THREADS	20
#define EACH	5000

static void *producer(void *arg)
{
	struct mark m = text_mark("thread");
	int fd = device(O_WRONLY), i;

	(void)arg;
	for (i = 0; i < EACH; i++)
		call(fd, CT_IOC_MARK(sizeof(m)), &m);
	close(fd);
	return NULL;
}

static void test_threads(uint32_t flags)
{
	pthread_t thread[THREADS];
	uint64_t total = 0, records = 0;
	struct session s;
	uint32_t cpu;
	int i, bad = 0;
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	session_start(&s, 65536, 128, flags);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, producer, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	call(s.fd, CT_IOC_STOP, NULL);
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		struct walk x;

		if (!s.cpu[cpu].status)
			continue;
		x = walk(&s, cpu, CT_CLASS_mark);
		bad += x.bad;
		total += x.count + lost(&s, cpu);
		records += x.records == s.cpu[cpu].status->records;
	}
	ok(!bad, "%d threads: every stream is well formed and its time never steps back", THREADS);
	ok(total == THREADS * EACH, "%d threads: written + lost = %d", THREADS, THREADS * EACH);
	ok(records == s.arg.cpus, "%d threads: every record is counted", THREADS);
	session_end(&s);
}

static void test_read(void)
{
	int w = device(O_WRONLY), r;
	struct mark m = text_mark("quote \" slash \\");
	struct pollfd p;
	struct session s;
	char buf[8192];
	ssize_t n;
	pid_t pid;

	session_start(&s, 65536, 4, 0);
	r = device(O_RDONLY | O_NONBLOCK);
	p = (struct pollfd){ .fd = r, .events = POLLIN };
	ok(read(r, buf, sizeof(buf)) == -1 && errno == EAGAIN, "O_NONBLOCK: EAGAIN when nothing is there");
	ok(poll(&p, 1, 50) == 0, "poll: nothing to read");
	pid = fork();
	if (!pid) {
		usleep(100000);
		call(w, CT_IOC_MARK(sizeof(m)), &m);
		_exit(0);
	}
	ok(poll(&p, 1, 5000) == 1 && p.revents & POLLIN, "poll wakes when a record comes");
	n = read(r, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	ok(n > 0 && buf[n - 1] == '\n' && strstr(buf, "\"text\":\"quote \\\" slash \\\\\""),
	   "read gives whole JSON lines");
	waitpid(pid, NULL, 0);
	n = 0;
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	poll(&p, 1, 5000);
	while (n < 100000 && read(r, buf, 1) == 1)
		n++;
	ok(n > 60 && errno == EAGAIN, "a reader may take a line byte by byte");
	close(r);
	session_end(&s);
	close(w);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_version();
	test_define();
	test_session();
	test_marks();
	test_full();
	test_threads(0);
	test_threads(CT_SESSION_OVERWRITE);
	test_read();
	return tap_done();
}
