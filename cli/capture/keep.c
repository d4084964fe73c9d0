// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See keep.h.  Must never drop a packet that is newer than one that stays, nor touch a file that
 * is no stream of the trace.
 */
#include "capture/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "capture/ring.h"
#include "capture/writers.h"
#include "trace/directory.h"
#include "trace/packet.h"
#include "trace/sub_buffers.h"
#include "view/term.h"
#include "write/lost.h"

#define BLOCK		4096ull
#define LOOK_NS		500000000ull	/* between two looks where nothing presses */
#define TORN_NS		60000000000ull	/* a part of a packet that does not grow for so long stays one */

/* Packets are dropped until there is room for a while: a quarter, but for small sizes half. */
#define ROOM_MOST	(64ull << 20)

struct ct_keep_stream {
	char name[64];
	uint64_t first;		/* of its file: nothing is kept before */
	uint64_t punched;	/* of its file: the blocks before are holes */
	uint64_t size;
	uint64_t ts_end, length; /* of its first packet; length 0: it has none */
	bool bad;		/* what is at first is no packet */
	uint64_t torn;		/* ns: since then its file ends within its first packet, of which it has torn_bytes; 0: it does not */
	uint64_t torn_bytes;
	uint64_t page;		/* bytes of .open-PID-N, 0: there is none */
	uint64_t gone;		/* ns: its thread has gone, and this is the newest that it left; 0: it may still live */
	bool there;		/* at this look */
};

int ct_keep_parse(const char *text, struct ct_keep_asked *asked)
{
	static const struct { const char *name; uint64_t ns, bytes; } units[] = {
		{ "ms", 1000000, 0 }, { "s", 1000000000, 0 }, { "min", 60000000000, 0 }, { "h", 3600000000000, 0 },
		{ "d", 86400000000000, 0 },
		{ "K", 0, 1u << 10 }, { "M", 0, 1u << 20 }, { "G", 0, 1u << 30 }, { "T", 0, 1ull << 40 },
	};
	const unsigned int count = sizeof(units) / sizeof(units[0]);

	for (;;) {
		char *unit;
		double v = strtod(text, &unit);
		size_t n = strcspn(unit, ",");
		unsigned int i = 0;

		while (i < count && (strlen(units[i].name) != n || strncasecmp(unit, units[i].name, n)))
			i++;
		if (i == count || unit == text || !(v > 0) || v * (double)(units[i].ns + units[i].bytes) > 1e18)
			return -EINVAL;
		if (units[i].ns)
			asked->ns = (uint64_t)(v * (double)units[i].ns);
		else
			asked->bytes = (uint64_t)(v * (double)units[i].bytes);
		if (!unit[n])
			return (asked->bytes && asked->bytes < CT_KEEP_LEAST) ? -ERANGE : 0;
		text = unit + n + 1;
	}
}

/* ------------------------------------------------------ files --------------- */

static uint64_t keep_blocks(uint64_t bytes)
{
	return (bytes + BLOCK - 1) & -BLOCK;
}

/* A stream's own file, and no link to another one. */
static int keep_open_file(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name, flags | CT_O_FOREIGN);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int keep_punch(int fd, uint64_t from, uint64_t to)
{
	return from < to && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) ?
		       -errno : 0;
}

static int keep_try(int dirfd)
{
	static const char name[] = CT_LOST_TEMPORARY;
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return -errno;
	unlinkat(dirfd, name, 0);
	rc = ftruncate(fd, 2 * BLOCK) || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BLOCK) ? -errno : 0;
	close(fd);
	return rc;
}

/* A program that was started here has the same limit. */
static uint64_t keep_stream_long(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) ? CT_STREAM_LONG : CT_STREAM_LONG_FOR(limit.rlim_cur);
}

int ct_keep_open(struct ct_keep *k, const struct ct_keep_asked *asked, int dirfd, struct ct_state *state,
		 struct ct_error *err)
{
	char text[CT_TERM_TEXT];
	struct statvfs fs;
	struct statfs type;
	bool in_memory;
	uint64_t most;
	int rc;

	*k = (struct ct_keep){ .asked = *asked, .dirfd = dirfd, .state = state, .stream_long = keep_stream_long() };
	rc = keep_try(dirfd);
	if (rc)
		return ct_fail(err, -rc, rc == -EOPNOTSUPP ?
			       "--keep: the file system of the trace directory can't free the front of a file (fallocate); give -o on ext4, xfs, btrfs or tmpfs" :
			       "--keep: %s", strerror(-rc));
	if (fstatvfs(dirfd, &fs))
		return ct_fail(err, errno, "--keep: %s", strerror(errno));
	/* Other programs need some of the disk, too. */
	most = (uint64_t)fs.f_bavail * fs.f_frsize;
	in_memory = !fstatfs(dirfd, &type) && type.f_type == TMPFS_MAGIC;
	/* Beyond that the kernel would end a process, perhaps the program. */
	if (in_memory && ct_ring_memory("") < most)
		most = ct_ring_memory("");
	most = k->asked.bytes ? most - most / 8 : most / 2;
	if (most < CT_KEEP_LEAST)
		return ct_fail(err, ENOSPC, "--keep needs 32M of free space in the trace directory");
	if (k->asked.bytes > most)
		ct_complain("--keep: the %s has room for %s", in_memory ? "memory" : "disk", ct_term_bytes(text, most));
	if (!k->asked.bytes || k->asked.bytes > most)
		k->asked.bytes = most;
	return 0;
}

void ct_keep_close(struct ct_keep *k)
{
	free(k->streams);
	k->streams = NULL;
	k->count = 0;
}

/* ------------------------------------------------------ packets ------------- */

/* The process record, which is the first of its process's first packet, goes to the state stream. */
static void keep_process(struct ct_keep *k, int fd, const struct ct_packet *head, uint64_t at)
{
	uint8_t buffer[CT_RECORD_MAX];
	struct ct_thread_record r;
	uint16_t len;
	ssize_t n = pread(fd, buffer, sizeof(buffer), (off_t)(at + CT_PACKET_HEAD));

	if (n < (ssize_t)sizeof(r) + 16)
		return;
	memcpy(&r, buffer, sizeof(r));
	memcpy(&len, buffer + sizeof(r) + 8, sizeof(len));
	if (CT_RECORD_CLASS(r.stamp) != CT_CLASS_process || (len + 10) % 8 || sizeof(r) + 10 + len > (size_t)n)
		return;
	if (!ct_state_process(k->state, head->pid, buffer + sizeof(r), 10u + len))
		ct_state_flush(k->state);
}

static bool keep_head(int fd, uint64_t at, struct ct_packet *head)
{
	return pread(fd, head, sizeof(*head), (off_t)at) == (ssize_t)sizeof(*head);
}

/* Is a packet of which @there bytes are in the file being written?  One of a GPU stream may be seen while its write() goes on. */
static bool keep_is_growing(struct ct_keep_stream *s, uint64_t there)
{
	uint64_t now = ct_now_ns();

	if (!s->torn || there != s->torn_bytes) {
		s->torn = now;
		s->torn_bytes = there;
	}
	return now - s->torn < TORN_NS;
}

/* What is at s->first by now. */
static void keep_look_at(struct ct_keep_stream *s, int fd)
{
	struct ct_packet head;
	struct stat st;
	uint64_t there;

	s->length = 0;
	s->bad = false;
	if (!keep_head(fd, s->first, &head) || !head.magic || fstat(fd, &st))
		return;
	s->size = (uint64_t)st.st_size;
	there = s->size - s->first;
	if (head.magic == CT_MAGIC && ct_packet_size_valid(&head)) {
		if (head.packet_size / 8 <= there) {
			s->length = head.packet_size / 8;
			s->ts_end = head.ts_end;
			return;
		}
		if (keep_is_growing(s, there))
			return;
	}
	/* All of it is dropped at once, first. */
	s->bad = true;
	s->length = s->size - s->first;
	s->ts_end = 0;
}

/* Its first packet.  A reader that has copied it sees that its magic is gone. */
static void keep_drop(struct ct_keep *k, struct ct_keep_stream *s)
{
	static const uint32_t none;
	int fd = keep_open_file(k->dirfd, s->name, O_RDWR);
	uint64_t before = s->first & -BLOCK;
	struct ct_packet head;

	if (fd < 0) {
		s->length = 0;
		return;
	}
	if (!s->bad && keep_head(fd, s->first, &head) && !head.seq && ct_stream_kind(s->name) == CT_STREAM_THREAD)
		keep_process(k, fd, &head, s->first);
	if (pwrite(fd, &none, sizeof(none), (off_t)s->first) != (ssize_t)sizeof(none)) {
		s->length = 0;
	} else {
		s->first += s->length;
		s->torn = 0;
		k->total -= (s->first & -BLOCK) - before;
		/* Some at a time: each punch costs a system call, and a transaction of the file system. */
		if (s->first - s->punched >= (1u << 20) && !keep_punch(fd, s->punched & -BLOCK, s->first))
			s->punched = s->first;
		keep_look_at(s, fd);
	}
	close(fd);
}

static void keep_punch_all(struct ct_keep *k)
{
	for (unsigned int i = 0; i < k->count; i++) {
		struct ct_keep_stream *s = &k->streams[i];
		int fd;

		/* Within a block, too: what is left of a packet there would end the stream. */
		if (s->punched == s->first)
			continue;
		fd = keep_open_file(k->dirfd, s->name, O_RDWR);
		if (fd < 0)
			continue;
		if (!keep_punch(fd, s->punched & -BLOCK, s->first))
			s->punched = s->first;
		close(fd);
	}
}

/* Did its writer go on in another stream?  Where the module has the threads' records, a stream is made anew when it gets one. */
static bool keep_is_left(const struct ct_keep *k, const struct ct_keep_stream *s)
{
	if (!s->there || !s->first || s->length || s->torn)
		return false;
	return ct_stream_kind(s->name) == CT_STREAM_THREAD ? !s->page : s->size >= k->stream_long;
}

/* ns: the newest record in the sub-buffers of a thread that has gone; 0: it may still live. */
static uint64_t keep_gone(struct ct_keep *k, const struct ct_keep_stream *s)
{
	char page[80], path[128];
	struct ct_sub_buffers subbufs = { .fd = -1 };
	uint64_t newest = 1;

	if (s->gone)
		return s->gone;
	if (keep_is_left(k, s))
		return 1;
	if (!s->page || ct_page_of_stream(page, sizeof(page), s->name))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", k->dirfd, page);
	if (ct_is_written(path))
		return 0;
	subbufs.fd = keep_open_file(k->dirfd, page, O_RDONLY);
	if (subbufs.fd < 0)
		return 0;
	for (uint32_t i = 0; ct_sub_buffers_read(&subbufs) && i < subbufs.head.subbufs; i++) {
		struct ct_packet head;

		if (keep_head(subbufs.fd, CT_INFLIGHT_PACKET + (uint64_t)i * subbufs.head.subbuf_size, &head) &&
		    head.magic == CT_MAGIC && head.ts_end > newest)
			newest = head.ts_end;
	}
	ct_sub_buffers_close(&subbufs);
	return newest;
}

static void keep_remove(struct ct_keep *k, struct ct_keep_stream *s)
{
	char page[80];

	if (!ct_page_of_stream(page, sizeof(page), s->name))
		unlinkat(k->dirfd, page, 0);
	unlinkat(k->dirfd, s->name, 0);
	k->total -= s->page + keep_blocks(s->size) - (s->first & -BLOCK);
	*s = k->streams[--k->count];
}

/* ------------------------------------------------------ the directory ------- */

static struct ct_keep_stream *keep_find(struct ct_keep *k, const char *name)
{
	struct ct_keep_stream *more;

	for (unsigned int i = 0; i < k->count; i++)
		if (!strcmp(k->streams[i].name, name))
			return &k->streams[i];
	if (strlen(name) >= sizeof(more->name))
		return NULL;
	if (!(k->count & (k->count - 1)) || !k->count) {
		more = realloc(k->streams, (k->count ? 2ul * k->count : 16) * sizeof(*more));
		if (!more)
			return NULL;
		k->streams = more;
	}
	more = &k->streams[k->count++];
	*more = (struct ct_keep_stream){ .there = true };
	strcpy(more->name, name);
	return more;
}

/* Streams of which packets may be dropped: not those of states, which are short. */
static bool keep_is_ring(const char *name)
{
	int kind = ct_stream_kind(name);

	if (kind == CT_STREAM_GPU)
		return !ct_stream_is_gpu_states(name);
	/* Samples are of the kind of the state stream. */
	return (kind == CT_STREAM_THREAD && strcmp(name, CT_LOST_STREAM)) || kind == CT_STREAM_CPU ||
	       (kind == CT_STREAM_STATE && strcmp(name, CT_STATE_FILE));
}

/* The files of the directory, and what they hold. */
static void keep_look(struct ct_keep *k)
{
	int fd = openat(k->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	k->total = 0;
	for (unsigned int i = 0; i < k->count; i++) {
		k->streams[i].there = false;
		k->streams[i].page = 0;
	}
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		struct ct_keep_stream *s = NULL;
		char stream[80];
		struct stat st;

		if (fstatat(k->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (keep_is_ring(name)) {
			s = keep_find(k, name);
			if (s) {
				s->there = true;
				s->size = (uint64_t)st.st_size;
			}
		} else if (!ct_stream_of_page(stream, sizeof(stream), name)) {
			s = keep_find(k, stream);
			if (s)
				s->page = keep_blocks((uint64_t)st.st_size);
			s = NULL;
		}
		k->total += keep_blocks((uint64_t)st.st_size) - (s ? s->first & -BLOCK : 0);
		/* The text in metadata, which comes at the end. */
		if (!strcmp(name, CT_REGISTRY_FILE))
			k->total += keep_blocks((uint64_t)st.st_size) + 64 * 1024;
	}
	closedir(dir);
	for (unsigned int i = 0; i < k->count; i++) {
		struct ct_keep_stream *s = &k->streams[i];

		if (!s->there && !s->page) {
			*s = k->streams[--k->count];
			i--;
			continue;
		}
		fd = s->length ? -1 : keep_open_file(k->dirfd, s->name, O_RDONLY);
		if (fd >= 0) {
			keep_look_at(s, fd);
			close(fd);
		}
		s->gone = s->length ? 0 : keep_gone(k, s);
	}
}

static void keep_drop_old(struct ct_keep *k, uint64_t before)
{
	for (unsigned int i = 0; i < k->count; i++) {
		struct ct_keep_stream *s = &k->streams[i];

		while (s->length && s->ts_end < before)
			keep_drop(k, s);
		if (s->gone && s->gone < before) {
			keep_remove(k, s);
			i--;
		}
	}
}

/* Return: was there something to drop? */
static bool keep_drop_oldest(struct ct_keep *k)
{
	struct ct_keep_stream *oldest = NULL;
	uint64_t oldest_at = ~0ull;

	for (unsigned int i = 0; i < k->count; i++) {
		struct ct_keep_stream *s = &k->streams[i];
		uint64_t at = s->length ? s->ts_end : s->gone ? s->gone : ~0ull;

		if (at < oldest_at) {
			oldest_at = at;
			oldest = s;
		}
	}
	if (oldest && oldest->length)
		keep_drop(k, oldest);
	else if (oldest)
		keep_remove(k, oldest);
	return oldest != NULL;
}

bool ct_keep_is_due(const struct ct_keep *k, uint64_t written, uint64_t next)
{
	uint64_t room = k->total < k->asked.bytes ? (k->asked.bytes - k->total) / 2 : 0;

	return ct_now_ns() >= k->due || k->own + next > room || written - k->written > room / 2;
}

uint64_t ct_keep_trim(struct ct_keep *k, uint64_t written)
{
	uint64_t now = ct_now_ns(), bytes = k->asked.bytes, half = bytes / 2 < ROOM_MOST ? bytes / 2 : ROOM_MOST;
	uint64_t target = bytes - (half > bytes / 4 ? half : bytes / 4);

	k->written = written;
	k->own = 0;
	k->due = now + LOOK_NS;
	keep_look(k);
	if (k->asked.ns && now > k->asked.ns)
		keep_drop_old(k, now - k->asked.ns);
	if (k->since && *k->since)
		keep_drop_old(k, *k->since);
	while (k->total > target && keep_drop_oldest(k))
		;
	keep_punch_all(k);
	if (k->total >= k->asked.bytes && !k->full) {
		k->full = true;
		ct_complain("--keep: the names of what was recorded and the memory of %u threads need all of it: further records are counted as lost",
			    k->count);
	}
	return written + (k->total < k->asked.bytes ? (k->asked.bytes - k->total) / 2 : 0);
}

bool ct_keep_takes(struct ct_keep *k, uint64_t bytes)
{
	if (k->total >= k->asked.bytes || k->own + bytes > (k->asked.bytes - k->total) / 2)
		return false;
	k->own += bytes;
	return true;
}

/* ------------------------------------------------------ the end ------------- */

/* The length of a packet at @at that was dropped, and whose bytes a recorder that was killed has left; 0: it is none. */
static uint64_t keep_dropped(int fd, uint64_t at, uint64_t size)
{
	struct ct_packet head;

	return keep_head(fd, at, &head) && !head.magic && ct_packet_size_valid(&head) && head.packet_size / 8 <= size - at ?
	       head.packet_size / 8 : 0;
}

/* Where the first packet begins: behind a hole, or behind zeros where the hole ends in a block, and what was dropped. */
static uint64_t keep_first(int fd, uint64_t size)
{
	uint64_t at = ct_file_hole(fd, size), zeros, dropped;
	uint8_t block[BLOCK];
	ssize_t n;

	while (at < size && (n = pread(fd, block, sizeof(block), (off_t)at)) > 0) {
		dropped = keep_dropped(fd, at, size);
		zeros = dropped ? 0 : ct_zeros(block, (uint64_t)n);
		at += dropped + zeros;
		if (!dropped && zeros < (uint64_t)n)
			return at;
	}
	return at < size ? at : size;
}

static int keep_compact_file(int fd)
{
	enum { CHUNK = 1 << 20 };
	struct stat st;
	uint64_t from, to = 0, size;
	uint8_t *buffer;
	int rc = 0;

	if (fstat(fd, &st))
		return -errno;
	size = (uint64_t)st.st_size;
	from = keep_first(fd, size);
	if (!from)
		return 0;
	buffer = malloc(CHUNK);
	if (!buffer)
		return -ENOMEM;
	while (!rc && from < size) {
		ssize_t n = pread(fd, buffer, CHUNK, (off_t)from);

		if (n <= 0) {
			rc = n ? -errno : -EIO;
			break;
		}
		rc = ct_pwrite_all(fd, buffer, (size_t)n, to);
		to += (uint64_t)n;
		/* So that both are never there: the disk may be full. */
		if (!rc)
			rc = keep_punch(fd, keep_blocks(from > to ? from : to), (from + (uint64_t)n) & -BLOCK);
		from += (uint64_t)n;
	}
	free(buffer);
	if (!rc && ftruncate(fd, (off_t)to))
		rc = -errno;
	return rc;
}

int ct_keep_compact(const char *dir, struct ct_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	while (!rc && (entry = readdir(d))) {
		int fd;

		if (!keep_is_ring(entry->d_name))
			continue;
		fd = keep_open_file(dirfd(d), entry->d_name, O_RDWR);
		if (fd < 0)
			continue;	/* finishing says what is wrong with it */
		rc = keep_compact_file(fd);
		if (rc)
			ct_fail(err, -rc, "%s/%s: %s", dir, entry->d_name, strerror(-rc));
		close(fd);
	}
	closedir(d);
	return rc;
}
