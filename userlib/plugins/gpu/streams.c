// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The GPU streams of the process: g-PID-N in the trace directory (section 8 of cudatrace.h).
 *
 * Time never steps back within a stream, and CUPTI delivers a record when its buffer is
 * complete, so perhaps long after later ones.  Each record goes to the stream whose last one
 * ended latest among those that ended before it; a new stream is made where there is none.  So
 * each time is right, nothing has to be held back, and mostly there is one stream.
 *
 * Packets are collected in memory while a batch is written, and appended to their file by one
 * write() each.  No descriptor stays open: programs count and close theirs.  One thread at a
 * time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "plugins/gpu/streams.h"

#define STREAMS		64u
#define PACKET		(256u << 10)

static struct stream {
	bool made;
	u32 number;		/* N of g-PID-N */
	u64 last;		/* ns: the end of its last record */
	u64 seq, op;
	u64 size;		/* bytes in the file */
	u8 *packet;		/* memory of PACKET bytes */
	u32 used, records;	/* of the packet; 0: none is begun */
	u64 begin;		/* ns, of its first record */
} streams[STREAMS];		/* the first: states and clocks */

static u32 streams_count = 1;
static u32 next_number;

u64 streams_unwritten;

void streams_done(u64 records)
{
	__atomic_fetch_sub(&streams_unwritten, records, __ATOMIC_RELAXED);
}

static void streams_name(char *path, size_t size, u32 number)
{
	snprintf(path, size, "%s/g-%d-%u", host->dir, (int)getpid(), number);
}

/*
 * Another image of this process may have had numbers before exec().  O_NONBLOCK: for a pipe or a
 * lease, which another user may have put there, nobody waits.
 */
static int stream_open(struct stream *s)
{
	char path[4352];
	int fd = -1;

	if (s->made) {
		streams_name(path, sizeof(path), s->number);
		return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
			    O_NONBLOCK);
	}
	for (int i = 0; i < 4096; i++) {
		s->number = next_number;
		streams_name(path, sizeof(path), s->number);
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT | O_EXCL, 0644);
		/* Where none can be made, no number is used up: op has room for 2^15 of them. */
		next_number += fd >= 0 || errno == EEXIST;
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	s->made = fd >= 0;
	s->seq = s->size = 0;
	return fd;
}

/* write() without SIGXFSZ: the first and the last packets are written in the program's threads. */
static ssize_t stream_write(int fd, const void *from, size_t size)
{
	const struct timespec now = { 0 };
	sigset_t limit, before, pending;
	ssize_t written;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &limit, &before);
	sigpending(&pending);
	written = write(fd, from, size);
	if (written < 0 && errno == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&limit, NULL, &now);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return written;
}

/* Its records are lost if that fails. */
static void stream_flush(struct stream *s)
{
	struct ct_packet *p = (struct ct_packet *)s->packet;
	ssize_t written;
	int fd;

	if (!s->packet || !s->used)
		return;
	memset(p, 0, sizeof(*p));
	p->magic = CT_MAGIC;
	memcpy(p->uuid, host->uuid, 16);
	p->stream_class = CT_STREAM_GPU;
	p->ts_begin = s->begin;
	p->ts_end = s->last;
	p->content_size = p->packet_size = 8ull * s->used;
	p->pid = (u32)getpid();
	fd = stream_open(s);
	p->seq = s->seq;
	p->op_base = (1ull << 51 | (u64)(s->number & 0x7fff) << 36) + s->op - s->records;
	written = fd < 0 || !host->room(s->used) ? -1 : stream_write(fd, p, s->used);
	if (written == (ssize_t)s->used) {
		s->seq++;
		s->size += s->used;
		/* The next packet is the first of another file. */
		if (s != &streams[0] && host->is_long(s->size))
			s->made = false;
	} else {
		/* A full disk: nothing may follow a part of a packet. */
		if (written > 0 && ftruncate(fd, (off_t)s->size))
			s->made = false;
		host->lose(s->records);
	}
	if (s != &streams[0])
		streams_done(s->records);
	__atomic_fetch_add(&progress, 1u, __ATOMIC_RELAXED);
	if (fd >= 0)
		close(fd);
	s->used = s->records = 0;
}

void streams_forget(void)
{
	for (u32 i = 0; i < STREAMS; i++)
		streams[i] = (struct stream){ .packet = streams[i].packet };
	streams_count = 1;
	next_number = 0;
	streams_unwritten = 0;
}

/* Begins a packet if there is none; NULL without memory. */
static u8 *stream_room(struct stream *s, u32 bytes, u64 end)
{
	if (s->used + bytes > PACKET)
		stream_flush(s);
	if (!s->packet) {
		void *memory = mmap(NULL, PACKET, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return NULL;
		s->packet = memory;
	}
	if (!s->used) {
		s->used = CT_PACKET_HEAD;
		s->begin = end;
	}
	return s->packet + s->used;
}

static void stream_append(struct stream *s, u16 class, u8 flags, u64 begin, u64 end,
			  const void *payload, u32 size)
{
	struct ct_thread_record r = {
		.stamp = CT_STAMP(end, class), .depth = 0, .flags = flags | CT_F_NO_RESULT,
		.duration = (end - begin) | 0xffffull << CT_TS_BITS,
	};
	u8 *at = stream_room(s, (u32)sizeof(r) + size, end);

	if (!at) {
		host->lose(1);
		if (s != &streams[0])
			streams_done(1);
		return;
	}
	r.op = s->records;
	s->op++;
	s->records++;
	memcpy(at, &r, sizeof(r));
	memcpy(at + sizeof(r), payload, size);
	s->used += (u32)sizeof(r) + size;
	s->last = end;
}

/* Of those that may take a record of this time, the one that is the nearest. */
static struct stream *streams_for(u64 end)
{
	struct stream *best = NULL;

	for (u32 i = 1; i < streams_count; i++)
		if (streams[i].last <= end && (!best || streams[i].last > best->last))
			best = &streams[i];
	if (!best && streams_count < STREAMS)
		best = &streams[streams_count++];
	return best;
}

void streams_write(const struct entry *const *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct entry *e = sorted[i];
		struct stream *s = streams_for(e->end);

		if (s) {
			stream_append(s, e->class, 0, e->begin, e->end, &e->kernel, e->size);
			continue;
		}
		host->lose(1);
		streams_done(1);
	}
	for (u32 i = 1; i < streams_count; i++)
		stream_flush(&streams[i]);
}

static void streams_instant(u16 class, const void *payload, u32 size, u64 now)
{
	if (now < streams[0].last)
		now = streams[0].last;
	stream_append(&streams[0], class, CT_F_INSTANT, now, now, payload, size);
	stream_flush(&streams[0]);
}

void streams_state(u32 state, const char *text, u64 when)
{
	struct {
		u32 state;
		u16 len;
		char text[1024];
	} __attribute__((packed, aligned(8))) p = { .state = state };
	size_t n = strnlen(text, sizeof(p.text) - 8);

	memcpy(p.text, text, n);
	p.len = (u16)CT_TEXT_BYTES(6, (u64)n);
	streams_instant(CT_CLASS_gpu_state, &p, 6u + p.len, when);
}

void streams_clock(u64 uncertainty, u32 method)
{
	struct ct_gpu_clock c = { .uncertainty_ns = uncertainty, .method = method };

	streams_instant(CT_CLASS_gpu_clock, &c, sizeof(c), host->clock());
}
