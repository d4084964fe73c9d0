// SPDX-License-Identifier: LGPL-2.1-or-later
/* See drain.h. */
#include "capture/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "trace/directory.h"
#include "trace/sub_buffers.h"

#define THREADS_MAX	200	/* at a time; the others write their packets themselves */
#define PAGE		4096
#define WAIT_NS		100000000	/* then it looks for packets without having been woken */

/* While the drain thread has to wait for a CPU, it takes CPU time from the program. */
#define LOOK_NS		10000000	/* between two looks at how long it waited */
#define DELAY_SHARE	4		/* waiting for more than 1/4 of its run time is too much */
#define REST_NS		200000000	/* then it sleeps: the threads write their packets themselves */

#define KEEP_REST_NS	5000000	/* with bounds they could do so for a while only */

/* A thread that fills sub-buffers. */
struct ct_drained_thread {
	char name[64];		/* of its stream */
	struct ct_sub_buffers subbufs;
	int stream;
	uint64_t next;		/* packet */
};

/* ------------------------------------------------------ its threads ------ */

static void drain_close_thread(struct ct_drained_thread *t)
{
	ct_sub_buffers_close(&t->subbufs);
	close(t->stream);
}

/*
 * Has the thread ended?  True also for one in another pid namespace, which writes its
 * packets itself from now on.
 */
static bool drain_ended(const struct ct_drained_thread *t)
{
	struct ct_inflight_page page;
	char path[64];
	struct stat st;

	if (fstat(t->subbufs.fd, &st) || !st.st_nlink ||
	    pread(t->subbufs.fd, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/task/%u", page.pid, page.tid);
	return access(path, F_OK);
}

/* The thread's own stream, and no link to another file. */
static int drain_open_stream(int dirfd, const char *name, uid_t owner)
{
	int fd = openat(dirfd, name, O_WRONLY | CT_O_FOREIGN);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
			st.st_uid != owner)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool drain_open_thread(const struct ct_drain *s, const char *page_name,
			      struct ct_drained_thread *t)
{
	struct stat st;

	if (ct_stream_of_page(t->name, sizeof(t->name), page_name))
		return false;
	t->subbufs.fd = openat(s->dirfd, page_name, O_RDWR | CT_O_FOREIGN);
	if (t->subbufs.fd < 0)
		return false;
	t->next = 0;
	/*
	 * The page of a thread that has ended stays until the trace is finished.  A thread with
	 * a single sub-buffer does not wait for us.
	 */
	t->stream = !fstat(t->subbufs.fd, &st) && st.st_nlink == 1 && !drain_ended(t) &&
				    ct_sub_buffers_read(&t->subbufs) && t->subbufs.head.subbufs > 1 ?
			    drain_open_stream(s->dirfd, t->name, st.st_uid) :
			    -1;
	if (t->stream < 0)
		ct_sub_buffers_close(&t->subbufs);
	return t->stream >= 0;
}

static bool drain_known(const struct ct_drain *s, const char *page_name)
{
	char name[sizeof(s->threads->name)];

	if (ct_stream_of_page(name, sizeof(name), page_name))
		return true;	/* no thread's page */
	for (unsigned int i = 0; i < s->threads_count; i++)
		if (!strcmp(s->threads[i].name, name))
			return true;
	return false;
}

static void drain_find_threads(struct ct_drain *s)
{
	struct dirent *entry;
	unsigned int kept = 0;
	DIR *dir;
	int fd;

	for (unsigned int i = 0; i < s->threads_count; i++) {
		if (drain_ended(&s->threads[i]))
			drain_close_thread(&s->threads[i]);
		else
			s->threads[kept++] = s->threads[i];
	}
	s->threads_count = kept;
	fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (s->threads_count < THREADS_MAX && (entry = readdir(dir)))
		if (ct_is_inflight_page(entry->d_name) && !drain_known(s, entry->d_name) &&
		    drain_open_thread(s, entry->d_name, &s->threads[s->threads_count]))
			s->threads_count++;
	closedir(dir);
}

/* ------------------------------------------------------ bounds ----------- */

static bool drain_read_page(const struct ct_drain *s, struct ct_recorder_page *page)
{
	return pread(s->fd, page, sizeof(*page), 0) == (ssize_t)sizeof(*page);
}

/* Drops what is to go, where there are bounds; @next: bytes that are about to be written. */
static void drain_keep(struct ct_drain *s, uint64_t next)
{
	struct ct_recorder_page page;
	uint64_t allowed;

	if (!s->keep || !drain_read_page(s, &page) || !ct_keep_is_due(s->keep, page.written, next))
		return;
	/* The files of threads that have ended are let go of. */
	if (!next)
		drain_find_threads(s);
	allowed = ct_keep_trim(s->keep, page.written);
	if (pwrite(s->fd, &allowed, sizeof(allowed), offsetof(struct ct_recorder_page, allowed)) < 0)
		return;
}

/* ------------------------------------------------------ their packets ---- */

/*
 * Copies packet t->next out of its sub-buffer.  Return: its size in bytes; 0: its thread
 * wrote it meanwhile; -1: it is damaged.
 */
static ssize_t drain_copy_packet(struct ct_drain *s, struct ct_drained_thread *t, uint64_t *offset)
{
	struct ct_packet *head = (void *)s->copy;
	uint32_t i = t->next % t->subbufs.head.subbufs;
	struct ct_sub_buffers now = t->subbufs;
	uint64_t size;
	struct stat st;

	size = t->subbufs.head.at[i].size;
	*offset = t->subbufs.head.at[i].offset;
	if (size < CT_PACKET_HEAD || size > t->subbufs.head.subbuf_size || size % 8 ||
	    pread(t->subbufs.fd, s->copy, size,
		  CT_INFLIGHT_PACKET + (uint64_t)i * t->subbufs.head.subbuf_size) !=
		    (ssize_t)size ||
	    !ct_sub_buffers_read(&now))
		return -1;
	if (now.head.published >= t->next + t->subbufs.head.subbufs ||
	    now.head.subbufs != t->subbufs.head.subbufs ||
	    now.head.subbuf_size != t->subbufs.head.subbuf_size)
		return 0;
	/* Its place is the end of the stream, or before it where it was written in part. */
	if (fstat(t->stream, &st) || *offset > (uint64_t)st.st_size || head->magic != CT_MAGIC ||
	    head->content_size != 8 * size)
		return -1;
	head->packet_size = 8 * size;
	return size;
}

/* Return: may there be another packet? */
static bool drain_write_next(struct ct_drain *s, struct ct_drained_thread *t)
{
	uint64_t offset, drained;
	ssize_t size;

	if (!ct_sub_buffers_read(&t->subbufs) || t->next >= t->subbufs.head.published)
		return false;
	/* Skip the packets that the thread wrote itself, because it was faster. */
	if (t->subbufs.head.drained > t->next && t->subbufs.head.drained <= t->subbufs.head.published)
		t->next = t->subbufs.head.drained;
	if (t->subbufs.head.published >= t->next + t->subbufs.head.subbufs)
		t->next = t->subbufs.head.published - t->subbufs.head.subbufs + 1;
	/* All of them: what its sub-buffer holds is an earlier packet. */
	if (t->next >= t->subbufs.head.published)
		return false;
	/* Not behind the copy: what its thread has written itself may be dropped here. */
	drain_keep(s, t->subbufs.head.subbuf_size);
	size = drain_copy_packet(s, t, &offset);
	if (size < 0)
		return false;
	if (size > 0) {
		/* The disk is full: the packet stays in its sub-buffer. */
		if ((s->keep && !ct_keep_takes(s->keep, size)) || ct_pwrite_packets(t->stream, s->copy, size, offset))
			return false;
		drained = t->next + 1;
		if (pwrite(t->subbufs.fd, &drained, sizeof(drained),
			   CT_INFLIGHT_SUBBUFS + offsetof(struct ct_subbufs, drained)) !=
		    sizeof(drained))
			return false;
		t->next++;
	}
	return true;
}

/* Return: was a packet written? */
static bool drain_write_all(struct ct_drain *s)
{
	struct ct_recorder_page page;
	bool any = false, more;

	if (drain_read_page(s, &page) && page.threads != s->threads_known) {
		s->threads_known = page.threads;
		drain_find_threads(s);
	}
	/* A bounded number of rounds, then drain_in_the_way() looks again. */
	for (int rounds = 0; rounds < 16; rounds++) {
		more = false;
		/* One packet of each, so that a fast thread does not delay the others. */
		for (unsigned int i = 0; i < s->threads_count; i++)
			more |= drain_write_next(s, &s->threads[i]);
		if (!more)
			break;
		any = true;
	}
	return any;
}

/* ------------------------------------------------------ our own ---------- */

static void drain_set_word(const struct ct_drain *s, size_t offset, uint32_t value)
{
	if (pwrite(s->fd, &value, sizeof(value), offset) < 0)
		return;		/* then WAIT_NS ends the sleep */
}

static void drain_say_alive(struct ct_drain *s)
{
	uint64_t now = ct_now_ns();

	if (s->alive && now - s->alive > CT_RECORDER_GONE_NS)
		__atomic_store_n(&s->away, true, __ATOMIC_RELAXED);
	s->alive = now;
	if (pwrite(s->fd, &now, sizeof(now), offsetof(struct ct_recorder_page, alive)) < 0)
		return;
}

#define SET_WAITING(s, value) drain_set_word(s, offsetof(struct ct_recorder_page, waiting), value)

/* How long the drain thread ran and waited for a CPU, as the kernel counts it, in ns. */
struct progress {
	int fd;
	uint64_t at, ran, waited;
};

/* Are the CPUs so busy that the drain thread delays the program? */
static bool drain_in_the_way(struct progress *p)
{
	struct progress before = *p;
	char text[128];
	ssize_t n;

	if (ct_now_ns() - p->at < LOOK_NS)
		return false;
	p->at = ct_now_ns();
	n = pread(p->fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &p->ran, &p->waited) != 2)
		return false;
	return p->waited - before.waited > (p->ran - before.ran) / DELAY_SHARE;
}

static bool drain_stops(const struct ct_drain *s)
{
	return __atomic_load_n(&s->stop, __ATOMIC_RELAXED);
}

/* Sleeps for @ns, or until a thread wakes it; not at all if the word has changed since. */
static void drain_sleep_on(const struct ct_drain *s, uint32_t published, long ns)
{
	const struct timespec longest = { .tv_nsec = ns };

	if (!drain_stops(s) && syscall(SYS_futex, &s->page->published, FUTEX_WAIT, published, &longest) &&
	    errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
		nanosleep(&longest, NULL);
}

static void *drain_run(void *arg)
{
	struct progress progress = { .fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC) };
	struct ct_drain *s = arg;
	struct ct_recorder_page page = { 0 };

	drain_in_the_way(&progress);
	while (!drain_stops(s)) {
		drain_say_alive(s);
		drain_keep(s, 0);
		if (drain_in_the_way(&progress)) {
			drain_read_page(s, &page);
			drain_sleep_on(s, page.published, s->keep ? KEEP_REST_NS : REST_NS);
			drain_in_the_way(&progress);
		}
		if (drain_write_all(s))
			continue;
		SET_WAITING(s, 1);
		drain_read_page(s, &page);
		/* A thread that fills a sub-buffer from here on sees the word and wakes us. */
		if (!drain_write_all(s))
			drain_sleep_on(s, page.published, WAIT_NS);
		SET_WAITING(s, 0);
	}
	if (progress.fd >= 0)
		close(progress.fd);
	return NULL;
}

static unsigned int drain_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 2 : CPU_COUNT(&set);
}

void ct_drain_open(struct ct_drain *s, int dirfd, bool always)
{
	uint8_t page[PAGE] = { 0 };
	struct ct_recorder_page *head = (void *)page;
	void *map;

	if (!always && drain_processors() < 2)
		return;
	s->dirfd = dirfd;
	s->copy = malloc(CT_PACKET_MAX);
	s->threads = calloc(THREADS_MAX, sizeof(*s->threads));
	/* Truncating it would kill all programs that have it mapped: only our own user may. */
	s->fd = openat(dirfd, CT_RECORDER_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->fd < 0 || !s->copy || !s->threads)
		goto failed;
	head->magic = CT_MAGIC;
	head->abi = CT_ABI_VERSION;
	if (ct_pwrite_all(s->fd, page, sizeof(page), 0))
		goto failed;
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED)
		goto failed;
	s->page = map;
	return;
failed:
	ct_drain_close(s);
}

void ct_drain_keeps(struct ct_drain *s, struct ct_keep *keep)
{
	s->keep = keep;
	drain_keep(s, 0);
}

void ct_drain_start(struct ct_drain *s)
{
	if (s->fd >= 0)
		s->running = !ct_thread_start(&s->thread, drain_run, s);
}

void ct_drain_close(struct ct_drain *s)
{
	if (s->running) {
		struct ct_recorder_page page = { 0 };

		__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
		drain_read_page(s, &page);
		drain_set_word(s, offsetof(struct ct_recorder_page, published), page.published + 1);
		syscall(SYS_futex, &s->page->published, FUTEX_WAKE, 1);
		pthread_join(s->thread, NULL);
		drain_find_threads(s);
		/* Once: a thread that still runs writes its packets itself. */
		drain_write_all(s);
		if (s->keep)
			s->keep->due = 0;
		drain_keep(s, 0);
	}
	for (unsigned int i = 0; i < s->threads_count; i++)
		drain_close_thread(&s->threads[i]);
	if (s->page)
		munmap(s->page, PAGE);
	if (s->fd >= 0) {
		unlinkat(s->dirfd, CT_RECORDER_FILE, 0);
		close(s->fd);
	}
	free(s->threads);
	free(s->copy);
	*s = (struct ct_drain)CT_DRAIN_INIT;
}
