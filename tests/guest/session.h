/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For tests of the device: a session with its rings mapped, marks, and a walk over
 * all records of a ring that checks every packet.
 */
#ifndef CT_TEST_SESSION_H
#define CT_TEST_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../module/uapi/cudatrace.h"
#include "../tap.h"

#pragma GCC diagnostic ignored "-Wunused-function"

#define PAGE	4096u

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int device(int flags)
{
	int fd = open(CT_DEVICE_PATH, flags | O_CLOEXEC);

	if (fd < 0) {
		printf("Bail out! %s: %s\n", CT_DEVICE_PATH, strerror(errno));
		exit(1);
	}
	return fd;
}

/* The ioctl's errno, 0 if it succeeded. */
static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static struct ct_define define(const char *name, const char *symbol)
{
	struct ct_define d = { .size = sizeof(d), .category = CT_CAT_MEMORY,
			       .op = CT_OP_ALLOC, .fields_count = 2 };

	strcpy(d.name, name);
	strcpy(d.symbol, symbol);
	strcpy(d.fields[0].name, "size");
	d.fields[0].type = CT_TYPE_u64;
	strcpy(d.fields[1].name, "ptr");
	d.fields[1].type = CT_TYPE_x64;
	return d;
}

/* A mark with a text: the static class "mark". */
struct mark {
	struct ct_mark_head head;
	uint32_t uid;
	uint16_t len;
	char text[26];
};

/* The bytes of such a mark in a ring. */
#define MARK_RING	(sizeof(struct mark) - sizeof(struct ct_mark_head) + \
			 sizeof(struct ct_cpu_record))

static struct mark text_mark(const char *text)
{
	struct mark m = { .head = { .size = sizeof(m), .class = CT_CLASS_mark,
				    .flags = CT_F_INSTANT }, .uid = 4242,
			  .len = sizeof(m.text) };

	memcpy(m.text, text, strnlen(text, sizeof(m.text)));
	return m;
}

/* By class: the bytes of its fields + 1, once known.  The next session may use ids anew. */
static uint16_t known_size[65536];

/* ------------------------------------------------------- a mapped session -- */
struct session {
	int fd;
	struct ct_session arg;
	struct ct_facts *facts;
	struct {
		struct ct_cpu_status *status;
		struct ct_cpu_consumer *consumer;
		uint8_t *data;
	} cpu[64];
};

static void *map(int fd, uint64_t offset, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static int session_of(struct session *s, uint32_t size, uint32_t count, uint32_t flags,
		      uint64_t groups)
{
	uint32_t i;
	int err;

	memset(s, 0, sizeof(*s));
	memset(known_size, 0, sizeof(known_size));
	s->fd = device(O_RDWR);
	s->arg = (struct ct_session){ .size = sizeof(s->arg), .subbuf_size = size,
				      .subbuf_count = count, .flags = flags,
				      .groups = groups };
	err = call(s->fd, CT_IOC_START, &s->arg);
	if (err)
		return err;
	s->facts = map(s->fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	for (i = 0; i < s->arg.cpus && i < 64; i++) {
		s->cpu[i].status = map(s->fd, CT_MMAP_STATUS(i), PAGE, PROT_READ);
		s->cpu[i].consumer = map(s->fd, CT_MMAP_CONSUMER(i), PAGE,
					 PROT_READ | PROT_WRITE);
		s->cpu[i].data = map(s->fd, CT_MMAP_DATA(i), (size_t)size * count, PROT_READ);
	}
	return 0;
}

/* A session that records nothing but the test's own marks. */
static int session_start(struct session *s, uint32_t size, uint32_t count, uint32_t flags)
{
	return session_of(s, size, count, flags, 1u << CT_GROUP_ADDED);
}

static void session_end(struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->arg.cpus && i < 64; i++) {
		if (!s->cpu[i].status)
			continue;
		munmap(s->cpu[i].status, PAGE);
		munmap(s->cpu[i].consumer, PAGE);
		munmap(s->cpu[i].data, (size_t)s->arg.subbuf_size * s->arg.subbuf_count);
	}
	munmap(s->facts, PAGE);
	close(s->fd);
}

/* The bytes of a dynamic class's fields (no class of the tests has a text). */
static uint32_t defined_size(uint16_t class)
{
	static const uint8_t bytes[] = {
#define CT_TYPE_ROW(type, ctype, n)	n,
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
	};
	struct ct_define def = { .size = sizeof(def), .id = class };
	uint32_t i, size = 0;
	int fd;

	if (known_size[class])
		return known_size[class] - 1;
	fd = device(O_RDONLY);
	if (!call(fd, CT_IOC_GET_DEFINE, &def))
		for (i = 0; i < def.fields_count; i++)
			size += bytes[def.fields[i].type];
	close(fd);
	known_size[class] = size + 1;
	return size;
}

/* The bytes of the payload of a record of this class. */
static uint32_t payload_size(uint16_t class, const uint8_t *p)
{
	switch (class) {
	case CT_CLASS_mark:
	case CT_CLASS_range_push:
		return 6 + *(uint16_t *)(p + 4);
	case CT_CLASS_process:
		return 10 + *(uint16_t *)(p + 8);
	default:
		return defined_size(class);
	}
}

struct walk {
	uint64_t records;
	uint64_t last;		/* newest stamp */
	int bad;		/* packets or records that are not well formed */
	const struct ct_cpu_record *found;	/* last record of class want */
	uint64_t count;		/* of class want */
	uint64_t seq;
};

/* Walks all records of a ring that was not overwritten, and checks each packet. */
static struct walk walk(const struct session *s, uint32_t cpu, uint16_t want)
{
	const uint32_t size = s->arg.subbuf_size;
	const uint64_t mask = (uint64_t)size * s->arg.subbuf_count - 1;
	uint64_t end = s->cpu[cpu].status->committed, pos = s->cpu[cpu].status->oldest;
	struct walk w = { .seq = pos / size };
	uint64_t at, limit, stamp;

	for (; pos < end; pos += size) {
		const struct ct_packet *p = (void *)(s->cpu[cpu].data + (pos & mask));

		limit = end >= pos + size ? p->content_size / 8 : end - pos;
		w.bad += p->magic != CT_MAGIC || memcmp(p->uuid, s->arg.uuid, 16) ||
			 p->packet_size != size * 8ull || p->seq != w.seq++ ||
			 p->cpu != cpu || limit > size || p->ts_begin < w.last;
		for (at = CT_PACKET_HEAD; at < limit;) {
			const struct ct_cpu_record *r = (void *)((uint8_t *)p + at);

			stamp = CT_UNSTAMP(p->ts_begin, r->stamp);
			w.bad += stamp < w.last;
			w.last = stamp;
			if (CT_RECORD_CLASS(r->stamp) == want) {
				w.found = r;
				w.count++;
			}
			at += sizeof(*r) + payload_size(CT_RECORD_CLASS(r->stamp),
							(void *)(r + 1));
			w.records++;
		}
		w.bad += at != limit;
		if (end >= pos + size)
			w.bad += p->ts_end < w.last;
	}
	return w;
}

static uint64_t lost(const struct session *s, uint32_t cpu)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++)
		n += s->cpu[cpu].status->lost[i];
	return n;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

#endif
