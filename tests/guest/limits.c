// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The limits of a producer: its rates and its share of a lossless ring, also for its sched
 * events; and a flood does not cost an honest producer any record.  Runs as root in a guest
 * with the module loaded.  Prints TAP.
 */
#include <sys/wait.h>

#include "session.h"
#include "subuids.h"

#define FLOOD_UID	1001
#define HONEST_UID	1002

static uint64_t lost_for(const struct session *s, enum ct_lost why)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s->arg.cpus; cpu++)
		if (s->cpu[cpu].status)
			n += s->cpu[cpu].status->lost[why];
	return n;
}

static struct ct_limits limits_of(const struct session *s)
{
	struct ct_limits l = { .size = sizeof(l) };

	call(s->fd, CT_IOC_GET_LIMITS, &l);
	return l;
}

/* Becomes that user, makes n marks, us apart, and exits. */
static void produce(uid_t uid, const char *text, int n, int us)
{
	struct mark m = text_mark(text);
	int fd;

	if (setresuid(uid, uid, uid))
		_exit(1);
	fd = device(O_WRONLY);
	while (n--) {
		if (call(fd, CT_IOC_MARK(sizeof(m)), &m))
			_exit(1);
		if (us)
			usleep(us);
	}
	_exit(0);
}

/* A process of that user that makes n marks, us apart. */
static pid_t producer(uid_t uid, const char *text, int n, int us)
{
	pid_t pid = fork();

	if (!pid)
		produce(uid, text, n, us);
	return pid;
}

static int finished(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

/* Marks with this text in what can be read of a ring. */
static uint64_t with_text(const struct session *s, uint32_t cpu, const char *text)
{
	uint64_t end = s->cpu[cpu].status->committed, n = 0;
	const uint8_t *data = s->cpu[cpu].data, *p;
	size_t len = strlen(text);

	/* The rings of these tests are never overwritten. */
	for (p = data; p + len <= data + end; p += 2)
		n += *p == *text && !memcmp(p, text, len);
	return n;
}

static void test_refusals(void)
{
	struct ct_limits l = { .size = sizeof(l) }, got = l;
	int rw = device(O_RDWR), r = device(O_RDONLY);
	struct session s;

	ok(call(rw, CT_IOC_LIMITS, &l) == ENODATA && call(r, CT_IOC_GET_LIMITS, &got) == ENODATA,
	   "limits are a session's: ENODATA");
	session_start(&s, 4096, 16, 0);
	ok(!call(r, CT_IOC_GET_LIMITS, &got) && got.share == CT_SHARE_DEFAULT && !got.records &&
	   !got.bytes && !got.flags, "a lossless session begins with a share of %u %%", CT_SHARE_DEFAULT);
	l.share = 101;
	ok(call(rw, CT_IOC_LIMITS, &l) == EINVAL, "a share above 100: EINVAL");
	l.share = 50;
	l.flags = 64;
	ok(call(rw, CT_IOC_LIMITS, &l) == EINVAL, "an unknown flag: EINVAL");
	l.flags = CT_LIMIT_PROCESS | CT_LIMIT_CGROUP;
	ok(call(rw, CT_IOC_LIMITS, &l) == EINVAL, "two kinds of producers: EINVAL");
	l.flags = CT_LIMIT_PROCESS;
	l.records = 1000;
	ok(!call(rw, CT_IOC_LIMITS, &l) && !call(r, CT_IOC_GET_LIMITS, &got) &&
	   got.share == 50 && got.records == 1000 && got.flags == CT_LIMIT_PROCESS,
	   "limits can be set and read back");
	ok(call(r, CT_IOC_LIMITS, &l) == EBADF, "not by a reader: EBADF");
	session_end(&s);
	session_start(&s, 4096, 16, CT_SESSION_OVERWRITE);
	ok(call(s.fd, CT_IOC_LIMITS, &l) == EINVAL, "no share of what overwrites: EINVAL");
	session_end(&s);
	close(rw);
	close(r);
}

static void test_share(void)
{
	struct ct_limits l = { .size = sizeof(l), .share = 25 };
	struct session s;
	uint64_t written, ring = 4096 * 16;

	pin(0);
	session_start(&s, 4096, 16, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	ok(finished(producer(FLOOD_UID, "flood", 5000, 0)), "a flood sees no error");
	written = s.cpu[0].status->committed;
	ok(written > ring / 5 && written < ring * 3 / 10,
	   "it gets its quarter of the ring (%llu of %llu bytes)",
	   (unsigned long long)written, (unsigned long long)ring);
	ok(with_text(&s, 0, "flood") + lost_for(&s, CT_LOST_SHARE) == 5000 &&
	   !lost_for(&s, CT_LOST_FULL), "the lost records are counted under their own reason");
	s.cpu[0].consumer->consumed = s.cpu[0].status->committed & ~4095ull;
	finished(producer(FLOOD_UID, "flood", 5000, 0));
	ok(s.cpu[0].status->committed > written + ring / 6,
	   "what the owner has consumed can be used again");
	ok(s.cpu[0].status->committed < written + ring * 3 / 10, "and no more than that");
	session_end(&s);
}

/* The largest record that a text can make. */
struct large_mark {
	struct ct_mark_head head;
	uint32_t uid;
	uint16_t len;
	char text[CT_RECORD_MAX - sizeof(struct ct_cpu_record) - 6];
};

/*
 * A producer that is alone, with the smallest share: a packet with some small records and a large
 * one has no space for another large one, which must close it all the same.
 */
static void test_smallest(void)
{
	struct large_mark m = { .head = { .size = sizeof(m), .class = CT_CLASS_mark,
					  .flags = CT_F_INSTANT }, .len = sizeof(m.text) };
	struct ct_limits l = { .size = sizeof(l), .share = 1 };
	struct mark small = text_mark("small");
	struct session s;
	int i;

	pin(0);
	session_start(&s, 4096, 16, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	for (i = 0; i < 3; i++)
		call(s.fd, CT_IOC_MARK(sizeof(small)), &small);
	for (i = 0; i < 100; i++) {
		call(s.fd, CT_IOC_MARK(sizeof(m)), &m);
		s.cpu[0].consumer->consumed = s.cpu[0].status->committed & ~4095ull;
	}
	ok(s.cpu[0].status->records >= 103 && !lost(&s, 0),
	   "a producer that is alone goes on with the smallest share (%llu of 103, %llu lost)",
	   (unsigned long long)s.cpu[0].status->records, (unsigned long long)lost(&s, 0));
	session_end(&s);
}

#define USERS	2000u

/* Producers never share a limit by chance. */
static void test_exact(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 50, .share = 100 };
	struct session s;
	uid_t uid;

	session_start(&s, 65536, 16, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	for (uid = 5000; uid < 5040; uid++)
		finished(producer(uid, "exact", 50, 0));
	l = limits_of(&s);
	ok(!lost_for(&s, CT_LOST_RATE) && !l.shared,
	   "40 users have 40 rates (%llu records lost, %llu charges to the shared entry)",
	   (unsigned long long)lost_for(&s, CT_LOST_RATE), (unsigned long long)l.shared);
	session_end(&s);
}

/* More producers than entries: one that has recorded nothing for a second gives its entry away. */
static void test_table(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 50, .share = 100 };
	struct mark m = text_mark("table");
	uint64_t shared, start, given, ms;
	struct session s;
	uid_t uid;

	session_start(&s, 4096, 1024, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	start = now();
	for (uid = 10000; uid < 10000 + USERS; uid++)
		if (setresuid(uid, 0, 0) || call(s.fd, CT_IOC_MARK(sizeof(m)), &m))
			break;
	ms = (now() - start) / 1000000;
	setresuid(0, 0, 0);
	shared = limits_of(&s).shared;
	given = USERS - shared;
	ok(uid == 10000 + USERS && given >= CT_LIMIT_PRODUCERS &&
		   given <= CT_LIMIT_PRODUCERS * (1 + ms / 1000) + CT_LIMIT_PRODUCERS,
	   "%u users: %llu get an entry, in %llu ms", USERS, (unsigned long long)given,
	   (unsigned long long)ms);
	ok(lost_for(&s, CT_LOST_RATE) && lost_for(&s, CT_LOST_RATE) <= shared,
	   "the others share one, with its rate (%llu records lost)",
	   (unsigned long long)lost_for(&s, CT_LOST_RATE));
	usleep(1200000);
	ok(!limits_of(&s).producers, "a second later no entry is in use");
	given = lost(&s, 0);
	finished(producer(HONEST_UID, "honest", 50, 0));
	l = limits_of(&s);
	ok(l.shared == shared && lost(&s, 0) == given && l.producers == 1,
	   "and a new producer gets one (%llu in use)", (unsigned long long)l.producers);
	session_end(&s);
}

/* Five of the uids that there are here flood, one after the other. */
static void five_floods(void)
{
	uid_t uid;

	for (uid = 1; uid <= 5; uid++)
		if (!finished(producer(uid, "flood", 500, 0)))
			_exit(1);
}

/* The same in a container: a pid namespace that root of the machine has made. */
static pid_t container(void (*run)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (unshare(CLONE_NEWPID))
		_exit(1);
	pid = fork();
	if (!pid) {
		run();
		_exit(0);
	}
	_exit(!finished(pid));
}

/* Namespaces that a container makes are its own. */
static void nested_floods(void)
{
	int i;

	for (i = 0; i < 3; i++)
		if (!finished(container(five_floods)))
			_exit(1);
}

static int go[2];	/* a pipe: what is written there lets honest_root() begin */

static void honest_root(void)
{
	char byte;

	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	produce(0, "honest", 50, 0);
}

/* Who has many uids, or makes many namespaces, is still one producer. */
static void test_identity(void)
{
	struct session s;
	uint64_t flood, more;
	pid_t other;

	pin(0);
	session_start(&s, 4096, 16, 0);
	ok(finished(with_subuids(FLOOD_UID, five_floods)), "five uids of a user namespace");
	flood = s.cpu[0].status->committed;
	ok(flood <= 4096 * 13 && lost_for(&s, CT_LOST_SHARE) && limits_of(&s).producers == 1,
	   "are one producer (%llu of %u bytes)", (unsigned long long)flood, 4096 * 16);
	finished(producer(FLOOD_UID, "owner", 500, 0));
	more = with_text(&s, 0, "owner");
	ok(more < 10, "as is the user who made it (%llu more)", (unsigned long long)more);
	finished(producer(HONEST_UID, "honest", 50, 0));
	ok(with_text(&s, 0, "honest") == 50, "other users have their own");
	session_end(&s);

	/* Both are there at once: the number of a namespace that is gone is given again. */
	session_start(&s, 4096, 16, 0);
	if (pipe(go))
		_exit(2);
	other = container(honest_root);
	ok(finished(container(nested_floods)), "a container with users and containers of its own");
	flood = s.cpu[0].status->committed;
	ok(flood <= 4096 * 13 && lost_for(&s, CT_LOST_SHARE) && limits_of(&s).producers == 1,
	   "is one producer (%llu of %u bytes)", (unsigned long long)flood, 4096 * 16);
	if (write(go[1], "", 1) != 1)
		_exit(2);
	finished(other);
	more = with_text(&s, 0, "honest");
	ok(more == 50, "root of another container is another one (%llu of 50)",
	   (unsigned long long)more);
	ok(finished(producer(0, "machine", 20, 0)) && with_text(&s, 0, "machine") == 20 &&
	   !lost_for(&s, CT_LOST_FULL), "and root of the machine a third");
	session_end(&s);
}

/*
 * The ring has wrapped since a producer last exceeded its share.  Charges to packets that
 * were consumed must be gone, and charges to the new packets in their places must stay.
 */
static void test_round(void)
{
	struct session s;
	uint64_t before, flood;
	int packet = 4096 / MARK_RING;

	pin(0);
	session_start(&s, 4096, 16, 0);
	finished(producer(HONEST_UID, "honest", 10 * packet, 0));
	s.cpu[0].consumer->consumed = before = s.cpu[0].status->committed & ~4095ull;
	finished(producer(FLOOD_UID, "flood", 5000, 0));
	flood = s.cpu[0].status->committed - before;
	ok(flood <= 4096 * 13 && !lost_for(&s, CT_LOST_FULL),
	   "a flood gets its share, also where packets of others were consumed (%llu of %u bytes)",
	   (unsigned long long)flood, 4096 * 16);
	before = lost(&s, 0);
	finished(producer(HONEST_UID, "honest", packet, 0));
	ok(lost(&s, 0) == before, "and another producer gets its own");
	session_end(&s);
}

#define MANY 27 /* marks of which two arrays fill a packet of 4096 bytes */

static void write_packets(int fd, int n)
{
	static struct mark many[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		many[i] = text_mark("many");
	for (i = 0; i < 2 * n; i++)
		call(fd, CT_IOC_MARK(sizeof(many)), many);
}

/* The ns of two sub-buffer switches after the owner has consumed n packets; the best of 5. */
static uint64_t after_backlog(struct session *s, int n)
{
	uint64_t best = ~0ull, start;
	int i;

	for (i = 0; i < 5; i++) {
		write_packets(s->fd, n);
		s->cpu[0].consumer->consumed = s->cpu[0].status->committed & ~4095ull;
		start = now();
		write_packets(s->fd, 2);
		if (now() - start < best)
			best = now() - start;
	}
	return best;
}

/* The writer that finds a large backlog consumed, in whichever context, does not pay for it. */
static void test_backlog(void)
{
	uint64_t small, large;
	struct session s;

	pin(0);
	session_start(&s, 4096, 16384, 0);
	small = after_backlog(&s, 1);
	large = after_backlog(&s, 4000);
	ok(large < 3 * small + 200000, "two packets after 1 consumed one: %llu us, after 4000: %llu us",
	   (unsigned long long)small / 1000, (unsigned long long)large / 1000);
	ok(!lost(&s, 0), "and nothing is lost");
	session_end(&s);
}

/* An honest producer loses no record, no matter which one floods, or in which order. */
static void test_flood(void)
{
	struct session s;
	uint64_t honest;
	pid_t flood, slow;
	int good;

	pin(0);
	session_start(&s, 4096, 64, 0);
	flood = producer(FLOOD_UID, "flood", 20000, 0);
	slow = producer(HONEST_UID, "honest", 200, 500);
	good = finished(slow) & finished(flood);
	honest = with_text(&s, 0, "honest");
	ok(good && honest == 200, "beside a flood an honest producer loses nothing (%llu of 200)",
	   (unsigned long long)honest);
	ok(lost_for(&s, CT_LOST_SHARE) > 1000 && !lost_for(&s, CT_LOST_FULL),
	   "only the flood does");
	finished(producer(HONEST_UID, "honest", 100, 0));
	ok(with_text(&s, 0, "honest") == 300, "neither does one that comes after the flood");
	session_end(&s);
}

/* A process of that user that makes a mark, so that it is traced, and sleeps n times. */
static pid_t sleeper(uid_t uid, int n)
{
	struct mark m = text_mark("sleeper");
	pid_t pid = fork();

	if (pid)
		return pid;
	if (setresuid(uid, uid, uid) || call(device(O_WRONLY), CT_IOC_MARK(sizeof(m)), &m))
		_exit(1);
	while (n--)
		usleep(1);
	_exit(0);
}

/* A thread that leaves the CPU all the time fills only its share of the ring. */
static void test_switches(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 100, .share = 100 };
	uint64_t groups = 1u << CT_GROUP_SWITCH, start, written, most, honest, before = 0;
	struct session s;

	pin(0);
	session_of(&s, 4096, 16, 0, groups);
	ok(finished(sleeper(FLOOD_UID, 2000)), "a program that sleeps 2000 times");
	written = s.cpu[0].status->committed;
	ok(written > 4096 * 10 && written <= 4096 * 13,
	   "its switches get its share of the ring (%llu of %u bytes)",
	   (unsigned long long)written, 4096 * 16);
	ok(lost_for(&s, CT_LOST_SHARE) > 1000, "the lost records are counted (%llu)",
	   (unsigned long long)lost_for(&s, CT_LOST_SHARE));
	finished(producer(HONEST_UID, "honest", 50, 0));
	ok(with_text(&s, 0, "honest") == 50 && !lost_for(&s, CT_LOST_FULL),
	   "a producer that comes after it loses no record");
	s.cpu[0].consumer->consumed = s.cpu[0].status->committed & ~4095ull;
	written = s.cpu[0].status->committed;
	finished(sleeper(FLOOD_UID, 2000));
	ok(s.cpu[0].status->committed > written + 4096 * 10 &&
	   s.cpu[0].status->committed <= written + 4096 * 13, "what was consumed can be used again");
	session_end(&s);

	/*
	 * Wake-ups are charged to the sleeper, not to the task that is interrupted: here the
	 * idle task, whose uid is 0.
	 */
	session_of(&s, 65536, 64, 0, groups);
	call(s.fd, CT_IOC_LIMITS, &l);
	start = now();
	finished(sleeper(FLOOD_UID, 2000));
	most = 100 + 100 * (now() - start) / 1000000000 + 1;
	written = s.cpu[0].status->records;
	before = lost_for(&s, CT_LOST_RATE);
	finished(producer(0, "honest", 50, 0));
	honest = with_text(&s, 0, "honest");
	session_end(&s);
	ok(written >= 90 && written <= most + 1 && before > 1000,
	   "a rate of 100 a second: %llu records, %llu lost", (unsigned long long)written,
	   (unsigned long long)before);
	ok(honest == 50, "charged to the sleeper alone (%llu of 50)", (unsigned long long)honest);
}

static void test_rate(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 500, .share = 100 };
	struct session s;
	uint64_t start, written, most;

	session_start(&s, 65536, 64, 0);
	call(s.fd, CT_IOC_LIMITS, &l);
	start = now();
	finished(producer(FLOOD_UID, "flood", 5000, 0));
	finished(producer(HONEST_UID, "honest", 100, 0));
	written = with_text(&s, 0, "flood");
	most = 500 + 500 * (now() - start) / 1000000000 + 1;
	ok(written >= 490 && written <= most, "a rate of 500 a second: %llu of 5000 are written",
	   (unsigned long long)written);
	ok(with_text(&s, 0, "honest") == 100, "another producer has a rate of its own");
	ok(written + lost_for(&s, CT_LOST_RATE) == 5000, "the others are counted as lost");
	l.records = 0;
	l.bytes = 10000;
	call(s.fd, CT_IOC_LIMITS, &l);
	start = now();
	finished(producer(FLOOD_UID, "weight", 5000, 0));
	written = with_text(&s, 0, "weight");
	most = (10000 + 10000 * (now() - start) / 1000000000) / MARK_RING + 1;
	ok(written >= 10000 / 80 && written <= most, "a rate of 10000 bytes a second: %llu of 5000",
	   (unsigned long long)written);
	l.bytes = 0;
	call(s.fd, CT_IOC_LIMITS, &l);
	finished(producer(FLOOD_UID, "free", 1000, 0));
	ok(with_text(&s, 0, "free") == 1000, "without limits all are");
	session_end(&s);
}

/* A rate holds at once, also for a task that is just writing. */
static void test_at_once(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 10, .share = 75 };
	struct mark m = text_mark("at once");
	uint64_t start, written, most;
	struct session s;
	int i;

	pin(0);
	session_start(&s, 65536, 16, 0);
	for (i = 0; i < 10; i++)
		call(s.fd, CT_IOC_MARK(sizeof(m)), &m);
	start = now();
	call(s.fd, CT_IOC_LIMITS, &l);
	for (i = 0; i < 500; i++)
		call(s.fd, CT_IOC_MARK(sizeof(m)), &m);
	written = with_text(&s, 0, "at once");
	most = 10 + 10 + 10 * (now() - start) / 1000000000 + 1;
	ok(written >= 10 + 9 && written <= most, "a rate holds at once (%llu, at most %llu)",
	   (unsigned long long)written, (unsigned long long)most);
	session_end(&s);
}

/* The text reports the loss, with its reason. */
static void test_told(void)
{
	struct ct_limits l = { .size = sizeof(l), .records = 10, .share = 100 };
	struct session s;
	static char buf[1 << 20];
	ssize_t n, used = 0;
	int r, tries;

	session_start(&s, 65536, 16, 0);
	r = device(O_RDONLY | O_NONBLOCK);
	call(s.fd, CT_IOC_LIMITS, &l);
	finished(producer(FLOOD_UID, "flood", 1000, 0));
	for (tries = 0; tries < 2000 && !strstr(buf, "\"name\":\"lost\""); tries++) {
		n = read(r, buf + used, sizeof(buf) - 1 - used);
		if (n <= 0)
			usleep(10000);
		else
			used += n;
	}
	ok(strstr(buf, "\"name\":\"lost\"") && strstr(buf, "\"reason\":\"rate\""),
	   "a line reports the loss to a reader");
	close(r);
	session_end(&s);
}

/* How many new strings of the greatest length this user may define until ENOSPC. */
static uint32_t define_strings(uid_t uid)
{
	static uint32_t round;
	uint32_t *n = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ct_string str = { .size = sizeof(str) };
	static char text[CT_STRING_MAX];
	int fd, error = 0, status;
	uint32_t count;
	pid_t pid;

	round++;
	pid = fork();
	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		fd = device(O_WRONLY);
		memset(text, 'x', sizeof(text));
		for (; *n < 2 * CT_QUOTA_STRING_BYTES / sizeof(text); ++*n) {
			snprintf(text, sizeof(text), "%u:%u:%u", round, uid, *n);
			text[strlen(text)] = 'y';
			str.text = (uintptr_t)text;
			str.len = sizeof(text);
			error = call(fd, CT_IOC_STRING, &str);
			if (error)
				break;
		}
		_exit(error != ENOSPC);
	}
	waitpid(pid, &status, 0);
	count = status ? ~0u : *n;
	munmap(n, PAGE);
	return count;
}

/* Strings of a user, and how long they stay. */
static void test_strings(void)
{
	uint32_t quota = CT_QUOTA_STRING_BYTES / CT_STRING_MAX;
	struct session s;

	/* An orphaned session of another test keeps them, too: this one replaces it. */
	session_start(&s, 4096, 16, 0);
	session_end(&s);
	ok(define_strings(FLOOD_UID) == quota, "strings of a user: %u bytes, then ENOSPC",
	   CT_QUOTA_STRING_BYTES);
	ok(define_strings(FLOOD_UID) == quota, "they are freed when nobody has them any more");
	session_start(&s, 4096, 16, 0);
	ok(define_strings(FLOOD_UID) == quota, "the same in a session");
	ok(!define_strings(FLOOD_UID), "which keeps them");
	session_end(&s);
	ok(define_strings(FLOOD_UID) == quota, "until it ends");
}

/* Two uids of a container whose uids are remapped: one quota. */
static void strings_as_two(uid_t uid)
{
	if (define_strings(uid) != CT_QUOTA_STRING_BYTES / CT_STRING_MAX || define_strings(uid + 1))
		_exit(1);
}

static void strings_of_one(void)
{
	strings_as_two(1);
}

static void strings_of_other(void)
{
	strings_as_two(3);
}

/* A daemon with all rights made their user namespaces: they are not one producer, nor root. */
static void test_remapped(void)
{
	struct session s;

	session_start(&s, 4096, 16, 0);
	ok(finished(with_subuids(0, strings_of_one)),
	   "a container whose uids are remapped has a quota of its own, with all its uids");
	ok(finished(with_subuids(0, strings_of_other)), "and so has the next one");
	ok(define_strings(0) == CT_QUOTA_STRING_BYTES / CT_STRING_MAX, "and the machine's root");
	session_end(&s);
}

/* A class of this name, defined with the file; its id, or 0. */
static uint32_t define_id(int fd, const char *name)
{
	struct ct_define d = define(name, name);

	return call(fd, CT_IOC_DEFINE, &d) ? 0 : d.id;
}

/* Does the class with this id have this name? */
static int is_class(int r, uint32_t id, const char *name)
{
	struct ct_define d = { .size = sizeof(d), .id = id };

	return !call(r, CT_IOC_GET_DEFINE, &d) && d.id == id && !strcmp(d.name, name);
}

/* Who keeps ids: an open file, a session, its readers, the clock page. */
static void test_lifetime(void)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	int w = device(O_WRONLY), r = device(O_RDONLY), old;
	struct mark m = text_mark("");
	struct session s;
	uint32_t id;

	id = define_id(w, "by_file");
	session_start(&s, 4096, 16, 0);
	session_end(&s);
	m.head = (struct ct_mark_head){ .size = 48, .class = id };
	ok(id && is_class(r, id, "by_file") && !call(w, CT_IOC_MARK(48), &m),
	   "an open file keeps the ids of its classes from one session to the next");
	close(w);
	ok(!is_class(r, id, "by_file"), "and no longer");

	session_start(&s, 4096, 16, 0);
	old = device(O_RDONLY);
	w = device(O_WRONLY);
	id = define_id(w, "by_session");
	close(w);
	ok(is_class(r, id, "by_session"), "a session keeps them");
	session_end(&s);
	ok(is_class(r, id, "by_session"), "so do its readers, when it has ended");
	session_start(&s, 4096, 16, 0);
	close(old);
	ok(is_class(r, id, "by_session"), "and the next session, if it has begun meanwhile");
	session_end(&s);
	ok(!is_class(r, id, "by_session"), "when all are gone they are freed");

	w = device(O_WRONLY);
	call(w, CT_IOC_CLOCK, &map);
	id = define_id(w, "by_page");
	close(w);
	ok(is_class(r, id, "by_page"), "a program that has the clock page may close its files");
	munmap((void *)(uintptr_t)map.address, map.length);
	ok(!is_class(r, id, "by_page"), "but not unmap it as well");
	close(r);
}

static void test_all_strings(void)
{
	uint32_t n = 0, one = CT_QUOTA_STRING_BYTES / CT_STRING_MAX;
	struct session s;
	uid_t uid;

	session_start(&s, 4096, 16, 0);
	for (uid = 3000; uid < 3005; uid++)
		n += define_strings(uid);
	ok(n == 4 * one && define_strings(3005) == 0,
	   "strings of five users: %u of %u bytes, then ENOSPC for all", n, CT_STRING_MAX);
	session_end(&s);
}

/* How many classes this user can define, at most n; *error: the errno of the last call. */
static uint32_t define_many(uid_t uid, uint32_t most, int *error)
{
	struct { uint32_t n; int error; } *said = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
						       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ct_define d = { .size = sizeof(d) };
	pid_t pid = fork();
	uint32_t n;
	int fd;

	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		fd = device(O_WRONLY);
		strcpy(d.name, "many");
		for (; said->n < most && !said->error; said->n += !said->error) {
			snprintf(d.symbol, sizeof(d.symbol), "many_%u_%u", uid, said->n);
			said->error = call(fd, CT_IOC_DEFINE, &d);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	n = said->n;
	*error = said->error;
	munmap(said, PAGE);
	return n;
}

/* Two of the uids of a user namespace. */
static void define_as_two(void)
{
	int error;

	if (define_many(1, 2 * CT_QUOTA_CLASSES, &error) != CT_QUOTA_CLASSES ||
	    define_many(2, 1, &error) || error != ENOSPC)
		_exit(1);
}

/* Users may not use the last ids. */
static void test_classes(void)
{
	struct ct_probe_add add = { .size = sizeof(add), .symbol = "__x64_sys_getpriority",
				    .args = 1,
				    .arg = { { .name = "ids", .type = CT_TYPE_u64 } } };
	uint32_t n = 0, one;
	struct session s;
	int error = 0;
	uid_t uid;

	session_start(&s, 4096, 16, 0);
	ok(finished(with_subuids(HONEST_UID, define_as_two)),
	   "uids of a user namespace have one quota of classes");
	session_end(&s);
	session_start(&s, 4096, 16, 0);
	one = define_many(FLOOD_UID, 2 * CT_QUOTA_CLASSES, &error);
	ok(one == CT_QUOTA_CLASSES && error == ENOSPC, "classes of a user: %u, then ENOSPC", one);
	for (uid = 2000; uid < 2010 && error == ENOSPC; uid++)
		n += define_many(uid, 2 * CT_QUOTA_CLASSES, &error);
	ok(n + one <= CT_QUOTA_CLASSES_ALL && n + one > CT_QUOTA_CLASSES_ALL - 100 &&
	   error == ENOSPC, "of ten others with it: %u, then ENOSPC", n + one);
	ok(!call(s.fd, CT_IOC_PROBE_ADD, &add), "a probe finds an id all the same");
	call(s.fd, CT_IOC_PROBE_REMOVE, &add);
	session_end(&s);
	ok(define_many(0, 10, &error) == 10, "and so does root");
}

#define CHARGED	3000

static long memory_of(const char *file)
{
	FILE *f = fopen(file, "r");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Defines classes.  0: the memory of this process's cgroup, by this file, has grown by as much. */
static int charged(const char *file)
{
	long before, grown, wanted = CHARGED * (long)sizeof(struct ct_define) * 3 / 4;
	int fd = device(O_WRONLY);
	char name[32];

	before = memory_of(file);
	for (int i = 0; i < CHARGED; i++) {
		struct ct_define d;

		snprintf(name, sizeof(name), "charged_%d", i);
		d = define(name, name);
		if (call(fd, CT_IOC_DEFINE, &d))
			return 2;
	}
	grown = memory_of(file) - before;
	printf("# %ld bytes for %d classes, at least %ld\n", grown, CHARGED, wanted);
	return before < 0 || grown < wanted;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "classes")) {
		test_classes();
		test_all_strings();
		return tap_done();
	}
	if (argc > 2 && !strcmp(argv[1], "charged"))
		return charged(argv[2]);
	test_refusals();
	test_share();
	test_smallest();
	test_exact();
	test_table();
	test_identity();
	test_round();
	test_backlog();
	test_flood();
	test_switches();
	test_rate();
	test_at_once();
	test_told();
	test_strings();
	test_remapped();
	test_lifetime();
	return tap_done();
}
