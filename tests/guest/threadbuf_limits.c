// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The limits of a producer with thread buffers: the same rates as with CT_IOC_MARK, and a
 * quota of memory.  Runs as root in a guest with the module loaded.  Prints TAP.
 *
 * Usage: threadbuf_limits
 *	  threadbuf_limits order PROCS	while a session runs: a user whose quota is used up asks
 *	for a thread buffer, in the cgroup with little memory whose cgroup.procs file is PROCS.
 *	Exit status 0 if the error is EDQUOT.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "subuids.h"
#include "threadbuf.h"

#define FLOOD_UID 1001
#define HONEST_UID 1002
#define QUOTA_UID 1010 /* whose thread buffers only count */
#define STREAMS_UID 1011
#define SUBBUF_SIZE 65536u
#define RECORD 40u /* bytes of one of class */

/* The number of records in a packet of this test, which must be valid. */
static uint64_t records_in(const struct ct_packet *p)
{
	return (p->content_size / 8 - CT_PACKET_HEAD) / RECORD;
}

struct seen {
	uint64_t records;
	uint64_t lost; /* as the last packet of its stream says */
	uint64_t packets;
	uint64_t open; /* in-flight calls */
};

/* Reads everything that there is of one process. */
static void take(struct seen *seen, pid_t pid)
{
	const struct ct_packet *p = (void *)out;

	while (!threadbuf_read(CT_THREADBUF_READ_ALL)) {
		if (got.pid != (uint32_t)pid)
			continue;
		if (got.what == CT_THREADBUF_INFLIGHT) {
			seen->open += ((struct ct_inflight_page *)out)->depth;
			continue;
		}
		seen->packets++;
		seen->records += records_in(p);
		seen->lost = p->lost;
	}
}

/*
 * A process of that user that writes n records into a thread buffer and ends with that many
 * in-flight calls.  junk: it writes packets without records instead.
 */
static pid_t writer(uid_t uid, int n, uint32_t open, int junk)
{
	struct ct_packet *p = NULL;
	struct ct_threadbuf_head *h;
	pid_t pid = fork();
	int err, i;

	if (pid)
		return pid;
	if (setresuid(uid, uid, uid))
		_exit(1);
	producer = device(O_WRONLY);
	h = threadbuf_new(SUBBUF_SIZE, 16, CT_THREADBUF_NONE, &err);
	if (!h)
		_exit(2);
	for (i = 0; i < n; i++) {
		if (!p || junk || p->content_size / 8 + RECORD > SUBBUF_SIZE) {
			while (h->produced - __atomic_load_n(&h->consumed, __ATOMIC_ACQUIRE) >= 16)
				usleep(100);
			p = packet_new(h);
		}
		record(p, now(), junk ? 0xfff0 : class, 0, i);
	}
	for (uint32_t k = 0; k < open; k++)
		open_of(h)->entry[k] = (struct ct_inflight_call){ .class = class, .begin = now() };
	__atomic_store_n(&open_of(h)->depth, open, __ATOMIC_RELEASE);
	_exit(0);
}

/* The records of a writer that pass, if they are read all the time as a recorder does. */
static struct seen run(uid_t uid, int n, uint32_t open, int junk)
{
	struct seen seen = { 0 };
	pid_t pid = writer(uid, n, open, junk);
	int status = 1;

	while (!waitpid(pid, &status, WNOHANG)) {
		take(&seen, pid);
		usleep(1000);
	}
	take(&seen, pid);
	/* Losses without a later record are reported as soon as the rate allows a packet. */
	for (int i = 0; i < 300 && seen.records + seen.lost < (uint64_t)n; i++) {
		usleep(100000);
		take(&seen, pid);
	}
	if (status)
		seen.records = ~0ull;
	return seen;
}

static void limits(uint32_t flags, uint64_t records, uint64_t bytes)
{
	struct ct_limits l = {
		.size = sizeof(l), .flags = flags, .records = records, .bytes = bytes, .share = 100
	};

	call(s.fd, CT_IOC_LIMITS, &l);
}

/* The most that a rate lets pass since then: a burst of one second, plus the rate. */
static uint64_t most_since(uint64_t start, uint64_t rate)
{
	return rate + rate * (now() - start) / 1000000000 + 2;
}

static void test_rate(void)
{
	struct seen seen = run(FLOOD_UID, 5000, 0, 0);
	uint64_t start, most;

	ok(seen.records == 5000 && !seen.lost && !s.facts->threadbufs_limited,
	   "without a limit all come through (%llu)", (unsigned long long)seen.records);
	limits(0, 500, 0);
	start = now();
	seen = run(FLOOD_UID, 5000, 0, 0);
	most = most_since(start, 500);
	ok(seen.records >= 490 && seen.records <= most, "a rate of 500 a second: %llu of 5000",
	   (unsigned long long)seen.records);
	ok(seen.records + seen.lost == 5000, "the stream says how many it lost (%llu)",
	   (unsigned long long)seen.lost);
	ok(s.facts->threadbufs_limited == seen.lost, "and the facts page, apart from other losses");
	ok(run(HONEST_UID, 100, 0, 0).records == 100, "another user has a rate of its own");
	limits(0, 0, 10000);
	start = now();
	seen = run(FLOOD_UID, 5000, 0, 0);
	ok(seen.records >= 10000 / RECORD - 1 &&
		   seen.records <= most_since(start, 10000) / RECORD + 1,
	   "a rate of 10000 bytes a second: %llu of 5000", (unsigned long long)seen.records);
}

static uint64_t marks_limited(void)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s.arg.cpus; cpu++)
		if (s.cpu[cpu].status)
			n += s.cpu[cpu].status->lost[CT_LOST_RATE];
	return n;
}

/* The marks and thread buffers of one producer are charged to the same rate. */
static void test_both(void)
{
	struct mark m = text_mark("both");
	uint64_t before, marks, start, most;
	struct seen seen;
	int tries = 0;
	pid_t pid;

	limits(0, 500, 0);
	/*
	 * With separate rates 1000 would pass.  A single rate lets as many pass within a
	 * second, so the test is repeated if it took that long.
	 */
	do {
		usleep(1100000);
		start = now();
		seen = run(FLOOD_UID, 2000, 0, 0);
		before = marks_limited();
		pid = fork();
		if (!pid) {
			int fd;

			if (setresuid(FLOOD_UID, FLOOD_UID, FLOOD_UID))
				_exit(1);
			fd = device(O_WRONLY);
			for (int i = 0; i < 2000; i++)
				call(fd, CT_IOC_MARK(sizeof(m)), &m);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		marks = 2000 - (marks_limited() - before);
		most = most_since(start, 500);
	} while (most > 950 && ++tries < 20);
	ok(seen.records >= 490 && seen.records + marks <= most,
	   "marks get what the thread buffer has left of the rate (%llu, then %llu; at most %llu)",
	   (unsigned long long)seen.records, (unsigned long long)marks, (unsigned long long)most);
}

#define LATE_MARKS 200 /* 25 ms apart */

/*
 * A process that makes marks at 40 a second, and meanwhile writes so many records into a thread
 * buffer, which is read after its end.  The errors that it saw count as lost.
 */
static struct seen late(int records)
{
	struct mark m = text_mark("late");
	struct ct_packet *p = NULL;
	struct ct_threadbuf_head *h;
	struct seen seen = { 0 };
	int status, err, i, n = 0;
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(FLOOD_UID, FLOOD_UID, FLOOD_UID))
			_exit(1);
		producer = device(O_WRONLY);
		h = threadbuf_new(SUBBUF_SIZE, 16, CT_THREADBUF_NONE, &err);
		if (!h)
			_exit(2);
		for (i = 1; i <= LATE_MARKS; i++) {
			if (call(producer, CT_IOC_MARK(sizeof(m)), &m))
				_exit(3);
			for (; n < records * i / LATE_MARKS; n++) {
				if (!p || p->content_size / 8 + RECORD > SUBBUF_SIZE)
					p = packet_new(h);
				record(p, now(), class, 0, n);
			}
			usleep(25000);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	take(&seen, pid);
	for (i = 0; i < 300 && seen.records + seen.lost < (uint64_t)records; i++) {
		usleep(100000);
		take(&seen, pid);
	}
	seen.lost += status;
	return seen;
}

/* A thread buffer that is read late, when its producer's marks have been charged. */
static void test_late(void)
{
	uint64_t before, marks, start, most;
	struct seen seen;

	limits(0, 100, 0);
	start = now();
	usleep(1100000);
	before = marks_limited();
	seen = late(100);
	marks = LATE_MARKS - (marks_limited() - before);
	ok(seen.records == 100 && !seen.lost && marks == LATE_MARKS,
	   "a rate of 100: 40 marks and 20 records of a late buffer a second (%llu of %d, %llu of 100)",
	   (unsigned long long)marks, LATE_MARKS, (unsigned long long)seen.records);
	before = marks_limited();
	seen = late(1000);
	/* All of it since the rate was set. */
	most = most_since(start, 100) - LATE_MARKS - 100;
	marks = LATE_MARKS - (marks_limited() - before);
	ok(marks == LATE_MARKS && seen.records >= 200 && seen.records + marks <= most &&
		   seen.records + seen.lost == 1000,
	   "200 records a second get what the marks leave (%llu and %llu of at most %llu)",
	   (unsigned long long)marks, (unsigned long long)seen.records, (unsigned long long)most);
}

/* Packets and calls that cost the recorder time but are not records. */
static void test_rest(void)
{
	struct seen seen, open = { 0 };
	uint64_t start = now(), most;
	int i;

	limits(CT_LIMIT_PROCESS, 50, 0);
	seen = run(FLOOD_UID, 1000, 0, 1);
	most = most_since(start, 50);
	ok(seen.packets <= most && seen.lost == 1000,
	   "packets without a record: %llu of 1000, and their losses are reported (%llu)",
	   (unsigned long long)seen.packets, (unsigned long long)seen.lost);
	limits(0, 50, 0);
	start = now();
	usleep(1100000);
	for (i = 0; i < 10; i++)
		waitpid(writer(HONEST_UID, 0, 30, 0), NULL, 0);
	most = most_since(start, 50);
	for (; open.open + open.lost < 300 && i < 300; i++) {
		while (!threadbuf_read(CT_THREADBUF_READ_ALL)) {
			if (got.what == CT_THREADBUF_INFLIGHT)
				open.open += ((struct ct_inflight_page *)out)->depth;
			else
				open.lost += ((struct ct_packet *)out)->lost;
		}
		usleep(100000);
	}
	ok(open.open >= 30 && open.open <= most && open.open + open.lost == 300,
	   "in-flight calls: %llu of 300, the others are reported as lost (%llu)",
	   (unsigned long long)open.open, (unsigned long long)open.lost);
}

/* ----------------------------------------------------------- the quota ---- */
#define LARGE_SLOTS 32u
#define LARGE (CT_THREADBUF_DATA + (uint64_t)LARGE_SLOTS * CT_THREADBUF_SUBBUF_MAX)

/* How many of the smallest thread buffers a user gets until EDQUOT; ~0: another error. */
static uint32_t make_threadbufs(void)
{
	uint32_t n = 0;
	int err;

	producer = device(O_WRONLY);
	while (threadbuf_new(CT_THREADBUF_SUBBUF_MIN, 2, CT_THREADBUF_NONE, &err))
		n++;
	return err == EDQUOT ? n : ~0u;
}

static uint32_t *made_by;

/* Two uids of a user namespace. */
static void make_as_two(void)
{
	for (uid_t uid = 0; uid < 2; uid++) {
		pid_t pid = fork();

		if (!pid) {
			if (setresuid(uid + 1, uid + 1, uid + 1))
				_exit(1);
			made_by[uid] = make_threadbufs();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void test_subuids(void)
{
	made_by = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	waitpid(with_subuids(QUOTA_UID, make_as_two), NULL, 0);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
	ok(made_by[0] == CT_THREADBUF_QUOTA_COUNT && !made_by[1],
	   "uids of a user namespace have one quota of thread buffers (%u, then %u)", made_by[0],
	   made_by[1]);
	munmap(made_by, PAGE);
}

static void test_count(void)
{
	uint32_t *made =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (setresuid(QUOTA_UID, QUOTA_UID, QUOTA_UID))
				_exit(1);
			made[i] = make_threadbufs();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		while (!threadbuf_read(CT_THREADBUF_READ_ALL))
			;
	}
	ok(made[0] == CT_THREADBUF_QUOTA_COUNT,
	   "a user's thread buffers are counted, however small: %u, then EDQUOT", made[0]);
	ok(made[1] == CT_THREADBUF_QUOTA_COUNT,
	   "those that have ended and were read count no more (%u)", made[1]);
	munmap(made, PAGE);
}

/* Ends the session, reads all of it, and starts the next one. */
static void next_session(void)
{
	call(s.fd, CT_IOC_STOP, NULL);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
	session_end(&s);
	session_start(&s, 65536, 64, CT_SESSION_THREADBUFS);
}

/* A program that keeps the thread buffers of sessions that have ended has their memory. */
static void test_kept(void)
{
	uint32_t *made =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int way[2], back[2];
	pid_t pid, other;
	ssize_t n;
	char c;

	if (pipe(way) || pipe(back))
		return;
	pid = fork();
	if (!pid) {
		if (setresuid(QUOTA_UID, QUOTA_UID, QUOTA_UID))
			_exit(1);
		for (int i = 0; i < 2; i++) {
			made[i] = make_threadbufs();
			if (write(back[1], "x", 1) != 1 || read(way[0], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	n = read(back[0], &c, 1);
	ok(n == 1 && made[0] == CT_THREADBUF_QUOTA_COUNT,
	   "a user's thread buffers of one session: %u", made[0]);
	next_session();
	n = write(way[1], "x", 1) == 1 ? read(back[0], &c, 1) : -1;
	ok(n == 1 && !made[1],
	   "who keeps them gets none of the next session (%u)", made[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	other = fork();
	if (!other) {
		if (setresuid(QUOTA_UID, QUOTA_UID, QUOTA_UID))
			_exit(1);
		made[0] = make_threadbufs();
		_exit(0);
	}
	waitpid(other, NULL, 0);
	ok(made[0] == CT_THREADBUF_QUOTA_COUNT, "until they are unmapped: then %u", made[0]);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
	munmap(made, PAGE);
}

#define BATCH 2048 /* below CT_THREADBUF_QUOTA_COUNT */

/* A thread buffer with one record, at once unmapped: its stream stays.  0 or the error. */
static int make_stream(void)
{
	struct ct_threadbuf_head *h;
	int err;

	h = threadbuf_new(CT_THREADBUF_SUBBUF_MIN, 2, CT_THREADBUF_NONE, &err);
	if (!h)
		return err;
	record(packet_new(h), now(), class, 0, 0);
	drop(h);
	return 0;
}

/* How many streams a process of this user begins, at most n; the error is added to *err. */
static uint32_t make_streams(uid_t uid, uint32_t n, int *err)
{
	struct { uint32_t n; int err; } *made =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		producer = device(O_WRONLY);
		while (made->n < n && !made->err) {
			made->err = make_stream();
			made->n += !made->err;
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
	n = made->n;
	*err = made->err;
	munmap(made, PAGE);
	return n;
}

/* Each stream is a file of the recorder, so a user may not begin any number of them. */
static void test_streams(void)
{
	uint32_t n = 0, more;
	int err = 0;

	do {
		more = make_streams(STREAMS_UID, BATCH, &err);
		n += more;
	} while (more == BATCH && n < 2 * CT_THREADBUF_QUOTA_STREAMS);
	ok(n == CT_THREADBUF_QUOTA_STREAMS && err == EDQUOT,
	   "a user's streams are counted, also those that have ended: %u, then %s", n,
	   strerror(err));
	n = make_streams(HONEST_UID, 1, &err);
	ok(n == 1 && !err, "another user begins one");
}

static pthread_barrier_t together;
static uint32_t large, refused;

static void *ask(void *unused)
{
	int err;

	(void)unused;
	pthread_barrier_wait(&together);
	if (threadbuf_new(CT_THREADBUF_SUBBUF_MAX, LARGE_SLOTS, CT_THREADBUF_NONE, &err))
		__atomic_fetch_add(&large, 1, __ATOMIC_RELAXED);
	else if (err == EDQUOT)
		__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Many threads ask at once: thread buffers that are still being allocated count too. */
static void test_together(void)
{
	pthread_t t[16];
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(QUOTA_UID, QUOTA_UID, QUOTA_UID))
			_exit(1);
		producer = device(O_WRONLY);
		pthread_barrier_init(&together, NULL, 16);
		for (int i = 0; i < 16; i++)
			pthread_create(&t[i], NULL, ask, NULL);
		for (int i = 0; i < 16; i++)
			pthread_join(t[i], NULL);
		printf("# %u of 16 get 32 MiB, %u get EDQUOT\n", large, refused);
		_exit(large == CT_THREADBUF_QUOTA / LARGE && large + refused == 16 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(!status, "threads that ask at once get no more together");
	while (!threadbuf_read(CT_THREADBUF_READ_ALL))
		;
}

/* The quota is checked first: a user who has used it up causes no allocation. */
static int order(const char *procs)
{
	int err = 0, fd, n = 0;

	producer = device(O_WRONLY);
	while (threadbuf_new(CT_THREADBUF_SUBBUF_MAX, LARGE_SLOTS, CT_THREADBUF_NONE, &err))
		n++;
	fd = open(procs, O_WRONLY);
	if (err != EDQUOT || fd < 0 || write(fd, "0", 1) != 1)
		return 1;
	threadbuf_new(CT_THREADBUF_SUBBUF_MAX, LARGE_SLOTS, CT_THREADBUF_NONE, &err);
	printf("# %d of 32 MiB, then %s\n", n, strerror(err));
	return err == EDQUOT ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct ct_define def = define("threadbuf_test", "threadbuf_test");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "order"))
		return order(argv[2]);
	producer = device(O_WRONLY);
	ok(!map_clock(producer), "the clock page");
	ok(!call(producer, CT_IOC_DEFINE, &def), "a class");
	class = def.id;
	session_start(&s, 65536, 64, CT_SESSION_THREADBUFS);
	test_rate();
	test_both();
	test_late();
	test_rest();
	test_count();
	test_kept();
	test_subuids();
	test_together();
	test_streams();
	session_end(&s);
	return tap_done();
}
