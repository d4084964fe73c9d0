// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * /dev/cudatrace from user space: every ioctl, the mappings, the rings' arithmetic
 * and the refusals.  Runs as root in a guest with the module loaded; needs no
 * driver.  Prints TAP.
 */
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"

/* ---------------------------------------------------------------- tests ---- */

static void test_version(void)
{
	struct ct_version v = { .size = sizeof(v) };
	int fd = device(O_WRONLY);
	char c;

	ok(!call(fd, CT_IOC_VERSION, &v) && v.abi == CT_ABI_VERSION &&
	   !strcmp(v.module, CT_VERSION), "CT_IOC_VERSION returns ABI and version");
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
	strcpy(c.fields[1].name, c.fields[0].name);
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "two fields of one name: EINVAL");
	c = define("y", "x");
	strcpy(c.fields[1].name, "a-b");
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a field's name that is no word: EINVAL");
	c = define("y", "x");
	strcpy(c.fields[1].name, "1st");
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a field's name that begins with a digit: EINVAL");
	c = define("lost", "lost");
	c.category = CT_CAT_TRACER;
	ok(call(w, CT_IOC_DEFINE, &c) == EINVAL, "a class that looks like one of the tracer: EINVAL");
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

/* The ioctl refuses this struct while one of these bytes is not 0, and only then. */
static void refuses(const char *name, int fd, unsigned long cmd, void *arg, size_t at, size_t bytes)
{
	int set = EINVAL, clear;
	uint8_t *byte = arg;
	size_t i;

	for (i = at; i < at + bytes && set == EINVAL; i++) {
		byte[i] = 1 << i % 8;
		set = call(fd, cmd, arg);
		byte[i] = 0;
	}
	clear = call(fd, cmd, arg);
	ok(set == EINVAL && clear != EINVAL, "%s: reserved bytes from %zu, up to %zu (%d, then %d)",
	   name, at, i - 1, set, clear);
}

#define FIELD(name, field)	offsetof(struct name, field), sizeof(((struct name *)0)->field)

/* A reserved field that may hold anything could never get a meaning. */
static void test_reserved(void)
{
	struct ct_define def = define("reserved", "reserved"), ask;
	struct ct_string str = { .size = sizeof(str), .text = (uintptr_t)"reserved", .len = 8 };
	struct ct_version v = { .size = sizeof(v) };
	struct ct_watermark mark = { .size = sizeof(mark) };
	struct ct_limits l = { .size = sizeof(l) };
	struct ct_probe_add add = { .size = sizeof(add), .symbol = "ct_nowhere" };
	struct ct_threadbuf_read read = { .size = sizeof(read) };
	struct mark m = text_mark("reserved");
	int rw = device(O_RDWR);
	struct session s;

	refuses("VERSION", rw, CT_IOC_VERSION, &v, FIELD(ct_version, reserved));
	refuses("DEFINE", rw, CT_IOC_DEFINE, &def, FIELD(ct_define, reserved));
	refuses("DEFINE", rw, CT_IOC_DEFINE, &def, FIELD(ct_define, fields[1].reserved));
	refuses("DEFINE", rw, CT_IOC_DEFINE, &def, FIELD(ct_define, fields[15].reserved));
	ask = (struct ct_define){ .size = sizeof(ask), .id = def.id };
	refuses("GET_DEFINE", rw, CT_IOC_GET_DEFINE, &ask, FIELD(ct_define, reserved));
	refuses("STRING", rw, CT_IOC_STRING, &str, FIELD(ct_string, reserved));
	refuses("GET_STRING", rw, CT_IOC_GET_STRING, &str, FIELD(ct_string, reserved));
	refuses("PROBE_ADD", rw, CT_IOC_PROBE_ADD, &add, FIELD(ct_probe_add, arg[0].reserved));
	refuses("PROBE_REMOVE", rw, CT_IOC_PROBE_REMOVE, &add,
		FIELD(ct_probe_add, arg[7].reserved));
	refuses("PROBE_SET", rw, CT_IOC_PROBE_SET, &add, FIELD(ct_probe_add, arg[1].reserved));
	refuses("WATERMARK", rw, CT_IOC_WATERMARK, &mark, FIELD(ct_watermark, reserved));
	refuses("THREADBUF_READ", rw, CT_IOC_THREADBUF_READ, &read,
		FIELD(ct_threadbuf_read, reserved));
	session_start(&s, 4096, 16, 0);
	refuses("LIMITS", rw, CT_IOC_LIMITS, &l, FIELD(ct_limits, reserved));
	refuses("GET_LIMITS", rw, CT_IOC_GET_LIMITS, &l, FIELD(ct_limits, reserved));
	refuses("MARK", rw, CT_IOC_MARK(sizeof(m)), &m, FIELD(ct_mark_head, reserved));
	session_end(&s);
	close(rw);
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
	ok(call(rw, CT_IOC_START, &arg) == EBUSY && arg.owner_pid == (uint32_t)getpid(),
	   "a second one: EBUSY and whose it is");
	ok(call(rw, CT_IOC_STOP, NULL) == EPERM, "only the owner stops it");
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

/* Arrays that begin with a word of zeros, which is no valid size of a mark. */
static void test_nothing(void)
{
	struct ct_mark_head m[2] = { { 0 } };
	struct ct_define def = define("empty", "empty");
	int w = device(O_WRONLY), good;
	struct session s;
	uint8_t *zeros;

	def.fields_count = 0;
	memset(def.fields, 0, sizeof(def.fields));
	pin(0);
	session_start(&s, 4096, 16, 0);
	ok(!call(w, CT_IOC_DEFINE, &def), "a class without fields");
	/* The bytes behind the array would be a valid mark. */
	m[1] = (struct ct_mark_head){ .size = sizeof(*m), .class = def.id };
	ok(call(w, CT_IOC_MARK(sizeof(*m)), m) == EINVAL &&
	   call(w, CT_IOC_BEGIN(sizeof(*m)), m) == EINVAL, "a mark of zeros: EINVAL");
	good = !walk(&s, 0, def.id).count && !call(w, CT_IOC_MARK(sizeof(*m)), &m[1]);
	ok(good && walk(&s, 0, def.id).count == 1, "and nothing behind it is read");
	/* If the module read them, only these zeros would stop it. */
	zeros = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (good)
		ok(call(w, CT_IOC_MARK(CT_MARK_MAX), zeros) == EINVAL &&
		   call(w, CT_IOC_MARK(96), zeros + PAGE) == EINVAL &&
		   call(w, CT_IOC_MARK(96), zeros + PAGE) == EINVAL,
		   "nor of pages of zeros, in memory or not");
	munmap(zeros, 4 * PAGE);
	session_end(&s);
	close(w);
}

#define NEAR	1000000		/* ns */

static void test_marks(void)
{
	struct mark m = text_mark("step 12"), three[3];
	struct { struct ct_mark_head head; struct ct_alloc args; } a = { 0 };
	struct ct_define def = define("cuMemAlloc", "cuMemAlloc_v2");
	int w = device(O_WRONLY), r = device(O_RDONLY);
	uint64_t before, after, op, begin, records;
	unsigned int refused = 0, tried = 0;
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
	/* A clock segment is near that clock: see docs/design.md. */
	ok(x.last >= before - NEAR && x.last <= after + NEAR, "and with CLOCK_MONOTONIC");
	ok(x.found && *(uint32_t *)(x.found + 1) == getuid(), "its uid can't be forged");
	ok(x.found && !strcmp((char *)(x.found + 1) + 6, "step 12"), "its text is there");

	three[0] = three[1] = three[2] = m;
	ok(!call(w, CT_IOC_MARK(sizeof(three)), three), "an array of marks");
	x = walk(&s, 0, CT_CLASS_mark);
	ok(x.count == 4 && !x.bad && s.cpu[0].status->records == x.records,
	   "is as many records, all counted");

	call(w, CT_IOC_DEFINE, &def);
	a.head = (struct ct_mark_head){ .size = sizeof(a), .class = def.id };
	ok(!call(w, CT_IOC_BEGIN(sizeof(a)), &a) && a.head.op && a.head.begin >= x.last &&
	   a.head.begin >= after - NEAR, "a begin gets op and time");
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

	/* Ops that the kernel's calls have, or will have: those of this CPU, and of others. */
	records = walk(&s, 0, def.id).records;
	for (uint64_t counter = 0; counter < 2 * (op >> 13) + 8; counter++) {
		a.head.op = counter << 13 | (counter ? 0 : 1);
		refused += call(w, CT_IOC_MARK(sizeof(a)), &a) == EINVAL;
		refused += call(w, CT_IOC_BEGIN(sizeof(a)), &a) == EINVAL;
		tried += 2;
	}
	ok(refused == tried && walk(&s, 0, def.id).records == records,
	   "an op that no CT_IOC_BEGIN gave is refused: EINVAL, and nothing is written");
	ok(op & CT_OP_BEGUN, "those that it gives have a bit of their own");
	a.head.op = op;
	a.head.flags = 0;
	for (int i = 0; i < 100; i++)
		call(w, CT_IOC_MARK(sizeof(m)), &m);
	ok(!call(w, CT_IOC_BEGIN(sizeof(a)), &a) && a.head.op != op && a.head.op & CT_OP_BEGUN,
	   "each begin gets a new one");
	ok(a.head.op - op == 1 << 13, "which does not tell what else was recorded meanwhile (%llu)",
	   (unsigned long long)(a.head.op - op) >> 13);

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
	ok(x.count == 104 && !x.bad, "and none of these was written");
	session_end(&s);
	close(w);
	close(r);
}

/* Marks of the same class and size, of any size. */
static void test_alike(void)
{
	static const uint8_t payloads[] = { 0, 8, 24, 32, 40, 64, 72 };
	static const uint32_t modes[] = { 0, CT_SESSION_OVERWRITE };
	uint64_t buf[3 * 13] = { 0 };
	struct ct_mark_head *head;
	struct session s;
	struct walk x;
	unsigned int i, j, k, words, mode;
	int w = device(O_WRONLY), wrong = 0;

	pin(0);
	for (mode = 0; mode < 2; mode++) {
		session_start(&s, 65536, 16, modes[mode]);
		for (i = 0; i < sizeof(payloads); i++) {
			struct ct_define d = { .size = sizeof(d), .category = CT_CAT_MARKER };

			snprintf(d.name, sizeof(d.name), "alike%u", payloads[i]);
			strcpy(d.symbol, d.name);
			d.fields_count = payloads[i] / 8;
			for (j = 0; j < d.fields_count; j++) {
				snprintf(d.fields[j].name, sizeof(d.fields[j].name), "f%u", j);
				d.fields[j].type = CT_TYPE_u64;
			}
			if (call(w, CT_IOC_DEFINE, &d))
				wrong++;
			words = 4 + payloads[i] / 8;
			for (j = 0; j < 3; j++) {
				head = (void *)&buf[j * words];
				*head = (struct ct_mark_head){
					.size = words * 8, .class = d.id, .depth = 7,
					.flags = CT_F_NO_RESULT, .result = 100 * i + j,
					.begin = j == 1 ? s.arg.start : j == 2 ? ~0ull : 0,
					.op = j == 1 ? 4711 : 0,
				};
				for (k = 4; k < words; k++)
					buf[j * words + k] = 1000 * i + 10 * j + k;
			}
			if (call(w, CT_IOC_MARK(3 * words * 8), buf))
				wrong++;
			x = walk(&s, 0, d.id);
			wrong += x.count != 3 || x.bad;
			/* The last of the marks is the newest record. */
			for (j = 0; x.found && j < 3; j++) {
				const struct ct_cpu_record *r = (void *)((uint8_t *)x.found -
					(2 - j) * (40 + payloads[i]));
				uint64_t ns = r->duration & CT_DURATION_MAX;

				wrong += CT_RECORD_CLASS(r->stamp) != d.id ||
					 r->pid != (uint32_t)getpid() ||
					 r->duration >> 48 != (7 | CT_F_NO_RESULT << 8) ||
					 r->result != 100 * i + j ||
					 (j == 1 ? r->op != 4711 : !r->op || r->op == 4711) ||
					 (j == 1 ? ns != x.last - s.arg.start : ns != 0);
				for (k = 4; k < words; k++)
					wrong += ((uint64_t *)(r + 1))[k - 4] !=
						 1000 * i + 10 * j + k;
			}
			/* One mark too many, with size 0: no part of the array is written. */
			buf[2 * words] = 0;
			if (call(w, CT_IOC_MARK(3 * words * 8), buf) != EINVAL ||
			    walk(&s, 0, d.id).count != 3)
				wrong++;
		}
		x = walk(&s, 0, 0);
		ok(!wrong && x.records == s.cpu[0].status->records,
		   "%s: arrays of like marks of any size are recorded word for word (%d wrong)",
		   mode ? "overwriting" : "lossless", wrong);
		session_end(&s);
	}
	close(w);
}

static volatile int taking = 1;

/* Unmaps the page and maps it again, as fast as possible. */
static void *taker(void *page)
{
	while (taking) {
		mprotect(page, PAGE, PROT_NONE);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* Walks the rings of all CPUs; a ring that lacks a record is bad too. */
static struct walk walk_all(const struct session *s, uint16_t want)
{
	struct walk all = { 0 }, x;
	uint32_t cpu;

	for (cpu = 0; cpu < s->arg.cpus; cpu++) {
		if (!s->cpu[cpu].status)
			continue;
		x = walk(s, cpu, want);
		all.bad += x.bad || x.records != s->cpu[cpu].status->records;
		all.count += x.count;
	}
	return all;
}

/*
 * An array whose second page is unmapped and mapped again while the module reads it: the
 * result of the call is true, and no record is half written.
 */
static void test_vanishing(void)
{
	struct { struct ct_mark_head head; struct ct_alloc args; } *m;
	struct ct_define def = define("vanishing", "vanishing");
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before, written = 0, refused = 0, other = 0, recorded = 0;
	int i, j, w = device(O_WRONLY), bad = 0;
	pthread_t thread;
	struct session s;
	struct walk x;
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	session_start(&s, 65536, 256, CT_SESSION_OVERWRITE);
	call(w, CT_IOC_DEFINE, &def);
	/* The third of four marks crosses the page boundary. */
	m = (void *)(pages + PAGE - 2 * sizeof(*m) - sizeof(m->head));
	for (i = 0; i < 4; i++)
		m[i].head = (struct ct_mark_head){ .size = sizeof(*m), .class = def.id };
	pthread_create(&thread, NULL, taker, pages + PAGE);
	before = now();
	for (i = 0; i < 50000; i++) {
		j = call(w, CT_IOC_MARK(4 * sizeof(*m)), m);
		written += !j;
		refused += j == EFAULT;
		other += j && j != EFAULT;
	}
	taking = 0;
	pthread_join(thread, NULL);
	call(s.fd, CT_IOC_STOP, NULL);
	x = walk_all(&s, def.id);
	bad += x.bad;
	recorded += x.count;
	ok(recorded == 4 * written && !other && !bad,
	   "a page that comes and goes: %llu calls written, %llu refused, %llu records (%llu us)",
	   (unsigned long long)written, (unsigned long long)refused,
	   (unsigned long long)recorded, (unsigned long long)((now() - before) / 1000));
	munmap(pages, 2 * PAGE);
	session_end(&s);
	close(w);
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
	   "a packet that was consumed can be overwritten");
	s.cpu[0].consumer->consumed = 0;
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	ok(s.cpu[0].status->oldest == 4096, "and never goes back");
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

#define LONG	20000		/* ms: a slow machine may need them */

static void test_read(void)
{
	int w = device(O_WRONLY), r;
	struct mark m = text_mark("quote \" slash \\");
	struct epoll_event ev = { 0 };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
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
	ok(poll(&p, 1, LONG) == 1 && p.revents & POLLIN, "poll wakes when a record comes");
	/* The first line may be the child's process record. */
	do {
		n = read(r, buf, sizeof(buf) - 1);
		buf[n > 0 ? n : 0] = '\0';
	} while (n > 0 && buf[n - 1] == '\n' && !strstr(buf, "quote") && poll(&p, 1, LONG) == 1);
	ok(n > 0 && buf[n - 1] == '\n' && strstr(buf, "\"text\":\"quote \\\" slash \\\\\""),
	   "read() returns whole JSON lines");
	waitpid(pid, NULL, 0);
	n = 0;
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	poll(&p, 1, LONG);
	while (n < 100000 && read(r, buf, 1) == 1)
		n++;
	ok(n > 60 && errno == EAGAIN, "a reader may read a line byte by byte");
	ev.events = EPOLLIN | EPOLLET;
	epoll_ctl(ep, EPOLL_CTL_ADD, r, &ev);
	for (i = 0; i < 3; i++) {
		call(w, CT_IOC_MARK(sizeof(m)), &m);
		n = epoll_wait(ep, &ev, 1, LONG);
		while (read(r, buf, sizeof(buf)) > 0)
			;
		if (n != 1 || errno != EAGAIN)
			break;
	}
	ok(i == 3, "edge-triggered epoll wakes each time, if all was read (%d of 3)", i);
	close(ep);
	close(r);
	session_end(&s);
	close(w);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_version();
	test_define();
	test_reserved();
	test_session();
	test_marks();
	test_nothing();
	test_alike();
	test_vanishing();
	test_full();
	test_threads(0);
	test_threads(CT_SESSION_OVERWRITE);
	test_read();
	return tap_done();
}
