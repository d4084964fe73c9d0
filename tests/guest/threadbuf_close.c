// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pause and a filter close thread buffers: later records in a thread buffer that existed
 * before are not passed on, whatever times they have.  Runs as root in a guest with the
 * module loaded.  Prints TAP.
 */
#include <pthread.h>

#include "threadbuf.h"

#define SUBBUF_SIZE 4096u
#define SUBBUFS 4u

/* What closes thread buffers, and how it is undone. */
struct kind {
	const char *name;
	void (*close)(void);
	void (*open)(void);
};

static void do_pause(void)
{
	call(s.fd, CT_IOC_PAUSE, NULL);
}

static void do_resume(void)
{
	call(s.fd, CT_IOC_RESUME, NULL);
}

static void do_filter(void)
{
	struct ct_filter f = { .size = sizeof(f), .pids = 1, .pid = { 1 } };

	call(s.fd, CT_IOC_FILTER, &f);
}

static void no_filter(void)
{
	struct ct_filter f = { .size = sizeof(f) };

	call(s.fd, CT_IOC_FILTER, &f);
}

static const struct kind kinds[] = {
	{ "pause", do_pause, do_resume },
	{ "filter", do_filter, no_filter },
};

static const struct ct_packet *packet = (void *)out;

/* The number of records of this class in the packet that was read last. */
static uint64_t records(void)
{
	return (packet->content_size / 8 - CT_PACKET_HEAD) / 40;
}

/* The number of records in the next packet, or -1 if there is none. */
static int read_some(uint32_t flags)
{
	return threadbuf_read(flags) || got.what != CT_THREADBUF_PACKET ? -1 : (int)records();
}

static void test_writing(const struct kind *k)
{
	uint32_t number = page->session, then;
	struct ct_threadbuf_head *h, *h2;
	struct ct_packet *p;
	uint64_t before;
	int err, first, lost;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p = packet_new(h);
	record(p, now(), class, 0, 0);
	first = read_some(CT_THREADBUF_READ_ALL);
	record(p, now(), class, 0, 1);
	record(p, now(), class, 0, 2);
	before = now();
	k->close();
	ok(first == 1 && !page->session &&
		   !threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err) && err == ENODATA,
	   "%s: no thread buffers from here on", k->name);
	record(p, before, class, 0, 3); /* as if it had just been writing it */
	record(p, now(), class, 0, 4);
	p = packet_new(h);
	record(p, now(), class, 0, 5);
	open_of(h)->entry[0] =
		(struct ct_inflight_call){ .class = class, .op = 6, .begin = before };
	open_of(h)->entry[1] = (struct ct_inflight_call){ .class = class, .op = 7, .begin = now() };
	open_of(h)->depth = 2;
	ok(read_some(0) == 2, "%s: what was written before comes at once", k->name);
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "%s: what came since does not",
	   k->name);
	k->open();
	then = page->session;
	ok(then && then != number, "%s: after it thread buffers have another number", k->name);
	record(p, now(), class, 0, 8);
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "%s: and the old one stays closed",
	   k->name);
	h2 = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	if (ok(h2 && h2->session == then, "%s: there is a new one", k->name)) {
		record(packet_new(h2), now(), class, 0, 9);
		ok(read_some(CT_THREADBUF_READ_ALL) == 1, "%s: which is read", k->name);
		drop(h2);
	}
	drop(h);
	lost = read_some(CT_THREADBUF_READ_ALL) ? -1 : (int)packet->lost;
	ok(lost == 1, "%s: at its end, the record that it was just writing is lost (%d)", k->name,
	   lost);
	ok(!threadbuf_read(0) && got.what == CT_THREADBUF_INFLIGHT &&
		   ((struct ct_inflight_page *)out)->depth == 1 &&
		   ((struct ct_inflight_page *)out)->entry[0].op == 6,
	   "%s: in-flight calls that had begun before are passed on", k->name);
	ok(threadbuf_read(CT_THREADBUF_READ_ALL) == ENOENT, "%s: and that is all", k->name);
}

/* A thread that changes records that it had already written. */
static void test_hostile(const struct kind *k)
{
	uint64_t after, last;
	struct ct_threadbuf_head *h;
	struct ct_packet *p[2];
	int err, n[3];

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p[0] = packet_new(h);
	record(p[0], now(), class, 0, 0);
	record(p[0], now(), class, 0, 1);
	p[1] = packet_new(h);
	record(p[1], now(), class, 0, 2);
	k->close();
	after = now();
	usleep(2000);
	record(p[0], now(), class, 0, 3);
	record(p[1], now(), class, 0, 4);
	((struct ct_thread_record *)(p[0] + 1))->stamp = CT_STAMP(now(), class);
	n[0] = read_some(CT_THREADBUF_READ_ALL);
	last = packet->ts_end;
	n[1] = read_some(CT_THREADBUF_READ_ALL);
	n[2] = read_some(CT_THREADBUF_READ_ALL);
	ok(n[0] == 2 && n[1] == 1 && n[2] == -1,
	   "%s: packets before the last one get no longer, too (%d, %d, %d)", k->name, n[0], n[1],
	   n[2]);
	/* 1 ms, because a clock segment may differ a little from the clock. */
	ok(last <= after + 1000000, "%s: no time lies behind it", k->name);
	k->open();
	drop(h);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p[0] = packet_new(h);
	record(p[0], now(), class, 0, 0);
	h->produced += 1000;
	k->close();
	h->produced -= 1000;
	record(p[0], now(), class, 0, 1);
	n[0] = read_some(CT_THREADBUF_READ_ALL);
	h->produced += 1;
	n[1] = read_some(CT_THREADBUF_READ_ALL);
	ok(n[0] == -1 && n[1] == -1, "%s: a head with 1000 packets in four sub-buffers is not trusted",
	   k->name);
	k->open();
	drop(h);
	ok(!read_some(0) && packet->lost, "%s: which is reported at the end", k->name);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
}

/* The stream of a closed thread buffer continues in its successor. */
static void test_goes_on(const struct kind *k)
{
	struct ct_threadbuf_head *h, *h2;
	struct ct_packet *p;
	uint64_t before;
	int err, n;

	h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
	p = packet_new(h);
	record(p, now(), class, 0, 0);
	before = now();
	k->close();
	record(p, before, class, 0, 1);
	k->open();
	h2 = threadbuf_new(SUBBUF_SIZE, SUBBUFS, h->stream, &err);
	if (!ok(h2 && h2->stream == h->stream, "%s: a successor", k->name))
		return;
	record(packet_new(h2), now(), class, 0, 2);
	n = read_some(CT_THREADBUF_READ_ALL);
	drop(h);
	ok(n == 1 && read_some(CT_THREADBUF_READ_ALL) == 1 && packet->seq == 1 && packet->lost == 1,
	   "%s: goes on with its stream, and knows what was lost", k->name);
	drop(h2);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
}

/* ---------------- a thread that writes all the time and renews its thread buffer -- */
static int closed, done;

static void *write_always(void *unused)
{
	struct ct_threadbuf_head *h;
	struct ct_packet *p;
	int err;

	(void)unused;
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		h = threadbuf_new(SUBBUF_SIZE, SUBBUFS, CT_THREADBUF_NONE, &err);
		if (!h)
			continue;
		p = packet_new(h);
		for (int i = 0; i < 50; i++)
			record(p, now(), class, 0, __atomic_load_n(&closed, __ATOMIC_ACQUIRE));
		drop(h);
	}
	return NULL;
}

static void test_always(const struct kind *k)
{
	unsigned long open = 0, kept_out = 0;
	pthread_t t;

	done = 0;
	pthread_create(&t, NULL, write_always, NULL);
	for (int round = 0; round < 50 || (open < 1000 && round < 2000); round++) {
		usleep(2000);
		k->close();
		__atomic_store_n(&closed, 1, __ATOMIC_RELEASE);
		usleep(2000);
		__atomic_store_n(&closed, 0, __ATOMIC_RELEASE);
		k->open();
		while (!threadbuf_read(CT_THREADBUF_READ_ALL))
			for (uint64_t i = 0; got.what == CT_THREADBUF_PACKET && i < records();
			     i++) {
				if (((struct ct_thread_record *)(out + CT_PACKET_HEAD + i * 40))
					    ->op)
					kept_out++;
				else
					open++;
			}
	}
	done = 1;
	pthread_join(t, NULL);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
	ok(open >= 1000 && !kept_out,
	   "%s: of a thread that always writes, %lu records come, and %lu that should not", k->name,
	   open, kept_out);
}

int main(void)
{
	struct ct_define def = define("threadbuf_test", "threadbuf_test");

	setvbuf(stdout, NULL, _IOLBF, 0);
	producer = device(O_WRONLY);
	ok(!map_clock(producer), "the clock page");
	ok(!call(producer, CT_IOC_DEFINE, &def), "a class");
	class = def.id;
	session_start(&s, 65536, 64, CT_SESSION_THREADBUFS);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		test_writing(&kinds[i]);
		test_hostile(&kinds[i]);
		test_goes_on(&kinds[i]);
		test_always(&kinds[i]);
	}
	session_end(&s);
	return tap_done();
}
