// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See make_trace.h.  Written by the ABI's header alone.  Must make the same trace of the same
 * bytes in every build, so that what was found once can be tried again.
 */
#include "make_trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/uapi/cudatrace.h"

#define START		1000000000000ull
#define CLASSES_MAX	512
#define FILES_MAX	16
#define FILE_MAX	(1u << 20)
#define RECORDS_MAX	4000

/* A class as the generator knows it: how many bytes of fields, and of which kind. */
struct fuzz_class {
	unsigned int id;
	unsigned int fields;
	uint8_t width[64];
	char type[64];		/* 's': str, 't': text, 'n': a number */
};

struct fuzz_file {
	char name[40];
	uint8_t *data;
	size_t size;
	size_t packet;		/* where its open packet begins */
	uint32_t kind, pid, tid;
	uint64_t seq;
};

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

struct fuzz_made {
	struct fuzz_input in;
	struct fuzz_file files[FILES_MAX];
	unsigned int count, streams;	/* the first files are streams */
	uint64_t now, op;
	unsigned int records, strings;
	uint8_t recent[256][64];	/* records' inputs, to be repeated */
	uint8_t recent_size[256];
	unsigned int recent_count;
};

static const uint8_t uuid[16] = { 0xc0, 0xda, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
static struct fuzz_class classes[CLASSES_MAX];
static unsigned int classes_count;
static char *registry;		/* lines of all classes */
static size_t registry_size;

/* ---------------------------------------------------------------- classes --- */

static void fuzz_add_field(struct fuzz_class *class, const char *type)
{
	unsigned int bytes = 4;
	char kind = 'n';

	if (!strncmp(type, "text", 4)) {
		kind = 't';
		bytes = 2;
	} else if (!strncmp(type, "str", 3)) {
		kind = 's';
	} else if (strchr("usx", *type) && strtoul(type + 1, NULL, 10)) {
		bytes = strtoul(type + 1, NULL, 10) / 8;
	} else if (!strncmp(type, "class", 5)) {
		bytes = 2;
	}
	class->width[class->fields] = bytes;
	class->type[class->fields++] = kind;
}

static void fuzz_add_class(unsigned int id, const char *fields)
{
	struct fuzz_class *class = &classes[classes_count++];

	class->id = id;
	for (const char *colon = fields; (colon = strchr(colon, ':')) && class->fields < 64; colon++)
		fuzz_add_field(class, colon + 1);
}

void fuzz_classes_read(const char *path)
{
	unsigned int id = 0x4000;
	FILE *f = fopen(path, "r"), *out;
	char line[1024];

	out = open_memstream(&registry, &registry_size);
	if (!f || !out) {
		perror(path);
		exit(2);
	}
#define ROW(id, name, layer, cat, op, layout)	fuzz_add_class(id, CT_LAYOUT_SPEC(layout));
	CT_STATIC_CLASSES(ROW)
#undef ROW
	while (fgets(line, sizeof(line), f)) {
		char fields[512];

		if (*line == '#' || sscanf(line, "%*s %*s %*s %511s", fields) != 1 ||
		    classes_count == CLASSES_MAX)
			continue;
		fprintf(out, "class %u %s", id, line);
		fuzz_add_class(id++, fields);
	}
	fclose(f);
	fclose(out);
}

/* ------------------------------------------------------------------- input --- */

static uint8_t in_u8(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static uint64_t in_raw(struct fuzz_input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | in_u8(in);
	return value;
}

/* A number of any size: most often a small one, a handle, or one at an edge. */
static uint64_t in_number(struct fuzz_input *in)
{
	static const uint64_t edges[] = {
		~0ull, ~0ull - 1, 1ull << 63, (1ull << 63) - 1, 1ull << 32, 0xffffffff, 0x7fffffff,
		0x80000000, 0xffff, 0x8000, 1ull << 48, (1ull << 48) - 1, 1ull << 47, 1ull << 40,
		1ull << 30, 1000000000, 600, 1ull << 20, -4095ull, -22ull, 0x10000, 0xfe,
		0xc0304627, 0xc020462a, 0xc030462b, 0xc1d00001, 0x20800102, 0x5c000001, 46, 31, 23, 28,
	};
	uint8_t code = in_u8(in);

	if (code < 96)
		return code;
	if (code < 160)
		return 0x7f0000000000 + (code - 96) * 0x1000ull;
	if (code < 192)
		return 1ull << (code - 160);
	if (code < 192 + sizeof(edges) / sizeof(*edges))
		return edges[code - 192];
	return in_raw(in, code & 7);
}

/* A span of time in ns. */
static uint64_t in_span(struct fuzz_input *in)
{
	uint8_t code = in_u8(in);

	if (code < 64)
		return code;
	if (code < 128)
		return (code - 64) * 100ull;
	if (code < 192)
		return (code - 128) * 10000ull;
	if (code < 240)
		return 1ull << (code - 192);
	return code & 1 ? CT_TS_MASK : in_raw(in, 6);
}

/* ------------------------------------------------------------------ streams --- */

static void *file_room(struct fuzz_file *f, size_t size)
{
	void *p;

	if (f->size + size > FILE_MAX)
		return NULL;
	p = f->data + f->size;
	memset(p, 0, size);
	f->size += size;
	return p;
}

static struct fuzz_file *made_file(struct fuzz_made *m, const char *name)
{
	struct fuzz_file *f = &m->files[m->count++];

	snprintf(f->name, sizeof(f->name), "%s", name);
	f->data = malloc(FILE_MAX);
	f->packet = ~0ul;
	return f;
}

static struct ct_packet *stream_head(struct fuzz_file *f)
{
	return (struct ct_packet *)(f->data + f->packet);
}

static bool stream_begin(struct fuzz_made *m, struct fuzz_file *f)
{
	struct ct_packet head = {
		.magic = CT_MAGIC, .stream_class = f->kind, .ts_begin = m->now, .ts_end = m->now,
		.content_size = CT_PACKET_HEAD * 8, .packet_size = CT_PACKET_HEAD * 8,
		.seq = f->seq++, .pid = f->pid, .tid = f->tid,
	};
	size_t at = f->size = (f->size + 7) & ~7ul;
	void *p = file_room(f, sizeof(head));

	if (!p)
		return false;
	memcpy(head.uuid, uuid, 16);
	if (f->kind == CT_STREAM_CPU)
		head.cpu = f - m->files;
	memcpy(p, &head, sizeof(head));
	f->packet = at;
	return true;
}

static void *stream_room(struct fuzz_made *m, struct fuzz_file *f, size_t size)
{
	struct ct_packet *head;
	void *p;

	size = (size + 7) & ~7ull;
	if (f->packet == ~0ul || m->now - stream_head(f)->ts_begin > CT_TS_MASK / 2 ||
	    f->size - f->packet > 60000)
		if (!stream_begin(m, f))
			return NULL;
	p = file_room(f, size);
	if (!p)
		return NULL;
	head = stream_head(f);
	head->ts_end = m->now;
	head->content_size += size * 8;
	head->packet_size = head->content_size;
	return p;
}

/* The bytes of the fields of a record; returns how many. */
static size_t made_fields(struct fuzz_made *m, const struct fuzz_class *class, uint8_t *out)
{
	size_t size = 0;

	for (unsigned int i = 0; i < class->fields; i++) {
		uint64_t value;

		if (class->type[i] == 't') {
			uint16_t n = in_u8(&m->in), fill = n >= 250 ? 1000u * (n - 249) : 0;
			uint8_t with = fill ? in_u8(&m->in) : 0;

			n = fill ? fill : n & 31;
			memcpy(out + size, &n, 2);
			size += 2;
			for (unsigned int k = 0; k < n; k++)
				out[size++] = fill ? with : in_u8(&m->in);
			break;
		}
		value = class->type[i] == 's' && m->strings ? in_u8(&m->in) % (m->strings + 2) :
							       in_number(&m->in);
		memcpy(out + size, &value, class->width[i]);
		size += class->width[i];
	}
	return size;
}

static void made_record(struct fuzz_made *m, struct fuzz_file *f)
{
	static uint8_t fields[16384];
	const struct fuzz_class *class;
	uint64_t duration, result = 0, op;
	uint8_t how, flags = 0, depth;
	size_t size;
	void *p;

	class = &classes[(in_u8(&m->in) | (in_u8(&m->in) & 1) << 8) % classes_count];
	how = in_u8(&m->in);
	m->now += in_span(&m->in);
	if (m->now > 1ull << 62)
		m->now = 1ull << 62;
	duration = how & 1 ? 0 : in_span(&m->in) & CT_TS_MASK;
	depth = how >> 1 & 3;
	if (how & 8)
		flags = in_u8(&m->in);
	if (how & 16)
		result = in_number(&m->in);
	op = how & 32 ? in_u8(&m->in) : m->op++;
	size = made_fields(m, class, fields);
	if (m->records >= RECORDS_MAX)
		return;
	m->records++;
	if (f->kind == CT_STREAM_THREAD) {
		struct ct_thread_record r = {
			.stamp = CT_STAMP(m->now, class->id), .op = op, .depth = how & 64 ? how : depth,
			.flags = flags, .result = result, .duration = duration | 0xffffull << 48,
		};

		p = stream_room(m, f, sizeof(r) + size);
		if (!p)
			return;
		memcpy(p, &r, sizeof(r));
		memcpy((uint8_t *)p + sizeof(r), fields, size);
	} else {
		uint32_t tid = how & 128 ? (uint32_t)in_number(&m->in) : 100u + (how >> 6 & 1);
		struct ct_cpu_record r = {
			.stamp = CT_STAMP(m->now, class->id), .pid = how & 128 ? tid & ~7u : 100,
			.tid = tid, .op = op, .duration = CT_DURATION(duration, depth, flags),
			.result = result,
		};

		p = stream_room(m, f, sizeof(r) + size);
		if (!p)
			return;
		memcpy(p, &r, sizeof(r));
		memcpy((uint8_t *)p + sizeof(r), fields, size);
	}
}

/* A record from the input; its bytes are remembered, to be repeated. */
static void made_record_new(struct fuzz_made *m, unsigned int stream)
{
	const uint8_t *from = m->in.at;
	unsigned int slot = m->recent_count++ % 256;
	size_t used;

	made_record(m, &m->files[stream]);
	used = m->in.at - from;
	if (used > sizeof(m->recent[0]) - 1)
		used = sizeof(m->recent[0]) - 1;
	m->recent[slot][0] = stream;
	memcpy(m->recent[slot] + 1, from, used);
	m->recent_size[slot] = used;
}

/* The last records once more, many times: iterations. */
static void made_repeat(struct fuzz_made *m)
{
	unsigned int count = in_u8(&m->in) % 32 + 1, times = in_u8(&m->in);
	struct fuzz_input in = m->in;

	if (count > m->recent_count)
		count = m->recent_count;
	for (unsigned int i = 0; i < times && m->records < RECORDS_MAX; i++)
		for (unsigned int k = m->recent_count - count; k < m->recent_count; k++) {
			m->in = (struct fuzz_input){ m->recent[k % 256] + 1, m->recent_size[k % 256] };
			made_record(m, &m->files[m->recent[k % 256][0]]);
		}
	m->in = in;
}

/* A page of calls in flight, of the thread of a stream. */
static void made_page(struct fuzz_made *m)
{
	struct ct_inflight_page page = { .magic = CT_MAGIC, .abi = CT_ABI_VERSION };
	unsigned int stream = in_u8(&m->in) % m->streams;
	struct fuzz_file *f;
	char name[40];
	void *p;

	if (m->count == FILES_MAX - 3 || m->files[stream].kind != CT_STREAM_THREAD)
		return;
	snprintf(name, sizeof(name), ".open-%s", m->files[stream].name + 2);
	for (unsigned int i = 0; i < m->count; i++)
		if (!strcmp(m->files[i].name, name))
			return;
	page.pid = m->files[stream].pid;
	page.tid = m->files[stream].tid;
	page.depth = in_u8(&m->in) % 8;
	for (unsigned int i = 0; i < page.depth; i++)
		page.entry[i] = (struct ct_inflight_call){
			.begin = START + in_span(&m->in), .op = in_u8(&m->in),
			.class = classes[in_u8(&m->in) % classes_count].id, .flags = in_u8(&m->in),
		};
	f = made_file(m, name);
	p = file_room(f, sizeof(page));
	memcpy(p, &page, sizeof(page));
}

static void made_packet(struct fuzz_made *m, struct fuzz_file *f)
{
	uint8_t how = in_u8(&m->in);

	if (how & 1)
		f->seq += in_number(&m->in);
	if (!stream_begin(m, f))
		return;
	if (how & 2)
		stream_head(f)->lost = in_number(&m->in);
	if (how & 4)
		stream_head(f)->op_base = in_number(&m->in);
	if (how & 8)
		stream_head(f)->pid = f->pid = in_number(&m->in);
	if (how & 16)
		stream_head(f)->tid = f->tid = in_number(&m->in);
}

/* ------------------------------------------------------------------ damage --- */

static void made_damage(struct fuzz_made *m)
{
	struct fuzz_file *f = &m->files[in_u8(&m->in) % m->count];
	uint8_t how = in_u8(&m->in);
	size_t at = in_raw(&m->in, 2), bytes = 1u << (how >> 4 & 3);
	uint64_t value;

	if (!f->size)
		return;
	at %= f->size;
	switch (how & 7) {
	case 0:
		f->data[at] ^= 1 << (how >> 5);
		break;
	case 1:
		f->size = at;
		f->packet = ~0ul;
		break;
	case 2:	/* a tail of zeros: a packet that was prepared */
		file_room(f, 4096);
		break;
	case 3:	/* a part again */
		if (f->size + 256 < FILE_MAX && at + 256 < f->size) {
			memcpy(f->data + f->size, f->data + at, 256);
			f->size += 256;
		}
		break;
	default:
		value = in_number(&m->in);
		at &= ~(size_t)7;
		if (at + bytes <= f->size)
			memcpy(f->data + at, &value, bytes);
	}
}

/* -------------------------------------------------------------- the trace --- */

static void made_registry(struct fuzz_made *m)
{
	struct fuzz_file *f = made_file(m, ".registry");
	size_t at = 0;

	at = sprintf((char *)f->data,
		     "cudatrace %u uuid=c0da0102030405060708090a0b0c0d0e start=%llu realtime=%llu\n",
		     CT_ABI_VERSION, START, START);
	memcpy(f->data + at, registry, registry_size);
	at += registry_size;
	m->strings = in_u8(&m->in) % 16;
	for (unsigned int i = 1; i <= m->strings; i++) {
		unsigned int n = in_u8(&m->in), fill = n >= 250 ? 1000 * (n - 249) : 0;
		uint8_t with = fill ? in_u8(&m->in) : 0;

		n = fill ? fill : n & 63;
		at += sprintf((char *)f->data + at, "string %u ", i);
		for (unsigned int k = 0; k < n; k++)
			at += sprintf((char *)f->data + at, "%%%02x", fill ? with : in_u8(&m->in));
		f->data[at++] = '\n';
	}
	f->size = at;
}

static void made_streams(struct fuzz_made *m)
{
	unsigned int threads = in_u8(&m->in) % 6, cpus = in_u8(&m->in) % 3, how = in_u8(&m->in);
	struct fuzz_file *f;
	char name[40];

	for (unsigned int i = 0; i < threads; i++) {
		uint32_t pid = how & 1 ? 100 + i / 2 : 100;
		uint32_t tid = how & 2 ? 100 : how & 4 ? (uint32_t)-(int)i : 100 + i;

		snprintf(name, sizeof(name), "u-%u-%u", pid, i);
		f = made_file(m, name);
		f->kind = CT_STREAM_THREAD;
		f->pid = how & 8 ? 0 : pid;
		f->tid = tid;
	}
	for (unsigned int i = 0; i < cpus; i++) {
		snprintf(name, sizeof(name), "k-%u", i);
		made_file(m, name)->kind = CT_STREAM_CPU;
	}
	made_file(m, "state")->kind = CT_STREAM_STATE;
	m->streams = m->count;
}

void fuzz_clear(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
}

static void made_write(const char *dir, const char *name, const void *data, size_t size)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd)) {
		perror(path);
		_exit(2);
	}
}

unsigned int fuzz_make_trace(const char *dir, const uint8_t *data, size_t size)
{
	static struct fuzz_made made;
	struct fuzz_made *m = &made;
	unsigned int asks;

	*m = (struct fuzz_made){ .in = { data, size }, .now = START };
	asks = in_u8(&m->in);
	made_streams(m);
	made_registry(m);
	while (m->in.left) {
		uint8_t op = in_u8(&m->in);
		unsigned int stream = (op & 7) % m->streams;

		switch (op >> 3) {
		case 24: case 25:
			made_packet(m, &m->files[stream]);
			break;
		case 26:
			made_page(m);
			break;
		case 27: case 28:
			made_repeat(m);
			break;
		case 31:
			made_damage(m);
			break;
		default:
			made_record_new(m, stream);
		}
	}
	fuzz_clear(dir);
	for (unsigned int i = 0; i < m->count; i++) {
		if (i >= m->streams || m->files[i].size)
			made_write(dir, m->files[i].name, m->files[i].data, m->files[i].size);
		free(m->files[i].data);
	}
	if (!(asks & FUZZ_UNFINISHED))
		made_write(dir, "metadata", "", 0);
	return asks;
}
