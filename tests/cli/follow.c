// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Following a trace directory while it is written: follow DIR, an empty directory.  Streams that are made anew under
 * their name, also in a file that has the inode of the one before, or whose packets are moved to the front of their
 * file; and following from a moment on.  Each record is to be given once.  Prints TAP.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/live/follow.h"
#include "../tap.h"
#include "writer.h"

enum { CALL = CT_CLASS_DYNAMIC, UNKNOWN, MOST = 4096, SIZE = 4096 };

#define MS	1000000ull
#define STREAM	"u-4242-0"

/* What was given: records are numbered by their op. */
static uint64_t given[MOST];
static unsigned int given_count, left_out_count;
static uint32_t left_out_pid;

static int on_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	(void)arg, (void)reg, (void)old;
	if (given_count < MOST)
		given[given_count++] = r->op;
	return 0;
}

static void on_left_out(void *arg, uint32_t pid)
{
	(void)arg;
	left_out_count++;
	left_out_pid = pid;
}

static struct ct_follow_sink sink = { .record = on_record, .left_out = on_left_out };
static struct ct_follower *follower;

static void follow(uint64_t after)
{
	struct ct_error err;

	sink.after = after;
	given_count = left_out_count = left_out_pid = 0;
	if (ct_follower_open(&follower, dir, dir, false, &sink, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
}

/* Are those that are new by now the records from @from until @to, in this order? */
static bool gives(uint64_t from, uint64_t to)
{
	struct ct_follow_state state;
	struct ct_error err;
	unsigned int before = given_count;
	int rc = ct_follower_read(follower, &state, &err);
	bool right = !rc && given_count - before == to - from;

	for (uint64_t i = from; i < to && right; i++)
		right = given[before + i - from] == i;
	if (!right) {
		printf("# to be given: from %llu until %llu; given:", (unsigned long long)from, (unsigned long long)to);
		for (unsigned int i = before; i < given_count; i++)
			printf(" %llu", (unsigned long long)given[i]);
		printf("%s%s\n", rc ? "; error: " : "", rc ? err.text : "");
	}
	return right;
}

/* Records from @from until @to, of one millisecond each, @in_packet a packet, into @name. */
static void write_stream(const char *name, uint32_t kind, uint64_t from, uint64_t to, unsigned int in_packet, uint64_t seq)
{
	struct writer w;

	open_writer(&w, name, kind, SIZE);
	w.head.pid = kind == CT_STREAM_CPU ? 0 : PID;
	w.head.tid = w.head.pid;
	w.head.seq = seq;
	for (uint64_t i = from; i < to; i++) {
		struct spec s = { .class = CALL, .begin = START + i * MS, .end = START + i * MS + 1000, .op = i, .tid = PID };

		if (i > from && (i - from) % in_packet == 0)
			flush(&w);
		if (kind == CT_STREAM_CPU)
			cpu_record(&w, s, "", 0);
		else
			thread_record(&w, s, "", 0);
	}
	close_writer(&w);
}

static const char *path(const char *name)
{
	static char paths[2][4096];
	static unsigned int turn;

	turn ^= 1;
	snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", dir, name);
	return paths[turn];
}

/* The bytes of another file become those of the stream, in the file that it has. */
static void write_in_place(const char *from)
{
	char bytes[1 << 16];
	int in = open(path(from), O_RDONLY), out = open(path(STREAM), O_WRONLY | O_TRUNC);
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			die("write");
	close(in);
	close(out);
	unlink(path(from));
}

static void begin_dir(bool keep)
{
	FILE *f;

	unlink(path(".registry"));
	unlink(path(STREAM));
	unlink(path("k-0"));
	f = create_registry();
	registry_class(f, CALL, "user userspace -", "", "cuCall cuCall");
	if (keep)
		fprintf(f, "info keep 1\n");
	fclose(f);
}

static ino_t inode(void)
{
	struct stat st;

	return stat(path(STREAM), &st) ? 0 : st.st_ino;
}

/* Removed, and made anew: as --keep does, and as a process does that has the pid of one that ended. */
static void made_anew(void)
{
	ino_t before;
	bool same = false, right = true;

	begin_dir(false);
	write_stream(STREAM, CT_STREAM_THREAD, 0, 30, 10, 0);
	follow(0);
	ok(gives(0, 30), "all records of a stream");
	for (unsigned int i = 1; i <= 20 && right; i++) {
		before = inode();
		unlink(path(STREAM));
		/* Longer, shorter and as long as the one before. */
		write_stream(STREAM, CT_STREAM_THREAD, 100 * i, 100 * i + 20 + 20 * (i % 3), 10, 0);
		same |= inode() == before;
		right = gives(100 * i, 100 * i + 20 + 20 * (i % 3));
	}
	ok(right, "a stream that is made anew 20 times (%s)", same ? "also with the inode of the one before" : "each time with another inode");
	ct_follower_close(follower);
}

/* The file is the same by all that the file system says. */
static void same_file(void)
{
	static const struct { unsigned int count, in_packet; const char *what; } is[] = {
		{ 60, 10, "longer" }, { 10, 10, "shorter" }, { 30, 10, "as long" }, { 60, 7, "longer, with other packets" },
		{ 90, 90, "one packet" },
	};

	for (unsigned int i = 0; i < sizeof(is) / sizeof(*is); i++) {
		begin_dir(false);
		write_stream(STREAM, CT_STREAM_THREAD, 0, 30, 10, 0);
		follow(0);
		gives(0, 30);
		write_stream("other", CT_STREAM_THREAD, 100, 100 + is[i].count, is[i].in_packet, 0);
		write_in_place("other");
		ok(gives(100, 100 + is[i].count), "another stream in the file of the one before: %s", is[i].what);
		ct_follower_close(follower);
	}
}

static unsigned int grows;	/* with the how manieth fstat() of the stream; 0: it does not */
static char rest[1 << 16];
static ssize_t rest_size;

/* The real one; then a writer goes on, before its caller has looked into the file. */
int fstat(int fd, struct stat *st)
{
	int rc = fstatat(fd, "", st, AT_EMPTY_PATH), out;

	if (!rc && grows && st->st_ino == inode() && !--grows) {
		out = open(path(STREAM), O_WRONLY | O_APPEND);
		if (write(out, rest, (size_t)rest_size) != rest_size)
			die("write");
		close(out);
	}
	return rc;
}

/* A packet is half written when the size of its file is asked, and it and the next one are there when it is looked for. */
static void growing(void)
{
	off_t part = SIZE + SIZE / 2;
	int fd;

	begin_dir(false);
	write_stream(STREAM, CT_STREAM_THREAD, 0, 30, 10, 0);
	fd = open(path(STREAM), O_RDWR);
	rest_size = pread(fd, rest, sizeof(rest), part);
	if (rest_size <= SIZE || ftruncate(fd, part))
		die("ftruncate");
	close(fd);
	follow(0);
	grows = 2;
	ok(gives(0, 30) && !grows, "a packet that is written while the file is looked at");
	ct_follower_close(follower);
}

static void drop(unsigned int packets)
{
	static const uint32_t none;
	int fd = open(path(STREAM), O_WRONLY);

	for (unsigned int i = 0; i < packets; i++)
		if (pwrite(fd, &none, sizeof(none), (off_t)i * SIZE) != sizeof(none))
			die("pwrite");
	close(fd);
}

/* As record --keep leaves it: packets that were dropped are a hole, which is gone when the recording ends. */
static void moved(void)
{
	begin_dir(true);
	write_stream(STREAM, CT_STREAM_THREAD, 0, 60, 10, 0);
	follow(0);
	ok(gives(0, 60) && !left_out_count, "a stream of which the oldest packets will be dropped");
	drop(3);
	ok(gives(0, 0), "... nothing is given again");
	/* Three packets less, and two more. */
	write_stream("other", CT_STREAM_THREAD, 30, 80, 10, 3);
	write_in_place("other");
	ok(gives(60, 80), "... nor when the others are moved to the front, and what was added meanwhile is");
	ct_follower_close(follower);
	begin_dir(true);
	write_stream(STREAM, CT_STREAM_THREAD, 0, 60, 10, 0);
	drop(3);
	follow(0);
	ok(gives(30, 60) && left_out_count && left_out_pid == PID, "a stream of which packets were dropped: so it is told");
	ct_follower_close(follower);
}

static void from_a_moment(void)
{
	struct spec bad = { .class = UNKNOWN, .begin = START, .end = START + 1000, .op = 0 };
	struct writer w;

	/* An old packet is not read: it could not be. */
	begin_dir(false);
	open_writer(&w, STREAM, CT_STREAM_THREAD, SIZE);
	w.head.pid = PID;
	thread_record(&w, bad, "", 0);
	flush(&w);
	for (uint64_t i = 1; i < 41; i++) {
		struct spec s = { .class = CALL, .begin = START + i * MS, .end = START + i * MS + 1000, .op = i };

		thread_record(&w, s, "", 0);
		if (i % 10 == 0)
			flush(&w);
	}
	close_writer(&w);
	follow(START + 25 * MS + 1000);
	ok(gives(26, 41), "from a moment on: records that ended later");
	ok(left_out_count && left_out_pid == PID, "... and that others of the process were left out is told");
	ct_follower_close(follower);
	follow(START + 100 * MS);
	ok(gives(0, 0) && left_out_pid == PID, "... of which all are older");
	ct_follower_close(follower);
	begin_dir(false);
	write_stream(STREAM, CT_STREAM_THREAD, 0, 40, 10, 0);
	follow(START - 1);
	ok(gives(0, 40) && !left_out_count, "... of which all are later: none was left out");
	ct_follower_close(follower);
	begin_dir(false);
	write_stream("k-0", CT_STREAM_CPU, 0, 40, 10, 0);
	follow(START + 20 * MS);
	left_out_pid = 1;
	ok(gives(20, 40) && left_out_count && !left_out_pid, "... of a CPU: records of any process were left out");
	ct_follower_close(follower);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dir = argv[1];
	made_anew();
	same_file();
	growing();
	moved();
	from_a_moment();
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
