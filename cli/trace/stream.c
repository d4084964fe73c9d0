// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a stream.  The file may be damaged, foreign, hostile, or still being
 * written by a thread that never waits for us: must never write to it, and never
 * believe a size before it is checked.
 */
#include "trace/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/sub_buffers.h"

#define AGAIN	"record it again, or take this file out of the directory"

int ct_stream_kind(const char *name)
{
	char exact[32];
	unsigned int a, b;

	if (!strcmp(name, "state"))
		return CT_STREAM_STATE;
	/* As it is written: no sign, no space, no zero in front. */
	if (sscanf(name, "k-%u", &a) == 1) {
		snprintf(exact, sizeof(exact), "k-%u", a);
		return strcmp(name, exact) ? -1 : CT_STREAM_CPU;
	}
	if (sscanf(name, "u-%u-%u", &a, &b) == 2) {
		snprintf(exact, sizeof(exact), "u-%u-%u", a, b);
		return strcmp(name, exact) ? -1 : CT_STREAM_THREAD;
	}
	return -1;
}

int ct_packet_check(const uint8_t *data, uint64_t left, uint64_t in_file, int kind,
		    const uint8_t uuid[16], struct ct_packet_view *p, struct ct_error *err)
{
	struct ct_packet head;

	if (left >= 4) {
		uint32_t magic;

		memcpy(&magic, data, 4);
		if (!magic)
			return 0;
		if (magic != CT_MAGIC)
			return ct_fail(err, EBADMSG, "no packet begins here (magic %08x)", magic);
	}
	if (left < CT_PACKET_HEAD)
		return ct_fail(err, ENODATA, "the file ends inside a packet's head");
	memcpy(&head, data, sizeof(head));
	/* Its writer may add records: what is committed now is what we read. */
	head.content_size = __atomic_load_n((const uint64_t *)(data + offsetof(struct ct_packet,
						content_size)), __ATOMIC_ACQUIRE);
	memcpy(&head.ts_end, data + offsetof(struct ct_packet, ts_end), 8);
	if (memcmp(head.uuid, uuid, 16))
		return ct_fail(err, EBADMSG, "a packet of another trace (its uuid differs)");
	if (head.stream_class != (uint32_t)kind)
		return ct_fail(err, EBADMSG, "a packet of stream class %u in a file for class %d",
			       head.stream_class, kind);
	if (head.packet_size % 64 || head.packet_size / 8 < CT_PACKET_HEAD ||
	    head.packet_size / 8 > CT_PACKET_MAX)
		return ct_fail(err, EBADMSG, "a packet of %llu bits",
			       (unsigned long long)head.packet_size);
	if (head.packet_size / 8 > in_file)
		return ct_fail(err, ENODATA, "a truncated packet (%llu of %llu bytes)",
			       (unsigned long long)in_file,
			       (unsigned long long)head.packet_size / 8);
	if (head.content_size % 64 || head.content_size > head.packet_size ||
	    head.content_size / 8 < CT_PACKET_HEAD)
		return ct_fail(err, EBADMSG, "a packet with %llu of %llu bits used",
			       (unsigned long long)head.content_size,
			       (unsigned long long)head.packet_size);
	if (head.ts_begin > head.ts_end || head.ts_end - head.ts_begin > CT_TS_MASK)
		return ct_fail(err, EBADMSG, "a packet that ends before it begins");

	p->data = data;
	p->content = head.content_size / 8;
	p->size = head.packet_size / 8;
	p->kind = kind;
	p->cpu = head.cpu;
	p->pid = head.pid;
	p->tid = head.tid;
	p->ts_begin = head.ts_begin;
	p->ts_end = head.ts_end;
	p->op_base = head.op_base;
	p->seq = head.seq;
	p->lost = head.lost;
	return 1;
}

void ct_stream_packet(const struct ct_stream_file *s, uint32_t i, struct ct_packet_view *p)
{
	const struct ct_packet_index *index = &s->packets[i];
	struct ct_packet head;

	memcpy(&head, s->map + index->offset, sizeof(head));
	p->data = s->map + index->offset;
	p->content = index->content;
	p->size = index->size;
	p->kind = s->kind;
	p->cpu = head.cpu;
	p->pid = head.pid;
	p->tid = head.tid;
	p->ts_begin = index->ts_begin;
	p->ts_end = index->ts_end;
	p->op_base = head.op_base;
	p->seq = head.seq;
	p->lost = head.lost;
}

/* Makes room for one more of an array that grows by doubling. */
static int stream_grow(void *array, uint32_t count, size_t size)
{
	void **p = array, *more;

	if (count & (count - 1) || (count && count < 16))
		return 0;
	more = realloc(*p, (count ? 2 * (size_t)count : 16) * size);
	if (!more)
		return -ENOMEM;
	*p = more;
	return 0;
}

static int stream_add_straddler(struct ct_stream_file *s, uint32_t packet, uint32_t offset,
				const struct ct_record *r)
{
	struct ct_straddler *straddler;

	if (stream_grow(&s->straddlers, s->straddlers_count, sizeof(*s->straddlers)))
		return -ENOMEM;
	straddler = &s->straddlers[s->straddlers_count++];
	memset(straddler, 0, sizeof(*straddler));
	straddler->packet = packet;
	straddler->offset = offset;
	if (r->class->id == CT_CLASS_call_open) {
		straddler->open = true;
		straddler->begin = ct_record_quick(r, CT_QUICK_BEGIN);
		straddler->end = ~0ull;
		straddler->level = ct_record_quick(r, CT_QUICK_LEVEL);
		/* A begin in the future is a lie, but it must not stop the merge. */
		if (straddler->begin > r->end)
			straddler->begin = r->end;
	} else {
		straddler->begin = ct_record_begin(r);
		straddler->end = r->end;
		straddler->level = r->depth;
	}
	return 0;
}

static void stream_note_time(struct ct_stream_file *s, const struct ct_record *r)
{
	uint64_t begin = r->flags & (CT_F_INSTANT | CT_F_BEGIN) ? r->end : ct_record_begin(r);

	if (!s->records || begin < s->first)
		s->first = begin;
	s->last = r->end;
}

/* Checks the records of packet @i and finds those that began before it. */
static int stream_index_records(struct ct_stream_file *s, uint32_t i, const struct ct_registry *reg,
				struct ct_error *err)
{
	uint32_t offset = CT_PACKET_HEAD, size;
	struct ct_packet_view p;
	struct ct_record r;
	const char *why;
	uint64_t last;

	ct_stream_packet(s, i, &p);
	last = p.ts_begin;
	s->packets[i].first_straddler = s->straddlers_count;
	while (offset < p.content) {
		size = ct_record_parse(&p, offset, reg, &r, &why);
		if (size && r.end < last) {
			why = "a record that is older than the one before it";
			size = 0;
		}
		if (!size) {
			uint64_t stamp;

			memcpy(&stamp, p.data + offset, p.content - offset < 8 ?
			       p.content - offset : 8);
			return ct_fail(err, EBADMSG, "offset %llu: %s (class %u); " AGAIN,
				       (unsigned long long)s->packets[i].offset + offset, why,
				       p.content - offset < 8 ? 0 : CT_RECORD_CLASS(stamp));
		}
		last = r.end;
		stream_note_time(s, &r);
		if (r.class->id == CT_CLASS_call_open ||
		    (!(r.flags & (CT_F_INSTANT | CT_F_BEGIN | CT_F_HAS_BEGIN)) &&
		     ct_record_begin(&r) < p.ts_begin))
			if (stream_add_straddler(s, i, offset, &r))
				return ct_fail(err, ENOMEM, "no memory");
		s->records++;
		offset += size;
	}
	return 0;
}

/* Does nothing follow the packet's head at @at that may be another packet of the trace? */
static bool stream_is_last(const struct ct_stream_file *s, uint64_t at,
			   const struct ct_registry *reg)
{
	const uint32_t magic = CT_MAGIC;
	uint8_t begin[20];

	memcpy(begin, &magic, 4);
	memcpy(begin + 4, reg->uuid, 16);
	return s->map_size - at <= 4 ||
	       !memmem(s->map + at + 4, s->map_size - at - 4, begin, sizeof(begin));
}

/* The packets from s->tail on. */
static int stream_index_packets(struct ct_stream_file *s, const struct ct_registry *reg,
				bool finished, struct ct_error *err)
{
	uint64_t at = s->tail;
	struct ct_packet_view p;
	struct ct_error inner;
	int rc;

	while (at < s->map_size) {
		struct ct_packet_index *index;

		rc = ct_packet_check(s->map + at, s->map_size - at, s->map_size - at, s->kind,
				     reg->uuid, &p, &inner);
		if (rc == -ENODATA && !finished && s->kind != CT_STREAM_STATE &&
		    stream_is_last(s, at, reg)) {
			s->torn = s->map_size - at;
			s->packets_lost++;
			s->unfinished = true;
			break;
		}
		if (rc < 0)
			return ct_fail(err, EBADMSG, "offset %llu: %s; " AGAIN,
				       (unsigned long long)at, inner.text);
		if (!rc) {
			s->unfinished = true;
			break;
		}
		if (s->packets_count && p.ts_begin < s->packets[s->packets_count - 1].ts_end)
			return ct_fail(err, EBADMSG,
				       "offset %llu: a packet that begins before the last one ended; " AGAIN,
				       (unsigned long long)at);
		if (stream_grow(&s->packets, s->packets_count, sizeof(*s->packets)))
			return ct_fail(err, ENOMEM, "no memory");
		index = &s->packets[s->packets_count++];
		index->offset = at;
		index->ts_begin = p.ts_begin;
		index->ts_end = p.ts_end;
		index->size = p.size;
		index->content = p.content;
		if (s->packets_count == 1) {
			s->pid = p.pid;
			s->tid = p.tid;
			s->cpu = p.cpu;
		}
		if (p.seq > s->next_seq)
			s->packets_lost += p.seq - s->next_seq;
		s->next_seq = p.seq + 1;
		if (p.lost > s->lost)
			s->lost = p.lost;
		rc = stream_index_records(s, s->packets_count - 1, reg, err);
		if (rc)
			return rc;
		at += p.size;
	}
	s->tail = at;
	return 0;
}

static int stream_compare_begin(const void *a, const void *b, void *arg)
{
	const struct ct_straddler *all = arg;
	const struct ct_straddler *x = &all[*(const uint32_t *)a];
	const struct ct_straddler *y = &all[*(const uint32_t *)b];

	/* At one ns the outer call first: it ends later, or says so itself. */
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x > y ? -1 : x < y;
}

static int stream_map_file(struct ct_stream_file *s, const char *dir, struct ct_error *err)
{
	char path[4096];
	struct stat st;
	int fd, rc = 0;

	if (snprintf(path, sizeof(path), "%s/%s", dir, s->name) >= (int)sizeof(path))
		return ct_fail(err, ENAMETOOLONG, "the path is too long");
	/* Not to block on a fifo, not to touch a device, nor what a link leads to. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP)
		return ct_fail(err, EBADMSG, "a symbolic link, not a regular file; " AGAIN);
	if (fd < 0)
		return ct_fail(err, errno, "%s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = ct_fail(err, EBADMSG, "not a regular file; " AGAIN);
		goto out;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->map_size = st.st_size;
	if (s->map_size) {
		void *map = mmap(NULL, s->map_size, PROT_READ, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED) {
			rc = ct_fail(err, errno, "mmap: %s", strerror(errno));
			s->map_size = 0;
		} else {
			s->map = map;
		}
	}
out:
	close(fd);
	return rc;
}

int ct_stream_reopen(const struct ct_stream_file *s, const char *dir, int flags)
{
	char path[4096];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, s->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != s->dev || st.st_ino != s->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int ct_stream_write(int fd, const void *from, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pwrite(fd, from, size, offset);

		if (n <= 0)
			return n ? -errno : -EIO;
		from = (const uint8_t *)from + n;
		offset += n;
		size -= n;
	}
	return 0;
}

/* Has anything been added since it was mapped? */
static bool stream_grown(const struct ct_stream_file *s, const char *dir)
{
	struct stat st;
	int fd = ct_stream_reopen(s, dir, O_RDONLY);
	bool yes = fd >= 0 && !fstat(fd, &st) && (uint64_t)st.st_size > s->map_size;
	uint32_t magic = 0;

	/* Or the head of what was stored but for it. */
	if (s->map_size - s->tail >= sizeof(magic))
		memcpy(&magic, s->map + s->tail, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return yes || magic;
}

/* One packet out of its slot, as it would stand in the stream, behind what @copy holds. */
static int stream_add_slot(const struct ct_sub_buffers *subbufs, uint64_t at,
			   struct ct_packet *head, const struct ct_packet_view *p, uint8_t **copy,
			   uint32_t *bytes)
{
	uint8_t *more = realloc(*copy, *bytes + p->content);

	if (!more)
		return -ENOMEM;
	*copy = more;
	if (pread(subbufs->fd, more + *bytes, p->content, at) != (ssize_t)p->content ||
	    !ct_sub_buffers_same(subbufs, at, head))
		return -EAGAIN;
	head->content_size = head->packet_size = p->content * 8ull;
	memcpy(more + *bytes, head, sizeof(*head));
	*bytes += p->content;
	return 0;
}

/*
 * The packets of a busy thread that are not in its stream yet.  A copy, which their
 * writer left alone while it was made; NULL: none that is newer than what the stream
 * holds, *again: not because there is none.
 */
static uint8_t *stream_read_tail(const struct ct_stream_file *s, const char *dir,
				 const struct ct_registry *reg, uint32_t *bytes, bool *again)
{
	uint64_t at, seq = s->next_seq;
	struct ct_packet_view p;
	struct ct_error ignored;
	struct ct_packet head;
	struct ct_sub_buffers subbufs;
	uint8_t *copy = NULL;
	int rc = 0;

	*again = false;
	*bytes = 0;
	ct_sub_buffers_open(&subbufs, dir, s->name);
	while (!rc && (at = ct_sub_buffers_find(&subbufs, seq, &head)) &&
	       ct_packet_check((void *)&head, sizeof(head), subbufs.head.subbuf_size, s->kind,
			       reg->uuid, &p, &ignored) == 1) {
		/* Stored since the stream was read, and its slot is another's. */
		if (head.seq > seq && stream_grown(s, dir))
			rc = -EAGAIN;
		else
			rc = stream_add_slot(&subbufs, at, &head, &p, &copy, bytes);
		seq = head.seq + 1;
	}
	ct_sub_buffers_close(&subbufs);
	if (rc) {
		*again = true;
		free(copy);
		copy = NULL;
	}
	return copy;
}

/*
 * The stream up to its tail, and the packets behind it, as one map.  Whole pages of the
 * stream stay the file's, however long it is; the rest is memory.
 */
static int stream_add_tail(struct ct_stream_file *s, uint8_t *copy, uint32_t bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE), kept = s->tail & -page, size = s->tail + bytes;
	uint64_t mapped = (s->map_size + page - 1) & -page;
	uint8_t *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);

	if (map == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(map + kept, size - kept, PROT_READ | PROT_WRITE)) {
		munmap(map, size);
		return -ENOMEM;
	}
	if (s->tail > kept)
		memcpy(map + kept, s->map + kept, s->tail - kept);
	memcpy(map + s->tail, copy, bytes);
	if (kept && mremap((void *)s->map, kept, kept, MREMAP_MAYMOVE | MREMAP_FIXED, map) ==
	    MAP_FAILED) {
		munmap(map, size);
		return -ENOMEM;
	}
	if (mapped > kept)
		munmap((void *)(s->map + kept), mapped - kept);
	s->map = map;
	s->map_size = size;
	s->added = bytes;
	return 0;
}

/* Return: 1: the stream has moved on meanwhile. */
static int stream_index_tail(struct ct_stream_file *s, const char *dir,
			     const struct ct_registry *reg, struct ct_error *err)
{
	uint32_t bytes;
	bool again;
	uint8_t *copy = stream_read_tail(s, dir, reg, &bytes, &again);
	bool unfinished = s->unfinished;
	int rc;

	if (!copy)
		return again;
	rc = stream_add_tail(s, copy, bytes);
	free(copy);
	if (rc)
		return ct_fail(err, -rc, "no memory");
	rc = stream_index_packets(s, reg, true, err);
	s->unfinished = unfinished;
	return rc;
}

/* What was added since it was mapped, and all that follows the last whole packet. */
static int stream_index_more(struct ct_stream_file *s, const char *dir,
			     const struct ct_registry *reg, bool finished, struct ct_error *err)
{
	int rc;

	if (s->map)
		munmap((void *)s->map, s->map_size);
	s->map = NULL;
	s->map_size = 0;
	rc = stream_map_file(s, dir, err);
	if (rc)
		return rc;
	if (s->torn)
		s->packets_lost--;
	s->torn = 0;
	s->unfinished = false;
	return stream_index_packets(s, reg, finished, err);
}

#define TRIES	8	/* to meet a thread that goes on; then without its newest packets */

int ct_stream_open(struct ct_stream_file *s, const char *dir, const char *name,
		   const struct ct_registry *reg, bool finished, struct ct_error *err)
{
	struct ct_error inner = { 0 };
	int rc, kind = ct_stream_kind(name);

	memset(s, 0, sizeof(*s));
	s->name = strdup(name);
	if (!s->name)
		return ct_fail(err, ENOMEM, "no memory");
	if (kind < 0)
		return ct_fail(err, EBADMSG,
			       "%s/%s: not a file of a cudatrace trace; take it out of the directory",
			       dir, name);
	s->kind = kind;
	rc = stream_map_file(s, dir, &inner);
	if (!rc)
		rc = stream_index_packets(s, reg, finished, &inner);
	for (int i = 0; !rc; i++) {
		rc = stream_index_tail(s, dir, reg, &inner);
		if (rc != 1)
			break;
		rc = i < TRIES ? stream_index_more(s, dir, reg, finished, &inner) : 0;
		if (i == TRIES)
			break;
	}
	if (rc)
		return ct_fail(err, -rc, "%s/%s: %s", dir, name, inner.text);

	if (s->straddlers_count) {
		s->by_begin = malloc(s->straddlers_count * sizeof(*s->by_begin));
		if (!s->by_begin)
			return ct_fail(err, ENOMEM, "no memory");
		for (uint32_t i = 0; i < s->straddlers_count; i++)
			s->by_begin[i] = i;
		qsort_r(s->by_begin, s->straddlers_count, sizeof(*s->by_begin),
			stream_compare_begin, s->straddlers);
	}
	return 0;
}

void ct_stream_close(struct ct_stream_file *s)
{
	if (s->map)
		munmap((void *)s->map, s->map_size);
	free(s->packets);
	free(s->straddlers);
	free(s->by_begin);
	free(s->name);
	memset(s, 0, sizeof(*s));
}
