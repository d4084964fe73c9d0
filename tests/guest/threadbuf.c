// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Thread buffers: the records of an honest thread are read as it wrote them.  Whatever a
 * hostile thread writes, the reader gets valid packets of that thread alone.  Runs as root in
 * a guest with the module loaded.  Prints TAP.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "threadbuf.h"

#define SUBBUF_SIZE 4096u
#define SUBBUFS 4u
#define HEAD CT_PACKET_HEAD

/* ------------------------------------------------------------- the reader --- */
struct content {
	int bad;
	char why[160]; /* of the first that is */
	int records;
	int lost;
	uint64_t first, last;
	const struct ct_thread_record *record[16];
};

static void bad(struct content *c, const char *what, uint64_t number)
{
	if (!c->bad++)
		snprintf(c->why, sizeof(c->why), "%s %lld, record %d", what, (long long)number,
			 c->records);
}

/* Checks a packet as a strict reader does.  since: no time in it may be earlier. */
static struct content look(uint64_t since)
{
	const struct ct_packet *p = (void *)out;
	struct content c = { .lost = (int)p->lost };
	uint64_t at = HEAD, end = p->content_size / 8, ts, last = p->ts_begin;

	if (got.what != CT_THREADBUF_PACKET || p->magic != CT_MAGIC ||
	    memcmp(p->uuid, s.arg.uuid, 16) || p->stream_class != CT_STREAM_THREAD ||
	    p->content_size > p->packet_size || got.bytes != p->packet_size / 8 ||
	    p->pid != got.pid || p->cpu || p->reserved)
		bad(&c, "head", at);
	if (p->ts_begin < since || p->ts_end > now() + 1000000)
		bad(&c, "time of the packet",
		    p->ts_begin < since ? p->ts_begin - since : p->ts_end - now());
	while (at < end) {
		const struct ct_thread_record *r = (void *)(out + at);
		uint32_t id = CT_RECORD_CLASS(r->stamp);

		if (id < CT_CLASS_DYNAMIC && id != CT_CLASS_mark && id != CT_CLASS_process &&
		    id != CT_CLASS_range_push && id != CT_CLASS_range_pop && id != CT_CLASS_exit) {
			bad(&c, "class", id);
			break;
		}
		ts = CT_UNSTAMP(p->ts_begin, r->stamp);
		if (ts < last || ts > p->ts_end)
			bad(&c, "time", ts - last);
		if ((r->duration & CT_DURATION_MAX) > ts - since)
			bad(&c, "duration", (r->duration & CT_DURATION_MAX) - (ts - since));
		if (r->flags & (CT_F_CONTEXT | CT_F_BEGIN | CT_F_HAS_BEGIN))
			bad(&c, "flags", r->flags);
		last = ts;
		if (!c.records)
			c.first = ts;
		if (c.records < 16)
			c.record[c.records] = r;
		c.records++;
		at += sizeof(*r) + (id == CT_CLASS_range_pop ? 0 :
				    id == CT_CLASS_exit	     ? 8 :
							       payload_size(id, (void *)(r + 1)));
	}
	c.last = last;
	if (at != end)
		bad(&c, "end", at - end);
	return c;
}

/* Reads all packets and throws them away. */
static void empty(void)
{
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
}

/* --------------------------------------------------------------- the tests -- */
static void test_refusals(void)
{
	struct ct_threadbuf_read bad = { .size = sizeof(bad), .len = 4096 };
	struct ct_session arg = { .size = sizeof(arg),
				  .flags = CT_SESSION_THREADBUFS | CT_SESSION_OVERWRITE };
	int fd, err;

	threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(err == ENODATA && !page->session, "no session: ENODATA");
	fd = device(O_RDWR);
	ok(call(fd, CT_IOC_START, &arg) == EINVAL, "thread buffers and overwriting: EINVAL");
	session_start(&s, 65536, 4, 0);
	threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(err == ENODATA && !page->session && page->recording,
	   "a session whose owner reads none: ENODATA");
	ok(threadbuf_read(0) == ENOENT, "and it has none to read");
	session_end(&s);
	session_start(&s, 65536, 64, CT_SESSION_THREADBUFS);
	ok(page->session, "one that does says its number");
	threadbuf_new(SUBBUF_SIZE / 2, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(err == EINVAL, "sub-buffers too small");
	threadbuf_new(SUBBUF_SIZE * 3, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(err == EINVAL, "no power of two");
	threadbuf_new(SUBBUF_SIZE, 1, CT_THREADBUF_NONE, &err);
	ok(err == EINVAL, "one sub-buffer");
	threadbuf_new(CT_THREADBUF_SUBBUF_MAX * 2, 2, CT_THREADBUF_NONE, &err);
	ok(err == EINVAL, "sub-buffers too large");
	ok(call(fd, CT_IOC_THREADBUF_READ, &bad) == EBADF, "another file may not read");
	ok(call(s.fd, CT_IOC_THREADBUF_READ, &bad) == ENOSPC, "a buffer that is too small");
	bad.flags = 2;
	ok(call(s.fd, CT_IOC_THREADBUF_READ, &bad) == EINVAL, "an unknown flag");
	close(fd);
}

static void test_honest(void)
{
	uint64_t since = by_segment();
	struct ct_threadbuf_head *h, *h2;
	struct ct_packet *p;
	struct content c;
	int err;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(h && h->magic == CT_MAGIC && h->abi == CT_ABI_VERSION && h->subbufs == SUBBUFS &&
		   h->subbuf_size == SUBBUF_SIZE && h->session == page->session &&
		   !memcmp(h->uuid, s.arg.uuid, 16),
	   "the head names the session");
	ok(h && !h->reserved[0], "and does not tell a container the host's pid");
	ok(mprotect(h, PAGE, PROT_READ | PROT_EXEC) && errno == EACCES, "it is not for code");
	p = packet_new(h);
	p->op_base = 1ull << 40;
	for (int i = 0; i < 3; i++)
		record(p, by_segment(), class, 10, i);
	ok(threadbuf_read(0) == ENOENT, "a packet that is not full stays");
	packet_new(h);
	ok(!threadbuf_read(0) && got.stream == h->stream, "when the next one begins it comes");
	c = look(since);
	ok(!c.bad && c.records == 3 && c.record[2]->op == 2 && c.record[1]->result == 2 &&
		   c.record[1]->depth == 3 && *(uint64_t *)(c.record[2] + 1) == 0x5a5a5a5a5a5a5a5a,
	   "with its records as they were written");
	ok(((struct ct_packet *)out)->op_base == 1ull << 40 &&
		   ((struct ct_packet *)out)->tid == (uint32_t)syscall(SYS_gettid) && !((struct ct_packet *)out)->seq,
	   "and a head of the module's own");
	ok(h->consumed == 1 && threadbuf_read(0) == ENOENT, "once, and its sub-buffer is free again");
	p = subbuf_of(h, 1);
	record(p, by_segment(), class, 0, 0);
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && look(since).records == 1,
	   "READ_ALL: also a packet that is not full");
	record(p, by_segment(), CT_CLASS_range_pop, 0, 1);
	record(p, by_segment(), class, 0, 2);
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL), "and what came since");
	c = look(since);
	ok(!c.bad && c.records == 2 && c.record[0]->op == 1 && ((struct ct_packet *)out)->seq == 2,
	   "in a packet of its own");

	h2 = threadbuf_new(SUBBUF_SIZE * 4, SUBBUFS, h->stream, &err);
	p = packet_new(h2);
	record(p, by_segment(), class, 0, 5);
	ok(h2->stream == h->stream && threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT,
	   "a larger thread buffer continues the stream of the first");
	record(subbuf_of(h, 1), by_segment(), class, 0, 3);
	err = h->stream;
	drop(h);
	ok(!threadbuf_read(0) && look(since).record[0]->op == 3 && got.stream == (uint32_t)err,
	   "what the first still had comes first");
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && look(since).record[0]->op == 5 &&
		   ((struct ct_packet *)out)->seq == 4,
	   "then the second's");
	h2->lost = 7;
	drop(h2);
	ok(!threadbuf_read(0) && look(since).lost == 7 && !look(since).bad,
	   "losses without a later record are reported");
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "that was all");
}

static void test_forged(void)
{
	uint64_t since = by_segment();
	int err, reported = 0, bad = 0;
	struct ct_threadbuf_head *h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	struct ct_packet *p = packet_new(h);
	struct ct_thread_record *r;
	struct mark *m;
	struct content c;

	p->pid = 1;
	p->tid = 1;
	p->uuid[0] ^= 1;
	p->ts_begin = 5;
	p->ts_end = 1;
	p->seq = 99;
	p->cpu = 9;
	record(p, since - 3600000000000ull, class, 3600000000000ull, 0);
	record(p, by_segment() + 3600000000000ull, class, CT_DURATION_MAX, 1);
	record(p, since, class, 0xfffeull << 48, 2);
	r = (void *)((uint8_t *)p + p->content_size / 8 - sizeof(*r) - 16);
	r->flags = 0xff;
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL), "a packet full of lies comes");
	c = look(since);
	ok(!c.bad && c.records == 3 && ((struct ct_packet *)out)->pid == (uint32_t)getpid(),
	   "with the thread's own name, and times inside its life");
	ok(c.record[2]->duration >> 48 == 0xffff, "and no CPU that there is not");

	m = (void *)((uint8_t *)p + p->content_size / 8 + sizeof(*r) - sizeof(m->head));
	r = (void *)((uint8_t *)p + p->content_size / 8);
	*r = (struct ct_thread_record){ .stamp = CT_STAMP(by_segment(), CT_CLASS_mark) };
	m->uid = 4711;
	m->len = sizeof(m->text);
	p->content_size += (sizeof(*r) + sizeof(*m) - sizeof(m->head)) * 8;
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && look(since).records == 1 &&
		   *(uint32_t *)(look(since).record[0] + 1) == getuid(),
	   "a mark's uid is that of the thread buffer");
	for (uint32_t id = CT_CLASS_call_open; id < 12; id++) {
		if (id == CT_CLASS_exit)
			continue;
		p = packet_new(h);
		record(p, by_segment(), class, 0, 0);
		record(p, by_segment(), id, 0, 1);
		record(p, by_segment(), class, 0, 2);
		bad += threadbuf_read(CT_THREADBUF_READ_ALL) != 0;
		c = look(since);
		bad += c.bad || c.records != 1 || c.lost != ++reported;
	}
	ok(!bad, "a class that programs may not write ends the packet and counts as a loss");
	p = packet_new(h);
	record(p, by_segment(), 0xfff0, 0, 0);
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && !look(since).bad &&
		   look(since).lost == ++reported,
	   "one that there is not, too");
	p = packet_new(h);
	record(p, by_segment(), class, 0, 0);
	p->content_size -= 64;
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && !look(since).bad && !look(since).records &&
		   look(since).lost == ++reported,
	   "a record that ends behind the content");
	p = packet_new(h);
	p->content_size = ~0ull;
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && !look(since).bad, "a content of 2^61 bytes");
	p = packet_new(h);
	p->magic = 0;
	record(p, by_segment(), class, 0, 0);
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "a packet that was not begun");
	h->produced += 100;
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "100 packets in four sub-buffers");
	drop(h);
	ok(!threadbuf_read(0) && look(since).lost > reported, "which is reported at the end");
	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	h->lost = -1000ull;
	drop(h);
	ok(!threadbuf_read(0) && ((struct ct_packet *)out)->lost == CT_THREADBUF_LOST_MAX,
	   "more lost records than any thread can lose count as a bounded number");
	empty();
}

static volatile int scribbling;

static void *scribble(void *arg)
{
	struct ct_threadbuf_head *h = arg;
	uint64_t *at = (void *)h, words = (CT_THREADBUF_DATA + SUBBUFS * SUBBUF_SIZE) / 8;
	unsigned seed = 1;

	while (scribbling) {
		uint64_t n = PAGE / 8 + rand_r(&seed) % (words - PAGE / 8), v = 0;

		switch (rand_r(&seed) % 8) {
		case 0:
			v = rand_r(&seed) * 0x100000001ull;
			break;
		case 1:
			v = CT_STAMP(by_segment(), class);
			break;
		case 2:
			v = CT_STAMP(by_segment(), CT_CLASS_mark);
			break;
		case 3:
			v = rand_r(&seed) % 65536;
			break;
		case 4:
			n = 512 + rand_r(&seed) % 8;
			v = rand_r(&seed) % 80;
			break;
		case 5: /* a packet that may be one */
			n = 1024 + rand_r(&seed) % SUBBUFS * (SUBBUF_SIZE / 8);
			((struct ct_packet *)(at + n))->magic = CT_MAGIC;
			n += 5;
			v = HEAD * 8 + rand_r(&seed) % 4096 * 64ull;
			break;
		case 6:
			n = (uint64_t *)&h->produced - at;
			v = h->consumed + (rand_r(&seed) % 64 ? rand_r(&seed) % 5u : 1ull << 40);
			break;
		case 7:
			n = (uint64_t *)&h->lost - at;
			v = rand_r(&seed) % 100;
			break;
		}
		__atomic_store_n(&at[n], v, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_hostile(void)
{
	uint64_t since = by_segment(), start = now(), packets = 0, records = 0, bad = 0;
	int err;
	struct ct_threadbuf_head *h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	struct content c;
	pthread_t t;

	scribbling = 1;
	pthread_create(&t, NULL, scribble, h);
	/* For five seconds; longer on a slow machine, until enough packets were read. */
	while (now() - start < 5000000000ull ||
	       (now() - start < 60000000000ull && (packets <= 100 || records <= 10))) {
		if (threadbuf_read(CT_THREADBUF_READ_ALL))
			continue;
		if (got.what != CT_THREADBUF_PACKET)
			continue;
		c = look(since);
		if (c.bad && !bad++)
			printf("# %s\n", c.why);
		packets++;
		records += c.records;
	}
	scribbling = 0;
	pthread_join(t, NULL);
	drop(h);
	empty();
	ok(packets > 100 && records > 10 && !bad,
	   "a thread that writes anything anywhere: %llu of %llu packets are not valid (%llu records)",
	   (unsigned long long)bad, (unsigned long long)packets, (unsigned long long)records);
}

static void test_lives(void)
{
	struct ct_threadbuf_head *h;
	struct ct_inflight_page *o = (void *)out;
	struct ct_packet *p;
	unsigned char in;
	int err, status, calls = 0;
	pid_t pid;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	pid = fork();
	if (!pid)
		_exit(mincore(h, PAGE, &in) && errno == ENOMEM ? 0 : 1);
	waitpid(pid, &status, 0);
	ok(!status, "a child does not inherit its parent's thread buffer");
	drop(h);
	empty();

	pid = fork();
	if (!pid) {
		h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
		p = packet_new(h);
		record(p, by_segment(), class, 0, 0);
		open_of(h)->pid = 1;
		for (int i = 0; i < 3; i++)
			open_of(h)->entry[i] =
				(struct ct_inflight_call){ .class = class, .op = 5, .begin = 7 };
		open_of(h)->entry[2].class = 0xfff0;
		open_of(h)->depth = 1000;
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	ok(!threadbuf_read(0) && got.pid == (uint32_t)pid && look(0).records == 1,
	   "the thread buffer of a killed process is read completely");
	ok(!threadbuf_read(0) && got.what == CT_THREADBUF_INFLIGHT && got.bytes == sizeof(*o) &&
		   o->magic == CT_MAGIC && o->pid == (uint32_t)pid && o->depth == 2 &&
		   o->entry[0].begin > 7,
	   "then the calls that it had open, as far as they can be");
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "and that is its end");

	for (calls = 0; calls < 64; calls++) {
		h = threadbuf_new(CT_THREADBUF_SUBBUF_MAX, 32, CT_THREADBUF_NONE, &err);
		if (!h)
			break;
	}
	ok(err == EDQUOT && calls == 7, "a user's thread buffers have a quota (%d of 32 MiB)",
	   calls);
}

/* ------------------------------------- memory that outlives its process ---- */

/* Of all processes of the test: what has happened. */
static int *step;

static void step_wait(int n)
{
	for (int i = 0; i < 60000 && __atomic_load_n(step, __ATOMIC_ACQUIRE) < n; i++)
		usleep(1000);
}

static void step_set(int n)
{
	__atomic_store_n(step, n, __ATOMIC_RELEASE);
}

static struct ct_threadbuf_head *heir_head;
static struct ct_packet *heir_packet;

/* Has its parent's memory, and writes on when the parent has gone. */
static int heir(void *unused)
{
	(void)unused;
	step_wait(1);
	record(heir_packet, now(), class, 0, 1);
	record(packet_new(heir_head), now(), class, 0, 2);
	step_set(2);
	step_wait(3);
	return 0;
}

static void test_heir(void)
{
	static _Alignas(16) char stack[65536];
	uint64_t mine = 0, since = now();
	int err, status;
	pid_t pid = fork();

	if (!pid) {
		heir_head = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
		heir_packet = packet_new(heir_head);
		record(heir_packet, now(), class, 0, 0);
		_exit(clone(heir, stack + sizeof(stack), CLONE_VM, NULL) < 0);
	}
	waitpid(pid, &status, 0);
	step_set(1);
	step_wait(2);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		mine += look(since).records * (got.pid == (uint32_t)pid);
	ok(!status && mine == 1, "a process that has ended writes no more, although its memory lives"
	   " (%llu records)", (unsigned long long)mine);
	step_set(3);
	usleep(100000);
	empty();
}

/* The same, but the parent goes on with another program. */
static void test_exec(void)
{
	static _Alignas(16) char stack[65536];
	char path[64], name[32] = "";
	uint64_t mine = 0, since = now();
	int err, fd, i;
	pid_t pid;

	step_set(0);
	pid = fork();
	if (!pid) {
		heir_head = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
		heir_packet = packet_new(heir_head);
		record(heir_packet, now(), class, 0, 0);
		if (clone(heir, stack + sizeof(stack), CLONE_VM, NULL) > 0)
			execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	for (i = 0; i < 10000 && strcmp(name, "sleep\n"); i++) {
		usleep(1000);
		fd = open(path, O_RDONLY);
		name[fd < 0 ? 0 : read(fd, name, sizeof(name) - 1)] = '\0';
		close(fd);
	}
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		mine += look(since).records * (got.pid == (uint32_t)pid);
	step_set(1);
	step_wait(2);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		mine += look(since).records * (got.pid == (uint32_t)pid);
	ok(!strcmp(name, "sleep\n") && mine == 1,
	   "nobody writes in the name of a process that runs another program (%llu records)",
	   (unsigned long long)mine);
	step_set(3);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	usleep(100000);
	empty();
}

/* Writes on when the first thread of its process has ended. */
static void *widow(void *unused)
{
	struct ct_packet *p;
	int err;

	(void)unused;
	heir_head = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p = packet_new(heir_head);
	step_set(1);
	step_wait(2);
	record(p, now(), class, 0, 1);
	_exit(0);
}

static void test_widow(void)
{
	char path[64], state[256] = "";
	uint64_t mine = 0, since = now();
	int status, fd, i;
	pthread_t t;
	pid_t pid;

	step_set(0);
	pid = fork();
	if (!pid) {
		pthread_create(&t, NULL, widow, NULL);
		step_wait(1);
		syscall(SYS_exit, 0);
	}
	/* The first thread is a zombie as long as others live. */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 10000 && !strstr(state, ") Z "); i++) {
		fd = open(path, O_RDONLY);
		status = read(fd, state, sizeof(state) - 1);
		close(fd);
		usleep(1000);
	}
	step_set(2);
	waitpid(pid, &status, 0);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		mine += look(since).records * (got.pid == (uint32_t)pid);
	ok(mine == 1, "a process whose first thread has ended goes on (%llu records)",
	   (unsigned long long)mine);
}

static void test_switches(void)
{
	struct ct_filter f = {
		.size = sizeof(f),
		.categories = 1,
	};
	uint32_t number = page->session;
	int err;

	call(s.fd, CT_IOC_FILTER, &f);
	threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(!page->session && page->recording && err == ENODATA,
	   "with a filter there are no thread buffers: it looks at tasks");
	f.categories = 0;
	call(s.fd, CT_IOC_FILTER, &f);
	ok(page->session && page->session != number, "without it they are back, as new ones");
	number = page->session;
	call(s.fd, CT_IOC_PAUSE, NULL);
	ok(!page->session && !page->recording && page->running, "pause");
	call(s.fd, CT_IOC_RESUME, NULL);
	ok(page->session && page->session != number && page->recording, "resume");
}

/* An extra reader, which sees the rings alone. */
static void test_watched(void)
{
	uint32_t number = page->session;
	struct pollfd p = { .fd = s.fd, .events = POLLIN };
	int err, fd = device(O_RDONLY | O_NONBLOCK), poller = device(O_RDONLY);
	char line[4096];

	poll(&p, 1, 0);
	ok(page->session == number, "the owner, and a file that only opens the device, change nothing");
	while (read(fd, line, sizeof(line)) > 0)
		;
	threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	ok(!page->session && page->recording && err == ENODATA,
	   "while there is an extra reader there are no thread buffers: all records go to the rings");
	p.fd = poller;
	poll(&p, 1, 0);
	close(fd);
	ok(!page->session, "or waits");
	close(poller);
	ok(page->session == number, "when the last has gone they are back");
}

/* An owner that is closed without CT_IOC_STOP orphans its session and thread buffers. */
static void test_orphan(void)
{
	struct ct_session adopted = { .size = sizeof(adopted) };
	struct ct_threadbuf_head *h = NULL;
	int err, fd;

	for (int unread = 0; unread < 2; unread++) {
		ok(!session_start(&s, SUBBUF_SIZE, 4, CT_SESSION_THREADBUFS), "a session");
		h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
		if (!h)
			break;
		record(packet_new(h), by_segment(), class, 0, 0);
		if (!unread)
			threadbuf_read(CT_THREADBUF_READ_ALL);
		for (uint32_t cpu = 0; cpu < s.arg.cpus; cpu++)
			s.cpu[cpu].consumer->consumed = s.cpu[cpu].status->committed;
		session_end(&s);
		fd = device(O_RDONLY);
		err = call(fd, CT_IOC_ADOPT, &adopted);
		ok(err == (unread ? 0 : ENODATA),
		   unread ? "a session with unread thread buffers is orphaned" :
			    "one that was read leaves nothing");
		s.fd = fd;
		if (unread)
			ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && look(0).records == 1,
			   "and can be adopted");
		call(fd, CT_IOC_STOP, NULL);
		close(fd);
		drop(h);
	}
}

/* ----------------------------- a million calls, and the calls inside them ---- */
#define CALLS 1000000
#define CHUNK 1000

struct moment {
	uint64_t begin, end;
};

/* Reads the records of the probe that are new in the rings. */
static int probed(uint32_t cpu, uint16_t id, uint64_t *pos, struct moment *m)
{
	const uint32_t size = s.arg.subbuf_size;
	const uint64_t mask = (uint64_t)size * s.arg.subbuf_count - 1;
	uint64_t end = __atomic_load_n(&s.cpu[cpu].status->committed, __ATOMIC_ACQUIRE);
	int n = 0;

	while (*pos < end) {
		uint64_t begin = *pos & ~(uint64_t)(size - 1), limit = end;
		const struct ct_packet *p = (void *)(s.cpu[cpu].data + (begin & mask));
		const struct ct_cpu_record *r;

		if (*pos == begin)
			*pos += HEAD;
		if (end >= begin + size)
			limit = begin + p->content_size / 8;
		if (*pos >= limit) {
			*pos = end >= begin + size ? begin + size : end;
			continue;
		}
		r = (void *)(s.cpu[cpu].data + (*pos & mask));
		if (CT_RECORD_CLASS(r->stamp) == id && r->tid == (uint32_t)getpid() && n < CHUNK) {
			m[n].end = CT_UNSTAMP(p->ts_begin, r->stamp);
			m[n].begin = m[n].end - (r->duration & CT_DURATION_MAX);
			n++;
		}
		*pos += sizeof(*r) + payload_size(CT_RECORD_CLASS(r->stamp), (void *)(r + 1));
	}
	__atomic_store_n(&s.cpu[cpu].consumer->consumed, end & ~(uint64_t)(size - 1),
			 __ATOMIC_RELEASE);
	return n;
}

/* Reads the new records of the thread buffer. */
static int called(struct moment *m)
{
	int n = 0;

	while (!threadbuf_read(CT_THREADBUF_READ_ALL)) {
		const struct ct_packet *p = (void *)out;

		for (uint64_t at = HEAD; at < p->content_size / 8 && n < CHUNK; n++) {
			const struct ct_thread_record *r = (void *)(out + at);

			m[n].end = CT_UNSTAMP(p->ts_begin, r->stamp);
			m[n].begin = m[n].end - (r->duration & CT_DURATION_MAX);
			at += sizeof(*r) + 16;
		}
	}
	return n;
}

/* The time, by clock_gettime() where there is no clock segment: as the library does. */
static uint64_t stamp(void)
{
	uint64_t t = by_segment();

	return t ? t : now();
}

static void test_order(void)
{
	static struct moment in[CHUNK], of[CHUNK];
	struct ct_probe_add add = { .size = sizeof(add), .symbol = "__x64_sys_getppid" };
	int err, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct ct_threadbuf_head *h =
		threadbuf_new(SUBBUF_SIZE * 16, SUBBUFS, CT_THREADBUF_NONE, &err);
	unsigned long outside = 0, wrong = 0;
	struct ct_probe_info info;
	struct ct_packet *p = NULL;
	uint64_t pos[64] = { 0 }, begin, end;

	err = call(s.fd, CT_IOC_PROBE_ADD, &add);
	if (err == EOPNOTSUPP) {
		skip(1, "a probe on a system call: the kernel is without");
		return;
	}
	if (!ok(!err, "a probe on a system call"))
		return;
	for (uint32_t i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (call(s.fd, CT_IOC_GET_PROBE, &info) || !strcmp(info.symbol, add.symbol))
			break;
	}
	for (int i = 0; i < cpus; i++)
		probed(i, info.class, &pos[i], in);
	for (int chunk = 0; chunk < CALLS / CHUNK; chunk++) {
		int cpu = chunk % cpus;

		pin(cpu);
		for (int i = 0; i < CHUNK; i++) {
			if (!p || p->content_size / 8 + 64 > h->subbuf_size)
				p = packet_new(h);
			begin = stamp();
			syscall(SYS_getppid);
			end = stamp();
			record(p, end, class, end - begin, i);
		}
		/* The class is defined when the first record is written. */
		if (!info.class)
			call(s.fd, CT_IOC_GET_PROBE, &info);
		err = called(of);
		wrong += err != CHUNK || probed(cpu, info.class, &pos[cpu], in) != CHUNK;
		for (int i = 0; i < CHUNK; i++)
			outside += in[i].begin < of[i].begin || in[i].end > of[i].end;
	}
	ok(!wrong,
	   "every call and every system call in it has its record (%lu chunks of %d without)",
	   wrong, CALLS / CHUNK);
	ok(!outside, "of %d system calls %lu lie outside the calls that made them", CALLS, outside);
	call(s.fd, CT_IOC_PROBE_REMOVE, &add);
	drop(h);
	empty();
}

static void test_end(void)
{
	struct ct_threadbuf_head *h;
	struct ct_packet *p;
	int err;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p = packet_new(h);
	record(p, by_segment(), class, 0, 0);
	open_of(h)->entry[0] =
		(struct ct_inflight_call){ .class = class, .op = 9, .begin = by_segment() };
	open_of(h)->depth = 1;
	ok(!call(s.fd, CT_IOC_STOP, NULL) && !page->session, "the session ends");
	err = threadbuf_read(CT_THREADBUF_READ_ALL);
	ok(!err && look(0).records == 1,
	   "its thread buffers can be read still (%d, what %u, stream %u, %u bytes, %d lost)", err,
	   got.what, got.stream, got.bytes, look(0).lost);
	ok(!threadbuf_read(CT_THREADBUF_READ_ALL) && got.what == CT_THREADBUF_INFLIGHT &&
		   ((struct ct_inflight_page *)out)->entry[0].op == 9,
	   "with the calls that are open");
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "once");
	record(p, now(), class, 0, 1);
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "what comes later is not read");
	session_end(&s);
	memset(h, 0, CT_THREADBUF_DATA);
	ok(1, "and its memory stays while it is mapped");
}

/* In a cgroup with little memory: 0 if only the largest thread buffer is refused. */
static int refused(void)
{
	int large, small;

	producer = device(O_WRONLY);
	threadbuf_new(CT_THREADBUF_SUBBUF_MAX, CT_THREADBUF_SUBBUFS_MAX, CT_THREADBUF_NONE, &large);
	threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &small);
	printf("# %s, %s\n", strerror(large), strerror(small));
	return large == ENOMEM && !small ? 0 : 1;
}

/* Usage: threadbuf [refused] */
int main(int argc, char **argv)
{
	struct ct_define def = define("threadbuf_test", "threadbuf_test");

	if (argc > 1 && !strcmp(argv[1], "refused"))
		return refused();
	producer = device(O_WRONLY);
	ok(!map_clock(producer), "the clock page");
	ok(!call(producer, CT_IOC_DEFINE, &def), "a class");
	class = def.id;
	step = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_refusals();
	await_segment();
	test_honest();
	test_forged();
	test_hostile();
	test_order();
	test_switches();
	test_watched();
	test_heir();
	test_exec();
	test_widow();
	test_lives();
	test_end();
	test_orphan();
	return tap_done();
}
