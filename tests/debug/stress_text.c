// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads a session as text in the stress test: see stress.h. */
#include <poll.h>

#include "stress.h"

atomic_ulong lines, line_bad, line_back;

/* The state of one reader. */
struct text {
	uint64_t id, ts, records, full, overwritten;
	int over;	/* the session is, and another one has begun */
};

/* Lines must be whole, numbered without gaps, and in the order of time. */
static void check_line(char *line, char *end, struct text *t)
{
	unsigned long long id, at, count;
	char *p;

	p = strstr(line, "\"ts_ns\":");
	if (sscanf(line, "{\"event_id\":%llu,", &id) == 1 && id == 1 && t->id)
		t->over = 1;
	if (t->over)
		return;
	lines++;
	if (sscanf(line, "{\"event_id\":%llu,", &id) != 1 || !p ||
	    sscanf(p, "\"ts_ns\":%llu", &at) != 1 || end[-1] != '}' || id != t->id + 1) {
		if (!line_bad++)
			printf("# after %llu: %.200s\n", (unsigned long long)t->id, line);
		id = t->id + 1;
		at = t->ts;
	}
	t->id = id;
	if (strstr(line, "\"name\":\"lost\"")) {
		p = strstr(line, "\"count\":");
		if (!p || sscanf(p, "\"count\":%llu", &count) != 1)
			line_bad++;
		else if (strstr(line, "\"overwritten\""))
			t->overwritten += count;
		else
			t->full += count;
		return;
	}
	t->records++;
	if (at < t->ts && !line_back++)
		printf("# back by %llu ns: %.300s\n", (unsigned long long)(t->ts - at), line);
	t->ts = at;
}

/* Checks all whole lines; moves a last partial line to the front and returns its bytes. */
static size_t check_lines(char *text, size_t len, struct text *t)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', text + len - line))) {
		*end = '\0';
		check_line(line, end, t);
		line = end + 1;
	}
	len = text + len - line;
	memmove(text, line, len);
	return len;
}

void read_lines(uint64_t *seed)
{
	int fd = device(O_RDONLY | O_NONBLOCK), times = random_of(seed) % 30;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static __thread char buf[256 << 10];
	struct text t = { 0 };
	size_t have = 0;
	ssize_t n;

	while (times--) {
		poll(&p, 1, 20);
		n = read(fd, buf + have, 1 + random_of(seed) % (sizeof(buf) - have - 1));
		if (n > 0)
			have = check_lines(buf, have + n, &t);
	}
	close(fd);
}

/* ------------------------------------------------------ the whole session -- */

static pthread_t follower;
static int follow_fd;
static atomic_int stopped;
static struct text followed;

static void *follow(void *arg)
{
	static char buf[256 << 10];
	size_t have = 0;
	ssize_t n;
	int last;

	(void)arg;
	for (;;) {
		last = stopped;
		n = read(follow_fd, buf + have, sizeof(buf) - have);
		if (n > 0)
			have = check_lines(buf, have + n, &followed);
		else if (last)
			return NULL;
		else
			usleep(1000);
		if (followed.over)
			return NULL;
	}
}

void follow_begin(void)
{
	if (!(kind->what & FOLLOW))
		return;
	memset(&followed, 0, sizeof(followed));
	stopped = 0;
	follow_fd = device(O_RDONLY | O_NONBLOCK);
	if (pthread_create(&follower, NULL, follow, NULL))
		exit(1);
}

void follow_end(int round)
{
	uint64_t written = 0, gone = 0;
	uint32_t cpu;

	if (!(kind->what & FOLLOW))
		return;
	stopped = 1;
	pthread_join(follower, NULL);
	close(follow_fd);
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		written += s.cpu[cpu].status->records;
		gone += lost(&s, cpu);
	}
	ok(followed.records + followed.overwritten == written && followed.full == gone,
	   "%d %s: as text: lines %llu + overwritten %llu = written %llu; lost %llu of %llu are reported",
	   round, kind->name, (unsigned long long)followed.records,
	   (unsigned long long)followed.overwritten, (unsigned long long)written,
	   (unsigned long long)followed.full, (unsigned long long)gone);
}
