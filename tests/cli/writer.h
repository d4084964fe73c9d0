/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the streams of a trace by the ABI header alone, for make_trace.c and others.  Must
 * never share code with the reader that it tests.
 */
#ifndef CT_TESTS_WRITER_H
#define CT_TESTS_WRITER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../module/uapi/cudatrace.h"

#define START	1000000000000ull
#define PID	4242

static const uint8_t uuid[16] = { 0xc0, 0xda, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
static const char *dir;
static uint64_t records;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static FILE *create(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wx");
	if (!f)
		die(path);
	return f;
}

/* --------------------------------------------------------------- registry --- */

static inline FILE *create_registry(void)
{
	FILE *f = create(".registry");

	fprintf(f, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (int i = 0; i < 16; i++)
		fprintf(f, "%02x", uuid[i]);
	fprintf(f, " start=%llu realtime=1700000000123456789\n", START);
	return f;
}

static inline void registry_class(FILE *f, unsigned int id, const char *words, const char *spec, const char *names)
{
	fprintf(f, "class %u %s %s %s\n", id, words, *spec ? spec : "-", names);
}

/* ---------------------------------------------------------------- streams --- */

struct writer {
	FILE *file;
	uint8_t *data;
	uint32_t size, used;
	struct ct_packet head;
	uint64_t last;
};

static void flush(struct writer *w)
{
	if (w->used == CT_PACKET_HEAD)
		return;
	w->head.content_size = w->used * 8ull;
	w->head.ts_end = w->last;
	memcpy(w->data, &w->head, sizeof(w->head));
	memset(w->data + w->used, 0, w->size - w->used);
	if (fwrite(w->data, w->size, 1, w->file) != 1)
		die("fwrite");
	w->head.seq++;
	w->used = CT_PACKET_HEAD;
}

static void open_writer(struct writer *w, const char *name, uint32_t kind, uint32_t size)
{
	memset(w, 0, sizeof(*w));
	w->file = create(name);
	w->data = calloc(1, size);
	w->size = size;
	w->used = CT_PACKET_HEAD;
	w->head.magic = CT_MAGIC;
	memcpy(w->head.uuid, uuid, 16);
	w->head.stream_class = kind;
	w->head.packet_size = size * 8ull;
	w->last = START;
}

static void close_writer(struct writer *w)
{
	flush(w);
	fclose(w->file);
	free(w->data);
}

static void *room(struct writer *w, uint64_t end, uint32_t len)
{
	void *p;

	len = (len + 7) & ~7u;
	if (w->used + len > w->size)
		flush(w);
	if (end < w->last) {
		fprintf(stderr, "make_trace: time steps back\n");
		exit(2);
	}
	if (w->used == CT_PACKET_HEAD)
		w->head.ts_begin = end;
	w->last = end;
	p = w->data + w->used;
	memset(p, 0, len);
	w->used += len;
	records++;
	return p;
}

struct spec {
	unsigned int class, depth, flags;
	int64_t result;
	uint64_t begin, end, op;
	uint32_t tid;
	int cpu;
};

static void thread_record(struct writer *w, struct spec s, const void *fields, uint32_t len)
{
	uint8_t *p = room(w, s.end, sizeof(struct ct_thread_record) + len);
	struct ct_thread_record r = {
		.stamp = CT_STAMP(s.end, s.class), .op = s.op - w->head.op_base, .depth = s.depth,
		.flags = s.flags, .result = s.result,
		.duration = (s.end - s.begin) | (uint64_t)s.cpu << 48,
	};

	memcpy(p, &r, sizeof(r));
	memcpy(p + sizeof(r), fields, len);
}

static inline void cpu_record(struct writer *w, struct spec s, const void *fields, uint32_t len)
{
	uint8_t *p = room(w, s.end, sizeof(struct ct_cpu_record) + len);
	struct ct_cpu_record r = {
		.stamp = CT_STAMP(s.end, s.class), .pid = s.tid ? PID : 0, .tid = s.tid, .op = s.op,
		.duration = CT_DURATION(s.end - s.begin, s.depth, s.flags), .result = s.result,
	};

	memcpy(p, &r, sizeof(r));
	memcpy(p + sizeof(r), fields, len);
}

/* A text behind the fields in front of it. */
static inline uint32_t with_text(uint8_t *buf, const void *fields, uint32_t len, const char *text)
{
	uint16_t n = strlen(text);

	memcpy(buf, fields, len);
	memcpy(buf + len, &n, 2);
	memcpy(buf + len + 2, text, n);
	return len + 2 + n;
}

#endif
